#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scalar_type.h"
#include "volume_readers.h"

// What VTK's legacy and XML formats have in common: lists of numbers, and cells made of them.
namespace palpate {

struct SourceFile {
  const std::string& name;
  std::string_view bytes;
};

/// Numbers of a file, with what it takes to say where each of them stands.
struct NumberList {
  std::vector<double> values;
  std::size_t begin = 0;                                            ///< byte of the file where the list starts
  enum class Form { kText, kBinary, kEncoded } form = Form::kText;  ///< encoded: base64 or compressed
  std::size_t stride = 0;                                           ///< bytes from value to value, if binary
};

/// `file:line` or `file: byte n` of value k of the list; of an encoded list, where it starts.
std::string describe_place(const SourceFile& file, const NumberList& list, std::size_t k);
/// The same of a byte of a text.
std::string describe_line(const SourceFile& file, std::size_t byte);

/// Reads `count` words from byte `begin` on as numbers; `at` becomes the byte after the last.
NumberList read_text_list(const SourceFile& file, std::size_t begin, std::size_t count, std::size_t& at);

struct CellList {
  NumberList nodes;
  std::vector<std::size_t> first, count;  ///< of each cell: its nodes within `nodes`
  NumberList types;                       ///< VTK's numbers, one a cell
  NumberList regions;                     ///< one a cell, or none
};

/// Appends three coordinates a point; refuses what is not finite.
void add_points(const SourceFile& file, const NumberList& list, std::vector<Vec3>& vertices);

/// Node `k` of the list as an index, if it is one of `points`; throws otherwise.
std::int32_t read_index(const SourceFile& file, const NumberList& list, std::size_t k, std::size_t points);

/// Appends the tets among the cells, their nodes counted from `base`, of which there are `points`; the caller has
/// checked that `first` and `count` stay within `nodes` and that all lists have one entry a cell.
void add_cells(const SourceFile& file, const CellList& cells, std::size_t base, std::size_t points, RawVolume& out);

/// True for the names under which tools write regions: region, material, gmsh:physical, medit:ref and the like.
bool is_region_name(std::string_view name);

}  // namespace palpate
