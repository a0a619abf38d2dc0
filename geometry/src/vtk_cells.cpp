#include "vtk_cells.h"

#include <array>
#include <cctype>

namespace palpate {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

std::string_view next_word(std::string_view bytes, std::size_t& at) {
  at = std::min(bytes.find_first_not_of(kSpace, at), bytes.size());
  const std::size_t end = std::min(bytes.find_first_of(kSpace, at), bytes.size());
  const std::string_view word = bytes.substr(at, end - at);
  at = end;
  return word;
}

enum class Kind { kSkipped, kTet, kHighOrderTet, kHex, kOtherSolid };

/// vtkCellType.h. All tets list their corners first.
Kind kind_of(double type) noexcept {
  if (type == 10) return Kind::kTet;
  if (type == 11 || type == 12) return Kind::kHex;
  if (type == 24 || type == 71 || type == 78) return Kind::kHighOrderTet;
  const bool flat = (type >= 0 && type <= 9) || (type >= 21 && type <= 23) ||
                    (type >= 28 && type <= 36 && type != 29 && type != 32 && type != 33) ||
                    (type >= 68 && type <= 70) || (type >= 75 && type <= 77);
  return flat ? Kind::kSkipped : Kind::kOtherSolid;
}

}  // namespace

std::string describe_line(const SourceFile& file, std::size_t byte) {
  const auto end = file.bytes.begin() + static_cast<std::ptrdiff_t>(std::min(byte, file.bytes.size()));
  return fmt::format("{}:{}", file.name, 1 + std::count(file.bytes.begin(), end, '\n'));
}

std::string describe_place(const SourceFile& file, const NumberList& list, std::size_t k) {
  if (list.form == NumberList::Form::kText) {
    std::size_t at = list.begin;
    std::string_view word;
    for (std::size_t i = 0; i <= k && at < file.bytes.size(); ++i) word = next_word(file.bytes, at);
    return describe_line(file, at - word.size());
  }
  if (list.form == NumberList::Form::kBinary)
    return fmt::format("{}: byte {}", file.name, list.begin + k * list.stride);
  return fmt::format("{}: value {} of the data from byte {}", file.name, k, list.begin);
}

NumberList read_text_list(const SourceFile& file, std::size_t begin, std::size_t count, std::size_t& at) {
  NumberList list;
  list.begin = at = begin;
  list.values.reserve(std::min(count, file.bytes.size() / 2));
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view word = next_word(file.bytes, at);
    if (word.empty()) {
      fail_input("{}: ends after {} of {} values; the file is cut short", describe_line(file, at), i, count);
    }
    double value = 0.0;
    if (!parse_number(word.starts_with('+') ? word.substr(1) : word, value)) {
      fail_input("{}: {} is not a number; value {} of {}", describe_line(file, at - word.size()),
                 quote_for_message(word), i, count);
    }
    list.values.push_back(value);
  }
  return list;
}

void add_points(const SourceFile& file, const NumberList& list, std::vector<Vec3>& vertices) {
  for (std::size_t i = 0; i + 3 <= list.values.size(); i += 3) {
    const Vec3 p(list.values[i], list.values[i + 1], list.values[i + 2]);
    if (!p.allFinite()) {
      fail_input("{}: point {} is ({}, {}, {}); coordinates must be finite", describe_place(file, list, i), i / 3,
                 p.x(), p.y(), p.z());
    }
    vertices.push_back(p);
  }
}

std::int32_t read_index(const SourceFile& file, const NumberList& list, std::size_t k, std::size_t points) {
  const double value = list.values[k];
  if (!(value >= 0.0 && value < static_cast<double>(points)) || value != std::floor(value)) {
    fail_input("{}: point {} is out of range; allowed are 0 to {}", describe_place(file, list, k), value,
               static_cast<std::int64_t>(points) - 1);
  }
  return static_cast<std::int32_t>(value);
}

/// A hexahedron (12) or voxel (11); corners by bits: x 1, y 2, z 4.
static void add_hex(const SourceFile& file, const CellList& cells, std::size_t c, std::size_t base, std::size_t points,
                    RawVolume& out) {
  if (cells.count[c] != 8)
    fail_input("{}: cell {} is a hexahedron of {} points", describe_place(file, cells.types, c), c, cells.count[c]);
  // VTK's hexahedra go around the square, its voxels count by bits.
  constexpr std::array<std::size_t, 8> kAround = {0, 1, 3, 2, 4, 5, 7, 6};
  std::array<std::int32_t, 8> hex;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t at = cells.types.values[c] == 11 ? i : kAround[i];
    hex[i] = static_cast<std::int32_t>(base) + read_index(file, cells.nodes, cells.first[c] + at, points);
  }
  out.hexes.push_back(hex);
}

void add_cells(const SourceFile& file, const CellList& cells, std::size_t base, std::size_t points, RawVolume& out) {
  const bool has_regions = !cells.regions.values.empty();
  for (std::size_t c = 0; c < cells.first.size(); ++c) {
    const Kind kind = kind_of(cells.types.values[c]);
    if (kind == Kind::kSkipped) {
      ++out.repair.skipped_elements;
      continue;
    }
    if (kind == Kind::kOtherSolid) {
      fail_input(
          "{}: cell {} has type {}; of solids only tetrahedra (10, 24, 71, 78) and hexahedra (11, 12) are supported, "
          "not wedges (13) or pyramids (14)",
          describe_place(file, cells.types, c), c, cells.types.values[c]);
    }
    if (kind == Kind::kHex) {
      add_hex(file, cells, c, base, points, out);
      continue;
    }
    if (cells.count[c] < 4 || (kind == Kind::kTet && cells.count[c] != 4)) {
      fail_input("{}: cell {} is a tetrahedron of {} points", describe_place(file, cells.types, c), c, cells.count[c]);
    }
    if (kind == Kind::kHighOrderTet) ++out.repair.straightened_tets;
    std::array<std::int32_t, 4> tet;
    for (std::size_t i = 0; i < 4; ++i) {
      tet[i] = static_cast<std::int32_t>(base) + read_index(file, cells.nodes, cells.first[c] + i, points);
    }
    out.mesh.tets.push_back(tet);
    if (!has_regions) continue;
    const std::int32_t region = region_from(cells.regions.values[c]);
    if (region < 0) {
      fail_input("{}: region {} of cell {}; it must be a whole number from 0 to 2147483647",
                 describe_place(file, cells.regions, c), cells.regions.values[c], c);
    }
    out.mesh.regions.push_back(region);
  }
}

bool is_region_name(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static const std::vector<std::string_view> kNames = {
      "region",      "regions",     "regionid",      "region_id",     "material",  "materials", "materialid",
      "materialids", "material_id", "cellentityids", "gmsh:physical", "medit:ref", "cell_tags", "tetgen:ref"};
  return std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

}  // namespace palpate
