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
constexpr double kRounding = 1e-14;

}  // namespace

void Anderson::reserve(std::size_t rows, std::size_t state) {
  for (std::vector<double>* v : {&before_, &f_, &last_f_}) v->resize(std::max(v->size(), rows));
  last_g_.resize(std::max(last_g_.size(), state));
  for (std::vector<double>& v : dF_) v.resize(std::max(v.size(), rows));
  for (std::vector<double>& v : dG_) v.resize(std::max(v.size(), state));
}

void Anderson::before(std::span<const double> x) noexcept {
  std::copy(x.begin(), x.end(), before_.begin());
}

void Anderson::remember(std::span<const double> state, Eigen::Index rows) noexcept {
  const Eigen::Index size = static_cast<Eigen::Index>(state.size());
  View dF(dF_[at_].data(), rows);
  dF = View(f_.data(), rows) - View(last_f_.data(), rows);
  View(dG_[at_].data(), size) = ConstView(state.data(), size) - View(last_g_.data(), size);
  const int newest = at_;
  at_ = (at_ + 1) % kDepth;
  columns_ = std::min(columns_ + 1, kDepth);
  for (int i = 0; i < columns_; ++i) gram_(i, newest) = gram_(newest, i) = dF.dot(View(dF_[i].data(), rows));
}

void Anderson::mix(std::span<double> state, std::span<const double> weights) noexcept {
  const Eigen::Index rows = static_cast<Eigen::Index>(weights.size());
  const Eigen::Index size = static_cast<Eigen::Index>(state.size());
  View g(state.data(), size), f(f_.data(), rows);
  f = (g.head(rows) - View(before_.data(), rows)).cwiseProduct(ConstView(weights.data(), rows).cwiseSqrt());
  const double norm = f.norm();
  if (has_last_) {
    if (norm > kGrown * last_norm_) {
      columns_ = at_ = 0;
    } else {
      remember(state, rows);
    }
  }
  std::swap(f_, last_f_);
  View(last_g_.data(), size) = g;
  last_norm_ = norm;
  has_last_ = true;
  if (columns_ == 0) return;
  const SmallVector scale = gram_.diagonal().head(columns_).cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  SmallVector product(columns_);
  for (int i = 0; i < columns_; ++i) product[i] = scale[i] * View(dF_[i].data(), rows).dot(View(last_f_.data(), rows));
  Small G = scale.asDiagonal() * gram_.topLeftCorner(columns_, columns_) * scale.asDiagonal();
  G.diagonal().array() += kRounding;
  const Eigen::LDLT<Small> factor(G);
  const SmallVector gamma = scale.cwiseProduct(factor.solve(product));
  for (int i = 0; i < columns_; ++i) g -= gamma[i] * View(dG_[i].data(), size);
  // Where differences of f are all rounding, the combination may be anything.
  const ConstView w(weights.data(), rows);
  const View kept(last_g_.data(), rows);
  const double moved = std::sqrt((g.head(rows) - kept).cwiseAbs2().dot(w));
  if (!(moved <= kFarthest * (norm + std::sqrt(kept.cwiseAbs2().dot(w))))) {
    g = View(last_g_.data(), size);
    restart();
  }
}

}  // namespace palpate
