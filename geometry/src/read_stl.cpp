#include <bit>
#include <cstring>

#include "mesh_readers.h"

namespace palpate {
namespace {

static_assert(std::endian::native == std::endian::little, "binary STL is read as it lies in memory");

constexpr std::size_t kHeader = 84;  // 80 bytes of anything, then the number of triangles
constexpr std::size_t kFacet = 50;   // normal, three corners, two bytes of attributes

TriangleMesh read_binary(const std::string& name, std::string_view bytes, std::size_t count) {
  TriangleMesh mesh;
  mesh.vertices.reserve(3 * count);
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t corner = 0; corner < 3; ++corner) {
      float p[3];
      std::memcpy(p, bytes.data() + kHeader + t * kFacet + 12 * (corner + 1), sizeof p);
      if (!std::isfinite(p[0]) || !std::isfinite(p[1]) || !std::isfinite(p[2])) {
        fail_input("{}: triangle {} has corner ({}, {}, {}); coordinates must be finite", name, t, p[0], p[1], p[2]);
      }
      mesh.vertices.emplace_back(p[0], p[1], p[2]);
    }
    const auto i = static_cast<std::int32_t>(3 * t);
    mesh.triangles.push_back({i, i + 1, i + 2});
  }
  return mesh;
}

TriangleMesh read_ascii(const std::string& name, std::string_view bytes) {
  TriangleMesh mesh;
  LineReader lines(name, bytes);
  int corners = 0;
  bool ended = false;
  // '\0' for "no comments": '#' may stand in a solid's name.
  while (lines.next('\0')) {
    const std::string_view word = lines.words()[0];
    if (word == "vertex") {
      mesh.vertices.push_back(lines.point(1));
      ++corners;
    } else if (word == "endloop" || word == "endfacet") {
      if (corners != 3 && !(word == "endfacet" && corners == 0)) {
        lines.fail("a facet with {} vertices; allowed are 3", corners);
      }
      if (corners == 3) {
        const auto i = static_cast<std::int32_t>(mesh.vertices.size()) - 3;
        mesh.triangles.push_back({i, i + 1, i + 2});
      }
      corners = 0;
    } else if (word == "solid" || word == "endsolid") {
      ended = word == "endsolid";
    } else if (word != "facet" && word != "outer") {
      lines.fail("{} is not a word of an ASCII STL file", lines.shown(0));
    }
  }
  if (!ended || corners != 0) fail_input("{}: no 'endsolid' at the end; the file is cut short", name);
  return mesh;
}

}  // namespace

TriangleMesh read_stl(const std::string& name, std::string_view bytes) {
  std::uint32_t count = 0;
  if (bytes.size() >= kHeader) std::memcpy(&count, bytes.data() + 80, sizeof count);
  // The size decides first: many binary files start with "solid" too.
  if (bytes.size() >= kHeader && bytes.size() == kHeader + kFacet * std::size_t{count}) {
    return read_binary(name, bytes, count);
  }
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && bytes.substr(first).starts_with("solid") &&
      bytes.find('\0') == std::string_view::npos) {
    return read_ascii(name, bytes);
  }
  if (bytes.size() < kHeader)
    fail_input("{}: not an STL file: {} bytes, and no 'solid' at its start", name, bytes.size());
  fail_input("{}: a binary STL file of {} triangles has {} bytes, this has {}; it is cut short or not an STL file",
             name, count, kHeader + kFacet * std::size_t{count}, bytes.size());
}

}  // namespace palpate
