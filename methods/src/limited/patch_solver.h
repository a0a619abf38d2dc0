#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "messages.h"
#include "palpate/constraints/solver.h"

namespace palpate::limited {

/// What the tests of the paper's failure cases switch off; a method never does.
struct PatchSolverOptions {
  double tolerance = 1e-11;  ///< [m]
  double radius = 0.0;       ///< of the point [m]; above 0 it is a ball, see patch_ball.cpp
  int max_iterations = 64;
  bool inner_trust = true;     ///< no iteration moves further than the constraints around reach (section 3.5)
  bool from_free = false;      ///< the first tentative state is the free motion's, not the last tick's
  bool start_outside = false;  ///< the start is known to be outside: nothing moves but the point
  bool guard_path = true;      ///< no way from one point outside to the next crosses a triangle of the patch
};

/// A contact at the end of a tick.
struct PatchContact {
  std::int32_t triangle = -1;   ///< of the patch; −1: none
  Vec3 weights = Vec3::Zero();  ///< of its corners: where the proxy stands on it
  Vec3 normal = Vec3::Zero();   ///< unit, along which it holds the proxy
  Vec3 force = Vec3::Zero();    ///< on the proxy [N]
};

struct PatchSolution {
  static constexpr int kMaxContacts = 8;
  Vec3 position = Vec3::Zero();       ///< of the proxy, as seen from the patch [m]
  Vec3 yield = Vec3::Zero();          ///< of the patch where it is touched [m]: the proxy is at position + yield
  double share = 1.0;                 ///< of the free motion that this tick took; the forces are those of that share
  Vec3 contact_force = Vec3::Zero();  ///< of all contacts on the proxy [N]
  Vec3 trust_force = Vec3::Zero();    ///< of the trusted box on the proxy [N]: not a thing that one can feel
  double residual = 0.0;              ///< [m]
  std::int32_t iterations = 0;
  std::int32_t contacts = 0;                         ///< that bear a force
  std::int32_t guarded = 0;                          ///< times that the path's guard had to step in
  bool converged = false;                            ///< if not, the proxy stopped on its way, outside
  std::array<PatchContact, kMaxContacts> contact{};  ///< the first `contacts`
};

/// One tick of a point among geometrically limited constraints (Knott & Kuhlen 2015, sections 3.3 to 3.5), in the
/// frame of the patch, which yields by −C F where it is touched:
///
///   y = x + C F = x_free + (w + C) Σ F,   w = h A⁻¹ of the point, C = h A(dt)⁻¹ of the patch at the point's foot
///   ψ_k = n_k·(y − foot_k) ≥ 0 where constraint k is limited to,   |F_t| ≤ μ F_n against the sliding
///
/// Each iteration: the constraints whose region the tentative x lies in (*active*); their decomposition into mutually
/// convex sets, by centres and normals; of each set the least violated; their forces with friction; and x, no further
/// from the last one than the constraints around it are deep (the *inner trust region*). Until nothing changes.
///
/// Departures, and why:
///  - A_ψ and A_τ are C at the place where the point stands, seen along the normals and the tangents: constraints that
///    one point touches at once are so near each other that the surface yields there as one. So regions and paths are
///    those of the patch as published, and do not shift while forces are sought. Where the point touches something
///    that does not yield too, nothing yields in that tick.
///  - A region is not a rectangle but what lies below the triangle: at a convex edge up to the plane of equal
///  violation,
///    so that regions of any triangles meet without gap or overlap; at a concave edge both sides' regions overlap,
///    because there both must hold. That overlap is the paper's constraint for sharp concave edges.
///  - The forces of the few selected constraints are solved for together and exactly (constraints/solver.h), not by one
///    sweep: faces of a shallow valley are nearly parallel, and sweeps over them crawl.
///  - The way is guarded: from each point outside to the next no triangle may be crossed; one that would be is made a
///    constraint. Regions alone miss tips thinner than a step.
///  - The inner trust region shortens the step and is no constraint with a force of its own. Where the iteration does
///    not settle it shrinks until steps end at the first surface, and then the faces that it flits between are kept
///    together (lock()).
///
/// A point with a radius is not in the paper. Every triangle then asks for d_k(y) ≥ radius of its distance, which is
/// curved around edges and corners. With p_k the point of the triangle nearest to the iterate x and n_k from there to
/// x,
///   n_k·(y − p_k) ≥ radius  implies  d_k(y) ≥ radius,
/// for a triangle lies behind the plane through its point nearest to x. So a tick is a row of problems with planes, in
/// which every iterate is outside; a plane is added for each triangle that the next iterate would violate, and none for
/// others: their planes would hold up a ball that slides over a flat mesh. No iterate goes further than the radius, so
/// that nothing is passed through.
///
/// Real-time: no allocation, no exception, at most max_iterations of bounded work. One thread.
class PatchSolver {
 public:
  explicit PatchSolver(const PatchSolverOptions& options);
  ~PatchSolver();

  /// From `start` (of y), which lies in free space, towards `free`, where the point would go without contact;
  /// `compliance` is w [m/N]. Sliding is measured from `start`. `yield` is what the patch yields already where the
  /// point stands: its way of this tick is counted from there.
  const PatchSolution& solve(const LimitedPatch& patch, const Vec3& start, const Vec3& free, double compliance,
                             const Vec3& yield = Vec3::Zero()) noexcept;

  /// Forgets which constraints held the last tick: the patch has changed. Those named (−1: none) begin the next.
  void restart(std::span<const std::int32_t> triangles) noexcept;

 private:
  static constexpr int kMaxActive = 32;
  static constexpr int kMaxSelected = PatchSolution::kMaxContacts;
  static constexpr int kMaxForced = 4;

  struct Active {
    std::int32_t triangle;
    double psi;  ///< [m]
  };
  struct Selected {
    std::int32_t triangle = -1;  ///< −1 − axis: a face of the trusted box
    Vec3 normal, tangent1, tangent2;
    Vec3 weights;
    double gap_free = 0.0;       ///< δ_free along the normal [m]
    Vec3 lambda = Vec3::Zero();  ///< normal, tangents [N]
  };

  Vec3 weights_at(std::int32_t triangle, const Vec3& x) const noexcept;
  double psi_at(std::int32_t triangle, const Vec3& x) const noexcept;
  double beyond_edge(std::int32_t triangle, int edge, const Vec3& x) const noexcept;

  void solve_ball() noexcept;
  bool find_next_outside(const Vec3& x, Vec3& next) noexcept;
  void select_touched(const Vec3& x) noexcept;
  bool add_plane(std::int32_t triangle, const Vec3& x) noexcept;
  bool is_selected(std::int32_t triangle) const noexcept;
  std::int32_t find_most_violated(const Vec3& x) const noexcept;
  Vec3 foot_at(std::int32_t triangle, const Vec3& weights) const noexcept;
  Vec3 compute_next() const noexcept;

  void gather() noexcept;
  bool is_under(std::int32_t triangle, const Vec3& x) const noexcept;
  bool is_beyond_shared(std::int32_t triangle, std::int32_t neighbour, const Vec3& x) const noexcept;
  bool in_region(std::int32_t triangle, double psi, const Vec3& x) const noexcept;
  double find_active(const Vec3& x) noexcept;
  bool decompose() noexcept;
  void select(const Vec3& x) noexcept;
  void add_selected(std::int32_t triangle, const Vec3& x) noexcept;
  void add_box_faces() noexcept;
  bool was_selected(std::int32_t triangle) const noexcept;
  double solve_forces() noexcept;
  bool compute_compliance() noexcept;
  void fill_compliance(int dense) noexcept;
  Vec3 force_of(const Selected& s) const noexcept {
    return s.lambda[0] * s.normal + s.lambda[1] * s.tangent1 + s.lambda[2] * s.tangent2;
  }
  std::int32_t find_crossing(const Vec3& from, const Vec3& to, double& share) const noexcept;
  void stop_before_surface(const Vec3& x, Vec3& next) noexcept;
  void drop_violated() noexcept;
  bool is_supported(const Vec3& x) const noexcept;
  void lock() noexcept;
  bool force(std::int32_t triangle) noexcept;
  bool same_selection() const noexcept;
  void finish(const Vec3& x) noexcept;

  const PatchSolverOptions options_;
  std::unique_ptr<ConstraintSolver> solver_;
  ConstraintProblem problem_;
  std::vector<double> lambda_;

  const LimitedPatch* patch_ = nullptr;
  Vec3 start_, free_;
  double w_ = 0.0;
  Mat3 C_ = Mat3::Zero();                                       ///< of the patch where the point stands [m/N]
  double most_ = 0.0;                                           ///< no iterate is further from the start [m]
  std::array<std::int16_t, LimitedPatch::kMaxTriangles> near_;  ///< triangles that this tick can meet
  int near_count_ = 0;
  Vec3 near_centre_ = Vec3::Zero();  ///< they are those around this point …
  double near_radius_ = -1.0;        ///< … within this distance [m]; negative: none yet
  double touch_ = 0.0;               ///< nearer than this a constraint counts as touched [m]
  std::array<Active, kMaxActive> active_;
  int active_count_ = 0;
  std::array<int, kMaxActive> best_;  ///< of each convex set the least violated of active_
  int sets_ = 0;
  std::array<Selected, kMaxSelected + 3> selected_, last_;
  int selected_count_ = 0, last_count_ = 0;
  std::array<std::int32_t, kMaxForced> forced_;
  int forced_count_ = 0;
  std::int32_t met_ = -1;  ///< triangle that the last step ended at
  PatchSolution solution_;
};

}  // namespace palpate::limited
