#include "text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "palpate/core/error.h"

namespace palpate {

void write_text_file(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) fail_input("{}: cannot be written ({})", file, std::strerror(errno));
}

std::string read_text_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) fail_input("{}: cannot be read ({})", file, std::strerror(errno));
  return text;
}

}  // namespace palpate
