#include "row_compliance.h"

#include <algorithm>

#include "palpate/core/simd.h"

namespace palpate {

void RowCompliance::reserve(int most_rows, int most_entries, int most_columns) {
  wanted_.reserve(as_size(most_rows));
  groups_.reserve(as_size(most_rows));
  entries_.reserve(as_size(most_entries));
  AJ_.setZero(most_columns, 3);
}

void RowCompliance::begin(int rows) {
  wanted_.assign(as_size(rows), 1);
  groups_.clear();
  entries_.clear();
}

void RowCompliance::begin(int rows, std::span<const std::int32_t> wanted) {
  begin(rows);
  std::fill(wanted_.begin(), wanted_.end(), 0);
  for (const std::int32_t r : wanted) wanted_[as_size(r)] = 1;
}

int RowCompliance::count_group(const BlockRows& J, int row) noexcept {
  const auto same_blocks = [&](int other) {
    return std::ranges::equal(J.row(row), J.row(other), {}, &BlockRows::Entry::block, &BlockRows::Entry::block);
  };
  return row + 2 < J.rows() && same_blocks(row + 1) && same_blocks(row + 2) ? 3 : 1;
}

void RowCompliance::begin_group(int first, int count) {
  const auto wanted = std::count(wanted_.begin() + first, wanted_.begin() + first + count, 1);
  groups_.push_back({first, count, wanted > 0, wanted == count, entries_.size(), entries_.size()});
}

void RowCompliance::add(int column, std::span<const Vec3> values) {
  Entry& e = entries_.emplace_back(Entry{column, {}});
  for (std::size_t r = 0; r < values.size(); ++r) {
    for (int axis = 0; axis < 3; ++axis) e.value[axis][r] = values[r][axis];
  }
  groups_.back().end = entries_.size();
}

void RowCompliance::multiply(const Group& group, const Eigen::Ref<const Eigen::MatrixXd>& A) noexcept {
  for (int r = 0; r < group.count; ++r) {
    auto sum = AJ_.col(r).head(A.rows());
    if (group.begin == group.end) sum.setZero();
    for (std::size_t k = group.begin; k < group.end; ++k) {
      const Entry& e = entries_[k];
      const auto part =
          e.value[0][r] * A.col(e.column) + e.value[1][r] * A.col(e.column + 1) + e.value[2][r] * A.col(e.column + 2);
      if (k == group.begin)
        sum = part;
      else
        sum += part;
    }
  }
}

/// Rows of `to` times the product of `from`, into both halves of W where they are wanted.
void RowCompliance::add_block(const Group& to, const Group& from, Eigen::Ref<Eigen::MatrixXd> W) const noexcept {
  const Eigen::Index stride = AJ_.outerStride();
  simd::Double4 first{}, second{}, third{};
  for (std::size_t k = to.begin; k < to.end; ++k) {
    const Entry& e = entries_[k];
    const double *p = AJ_.data() + e.column, *q = p + stride, *r = q + stride;
    const simd::Double4 x = simd::load(e.value[0]), y = simd::load(e.value[1]), z = simd::load(e.value[2]);
    first += x * p[0] + y * p[1] + z * p[2];
    second += x * q[0] + y * q[1] + z * q[2];
    third += x * r[0] + y * r[1] + z * r[2];
  }
  const simd::Double4 sum[3] = {first, second, third};
  const bool whole = to.whole || from.whole;
  for (int c = 0; c < from.count; ++c) {
    const int column = from.first + c;
    for (int r = &to == &from ? c : 0; r < to.count; ++r) {
      const int row = to.first + r;
      if (!whole && !is_wanted(row) && !is_wanted(column)) continue;
      const double w = sum[c][r];
      W(row, column) += w;
      if (row != column) W(column, row) += w;
    }
  }
}

void RowCompliance::add_to(const Eigen::Ref<const Eigen::MatrixXd>& A, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  for (std::size_t j = 0; j < groups_.size(); ++j) {
    const Group& from = groups_[j];
    if (!from.wanted) continue;
    multiply(from, A);
    // Two that are both wanted meet once.
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (i >= j || !groups_[i].wanted) add_block(groups_[i], from, W);
    }
  }
}

}  // namespace palpate
