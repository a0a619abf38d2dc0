#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "palpate/linear/block_matrix.h"
#include "palpate/linear/block_rows.h"

namespace palpate {

struct FrontTree;

namespace front {

/// For BlockCholesky's own use: right-hand sides as rows, their scalars in elimination order as columns. Up to twelve,
/// or twenty-four in single precision.
template <typename T>
struct RightHandStrip {
  T* begin;
  int index;    ///< among the strips
  int vectors;  ///< of four or eight right-hand sides each, 1 to 3
  int first;    ///< columns of the front at hand before this one are zero; a multiple of 4
};

}  // namespace front

struct CholeskySettings {
  /// Most orders tried at set-up, of which the one is kept that factors and takes max_rows / 2 rows of compliance in
  /// the least predicted time: nested dissection with as many seeds, and minimum degree. A seed costs about 8 µs a
  /// block, so beyond 8 of them only 16,000 / blocks are tried. In [1, 100].
  int order_trials = 24;
  /// Rows that add_compliance() can take at once; memory 24 bytes · rows · blocks. In [0, 100000].
  int max_rows = 0;
  /// If the matrix is not positive definite, factor A + σI instead with σ = first_shift · mean diagonal, then ten
  /// times that, and so on, at most so many times. In [0, 20].
  int shift_retries = 0;
  double first_shift = 1e-8;  ///< relative to the mean diagonal; in (0, 1]
};

/// Sparse Cholesky factorisation P A Pᵀ = L Lᵀ of a symmetric positive definite block matrix, and what it is good for:
/// solutions A⁻¹b and compliances h J A⁻¹ Jᵀ.
///
/// Multifrontal (Duff & Reid 1983; Liu 1992, "The multifrontal method for sparse matrix solution"): set-up orders the
/// blocks, finds the elimination tree and merges its nodes into dense fronts while that lowers a model of the run time
/// (relaxed amalgamation); factor() then only does dense arithmetic on strips of rows.
///
/// T is what L is stored and computed in; matrices, right-hand sides and compliances are in double precision. With
/// `float` all takes about half the time, and results have a relative error of some 10⁻⁷ times the condition number of
/// A with its diagonal scaled to one.
///
/// Set-up allocates and throws; everything else is `noexcept` and allocates nothing. One thread at a time per object;
/// objects share no mutable state, so any number may work at once. The same matrix gives the same bits every time.
/// Copying makes a second factorisation of the same pattern (for another h) without repeating the analysis.
template <typename T>
class BasicBlockCholesky {
 public:
  /// Blocks with left_out[i] ≠ 0 (empty: none; not all) are no unknowns: rows and columns of A are not looked at there,
  /// solutions are zero there, and J may have no entries there. With an `order`, such as another object's for the same
  /// pattern, none is looked for. Throws InputError if a setting is out of range.
  explicit BasicBlockCholesky(std::shared_ptr<const BlockPattern> pattern, const CholeskySettings& settings = {},
                              std::span<const std::uint8_t> left_out = {}, std::span<const int> order = {});

  int blocks() const noexcept;
  const CholeskySettings& settings() const noexcept { return settings_; }
  std::span<const int> order() const noexcept;  ///< blocks as they are eliminated, without those left out

  /// Factors A, which must have the pattern given. False if it is not positive definite (or not finite), shifts
  /// included: then failed_block() tells where, and the object must not be used to solve.
  bool factor(const BlockMatrix& a) noexcept;

  /// The same piece by piece, without shifts: a call does about so many operations, and the one that returns kDone or
  /// kFailed ends it; the next begins anew. `a` must not change on the way, and before kDone the object must not be
  /// used to solve. The result is that of factor(), bit for bit.
  enum class Progress : std::uint8_t { kUnderWay, kDone, kFailed };
  Progress factor_some(const BlockMatrix& a, double operations) noexcept;

  /// Block whose pivot was not positive in the last factor(), or −1.
  int failed_block() const noexcept { return failed_block_; }
  /// σ that the last factor() had to add to the diagonal; 0 without retries.
  double shift() const noexcept { return shift_; }

  /// x ← A⁻¹ x for each column of x, three scalars a block. One column that is zero but for a few blocks costs less.
  void solve(Eigen::Ref<Eigen::MatrixXd> x) noexcept { solve(x, scratch_); }

  /// Room for solutions, of this object or a copy of it. A factor changes nothing in them, so that threads which have
  /// one each may solve at once.
  struct Scratch {
    std::vector<T, Eigen::aligned_allocator<T>> slab;  ///< a right-hand side in elimination order, or a strip of them
    std::vector<T, Eigen::aligned_allocator<T>> gathered;  ///< its part at the rows below a front
  };
  Scratch make_scratch() const { return scratch_; }
  void solve(Eigen::Ref<Eigen::MatrixXd> x, Scratch& scratch) const noexcept;

  /// W += h J A⁻¹ Jᵀ, computed as h ZᵀZ with L Z = P Jᵀ, Z only where the elimination tree leads from the blocks
  /// of J. Exactly symmetric; positive semidefinite up to rounding. Adding lets the bodies of a contact sum up.
  /// False, W untouched, if J has more than settings().max_rows non-empty rows.
  bool add_compliance(const BlockRows& J, double h, Eigen::Ref<Eigen::MatrixXd> W) noexcept;

  /// Column i of x ← A⁻¹ times row rows[i] of J, transposed, J being that of the last add_compliance(), which has done
  /// half of the work. The same as solve() but for rounding.
  void solve_rows_of_compliance(std::span<const int> rows, Eigen::Ref<Eigen::MatrixXd> x,
                                Scratch& scratch) const noexcept;

  /// x ← A⁻¹ Jᵀ λ: the corrective motion Δv of contact forces λ [N] if A = A(h) [kg/s].
  void solve_rows(const BlockRows& J, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                  Eigen::Ref<Eigen::VectorXd> x) noexcept;

  int fronts() const noexcept;
  long stored_scalars() const noexcept;               ///< of L, padding included
  double floating_point_operations() const noexcept;  ///< of factor(), multiply and add counted apart, no padding

 private:
  using AlignedVector = std::vector<T, Eigen::aligned_allocator<T>>;
  using Strip = front::RightHandStrip<T>;

  struct RowPlace {
    int front, row;  ///< where it enters the tree first, and its number in J
  };

  /// What of a strip is not zero in a front: columns from `first` on, of so many vectors of rows; none if that is 0.
  struct Extent {
    int first, vectors;
  };

  bool factor_shifted(const BlockMatrix& a, double shift) noexcept;
  bool factor_front(int f, const BlockMatrix& a, double shift) noexcept;
  void assemble_front(int f, const BlockMatrix& a, double shift) noexcept;
  void solve_one(double* x, Scratch& scratch) const noexcept;
  void solve_strip(double* x, int columns, Eigen::Index stride, Scratch& scratch) const noexcept;
  void solve_backward(int columns, Scratch& scratch) const noexcept;
  void load_solved_row(int i, int lane, T* slab) const noexcept;
  int sort_rows(const BlockRows& J) noexcept;
  void load_strips(const BlockRows& J, int rows, int strips) noexcept;
  void mark_path(int block, int i, int strips) noexcept;
  std::span<const Strip> find_active(int f, int strips) noexcept;
  void add_products(int f, std::span<const Strip> active) noexcept;
  void add_to(Eigen::Ref<Eigen::MatrixXd>& W, double h, int rows) const noexcept;
  std::size_t strip_offset(int s) const noexcept;
  T* strip(int s) noexcept { return strips_.data() + strip_offset(s); }

  std::shared_ptr<const BlockPattern> pattern_;
  std::shared_ptr<const FrontTree> tree_;
  CholeskySettings settings_;
  AlignedVector panels_;              ///< L, front by front (front_tree.h)
  AlignedVector inverse_diagonal_;    ///< 1 / L_ii by slab position
  AlignedVector updates_[2];          ///< stacks of update matrices, by parity of a front's depth
  Scratch scratch_;
  AlignedVector strips_;              ///< strips of Zᵀ, one after the other
  AlignedVector products_;            ///< W in the order of the strips, in tiles
  std::vector<RowPlace> row_places_;  ///< rows of J in the order of the strips …
  int row_count_ = 0;                 ///< … of which there are so many
  std::vector<Strip> active_strips_;  ///< those not zero in the front at hand
  /// Fronts where Z is not zero, ascending: the first reached_count_. Sized and not reserved: a copy keeps no reserve.
  std::vector<int> reached_;
  int reached_count_ = 0;
  std::span<const int> reached() const noexcept { return {reached_.data(), as_size(reached_count_)}; }
  std::vector<std::uint8_t> is_reached_;  ///< while they are looked for
  std::vector<Extent> extents_;           ///< [front · strips + strip]
  int failed_block_ = -1;
  int next_front_ = 0;  ///< of factor_some()
  double shift_ = 0.0;
};

using BlockCholesky = BasicBlockCholesky<double>;
using SingleBlockCholesky = BasicBlockCholesky<float>;

}  // namespace palpate
