#pragma once

#include "vtk_cells.h"

namespace palpate {

/// How a VTK XML file keeps its binary data; the attributes of <VTKFile>.
struct VtuEncoding {
  bool big_endian = false;
  bool wide_headers = false;  ///< UInt64, else UInt32
  bool zlib = false;
};

/// One <DataArray>, not yet read.
struct VtuArray {
  ScalarType type = ScalarType::kFloat64;
  enum class Form { kText, kBase64, kRaw } form = Form::kText;
  std::size_t begin = 0;  ///< byte of its text or data
};

/// Reads `count` numbers of an array. Binary data is a header (its size in bytes) and the bytes; compressed: a header
/// of {blocks, bytes of a block, bytes of the last if partial, compressed bytes of each} and the blocks. In base64 the
/// header may be encoded on its own or with the data: padding in the middle is passed over. Throws InputError if there
/// are fewer or more than `count`.
NumberList read_vtu_array(const SourceFile& file, const VtuEncoding& encoding, const VtuArray& array,
                          std::size_t count);

}  // namespace palpate
