#include <array>

#include "volume_readers.h"

namespace palpate {
namespace {

/// Reads the first line's counts, which must fit into the file.
std::int64_t read_count(LineReader& lines, std::string_view bytes, const char* what) {
  if (bytes.find('\0') != std::string_view::npos) lines.fail("not a TetGen file: it has zero bytes");
  lines.require_next("the header");
  const std::int64_t n = lines.integer(0);
  if (n < 0 || n > static_cast<std::int64_t>(bytes.size())) {
    lines.fail("{} {} do not fit into {} bytes; the file is cut short or its counts are wrong", n, what, bytes.size());
  }
  return n;
}

/// Returns the number of the first node, 0 or 1.
std::int64_t read_nodes(const std::string& name, std::string_view bytes, std::vector<Vec3>& vertices) {
  LineReader lines(name, bytes);
  const std::int64_t n = read_count(lines, bytes, "nodes");
  if (lines.words().size() > 1 && lines.integer(1) != 3) lines.fail("dimension {}; it must be 3", lines.shown(1));
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    lines.require_next("a node");
    const std::int64_t number = lines.integer(0);
    if (i == 0) first = number;
    if (i == 0 && number != 0 && number != 1) lines.fail("the first node has number {}; it must be 0 or 1", number);
    if (number != first + i) lines.fail("node {} where {} was due; nodes must be in order", number, first + i);
    vertices.push_back(lines.point(1));
  }
  return first;
}

}  // namespace

RawVolume read_tetgen(const std::string& node_name, std::string_view node_bytes, const std::string& ele_name,
                      std::string_view ele_bytes) {
  RawVolume out;
  out.format = "TetGen";
  const std::int64_t first = read_nodes(node_name, node_bytes, out.mesh.vertices);
  const std::int64_t last = first + static_cast<std::int64_t>(out.mesh.vertices.size()) - 1;

  LineReader lines(ele_name, ele_bytes);
  const std::int64_t n = read_count(lines, ele_bytes, "tets");
  const std::int64_t corners = lines.words().size() > 1 ? lines.integer(1) : 4;
  if (corners != 4 && corners != 10) lines.fail("{} nodes a tet; allowed are 4 and 10", corners);
  const bool has_regions = lines.words().size() > 2 && lines.integer(2) > 0;
  for (std::int64_t i = 0; i < n; ++i) {
    lines.require_next("a tet");
    std::array<std::int32_t, 4> tet;
    for (std::size_t c = 0; c < 4; ++c) {
      const std::int64_t node = lines.integer(1 + c);
      if (node < first || node > last) {
        lines.fail("node {} is out of range; allowed are {} to {}", node, first, last);
      }
      tet[c] = static_cast<std::int32_t>(node - first);
    }
    out.mesh.tets.push_back(tet);
    if (corners == 10) ++out.repair.straightened_tets;
    if (!has_regions) continue;
    const std::size_t word = as_size(1 + corners);
    const std::int32_t region = region_from(lines.number(word));
    if (region < 0) lines.fail("region {}; it must be a whole number from 0 to 2147483647", lines.shown(word));
    out.mesh.regions.push_back(region);
  }
  if (lines.next()) lines.fail("{} tets were declared, but there are more lines", n);
  return out;
}

}  // namespace palpate
