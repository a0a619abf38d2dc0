#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "palpate/geometry/volume_file.h"

namespace palpate {

inline constexpr int kVtkTet = 10, kVtkHexahedron = 12;

/// An unstructured grid of cells of one kind, as views.
struct VtkGrid {
  std::span<const Vec3> vertices;
  std::span<const std::int32_t> nodes;  ///< nodes_per_cell to each cell
  int nodes_per_cell = 4;
  int cell_type = kVtkTet;
  std::span<const std::int32_t> regions;  ///< one a cell, or none
  std::span<const double> fill;           ///< the same
  std::span<const PointField> fields;
};

/// Throws InputError if a field's length does not fit the vertices, or if a name cannot stand in a file.
void check_fields(const std::string& name, const VtkGrid& grid);

/// The file's content. Numbers in text are such that reading gives the same bits.
std::string format_vtu(const VtkGrid& grid, bool ascii);
std::string format_vtk_legacy(const VtkGrid& grid, bool ascii);

}  // namespace palpate
