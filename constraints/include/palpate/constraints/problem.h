#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "palpate/core/math.h"

namespace palpate {

/// What a constraint asks of its rows. δ > 0 means apart, λ > 0 pushes apart; δ' = δ + C λ with the rows' own
/// compliance C (zero: rigid). Tangential compliance makes friction creep: what slips or sticks is δ'_t.
enum class ConstraintKind : std::uint8_t {
  /// Three rows, normal and two tangents: 0 ≤ δ'_n ⊥ λ_n ≥ 0, |λ_t| ≤ μ λ_n, and λ_t = −μ λ_n δ'_t/|δ'_t| where it
  /// slips.
  kContact,
  /// One to six rows: δ' = 0, λ free. Attachments and joints.
  kEquality,
  /// One row: lower ≤ λ ≤ upper; δ' = 0 between the bounds, δ' ≥ 0 at the lower, δ' ≤ 0 at the upper. Limits
  /// ([0, ∞): one-sided without friction), motors, dry friction of a joint.
  kBounded,
};

/// Where one side of a constraint acts, and the rows' place there.
struct ConstraintSide {
  enum class Kind : std::uint8_t { kNone, kDense, kLight };
  Kind kind = Kind::kNone;  ///< kNone: the fixed world
  std::int32_t body = -1;   ///< of ConstraintProblem's dense or light bodies
  std::int32_t first = -1;  ///< its rows there are first, first + 1, …
};

struct Constraint {
  ConstraintKind kind = ConstraintKind::kContact;
  std::int32_t first_row = 0;
  std::int32_t rows = 3;
  double friction = 0.0;  ///< μ, of contacts
  double lower = 0.0;     ///< [N], of bounded rows; may be −infinity
  double upper = 0.0;     ///< [N], of bounded rows; may be +infinity
  ConstraintSide a{}, b{};
};

/// A mixed complementarity problem: constraints, and how their rows answer to forces.
///
///   δ = δ_free + W λ,    W = Σ_dense W_k + Σ_light J_k Y_k,    W_k = h J_k A_k⁻¹ J_kᵀ,    Y_k = h A_k⁻¹ J_kᵀ
///
/// λ in newtons, δ in metres: angular rows are scaled by a length beforehand, so that every row is a distance. Bodies
/// of many unknowns (finite elements, chains) are *dense*: they bring W_k, a small full matrix over their own rows.
/// Bodies of at most six unknowns (rigid bodies, particles) are *light*: they keep J and Y, six numbers a row, because
/// a pile of them has thousands of rows and next to no coupling. A constraint acts on one or two bodies.
///
/// Filled anew for every solve, in this order: clear(), add_dense_body() / add_light_body() for all bodies, then
/// constraints one by one; each gets its rows at the end of each body it acts on. Then dense_compliance() matrices are
/// filled. Memory is kept between fills: no allocation once it has been as large before, or after reserve().
/// Thread: one at a time, reading included.
class ConstraintProblem {
 public:
  /// Room for so many rows, of which each acts on two bodies, and bodies; `dense_rows` is the most of one dense body.
  void reserve(int rows, int dense_bodies, int dense_rows, int light_bodies);
  void clear() noexcept;

  int add_dense_body();
  int add_light_body();

  /// Adds a constraint whose rows and sides' places are assigned here; returns its index. Only kind, rows, friction,
  /// bounds, and the sides' kind and body are read. δ_free and compliance of its rows are zero, and so are J and Y.
  int add_constraint(const Constraint& constraint);

  int rows() const noexcept { return rows_; }
  std::span<const Constraint> constraints() const noexcept { return constraints_; }

  double& delta_free(int row) noexcept { return delta_free_[as_size(row)]; }      ///< [m]
  double& compliance(int row) noexcept { return row_compliance_[as_size(row)]; }  ///< C [m/N], ≥ 0
  std::span<const double> delta_free() const noexcept { return {delta_free_.data(), as_size(rows_)}; }
  std::span<const double> compliance() const noexcept { return {row_compliance_.data(), as_size(rows_)}; }

  int dense_bodies() const noexcept { return dense_count_; }
  int dense_rows(int body) const noexcept { return dense_[as_size(body)].rows; }
  /// The problem's row of each of a dense body's rows, ascending.
  std::span<const std::int32_t> dense_row_map(int body) const noexcept;
  /// Where the body's rows begin among those of all dense bodies, each padded to its dense_stride().
  int dense_offset(int body) const noexcept { return dense_[as_size(body)].offset; }
  int dense_stride(int body) const noexcept { return dense_[as_size(body)].stride; }
  /// dense_stride() of all dense bodies together; at most four times their rows.
  int dense_size() const noexcept { return dense_size_; }
  /// W_k over the body's rows; zero when sized by prepare_dense(). Rows between dense_rows() and dense_stride() are
  /// zero and stay so.
  Eigen::Map<Eigen::MatrixXd, Eigen::Aligned32, Eigen::OuterStride<>> dense_compliance(int body) noexcept;
  Eigen::Map<const Eigen::MatrixXd, Eigen::Aligned32, Eigen::OuterStride<>> dense_compliance(int body) const noexcept;
  /// Sizes every dense body's W to the rows it has now, and zeroes it. After the last add_constraint().
  void prepare_dense();

  int light_bodies() const noexcept { return light_count_; }
  /// Row `place` (a side's first + i) of the light bodies: J and Y = h A⁻¹ Jᵀ.
  Vec6& light_J(int place) noexcept { return light_J_[as_size(place)]; }
  Vec6& light_Y(int place) noexcept { return light_Y_[as_size(place)]; }
  const Vec6& light_J(int place) const noexcept { return light_J_[as_size(place)]; }
  const Vec6& light_Y(int place) const noexcept { return light_Y_[as_size(place)]; }

  /// W as one full matrix, without the rows' own compliance C.
  void assemble_dense(Eigen::Ref<Eigen::MatrixXd> W) const noexcept;
  /// out += column `row` of W, without C: what a force of 1 N in this row does to all of them [m].
  void add_column(int row, std::span<double> out) const noexcept;
  /// W(row, row), without C [m/N].
  double compute_own_compliance(int row) const noexcept;

  /// delta = δ_free + W λ (own compliance C not included).
  void compute_delta(std::span<const double> lambda, std::span<double> delta) const noexcept;

 private:
  /// Memory at a multiple of 32 bytes whatever Eigen was built for, which dense_compliance() promises.
  template <typename T>
  struct Aligned32Allocator {
    using value_type = T;
    Aligned32Allocator() noexcept = default;
    template <typename U>
    Aligned32Allocator(const Aligned32Allocator<U>&) noexcept {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{32})); }
    void deallocate(T* p, std::size_t) noexcept { ::operator delete (p, std::align_val_t{32}); }
    bool operator==(const Aligned32Allocator&) const noexcept { return true; }
  };
  struct DenseBody {
    int rows = 0;
    int stride = 0;  ///< of W's columns, a multiple of 4
    int offset = 0;
    std::vector<std::int32_t> row_map;
    std::vector<double, Aligned32Allocator<double>> W;
  };

  void place(ConstraintSide& side, int first_row, int rows);
  const Constraint& constraint_of(int row) const noexcept;

  int rows_ = 0, dense_count_ = 0, light_count_ = 0, light_rows_ = 0, dense_size_ = 0;
  std::vector<Constraint> constraints_;
  std::vector<double> delta_free_, row_compliance_;
  std::vector<DenseBody> dense_;
  std::vector<Vec6> light_J_, light_Y_;
  mutable std::vector<Vec6> light_u_;  ///< scratch of compute_delta(), one a light body
};

}  // namespace palpate
