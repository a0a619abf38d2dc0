#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "vtk_cells.h"

namespace palpate {

/// Walks through an XML text tag by tag: as much of XML as VTK files have. Comments and processing instructions are
/// passed over; a DOCTYPE is refused, so there are no entities to expand. Names and values are views into the file.
class XmlReader {
 public:
  explicit XmlReader(const SourceFile& file) : file_(file) {}

  enum class Tag { kOpen, kClose, kEnd };
  /// Goes to the next tag. `<a/>` gives kOpen, then kClose. At the end of the text every element must be closed.
  Tag next();

  std::string_view name() const noexcept { return name_; }
  /// Value of an attribute of the opening tag; `otherwise` if it has none of that name.
  std::string_view attribute(std::string_view name, std::string_view otherwise = {}) const noexcept;
  /// Byte after the tag: where the element's text starts.
  std::size_t position() const noexcept { return at_; }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    fail_input("{}: {}", describe_line(file_, tag_begin_), fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void pass_over(std::string_view end);
  void read_attributes();
  std::string_view read_name();
  void skip_space() noexcept;
  char peek() const;

  const SourceFile& file_;
  std::size_t at_ = 0, tag_begin_ = 0;
  bool closes_itself_ = false;
  std::string_view name_;
  std::vector<std::pair<std::string_view, std::string_view>> attributes_;
  std::vector<std::string_view> open_;  ///< elements around the current place
};

}  // namespace palpate
