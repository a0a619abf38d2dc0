#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "palpate/core/error.h"
#include "palpate/geometry/triangle_mesh.h"

// One reader for each format. `name` is the file's, for messages; `bytes` its whole content. Each checks every index
// and every number it hands on.
namespace palpate {

TriangleMesh read_obj(const std::string& name, std::string_view bytes);
TriangleMesh read_stl(const std::string& name, std::string_view bytes);
TriangleMesh read_ply(const std::string& name, std::string_view bytes);
TriangleMesh read_off(const std::string& name, std::string_view bytes);

/// Reads all of `word` as a number. One too small for double becomes 0, one too large infinity.
template <typename T>
bool parse_number(std::string_view word, T& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if constexpr (std::is_floating_point_v<T>) {
    // from_chars says only that it is out of range, strtod also on which side.
    if (error == std::errc::result_out_of_range) value = std::strtod(std::string(word).c_str(), nullptr);
    return (error == std::errc() || error == std::errc::result_out_of_range) && end == word.data() + word.size();
  } else {
    return error == std::errc() && end == word.data() + word.size();
  }
}

/// Walks through a text line by line, each cut into words; remembers the place for messages.
class LineReader {
 public:
  LineReader(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  /// Goes to the next line that has a word left of `comment`; false at the end.
  bool next(char comment = '#') {
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view line = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      ++line_;
      line = line.substr(0, line.find(comment));
      cut(line);
      if (!words_.empty()) return true;
    }
    return false;
  }
  /// As next(), but the end of the file is an error.
  void require_next(const char* wanted) {
    if (!next()) fail_input("{}: ends after line {} where {} was due; the file is cut short", name_, line_, wanted);
  }

  const std::vector<std::string_view>& words() const noexcept { return words_; }
  /// Byte after the current line.
  std::size_t position() const noexcept { return at_; }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    fail_input("{}:{}: {}", name_, line_, fmt::format(format, std::forward<Args>(args)...));
  }

  double number(std::size_t word) const {
    double value = 0.0;
    if (!parse(word, value)) fail("{} is not a number", shown(word));
    if (!std::isfinite(value)) fail("{} is not finite; coordinates must be", shown(word));
    return value;
  }
  std::int64_t integer(std::size_t word) const {
    std::int64_t value = 0;
    if (!parse(word, value)) fail("{} is not a whole number", shown(word));
    return value;
  }
  Vec3 point(std::size_t first_word) const {
    if (words_.size() < first_word + 3) fail("a vertex needs three coordinates");
    return Vec3(number(first_word), number(first_word + 1), number(first_word + 2));
  }
  std::string shown(std::size_t word) const {
    return word < words_.size() ? quote_for_message(words_[word]) : std::string("nothing");
  }

 private:
  void cut(std::string_view line) {
    words_.clear();
    constexpr std::string_view kSpace = " \t\r\v\f";
    for (std::size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
      words_.push_back(line.substr(at, end - at));
      at = line.find_first_not_of(kSpace, end);
    }
  }
  template <typename T>
  bool parse(std::size_t word, T& value) const {
    if (word >= words_.size()) return false;
    std::string_view w = words_[word];
    if (w.size() > 1 && w[0] == '+' && w[1] != '-') w.remove_prefix(1);
    return parse_number(w, value);
  }

  const std::string& name_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 0;
  std::vector<std::string_view> words_;
};

/// Adds a polygon as a fan.
inline void add_polygon(TriangleMesh& mesh, const std::vector<std::int32_t>& corners) {
  for (std::size_t i = 2; i < corners.size(); ++i) mesh.triangles.push_back({corners[0], corners[i - 1], corners[i]});
}

}  // namespace palpate
