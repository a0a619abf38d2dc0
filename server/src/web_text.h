#pragma once

#include <string>
#include <string_view>

// Small things about the text of requests.
namespace palpate {

/// The value of `key` in "a=1<separator>b=2"; empty if it is not there.
std::string_view find_value(std::string_view text, std::string_view key, char separator) noexcept;

/// Takes as long whatever the difference.
bool equal_secret(std::string_view a, std::string_view b) noexcept;

/// What "%41b%20c" stands for, "Ab c": without folders and control characters, and of what is longer than `most` bytes
/// the end, which tells the format.
std::string decode_name(std::string_view text, std::size_t most);

}  // namespace palpate
