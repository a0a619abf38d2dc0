#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "palpate/linear/block_matrix.h"

namespace palpate {

/// Shape of a front: `pivots` block columns to eliminate, which couple to `rows` further blocks.
///
/// Its part of L is a panel of strips of twelve rows, or twenty-four in single precision (tile_kernels.h): first the
/// pivot strips, strip s with columns up to its diagonal, then the row strips with all columns. Columns are padded to a
/// multiple of 4 by unit pivots, rows of both parts to whole strips by zeros. The update matrix, rows × rows, lies
/// likewise in strips, each with columns up to its diagonal.
struct FrontShape {
  int pivots = 0, rows = 0;
  int log_blocks = 2;  ///< a strip has 2 to the power of this blocks: 2 or 3

  int blocks() const noexcept { return 1 << log_blocks; }
  int strips_of(int block_rows) const noexcept { return (block_rows + blocks() - 1) >> log_blocks; }
  /// The strip and the first row in it of a block, numbered in whole strips.
  int strip_of(int place) const noexcept { return place >> log_blocks; }
  int row_of(int place) const noexcept { return 3 * (place & (blocks() - 1)); }
  std::size_t strip_rows() const noexcept { return 3 * as_size(blocks()); }

  int columns() const noexcept { return 3 * pivots; }
  int padded_columns() const noexcept { return (3 * pivots + 3) / 4 * 4; }
  int pivot_strips() const noexcept { return strips_of(pivots); }
  int row_strips() const noexcept { return strips_of(rows); }

  /// Offset of strip s in the panel.
  std::size_t panel_offset(int s) const noexcept {
    const int triangle = pivot_strips();
    if (s < triangle) return triangle_offset(s);
    const auto whole = as_size(s - triangle) + (triangle > 0 ? 1 : 0);
    return (triangle > 0 ? triangle_offset(triangle - 1) : 0) + strip_rows() * whole * padded_columns();
  }
  std::size_t panel_size() const noexcept { return panel_offset(pivot_strips() + row_strips()); }
  std::size_t update_offset(int s) const noexcept { return triangle_offset(s); }
  std::size_t update_size() const noexcept { return update_offset(row_strips()); }

 private:
  std::size_t triangle_offset(int s) const noexcept { return strip_rows() * strip_rows() * (as_size(s) * (s + 1) / 2); }
};

struct Front {
  FrontShape shape;
  int parent = -1;
  int first = 0;           ///< position of the first pivot in the elimination order
  int slab = 0;            ///< place of the first column in slabs: vectors in elimination order with padded columns
  std::size_t panel = 0;   ///< offset in the panels
  std::size_t update = 0;  ///< offset in the stack of update matrices of its parity
  int parity = 0;          ///< of its depth
  int rows_begin = 0;      ///< into row_slabs, strip_rows() a strip
  int places_begin = 0;    ///< into row_places, one a block
  int pivot_rows = 0;      ///< of its rows, how many are pivots of the parent
  int children_begin = 0, children_end = 0;  ///< into FrontTree::children
  int blocks_begin = 0, blocks_end = 0;      ///< into FrontTree::blocks
};

/// A block of A and where it goes in the panels.
struct BlockTarget {
  std::size_t target;
  std::int32_t index;
  bool transposed;
};

/// The analysis of a pattern for BlockCholesky: what is eliminated when, and where everything is stored. Immutable.
struct FrontTree {
  std::vector<int> order;     ///< order[k]: block eliminated k-th
  std::vector<int> place;     ///< slab position of the first scalar of each block; −1 if it is left out
  std::vector<int> front_of;  ///< front that eliminates each block; likewise
  std::vector<Front> fronts;  ///< children before parents
  std::vector<int> children;
  std::vector<BlockTarget> blocks;
  /// Slab position of each scalar row below a front, padded with slab_size to whole strips.
  std::vector<int> row_slabs;
  /// Place of each row block in the parent: as pivot, or after all blocks of the pivot strips as one of its rows.
  std::vector<int> row_places;
  int slab_size = 0;
  int largest_strips = 0;  ///< most strips of a front
  std::size_t panels_size = 0;
  std::size_t updates_size[2] = {0, 0};
  double operations = 0.0;
  double predicted_cycles = 0.0;
};

/// Analyses a pattern for the given elimination order, which only needs to be a good one: it is changed to a postorder
/// of the merged fronts. Strips of 2 to the power of `log_blocks` blocks. Allocates.
FrontTree make_front_tree(const BlockPattern& pattern, std::span<const int> order, int log_blocks);

/// For a tree of `part`, whose block i is block blocks[i], ascending, of `whole`: as if it had been made of that.
void rename_blocks(FrontTree& tree, const BlockPattern& part, std::span<const int> blocks, const BlockPattern& whole);

}  // namespace palpate
