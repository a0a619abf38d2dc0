#include "palpate/constraints/problem.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace palpate {
namespace {

/// A dense body's column length in memory: a multiple of four, so that every column starts aligned.
int padded(int rows) noexcept {
  return (rows + 3) / 4 * 4;
}

}  // namespace

void ConstraintProblem::reserve(int rows, int dense_bodies, int dense_rows, int light_bodies) {
  constraints_.reserve(as_size(rows));
  delta_free_.reserve(as_size(rows));
  row_compliance_.reserve(as_size(rows));
  light_J_.reserve(2 * as_size(rows));
  light_Y_.reserve(2 * as_size(rows));
  light_u_.reserve(as_size(light_bodies));
  if (dense_.size() < as_size(dense_bodies)) dense_.resize(as_size(dense_bodies));
  for (DenseBody& body : dense_) {
    body.row_map.reserve(as_size(dense_rows));
    body.W.reserve(as_size(padded(dense_rows)) * as_size(dense_rows));
  }
}

void ConstraintProblem::clear() noexcept {
  rows_ = dense_count_ = light_count_ = light_rows_ = dense_size_ = 0;
  constraints_.clear();
  delta_free_.clear();
  row_compliance_.clear();
  light_J_.clear();
  light_Y_.clear();
  light_u_.clear();
}

int ConstraintProblem::add_dense_body() {
  // Bodies of earlier fills are kept for their memory.
  if (dense_.size() == as_size(dense_count_)) dense_.emplace_back();
  DenseBody& body = dense_[as_size(dense_count_)];
  body.rows = body.stride = body.offset = 0;
  body.row_map.clear();
  body.W.clear();
  return dense_count_++;
}

int ConstraintProblem::add_light_body() {
  light_u_.emplace_back(Vec6::Zero());
  return light_count_++;
}

void ConstraintProblem::place(ConstraintSide& side, int first_row, int rows) {
  switch (side.kind) {
    case ConstraintSide::Kind::kNone:
      side.body = side.first = -1;
      break;
    case ConstraintSide::Kind::kDense: {
      DenseBody& body = dense_[as_size(side.body)];
      side.first = body.rows;
      for (int i = 0; i < rows; ++i) body.row_map.push_back(first_row + i);
      body.rows += rows;
      break;
    }
    case ConstraintSide::Kind::kLight:
      side.first = light_rows_;
      light_rows_ += rows;
      light_J_.resize(as_size(light_rows_), Vec6::Zero());
      light_Y_.resize(as_size(light_rows_), Vec6::Zero());
      break;
  }
}

int ConstraintProblem::add_constraint(const Constraint& constraint) {
  Constraint& c = constraints_.emplace_back(constraint);
  c.first_row = rows_;
  if (c.kind == ConstraintKind::kContact) c.rows = 3;
  if (c.kind == ConstraintKind::kBounded) c.rows = 1;
  place(c.a, rows_, c.rows);
  place(c.b, rows_, c.rows);
  rows_ += c.rows;
  delta_free_.resize(as_size(rows_), 0.0);
  row_compliance_.resize(as_size(rows_), 0.0);
  return static_cast<int>(constraints_.size()) - 1;
}

std::span<const std::int32_t> ConstraintProblem::dense_row_map(int body) const noexcept {
  return dense_[as_size(body)].row_map;
}

Eigen::Map<Eigen::MatrixXd, Eigen::Aligned32, Eigen::OuterStride<>> ConstraintProblem::dense_compliance(
    int body) noexcept {
  DenseBody& b = dense_[as_size(body)];
  return {b.W.data(), b.rows, b.rows, Eigen::OuterStride<>(b.stride)};
}

Eigen::Map<const Eigen::MatrixXd, Eigen::Aligned32, Eigen::OuterStride<>> ConstraintProblem::dense_compliance(
    int body) const noexcept {
  const DenseBody& b = dense_[as_size(body)];
  return {b.W.data(), b.rows, b.rows, Eigen::OuterStride<>(b.stride)};
}

void ConstraintProblem::prepare_dense() {
  dense_size_ = 0;
  for (int k = 0; k < dense_count_; ++k) {
    DenseBody& body = dense_[as_size(k)];
    body.stride = padded(body.rows);
    body.offset = dense_size_;
    dense_size_ += body.stride;
    body.W.assign(as_size(body.stride) * as_size(body.rows), 0.0);
  }
}

void ConstraintProblem::assemble_dense(Eigen::Ref<Eigen::MatrixXd> W) const noexcept {
  W.setZero();
  for (int k = 0; k < dense_count_; ++k) {
    const auto W_k = dense_compliance(k);
    const std::span<const std::int32_t> map = dense_row_map(k);
    for (int j = 0; j < W_k.cols(); ++j) {
      for (int i = 0; i < W_k.rows(); ++i) W(map[as_size(i)], map[as_size(j)]) += W_k(i, j);
    }
  }
  const auto add_light = [&](const Constraint& ci, const ConstraintSide& i, const Constraint& cj,
                             const ConstraintSide& j) {
    if (i.kind != ConstraintSide::Kind::kLight || j.kind != ConstraintSide::Kind::kLight || i.body != j.body) return;
    for (int c = 0; c < cj.rows; ++c) {
      for (int r = 0; r < ci.rows; ++r) {
        W(ci.first_row + r, cj.first_row + c) += light_J(i.first + r).dot(light_Y(j.first + c));
      }
    }
  };
  for (const Constraint& ci : constraints_) {
    for (const Constraint& cj : constraints_) {
      add_light(ci, ci.a, cj, cj.a);
      add_light(ci, ci.a, cj, cj.b);
      add_light(ci, ci.b, cj, cj.a);
      add_light(ci, ci.b, cj, cj.b);
    }
  }
}

const Constraint& ConstraintProblem::constraint_of(int row) const noexcept {
  const auto after = std::upper_bound(constraints_.begin(), constraints_.end(), row,
                                      [](int r, const Constraint& c) { return r < c.first_row; });
  return *std::prev(after);
}

void ConstraintProblem::add_column(int row, std::span<double> out) const noexcept {
  const Constraint& pushed = constraint_of(row);
  const int i = row - pushed.first_row;
  for (const ConstraintSide& side : {pushed.a, pushed.b}) {
    if (side.kind == ConstraintSide::Kind::kDense) {
      const auto W_k = dense_compliance(side.body);
      const std::span<const std::int32_t> map = dense_row_map(side.body);
      const double* column = W_k.data() + as_size(side.first + i) * as_size(W_k.outerStride());
      for (std::size_t k = 0; k < map.size(); ++k) out[as_size(map[k])] += column[k];
    } else if (side.kind == ConstraintSide::Kind::kLight) {
      const Vec6 u = light_Y(side.first + i);
      for (const Constraint& c : constraints_) {
        for (const ConstraintSide* other : {&c.a, &c.b}) {
          if (other->kind != ConstraintSide::Kind::kLight || other->body != side.body) continue;
          for (int r = 0; r < c.rows; ++r) out[as_size(c.first_row + r)] += light_J(other->first + r).dot(u);
        }
      }
    }
  }
}

double ConstraintProblem::compute_own_compliance(int row) const noexcept {
  const Constraint& c = constraint_of(row);
  const int i = row - c.first_row;
  double w = 0.0;
  for (const ConstraintSide& a : {c.a, c.b}) {
    for (const ConstraintSide& b : {c.a, c.b}) {
      if (a.kind != b.kind || a.body != b.body) continue;
      if (a.kind == ConstraintSide::Kind::kDense) w += dense_compliance(a.body)(a.first + i, b.first + i);
      if (a.kind == ConstraintSide::Kind::kLight) w += light_J(a.first + i).dot(light_Y(b.first + i));
    }
  }
  return w;
}

void ConstraintProblem::compute_delta(std::span<const double> lambda, std::span<double> delta) const noexcept {
  std::copy_n(delta_free_.begin(), as_size(rows_), delta.begin());
  for (int k = 0; k < dense_count_; ++k) {
    const auto W_k = dense_compliance(k);
    const std::span<const std::int32_t> map = dense_row_map(k);
    // Rows one after the other, as all are where one body has part in every constraint, go through the vector unit: the
    // same sums in the same order. A constraint of a body with itself has its rows twice, which are not.
    const int count = static_cast<int>(map.size());
    const auto follows = [](std::int32_t row, std::int32_t next) { return next == row + 1; };
    const bool together = std::ranges::adjacent_find(map, std::not_fn(follows)) == map.end();
    for (int j = 0; j < count; ++j) {
      const double l = lambda[as_size(map[as_size(j)])];
      if (l == 0.0) continue;
      const double* column = W_k.data() + as_size(j) * as_size(W_k.outerStride());
      if (together) {
        double* const first = delta.data() + map.front();
        for (int i = 0; i < count; ++i) first[i] += column[i] * l;
      } else {
        for (int i = 0; i < count; ++i) delta[as_size(map[as_size(i)])] += column[i] * l;
      }
    }
  }
  if (light_count_ == 0) return;
  std::fill(light_u_.begin(), light_u_.end(), Vec6::Zero());
  const auto for_each_light = [&](auto&& visit) {
    for (const Constraint& c : constraints_) {
      for (const ConstraintSide* side : {&c.a, &c.b}) {
        if (side->kind != ConstraintSide::Kind::kLight) continue;
        for (int i = 0; i < c.rows; ++i)
          visit(as_size(c.first_row + i), light_u_[as_size(side->body)], side->first + i);
      }
    }
  };
  for_each_light([&](std::size_t row, Vec6& u, int at) { u += light_Y(at) * lambda[row]; });
  for_each_light([&](std::size_t row, const Vec6& u, int at) { delta[row] += light_J(at).dot(u); });
}

}  // namespace palpate
