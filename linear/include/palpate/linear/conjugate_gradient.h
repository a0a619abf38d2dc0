#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "palpate/linear/block_matrix.h"

namespace palpate {

enum class Preconditioner {
  kBlockJacobi,         ///< inverses of the diagonal blocks
  kIncompleteCholesky,  ///< block IC(0): a Cholesky factor on the pattern of A
};

struct ConjugateGradientSettings {
  Preconditioner preconditioner = Preconditioner::kIncompleteCholesky;
  double tolerance = 1e-8;    ///< stop at |b − Ax| ≤ tolerance · |b|; in (0, 1)
  int max_iterations = 1000;  ///< at least 1
};

struct ConjugateGradientResult {
  bool converged = false;
  int iterations = 0;
  double residual = 0.0;  ///< |b − Ax| / |b| by the recurrence, 0 if b = 0
};

/// Preconditioned conjugate gradients on a block matrix: the alternative to BlockCholesky where a factor would be too
/// large or an approximate answer will do.
///
/// Set-up allocates and throws; prepare() and solve() are `noexcept` and allocate nothing. One thread at a time per
/// object; objects share no mutable state. Same input, same bits.
class ConjugateGradient {
 public:
  /// Throws InputError if a setting is out of range.
  explicit ConjugateGradient(std::shared_ptr<const BlockPattern> pattern,
                             const ConjugateGradientSettings& settings = {});

  /// Computes the preconditioner of A. An incomplete factor that breaks down is begun anew with a larger diagonal
  /// (Manteuffel 1980), so this fails only if a diagonal block is not positive definite.
  bool prepare(const BlockMatrix& a) noexcept;

  /// Solves A x = b from the x given (warm start). The preconditioner may come from an earlier, similar matrix.
  ConjugateGradientResult solve(const BlockMatrix& a, const Eigen::Ref<const Eigen::VectorXd>& b,
                                Eigen::Ref<Eigen::VectorXd> x) noexcept;

 private:
  /// One update L(target) −= L(left) L(right)ᵀ of the incomplete factorisation, all three in the pattern.
  struct Update {
    int target, left, right;
  };

  bool prepare_jacobi(const BlockMatrix& a) noexcept;
  bool prepare_incomplete(const BlockMatrix& a, double diagonal_factor) noexcept;
  void apply_preconditioner() noexcept;

  std::shared_ptr<const BlockPattern> pattern_;
  ConjugateGradientSettings settings_;
  std::vector<Mat3> factor_;   ///< IC(0) on the pattern, off-diagonal blocks of L
  std::vector<Mat3> inverse_;  ///< inverses of the diagonal blocks: of A (Jacobi) or of L (lower triangular)
  std::vector<int> update_begin_;
  std::vector<Update> updates_;  ///< those of column k: updates_[update_begin_[k] … update_begin_[k + 1])
  Eigen::VectorXd r_, z_, p_, q_;
};

}  // namespace palpate
