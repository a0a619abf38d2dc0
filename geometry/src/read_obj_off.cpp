#include <algorithm>

#include "mesh_readers.h"

namespace palpate {
namespace {

/// The vertex that an OBJ corner such as `7`, `7/2/3` or `-1` names.
std::int32_t read_corner(const LineReader& lines, std::string_view word, std::int64_t vertices) {
  const std::string_view digits = word.substr(0, word.find('/'));
  std::int64_t i = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), i);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    lines.fail("{} is not a vertex index", quote_for_message(word));
  }
  const std::int64_t index = i < 0 ? vertices + i : i - 1;
  if (i == 0 || index < 0 || index >= vertices) {
    lines.fail("vertex index {} is out of range; allowed are 1 to {} or -{} to -1", i, vertices, vertices);
  }
  return static_cast<std::int32_t>(index);
}

}  // namespace

TriangleMesh read_obj(const std::string& name, std::string_view bytes) {
  if (bytes.find('\0') != std::string_view::npos)
    fail_input("{}: not an OBJ file: it has bytes that are not text", name);
  // A backslash at the end of a line continues it.
  std::string joined(bytes);
  for (std::size_t at = joined.find('\\'); at != std::string::npos; at = joined.find('\\', at + 1)) {
    const std::size_t end = joined.find_first_not_of(" \t\r", at + 1);
    if (end != std::string::npos && joined[end] == '\n') std::fill(joined.begin() + at, joined.begin() + end + 1, ' ');
  }
  TriangleMesh mesh;
  // Faces may name vertices that come later, so these are counted first; negative indices count back from where
  // they stand.
  std::vector<std::int32_t> corners;
  LineReader vertices(name, joined);
  std::int64_t total = 0;
  while (vertices.next()) total += vertices.words()[0] == "v";
  if (total == 0) fail_input("{}: not an OBJ file with a mesh: no line starts with 'v'", name);
  LineReader lines(name, joined);
  while (lines.next()) {
    const auto& words = lines.words();
    if (words[0] == "v") mesh.vertices.push_back(lines.point(1));
    if (words[0] != "f") continue;
    if (words.size() < 4) lines.fail("a face needs three corners or more, this has {}", words.size() - 1);
    corners.clear();
    const auto so_far = static_cast<std::int64_t>(mesh.vertices.size());
    for (std::size_t i = 1; i < words.size(); ++i) {
      corners.push_back(read_corner(lines, words[i], words[i][0] == '-' ? so_far : total));
    }
    add_polygon(mesh, corners);
  }
  return mesh;
}

TriangleMesh read_off(const std::string& name, std::string_view bytes) {
  LineReader lines(name, bytes);
  const bool any = lines.next();
  const std::vector<std::string_view> known = {"OFF", "COFF", "NOFF", "CNOFF", "STOFF"};
  if (!any || std::find(known.begin(), known.end(), lines.words()[0]) == known.end()) {
    fail_input("{}: not an OFF file: it starts with {}; allowed are {}", name,
               any ? quote_for_message(lines.words()[0], 12) : "nothing", join_words(known));
  }
  std::size_t word = 1;
  if (lines.words().size() > 1 && lines.words()[1] == "BINARY") lines.fail("binary OFF is not supported; use ASCII");
  if (lines.words().size() == 1) {
    lines.require_next("the number of vertices and faces");
    word = 0;
  }
  const std::int64_t vertices = lines.integer(word), faces = lines.integer(word + 1);
  // Each takes six bytes at least ("0 0 0\n"), so a count past that is wrong and must not size an allocation.
  const auto most = static_cast<std::int64_t>(bytes.size() / 6 + 1);
  if (vertices < 0 || faces < 0 || vertices > most || faces > most) {
    lines.fail("{} vertices and {} faces do not fit into {} bytes; the file is cut short or its counts are wrong",
               vertices, faces, bytes.size());
  }
  TriangleMesh mesh;
  mesh.vertices.reserve(vertices);
  for (std::int64_t i = 0; i < vertices; ++i) {
    lines.require_next("a vertex");
    mesh.vertices.push_back(lines.point(0));
  }
  std::vector<std::int32_t> corners;
  for (std::int64_t f = 0; f < faces; ++f) {
    lines.require_next("a face");
    const std::int64_t count = lines.integer(0);
    if (count < 1 || count > static_cast<std::int64_t>(lines.words().size()) - 1) {
      lines.fail("a face of {} corners on a line of {} words", count, lines.words().size());
    }
    corners.clear();
    for (std::int64_t i = 1; i <= count; ++i) {
      const std::int64_t index = lines.integer(i);
      if (index < 0 || index >= vertices) {
        lines.fail("vertex index {} is out of range; allowed are 0 to {}", index, vertices - 1);
      }
      corners.push_back(static_cast<std::int32_t>(index));
    }
    add_polygon(mesh, corners);
  }
  return mesh;
}

}  // namespace palpate
