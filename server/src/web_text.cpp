#include "web_text.h"

#include <algorithm>

namespace palpate {

std::string_view find_value(std::string_view text, std::string_view key, char separator) noexcept {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string_view part = text.substr(0, end);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    if (part.size() > key.size() && part.substr(0, key.size()) == key && part[key.size()] == '=')
      return part.substr(key.size() + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

bool equal_secret(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

namespace web_text {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace web_text

std::string decode_name(std::string_view text, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%' && i + 2 < text.size() && web_text::hex_digit(text[i + 1]) >= 0 &&
        web_text::hex_digit(text[i + 2]) >= 0) {
      c = static_cast<char>(16 * web_text::hex_digit(text[i + 1]) + web_text::hex_digit(text[i + 2]));
      i += 2;
    }
    if (c == '/' || c == '\\') out.clear();
    const auto code = static_cast<unsigned char>(c);
    if (c != '/' && c != '\\' && code >= 0x20 && code != 0x7f) out += c;
  }
  if (out.size() > most) out.erase(0, out.size() - most);  // the ending tells the format
  return out;
}

}  // namespace palpate
