#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "palpate/core/math.h"

namespace palpate {

/// A sparse matrix J of scalar rows over 3-blocks of unknowns: the Jacobian of constraints on one body.
///
/// Row r is Σ value · u[block] over its entries. Blocks may repeat within a row (their values add) and rows may be
/// empty. Rows are appended one after the other:
///
///     J.clear();
///     J.begin_row();
///     J.add(node, weight * normal);   // to the row begun last
///
/// Allocates only past what reserve() was given; clear() keeps the memory. One thread at a time.
class BlockRows {
 public:
  struct Entry {
    int block;
    Vec3 value;
  };

  BlockRows() { row_begin_.push_back(0); }

  void reserve(int rows, int entries) {
    row_begin_.reserve(as_size(rows) + 1);
    entries_.reserve(as_size(entries));
  }
  void clear() noexcept {
    row_begin_.resize(1);
    entries_.clear();
  }
  void begin_row() { row_begin_.push_back(row_begin_.back()); }
  void add(int block, const Vec3& value) {
    entries_.push_back({block, value});
    ++row_begin_.back();
  }

  int rows() const noexcept { return static_cast<int>(row_begin_.size()) - 1; }
  int entries() const noexcept { return static_cast<int>(entries_.size()); }
  std::span<const Entry> row(int r) const noexcept {
    return {entries_.data() + row_begin_[r], as_size(row_begin_[r + 1] - row_begin_[r])};
  }

  /// y += scale · J x, with x of three scalars a block and y of one a row.
  void add_product(double scale, const Eigen::Ref<const Eigen::VectorXd>& x,
                   Eigen::Ref<Eigen::VectorXd> y) const noexcept;

  /// x += scale · Jᵀ y.
  void add_transposed_product(double scale, const Eigen::Ref<const Eigen::VectorXd>& y,
                              Eigen::Ref<Eigen::VectorXd> x) const noexcept;

 private:
  std::vector<int> row_begin_;  ///< row r is entries_[row_begin_[r] … row_begin_[r + 1])
  std::vector<Entry> entries_;
};

}  // namespace palpate
