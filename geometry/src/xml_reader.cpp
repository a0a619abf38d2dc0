#include "xml_reader.h"

namespace palpate {
namespace {

constexpr std::string_view kXmlSpace = " \t\r\n";
constexpr std::size_t kMaxDepth = 32;

}  // namespace

char XmlReader::peek() const {
  if (at_ >= file_.bytes.size()) fail("the file ends within a tag; it is cut short");
  return file_.bytes[at_];
}

void XmlReader::skip_space() noexcept {
  at_ = std::min(file_.bytes.find_first_not_of(kXmlSpace, at_), file_.bytes.size());
}

void XmlReader::pass_over(std::string_view end) {
  const std::size_t found = file_.bytes.find(end, at_);
  if (found == std::string_view::npos) fail("{} is missing; the file is cut short", quote_for_message(end));
  at_ = found + end.size();
}

std::string_view XmlReader::read_name() {
  const std::size_t end = std::min(file_.bytes.find_first_of(" \t\r\n=/><\"'", at_), file_.bytes.size());
  const std::string_view name = file_.bytes.substr(at_, end - at_);
  if (name.empty()) fail("a tag or attribute without a name");
  at_ = end;
  return name;
}

void XmlReader::read_attributes() {
  attributes_.clear();
  while (true) {
    skip_space();
    if (peek() == '>' || peek() == '/') return;
    const std::string_view name = read_name();
    skip_space();
    if (peek() != '=') fail("attribute {} has no value", quote_for_message(name));
    ++at_;
    skip_space();
    const char quote = peek();
    if (quote != '"' && quote != '\'') fail("the value of attribute {} is not quoted", quote_for_message(name));
    const std::size_t begin = ++at_;
    at_ = file_.bytes.find(quote, begin);
    if (at_ == std::string_view::npos) {
      at_ = file_.bytes.size();
      fail("the value of attribute {} has no end; the file is cut short", quote_for_message(name));
    }
    attributes_.emplace_back(name, file_.bytes.substr(begin, at_ - begin));
    ++at_;
  }
}

XmlReader::Tag XmlReader::next() {
  if (closes_itself_) {
    closes_itself_ = false;
    open_.pop_back();
    return Tag::kClose;
  }
  while (true) {
    at_ = file_.bytes.find('<', at_);
    if (at_ == std::string_view::npos) {
      tag_begin_ = at_ = file_.bytes.size();
      if (!open_.empty()) fail("the file ends within <{}>; it is cut short", open_.back());
      return Tag::kEnd;
    }
    tag_begin_ = at_++;
    const std::string_view rest = file_.bytes.substr(at_);
    if (rest.starts_with("!--")) {
      pass_over("-->");
    } else if (rest.starts_with("?")) {
      pass_over("?>");
    } else if (rest.starts_with("!")) {
      fail("<!… is not supported (no DOCTYPE, no CDATA)");
    } else {
      break;
    }
  }
  if (peek() == '/') {
    ++at_;
    name_ = read_name();
    skip_space();
    if (peek() != '>') fail("</{}> is not closed", quote_for_message(name_));
    ++at_;
    if (open_.empty() || open_.back() != name_) fail("</{}> closes nothing", quote_for_message(name_));
    open_.pop_back();
    return Tag::kClose;
  }
  name_ = read_name();
  read_attributes();
  if (open_.size() == kMaxDepth) fail("nested deeper than {}", kMaxDepth);
  open_.push_back(name_);
  closes_itself_ = peek() == '/';
  if (closes_itself_) ++at_;
  if (peek() != '>') fail("<{}> is not closed", quote_for_message(name_));
  ++at_;
  return Tag::kOpen;
}

std::string_view XmlReader::attribute(std::string_view name, std::string_view otherwise) const noexcept {
  for (const auto& [key, value] : attributes_) {
    if (key == name) return value;
  }
  return otherwise;
}

}  // namespace palpate
