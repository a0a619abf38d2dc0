#include "sweeper.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace palpate {
namespace {

using SideKind = ConstraintSide::Kind;
using Eigen::Map;

constexpr std::size_t kLightStride = 8;  // six numbers of a light body's u, and two for the vector unit

std::size_t round_up(std::size_t n) noexcept {
  return (n + 3) / 4 * 4;
}

std::size_t size_of(int n) noexcept {
  return as_size(n);
}

}  // namespace

void Sweeper::reserve(int rows, int dense_rows, int light_bodies) {
  most_rows_ = std::max(most_rows_, size_of(rows));
  most_dense_size_ = std::max(most_dense_size_, 4 * size_of(dense_rows));
  most_light_bodies_ = std::max(most_light_bodies_, size_of(light_bodies));
  state_.resize(round_up(most_rows_) + most_dense_size_ + kLightStride * most_light_bodies_);
  w_.resize(most_rows_);
  visits_.reserve(most_rows_);
  contacts_.reserve(most_rows_ / 3 + 1);
  light_contacts_.reserve(2 * (most_rows_ / 3 + 1));
  generals_.reserve(most_rows_);
}

bool Sweeper::fits(const ConstraintProblem& problem) const noexcept {
  return size_of(problem.rows()) <= most_rows_ && size_of(problem.dense_size()) <= most_dense_size_ &&
         size_of(problem.light_bodies()) <= most_light_bodies_;
}

void Sweeper::start(const ConstraintProblem& problem, bool pyramid, std::span<const double> lambda) noexcept {
  problem_ = &problem;
  pyramid_ = pyramid;
  immovable_ = 0.0;
  rows_ = size_of(problem.rows());
  dense_begin_ = round_up(rows_);
  light_begin_ = dense_begin_ + size_of(problem.dense_size());
  state_size_ = light_begin_ + kLightStride * size_of(problem.light_bodies());
  visits_.clear();
  contacts_.clear();
  light_contacts_.clear();
  generals_.clear();
  for (std::size_t i = 0; i < rows_; ++i) state_[i] = std::isfinite(lambda[i]) ? lambda[i] : 0.0;
  // Up to what refresh() clears: memory is reserved for the largest problem, and most are small.
  std::fill(state_.begin() + static_cast<std::ptrdiff_t>(rows_),
            state_.begin() + static_cast<std::ptrdiff_t>(dense_begin_), 0.0);
  std::int32_t at = 0;
  for (const Constraint& c : problem.constraints()) {
    if (c.kind == ConstraintKind::kContact) {
      add_contact(c, at++);
    } else {
      add_general(c, at++);
    }
  }
  refresh();
}

Sweeper::Side Sweeper::make_side(const ConstraintSide& side) noexcept {
  Side s;
  s.kind = side.kind;
  s.first = side.first;
  if (side.kind == SideKind::kDense) {
    s.stride = problem_->dense_stride(side.body);
    s.answer = state_.data() + dense_begin_ + size_of(problem_->dense_offset(side.body));
    s.W = problem_->dense_compliance(side.body).data() + size_of(s.stride) * size_of(side.first);
  } else if (side.kind == SideKind::kLight) {
    s.answer = state_.data() + light_begin_ + kLightStride * size_of(side.body);
  }
  return s;
}

const Sweeper::LightContact* Sweeper::add_light(const Side& side) noexcept {
  if (side.kind != SideKind::kLight) return nullptr;
  LightContact& l = light_contacts_.emplace_back();
  for (int i = 0; i < 3; ++i) {
    const Vec6 &J = problem_->light_J(side.first + i), &Y = problem_->light_Y(side.first + i);
    for (int k = 0; k < 6; ++k) {
      l.J[k][i] = J[k];
      l.Y[i][k] = Y[k];
    }
  }
  return &l;
}

void Sweeper::add_contact(const Constraint& c, std::int32_t at) noexcept {
  const std::size_t row = size_of(c.first_row);
  Mat3 W = compute_own_block(*problem_, c).topLeftCorner<3, 3>();
  const double* compliance = &problem_->compliance()[row];
  const double* delta_free = &problem_->delta_free()[row];
  W.diagonal() += Map<const Vec3>(compliance);
  Map<Vec3>(w_.data() + row) = W.diagonal();
  Contact& contact = contacts_.emplace_back();
  contact.block.set(W, c.friction);
  if (!contact.block.movable()) {
    immovable_ = std::max(immovable_, -delta_free[0]);
    std::fill_n(&state_[row], 3, 0.0);
    contacts_.pop_back();
    return;
  }
  contact.delta_free = simd::Double4{delta_free[0], delta_free[1], delta_free[2], 0.0};
  contact.compliance = simd::Double4{compliance[0], compliance[1], compliance[2], 0.0};
  contact.a = make_side(c.a);
  contact.b = make_side(c.b);
  contact.light_a = add_light(contact.a);
  contact.light_b = add_light(contact.b);
  visits_.push_back({c.kind, at, c.first_row, static_cast<std::int32_t>(contacts_.size()) - 1});
}

void Sweeper::add_general(const Constraint& c, std::int32_t at) noexcept {
  OwnBlock W = compute_own_block(*problem_, c);
  for (int i = 0; i < c.rows; ++i) {
    W(i, i) += problem_->compliance()[size_of(c.first_row + i)];
    w_[size_of(c.first_row + i)] = W(i, i);
  }
  General& g = generals_.emplace_back();
  g.inverse = compute_own_inverse(W, c.rows);
  g.a = make_side(c.a);
  g.b = make_side(c.b);
  visits_.push_back({c.kind, at, c.first_row, static_cast<std::int32_t>(generals_.size()) - 1});
}

double Sweeper::answer(const Side& side, int row) const noexcept {
  if (side.kind == SideKind::kDense) return side.answer[side.first + row];
  if (side.kind == SideKind::kLight) {
    return problem_->light_J(side.first + row).dot(Map<const Vec6>(side.answer));
  }
  return 0.0;
}

void Sweeper::push(const Side& side, int row, double change) const noexcept {
  if (side.kind == SideKind::kDense) {
    const double* column = side.W + side.stride * row;
    for (int i = 0; i < side.stride; ++i) side.answer[i] += column[i] * change;
  } else if (side.kind == SideKind::kLight) {
    Map<Vec6>(side.answer) += problem_->light_Y(side.first + row) * change;
  }
}

void Sweeper::push_all(const Constraint& c) noexcept {
  for (const ConstraintSide* s : {&c.a, &c.b}) {
    if (s->kind == SideKind::kNone) continue;
    const Side side = make_side(*s);
    for (int i = 0; i < c.rows; ++i) {
      const double l = state_[size_of(c.first_row + i)];
      if (l != 0.0) push(side, i, l);
    }
  }
}

void Sweeper::refresh() noexcept {
  std::fill(state_.begin() + static_cast<std::ptrdiff_t>(dense_begin_),
            state_.begin() + static_cast<std::ptrdiff_t>(state_size_), 0.0);
  for (const Constraint& c : problem_->constraints()) push_all(c);
}

double Sweeper::visit_contact(Contact& c, double* lambda) noexcept {
  simd::Double4 delta = c.delta_free;
  const auto gather = [&delta](const Side& side, const LightContact* light) {
    if (light != nullptr) {
      const double *u = side.answer, *J = light->J[0];
      delta += (simd::load(J) * u[0] + simd::load(J + 3) * u[1]) +
               (simd::load(J + 6) * u[2] + simd::load(J + 9) * u[3]) +
               (simd::load(J + 12) * u[4] + simd::load(J + 15) * u[5]);
    } else if (side.kind == SideKind::kDense) {
      const double* d = side.answer + side.first;
      delta += simd::Double4{d[0], d[1], d[2], 0.0};
    }
  };
  gather(c.a, c.light_a);
  gather(c.b, c.light_b);
  const simd::Double4 old{lambda[0], lambda[1], lambda[2], 0.0};
  if (delta[0] >= 0.0 && old[0] == 0.0) return 0.0;  // open, and was: λ_n = 0 leaves no λ_t
  delta += c.compliance * old;
  const simd::Double4 next = pyramid_ ? c.block.sweep_pyramid(old, delta) : c.block.solve_cone(old, delta);
  const simd::Double4 change = next - old;
  const auto scatter = [&change](const Side& side, const LightContact* light) {
    if (light != nullptr) {
      const double *Y0 = light->Y[0], *Y1 = light->Y[1], *Y2 = light->Y[2];
      const simd::Double4 low = simd::load(Y0) * change[0] + simd::load(Y1) * change[1] + simd::load(Y2) * change[2];
      const simd::Double2 high =
          simd::load2(Y0 + 4) * change[0] + simd::load2(Y1 + 4) * change[1] + simd::load2(Y2 + 4) * change[2];
      simd::store(side.answer, simd::load(side.answer) + low);
      simd::store(side.answer + 4, simd::load2(side.answer + 4) + high);
    } else if (side.kind == SideKind::kDense) {
      const double *W0 = side.W, *W1 = W0 + side.stride, *W2 = W1 + side.stride;
      if (change[1] == 0.0 && change[2] == 0.0) {  // without friction always
        for (int i = 0; i < side.stride; i += 4)
          simd::store(side.answer + i, simd::load(side.answer + i) + simd::load(W0 + i) * change[0]);
        return;
      }
      for (int i = 0; i < side.stride; i += 4) {
        const simd::Double4 answer =
            simd::load(W0 + i) * change[0] + simd::load(W1 + i) * change[1] + simd::load(W2 + i) * change[2];
        simd::store(side.answer + i, simd::load(side.answer + i) + answer);
      }
    }
  };
  scatter(c.a, c.light_a);
  scatter(c.b, c.light_b);
  lambda[0] = next[0];
  lambda[1] = next[1];
  lambda[2] = next[2];
  const simd::Double4 metres = change * c.block.diagonal();
  return std::max(std::abs(metres[0]), std::max(std::abs(metres[1]), std::abs(metres[2])));
}

double Sweeper::visit_general(const Constraint& c, const General& g, double* lambda) noexcept {
  double delta[kMaxConstraintRows] = {};
  const std::size_t row = size_of(c.first_row);
  for (int i = 0; i < c.rows; ++i) {
    delta[i] = problem_->delta_free()[row + size_of(i)] + answer(g.a, i) + answer(g.b, i) +
               problem_->compliance()[row + size_of(i)] * lambda[i];
  }
  double largest = 0.0;
  for (int i = 0; i < c.rows; ++i) {
    double change = 0.0;
    for (int j = 0; j < c.rows; ++j) change -= g.inverse(i, j) * delta[j];
    if (c.kind == ConstraintKind::kBounded) {
      change = std::max(c.lower, std::min(c.upper, lambda[i] + change)) - lambda[i];
    }
    if (change == 0.0) continue;
    lambda[i] += change;
    push(g.a, i, change);
    push(g.b, i, change);
    largest = std::max(largest, g.inverse(i, i) > 0.0 ? std::abs(change) / g.inverse(i, i) : 0.0);
  }
  return largest;
}

double Sweeper::sweep() noexcept {
  double largest = 0.0, sum = 0.0;
  for (const Visit& v : visits_) {
    double* lambda = state_.data() + v.first_row;
    const double change =
        v.kind == ConstraintKind::kContact
            ? visit_contact(contacts_[size_of(v.index)], lambda)
            : visit_general(problem_->constraints()[size_of(v.constraint)], generals_[size_of(v.index)], lambda);
    largest = std::max(largest, change);
    sum += change;
  }
  return std::isfinite(sum) ? largest : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace palpate
