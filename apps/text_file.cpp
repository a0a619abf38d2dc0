#include "text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "palpate/core/error.h"

namespace palpate {

void write_text_file(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) fail_input("{}: cannot be written ({})", file, std::strerror(errno));
}

}  // namespace palpate
