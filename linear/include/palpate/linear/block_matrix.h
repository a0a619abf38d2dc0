#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "palpate/core/math.h"

namespace palpate {

/// Which blocks each element couples. An entry −1 stands for a node without unknowns (a fixed one): it takes part in
/// the element and not in the matrix.
struct BlockGroups {
  std::vector<int> begin{0};  ///< group e is blocks[begin[e] … begin[e + 1])
  std::vector<int> blocks;

  void add(std::span<const int> group) {
    blocks.insert(blocks.end(), group.begin(), group.end());
    begin.push_back(static_cast<int>(blocks.size()));
  }
  int size() const noexcept { return static_cast<int>(begin.size()) - 1; }
};

/// Where the coupling block of a pair of element nodes is stored.
struct BlockSlot {
  std::int32_t index = -1;  ///< into the matrix's values; −1 if a node of the pair is fixed
  bool transposed = false;  ///< the stored block is the transpose of the pair's
};

/// The pattern of a symmetric matrix of 3×3 blocks: its lower triangle by columns, diagonals included even where no
/// group touches them. Immutable, so matrices, factorisations and threads share it.
class BlockPattern {
 public:
  /// Throws InputError if a group names a block outside [−1, blocks) or one block twice.
  BlockPattern(int blocks, const BlockGroups& groups);

  int blocks() const noexcept { return static_cast<int>(column_begin_.size()) - 1; }
  int scalars() const noexcept { return 3 * blocks(); }
  int stored() const noexcept { return static_cast<int>(rows_.size()); }
  int groups() const noexcept { return static_cast<int>(slot_begin_.size()) - 1; }

  /// Stored blocks of column j: indices [column_begin(j), column_begin(j + 1)); the first is the diagonal one.
  int column_begin(int j) const noexcept { return column_begin_[j]; }
  /// Block row of a stored block; ascending within a column.
  int row(int index) const noexcept { return rows_[index]; }

  /// Index of block (i, j), i ≥ j, or −1 if it is not in the pattern. Costs a binary search.
  int find(int i, int j) const noexcept;

  /// Slots of group e for its local pairs (a, b), b ≤ a, in the order (0,0) (1,0) (1,1) (2,0) …
  std::span<const BlockSlot> slots(int e) const noexcept {
    return {slots_.data() + slot_begin_[e], as_size(slot_begin_[e + 1] - slot_begin_[e])};
  }

 private:
  void fill_slots(const BlockGroups& groups);

  std::vector<int> column_begin_, rows_;
  std::vector<int> slot_begin_;
  std::vector<BlockSlot> slots_;
};

/// A symmetric matrix of 3×3 blocks with a fixed pattern; values of the lower triangle lie in one array.
///
/// Allocates at construction only. Matrices of one pattern are assembled in one pass over the elements, so the system
/// A(h) = M/h − B − hK for several h costs one computation of K:
///
///     for e: compute K_e; for each A(h): for each pair (a, b) of e: A.add(pattern.slots(e)[pair], −h K_ab)
class BlockMatrix {
 public:
  explicit BlockMatrix(std::shared_ptr<const BlockPattern> pattern);

  const BlockPattern& pattern() const noexcept { return *pattern_; }
  const std::shared_ptr<const BlockPattern>& shared_pattern() const noexcept { return pattern_; }

  Mat3& block(int index) noexcept { return values_[index]; }
  const Mat3& block(int index) const noexcept { return values_[index]; }
  Mat3& diagonal(int i) noexcept { return values_[pattern_->column_begin(i)]; }
  const Mat3& diagonal(int i) const noexcept { return values_[pattern_->column_begin(i)]; }

  void set_zero() noexcept;

  /// Adds the block `m` of an element's pair (a, b); nothing if a node of it is fixed. The pair (b, a) is implied.
  void add(BlockSlot slot, const Mat3& m) noexcept {
    if (slot.index < 0) return;
    if (slot.transposed) {
      values_[slot.index] += m.transpose();
    } else {
      values_[slot.index] += m;
    }
  }

  /// this += scale · other, and this = scale · this. Patterns must be the same object.
  void add_scaled(double scale, const BlockMatrix& other) noexcept;
  void scale(double factor) noexcept;

  /// y = A x.
  void multiply(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const noexcept;

  /// Y = A X for each column, faster than one by one. Allocates.
  void multiply_columns(const Eigen::Ref<const Eigen::MatrixXd>& X, Eigen::Ref<Eigen::MatrixXd> Y) const;

  /// The whole matrix, both triangles; for tests and small systems. Allocates.
  Eigen::MatrixXd make_dense() const;

 private:
  std::shared_ptr<const BlockPattern> pattern_;
  std::vector<Mat3> values_;
};

}  // namespace palpate
