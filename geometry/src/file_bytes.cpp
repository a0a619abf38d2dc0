#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "volume_readers.h"

namespace palpate {

std::string read_ending(const std::filesystem::path& path, const std::vector<std::string_view>& known) {
  std::string ending = path.extension().string();
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (std::find(known.begin(), known.end(), ending) == known.end()) {
    const std::string_view near = nearest_word(ending, known);
    fail_input("{}: unknown ending {}; known are {}{}{}{}", path.string(), quote_for_message(ending), join_words(known),
               near.empty() ? "" : " (did you mean ", near, near.empty() ? "" : "?)");
  }
  return ending;
}

std::string read_file_bytes(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) fail_input("{}: no such file", path.string());
  if (std::filesystem::is_directory(path, error)) fail_input("{}: a folder; a mesh file is needed", path.string());
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_input("{}: cannot be opened: {}", path.string(), std::strerror(errno));
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) fail_input("{}: cannot be read: {}", path.string(), std::strerror(errno));
  if (bytes.empty()) fail_input("{}: the file is empty", path.string());
  if (bytes.size() > std::size_t{std::numeric_limits<std::int32_t>::max()}) {
    fail_input("{}: {} bytes; allowed are up to 2 GiB", path.string(), bytes.size());
  }
  return bytes;
}

void write_file_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) fail_input("{}: cannot be written: {}", path.string(), std::strerror(errno));
}

}  // namespace palpate
