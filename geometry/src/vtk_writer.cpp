#include "vtk_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

#include "palpate/core/error.h"

namespace palpate {
namespace {

static_assert(std::endian::native == std::endian::little, "the writer puts numbers into files as they lie in memory");

std::string encode_base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) out.push_back(i + k <= bytes.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=');
  }
  return out;
}

template <typename T>
constexpr std::string_view vtu_type() {
  if constexpr (std::is_same_v<T, double>) return "Float64";
  if constexpr (std::is_same_v<T, std::int64_t>) return "Int64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "Int32";
  return "UInt8";
}

class VtuWriter {
 public:
  explicit VtuWriter(bool ascii) : ascii_(ascii) {}

  template <typename... Args>
  void text(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  template <typename T>
  void array(std::string_view name, int components, std::span<const T> values) {
    text("        <DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"{}\">\n", vtu_type<T>(), name,
         components, ascii_ ? "ascii" : "binary");
    if (ascii_) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool last = (i + 1) % as_size(components) == 0;
        text("{}{}", values[i], last ? '\n' : ' ');
      }
    } else {
      const std::uint64_t size = values.size_bytes();
      std::string bytes(sizeof size, '\0');
      std::memcpy(bytes.data(), &size, sizeof size);
      if (size > 0) bytes.append(reinterpret_cast<const char*>(values.data()), size);
      text("{}\n", encode_base64(bytes));
    }
    text("        </DataArray>\n");
  }
  std::string take() { return fmt::to_string(out_); }

 private:
  bool ascii_;
  fmt::memory_buffer out_;
};

/// Numbers of a VTK legacy file: text, or big-endian.
class LegacyWriter {
 public:
  explicit LegacyWriter(bool ascii) : ascii_(ascii) {}

  template <typename... Args>
  void text(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  template <typename T>
  void number(T value) {
    if (ascii_) {
      text("{} ", value);
      return;
    }
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), &value, sizeof(T));
    std::reverse(raw.begin(), raw.end());
    out_.append(raw.data(), raw.data() + raw.size());
  }
  void end_row() {
    if (ascii_) text("\n");
  }
  template <typename T>
  void scalars(std::string_view name, std::string_view type, std::span<const T> values) {
    text("SCALARS {} {} 1\nLOOKUP_TABLE default\n", name, type);
    for (const T value : values) {
      number(value);
      end_row();
    }
    text("\n");
  }
  std::string take() { return fmt::to_string(out_); }

 private:
  bool ascii_;
  fmt::memory_buffer out_;
};

std::span<const double> flat(std::span<const Vec3> points) {
  static_assert(sizeof(Vec3) == 3 * sizeof(double));
  return points.empty() ? std::span<const double>() : std::span(points[0].data(), 3 * points.size());
}

}  // namespace

void check_fields(const std::string& name, const VtkGrid& grid) {
  for (const PointField& field : grid.fields) {
    if (field.components < 1 || field.values.size() != grid.vertices.size() * as_size(field.components)) {
      fail_input("{}: field {} has {} values; {} components of {} vertices are needed", name,
                 quote_for_message(field.name), field.values.size(), field.components, grid.vertices.size());
    }
    // One word for legacy files, and nothing that XML would have to escape.
    if (field.name.empty() || field.name.find_first_of(" \t\r\n<>&\"'") != std::string::npos) {
      fail_input("{}: field name {}; it must be a word without quotes, <, > and &", name,
                 quote_for_message(field.name));
    }
  }
}

std::string format_vtu(const VtkGrid& grid, bool ascii) {
  const std::size_t per_cell = as_size(grid.nodes_per_cell), cells = grid.nodes.size() / per_cell;
  VtuWriter out(ascii);
  out.text(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
      grid.vertices.size(), cells);
  if (!grid.fields.empty()) {
    out.text("      <PointData>\n");
    for (const PointField& field : grid.fields) out.array<double>(field.name, field.components, field.values);
    out.text("      </PointData>\n");
  }
  if (!grid.regions.empty() || !grid.fill.empty()) {
    out.text("      <CellData Scalars=\"{}\">\n", grid.regions.empty() ? "fill" : "region");
    if (!grid.regions.empty()) out.array("region", 1, grid.regions);
    if (!grid.fill.empty()) out.array("fill", 1, grid.fill);
    out.text("      </CellData>\n");
  }
  out.text("      <Points>\n");
  out.array("Points", 3, flat(grid.vertices));
  out.text("      </Points>\n      <Cells>\n");
  out.array("connectivity", 1, grid.nodes);
  std::vector<std::int64_t> ends;
  for (std::size_t c = 1; c <= cells; ++c) ends.push_back(static_cast<std::int64_t>(c * per_cell));
  out.array<std::int64_t>("offsets", 1, ends);
  out.array<std::uint8_t>("types", 1, std::vector<std::uint8_t>(cells, static_cast<std::uint8_t>(grid.cell_type)));
  out.text("      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n</VTKFile>\n");
  return out.take();
}

std::string format_vtk_legacy(const VtkGrid& grid, bool ascii) {
  const std::size_t per_cell = as_size(grid.nodes_per_cell), cells = grid.nodes.size() / per_cell;
  LegacyWriter out(ascii);
  out.text("# vtk DataFile Version 3.0\nPalpate\n{}\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
           ascii ? "ASCII" : "BINARY", grid.vertices.size());
  for (const Vec3& p : grid.vertices) {
    for (int axis = 0; axis < 3; ++axis) out.number(p[axis]);
    out.end_row();
  }
  out.text("\nCELLS {} {}\n", cells, cells * (per_cell + 1));
  for (std::size_t c = 0; c < cells; ++c) {
    out.number(std::int32_t{grid.nodes_per_cell});
    for (std::size_t i = 0; i < per_cell; ++i) out.number(grid.nodes[c * per_cell + i]);
    out.end_row();
  }
  out.text("\nCELL_TYPES {}\n", cells);
  for (std::size_t c = 0; c < cells; ++c) {
    out.number(std::int32_t{grid.cell_type});
    out.end_row();
  }
  if (!grid.regions.empty() || !grid.fill.empty()) out.text("\nCELL_DATA {}\n", cells);
  if (!grid.regions.empty()) out.scalars("region", "int", grid.regions);
  if (!grid.fill.empty()) out.scalars("fill", "double", grid.fill);
  if (!grid.fields.empty())
    out.text("\nPOINT_DATA {}\nFIELD point_fields {}\n", grid.vertices.size(), grid.fields.size());
  for (const PointField& field : grid.fields) {
    out.text("{} {} {} double\n", field.name, field.components, grid.vertices.size());
    for (const double value : field.values) out.number(value);
    out.text("\n");
  }
  out.text("\n");
  return out.take();
}

}  // namespace palpate
