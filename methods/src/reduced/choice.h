#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

namespace palpate::reduced {

/// Which of many vectors to take, known by their Gram matrix G alone, and how to make them orthonormal: a Cholesky
/// factorisation that always goes on with the vector of which most is new. Allocates.
class VectorChoice {
 public:
  struct Limits {
    int must = 0;              ///< the first so many are taken in their order
    int most = 0;              ///< of all
    double least_share = 0.0;  ///< of a vector's norm that has to be new, or it adds only rounding
  };
  /// `gram` is whole. Those beyond `must` are taken by rank · (share of the norm that is new), the greatest first.
  VectorChoice(const Eigen::MatrixXd& gram, std::span<const double> rank, const Limits& limits);

  /// In the order in which they were taken.
  const std::vector<int>& chosen() const noexcept { return chosen_; }
  /// L, lower, with L Lᵀ = G of those in that order.
  const Eigen::MatrixXd& factor() const noexcept { return factor_; }

 private:
  std::vector<int> chosen_;
  Eigen::MatrixXd factor_;
};

}  // namespace palpate::reduced
