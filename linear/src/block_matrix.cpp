#include "palpate/linear/block_matrix.h"

#include <algorithm>
#include <cassert>

#include "palpate/core/error.h"
#include "palpate/core/simd.h"

namespace palpate {
namespace {

void check_groups(int blocks, const BlockGroups& groups) {
  std::vector<int> seen(blocks, -1);
  for (int e = 0; e < groups.size(); ++e) {
    for (int at = groups.begin[e]; at < groups.begin[e + 1]; ++at) {
      const int block = groups.blocks[at];
      if (block < -1 || block >= blocks) {
        fail_input("block group {}: block {} is outside [-1, {})", e, block, blocks);
      }
      if (block < 0) continue;
      if (seen[block] == e) fail_input("block group {}: block {} occurs twice", e, block);
      seen[block] = e;
    }
  }
}

}  // namespace

BlockPattern::BlockPattern(int blocks, const BlockGroups& groups) {
  if (blocks < 0) fail_input("block pattern: {} blocks", blocks);
  check_groups(blocks, groups);
  std::vector<std::vector<int>> below(blocks);
  for (int j = 0; j < blocks; ++j) below[j].push_back(j);
  for (int e = 0; e < groups.size(); ++e) {
    for (int a = groups.begin[e]; a < groups.begin[e + 1]; ++a) {
      for (int b = groups.begin[e]; b < a; ++b) {
        const auto [low, high] = std::minmax(groups.blocks[a], groups.blocks[b]);
        if (low >= 0) below[low].push_back(high);
      }
    }
  }
  column_begin_.reserve(as_size(blocks) + 1);
  column_begin_.push_back(0);
  for (std::vector<int>& column : below) {
    std::sort(column.begin(), column.end());
    column.erase(std::unique(column.begin(), column.end()), column.end());
    rows_.insert(rows_.end(), column.begin(), column.end());
    column_begin_.push_back(static_cast<int>(rows_.size()));
  }
  fill_slots(groups);
}

void BlockPattern::fill_slots(const BlockGroups& groups) {
  slot_begin_.push_back(0);
  for (int e = 0; e < groups.size(); ++e) {
    for (int a = groups.begin[e]; a < groups.begin[e + 1]; ++a) {
      for (int b = groups.begin[e]; b <= a; ++b) {
        const int i = groups.blocks[a], j = groups.blocks[b];
        BlockSlot slot;
        if (i >= 0 && j >= 0) slot = {find(std::max(i, j), std::min(i, j)), i < j};
        slots_.push_back(slot);
      }
    }
    slot_begin_.push_back(static_cast<int>(slots_.size()));
  }
}

int BlockPattern::find(int i, int j) const noexcept {
  const auto first = rows_.begin() + column_begin_[j], last = rows_.begin() + column_begin_[j + 1];
  const auto found = std::lower_bound(first, last, i);
  return found != last && *found == i ? static_cast<int>(found - rows_.begin()) : -1;
}

BlockMatrix::BlockMatrix(std::shared_ptr<const BlockPattern> pattern)
    : pattern_(std::move(pattern)), values_(pattern_->stored(), Mat3::Zero()) {}

void BlockMatrix::set_zero() noexcept {
  std::fill(values_.begin(), values_.end(), Mat3::Zero());
}

void BlockMatrix::add_scaled(double scale, const BlockMatrix& other) noexcept {
  assert(pattern_ == other.pattern_);
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += scale * other.values_[i];
}

void BlockMatrix::scale(double factor) noexcept {
  for (Mat3& value : values_) value *= factor;
}

void BlockMatrix::multiply(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const noexcept {
  y.setZero();
  for (int j = 0; j < pattern_->blocks(); ++j) {
    const int begin = pattern_->column_begin(j), end = pattern_->column_begin(j + 1);
    const Vec3 x_j = x.segment<3>(3 * j);
    Vec3 y_j = values_[begin] * x_j;
    for (int at = begin + 1; at < end; ++at) {
      const int i = 3 * pattern_->row(at);
      y.segment<3>(i) += values_[at] * x_j;
      y_j += values_[at].transpose() * x.segment<3>(i);
    }
    y.segment<3>(3 * j) += y_j;
  }
}

void BlockMatrix::multiply_columns(const Eigen::Ref<const Eigen::MatrixXd>& X, Eigen::Ref<Eigen::MatrixXd> Y) const {
  // Eight columns at a time, side by side, so that a block is read once for all of them.
  constexpr int kWidth = 8;
  using simd::Double4;
  Eigen::Matrix<double, kWidth, Eigen::Dynamic> x(kWidth, X.rows()), y(kWidth, X.rows());
  // A row of a block, three numbers, times three scalars of the eight vectors.
  const auto add = [](Double4* to, const double* m, const Double4* from) {
    for (int v = 0; v < 2; ++v) {
      to[v] = simd::madd(simd::fill(m[0]), from[v], to[v]);
      to[v] = simd::madd(simd::fill(m[1]), from[2 + v], to[v]);
      to[v] = simd::madd(simd::fill(m[2]), from[4 + v], to[v]);
    }
  };
  const auto read = [](const double* p, Double4* to) {
    for (int v = 0; v < 6; ++v) to[v] = simd::load(p + 4 * v);
  };
  const auto write = [](const Double4* from, double* p) {
    for (int v = 0; v < 6; ++v) simd::store(p + 4 * v, from[v]);
  };
  for (Eigen::Index first = 0; first < X.cols(); first += kWidth) {
    const Eigen::Index count = std::min<Eigen::Index>(kWidth, X.cols() - first);
    x.bottomRows(kWidth - count).setZero();
    x.topRows(count) = X.middleCols(first, count).transpose();
    y.setZero();
    for (int j = 0; j < pattern_->blocks(); ++j) {
      const int begin = pattern_->column_begin(j), end = pattern_->column_begin(j + 1);
      Double4 x_j[6], y_j[6];
      read(x.data() + 3 * kWidth * static_cast<std::ptrdiff_t>(j), x_j);
      read(y.data() + 3 * kWidth * static_cast<std::ptrdiff_t>(j), y_j);
      const auto add_transposed = [&](const Mat3& m, const Double4* from) {
        for (int k = 0; k < 3; ++k) add(y_j + 2 * k, m.col(k).data(), from);
      };
      add_transposed(values_[begin], x_j);  // symmetric
      for (int at = begin + 1; at < end; ++at) {
        const std::ptrdiff_t i = 3 * kWidth * static_cast<std::ptrdiff_t>(pattern_->row(at));
        Double4 x_i[6], y_i[6];
        read(x.data() + i, x_i);
        read(y.data() + i, y_i);
        add_transposed(values_[at], x_i);
        const Mat3 turned = values_[at].transpose();
        for (int k = 0; k < 3; ++k) add(y_i + 2 * k, turned.col(k).data(), x_j);
        write(y_i, y.data() + i);
      }
      write(y_j, y.data() + 3 * kWidth * static_cast<std::ptrdiff_t>(j));
    }
    Y.middleCols(first, count) = y.topRows(count).transpose();
  }
}

Eigen::MatrixXd BlockMatrix::make_dense() const {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(pattern_->scalars(), pattern_->scalars());
  for (int j = 0; j < pattern_->blocks(); ++j) {
    for (int at = pattern_->column_begin(j); at < pattern_->column_begin(j + 1); ++at) {
      const int i = pattern_->row(at);
      dense.block<3, 3>(3 * j, 3 * i) = values_[at].transpose();
      dense.block<3, 3>(3 * i, 3 * j) = values_[at];
    }
  }
  return dense;
}

}  // namespace palpate
