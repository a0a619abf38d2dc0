#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

namespace palpate {

/// Anderson acceleration of a fixed-point iteration x ← g(x), here a sweep of Gauss–Seidel: instead of g of the latest
/// x takes the combination of the last g's whose changes f = g(x) − x combine to the least (Walker & Ni 2011, eq. 2.1,
/// in differences). As long as no contact changes between open, stick and slip, this is GMRES.
///
/// Measured against the nonsmooth conjugate gradient of Silcowitz, Niebe & Erleben (2010) it needs a half to a quarter
/// of the sweeps, because a Gauss–Seidel sweep is no gradient: its operator is not symmetric.
/// Changes are measured as Σ w f², an energy. Works on a state that contains x and what depends linearly on it.
/// No allocation after reserve().
class Anderson {
 public:
  /// More differences than this cost more time than the sweeps they save.
  static constexpr int kDepth = 5;

  void reserve(std::size_t rows, std::size_t state);
  void restart() noexcept { columns_ = at_ = 0, has_last_ = false; }

  /// w, one a row of x; also how many rows there are.
  void start(std::span<const double> weights) noexcept;
  /// Before the iteration.
  void before(std::span<const double> x) noexcept;
  /// After it: replaces `state`, which begins with x, by the combination.
  void mix(std::span<double> state) noexcept;

 private:
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, kDepth, kDepth>;
  using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, kDepth, 1>;

  void remember(std::span<const double> state) noexcept;

  Eigen::Index rows_ = 0;
  int columns_ = 0, at_ = 0;  ///< differences held, and where the next one goes
  bool has_last_ = false;
  double last_norm_ = 0.0;
  std::vector<double> root_weight_, before_, f_, last_f_, last_g_;
  std::vector<double> dF_[kDepth], dG_[kDepth];
  Eigen::Matrix<double, kDepth, kDepth> gram_ = Eigen::Matrix<double, kDepth, kDepth>::Zero();  ///< dFᵀ dF
};

}  // namespace palpate
