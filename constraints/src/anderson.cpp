#include "anderson.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace palpate {
namespace {

using View = Eigen::Map<Eigen::VectorXd>;
using ConstView = Eigen::Map<const Eigen::VectorXd>;

/// A change that grew by more than this means that contacts have changed their state: what was learnt no longer holds.
/// Measured: 1.5 needs fewer sweeps than 1.0 (too much forgotten), 4 and 10 (too much believed).
constexpr double kGrown = 1.5;
/// No combination may be farther from the latest g than this many times its own size.
constexpr double kFarthest = 10.0;
/// Added to the normalised differences' products, whose rounding it covers.
constexpr double kGramRounding = 1e-14;

}  // namespace

void Anderson::reserve(std::size_t rows, std::size_t state) {
  for (std::vector<double>* v : {&root_weight_, &before_, &f_, &last_f_}) v->resize(std::max(v->size(), rows));
  last_g_.resize(std::max(last_g_.size(), state));
  for (std::vector<double>& v : dF_) v.resize(std::max(v.size(), rows));
  for (std::vector<double>& v : dG_) v.resize(std::max(v.size(), state));
}

void Anderson::start(std::span<const double> weights) noexcept {
  rows_ = static_cast<Eigen::Index>(weights.size());
  View(root_weight_.data(), rows_) = ConstView(weights.data(), rows_).cwiseSqrt();
  restart();
}

void Anderson::before(std::span<const double> x) noexcept {
  std::copy(x.begin(), x.end(), before_.begin());
}

void Anderson::remember(std::span<const double> state) noexcept {
  const Eigen::Index size = static_cast<Eigen::Index>(state.size());
  View dF(dF_[at_].data(), rows_);
  dF = View(f_.data(), rows_) - View(last_f_.data(), rows_);
  View(dG_[at_].data(), size) = ConstView(state.data(), size) - View(last_g_.data(), size);
  const int newest = at_;
  at_ = (at_ + 1) % kDepth;
  columns_ = std::min(columns_ + 1, kDepth);
  for (int i = 0; i < columns_; ++i) gram_(i, newest) = gram_(newest, i) = dF.dot(View(dF_[i].data(), rows_));
}

void Anderson::mix(std::span<double> state) noexcept {
  const Eigen::Index size = static_cast<Eigen::Index>(state.size());
  View g(state.data(), size), f(f_.data(), rows_);
  const View root(root_weight_.data(), rows_);
  f = (g.head(rows_) - View(before_.data(), rows_)).cwiseProduct(root);
  const double norm = f.norm();
  if (has_last_) {
    if (norm > kGrown * last_norm_) {
      columns_ = at_ = 0;
    } else {
      remember(state);
    }
  }
  std::swap(f_, last_f_);
  View(last_g_.data(), size) = g;
  last_norm_ = norm;
  has_last_ = true;
  if (columns_ == 0) return;
  const SmallVector scale = gram_.diagonal().head(columns_).cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  SmallVector product(columns_);
  for (int i = 0; i < columns_; ++i)
    product[i] = scale[i] * View(dF_[i].data(), rows_).dot(View(last_f_.data(), rows_));
  Small G = scale.asDiagonal() * gram_.topLeftCorner(columns_, columns_) * scale.asDiagonal();
  G.diagonal().array() += kGramRounding;
  const Eigen::LDLT<Small> factor(G);
  const SmallVector gamma = scale.cwiseProduct(factor.solve(product));
  for (int i = 0; i < columns_; ++i) g -= gamma[i] * View(dG_[i].data(), size);
  // Where differences of f are all rounding, the combination may be anything.
  const View kept(last_g_.data(), rows_);
  const double moved = (g.head(rows_) - kept).cwiseProduct(root).norm();
  if (!(moved <= kFarthest * (norm + kept.cwiseProduct(root).norm()))) {
    g = View(last_g_.data(), size);
    restart();
  }
}

}  // namespace palpate
