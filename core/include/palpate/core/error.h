#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace palpate {

/// What a person gave us is wrong: a file, a value, an option. The message names the place, the value and what is
/// allowed; programs print it and exit with 2. Thrown at set-up only, never in a loop.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws InputError with a formatted message.
template <typename... Args>
[[noreturn]] void fail_input(fmt::format_string<Args...> format, Args&&... args) {
  throw InputError(fmt::format(format, std::forward<Args>(args)...));
}

/// The member of `known` that `word` was probably meant to be (edit distance at most a third of its length, two at
/// least), or an empty view.
std::string_view nearest_word(std::string_view word, const std::vector<std::string_view>& known);

/// `a, b, c` for messages that list what is allowed.
std::string join_words(const std::vector<std::string_view>& words);

/// `text` cut to `limit` bytes with control characters made visible, for quoting untrusted input in a message.
std::string quote_for_message(std::string_view text, std::size_t limit = 60);

}  // namespace palpate
