#include "limited/patch_solver.h"

#include <algorithm>
#include <cmath>

#include "palpate/geometry/closest_features.h"

namespace palpate::limited {
namespace {

using Triangle = LimitedPatch::Triangle;

/// Skins within which a constraint counts as touched.
constexpr double kTouch = 100.0;
/// Of the reach of the constraints around: the longest way of one iteration.
constexpr double kInnerShare = 0.9;
/// Longest free motion of one tick [m], which bounds its work: at 1 kHz a proxy of 2.5 m/s. A longer one is shortened.
constexpr double kMaxWay = 0.0025;
/// How far below a surface regions are looked for [m]; what iterates are deeper than that, the guard of the path meets.
constexpr double kDeepest = 0.001;
/// How far inside a tick may begin and still be brought out [m]: what is left over when a body moved.
constexpr double kStartDepth = 0.00025;
/// Iterations after which steps end at the first surface in their way, and after which what held before keeps holding.
constexpr int kCarefulAfter = 6, kLockAfter = 14;
/// By how much triangles are gathered more widely than a tick needs [m], so that the next ones need not gather.
constexpr double kRoom = 0.0005;

}  // namespace

PatchSolver::PatchSolver(const PatchSolverOptions& options)
    : options_(options), solver_(make_accelerated_solver()), lambda_(3 * (kMaxSelected + 3)) {
  constexpr int kRows = 3 * (kMaxSelected + 3);
  problem_.reserve(kRows, 1, kRows, 1);
  solver_->reserve(kRows, 2 * kRows, 1);
}

PatchSolver::~PatchSolver() = default;

void PatchSolver::restart(std::span<const std::int32_t> triangles) noexcept {
  selected_count_ = 0;
  near_radius_ = -1.0;
  for (const std::int32_t t : triangles) {
    if (t >= 0 && selected_count_ < kMaxSelected) {
      Selected& s = selected_[as_size(selected_count_++)];
      s = {};
      s.triangle = t;
      s.normal = s.tangent1 = s.tangent2 = Vec3::Zero();
      s.lambda[0] = 1.0;  // it held; the direction of its force is not known yet
    }
  }
}

const PatchSolution& PatchSolver::solve(const LimitedPatch& patch, const Vec3& start, const Vec3& free,
                                        double compliance, const Vec3& yield) noexcept {
  patch_ = &patch;
  start_ = start;
  w_ = compliance;
  C_.setZero();
  touch_ = kTouch * patch.skin;
  forced_count_ = 0;
  met_ = -1;
  solution_ = {};
  solution_.position = start;
  if (!start.allFinite() || !free.allFinite()) return solution_;
  const Vec3 from = start + yield;
  const double far = (free - from).norm();
  if (far > kMaxWay) solution_.share = kMaxWay / far;
  free_ = from + solution_.share * (free - from);
  gather();
  if (options_.radius > 0.0) {
    solve_ball();
    return solution_;
  }

  Vec3 x = options_.from_free ? free_ : start;
  Vec3 anchor = start;    // the last point that is known to be outside, by a way that crosses nothing
  Vec3 grounded = start;  // and the last of those that stood on a face
  bool sure = options_.start_outside;
  for (int i = 0; i < options_.max_iterations; ++i) {
    solution_.iterations = i + 1;
    double reach = find_active(x);
    bool outside = decompose();
    sure = sure || (i == 0 && outside);
    double any = 1.0;
    if (!outside && sure && options_.guard_path && (x == anchor || find_crossing(anchor, x, any) < 0)) {
      // No triangle was crossed on the way here: it is the regions that claim too much.
      drop_violated();
      outside = decompose();
    }
    if (options_.guard_path && outside && x != anchor) {
      double share = 1.0;
      const std::int32_t crossed = find_crossing(anchor, x, share);
      if (crossed >= 0) {
        // The iterates of section 3.5 may leap over a tip; what lies in the way becomes a constraint until it is
        // passed.
        ++solution_.guarded;
        if (!force(crossed)) break;
        x = anchor;
        reach = find_active(x);
        decompose();
      } else {
        anchor = x;
        sure = true;
        if (i < kLockAfter) forced_count_ = 0;
      }
    } else if (outside) {
      anchor = x;
    }
    if (outside && active_count_ > 0) grounded = anchor;
    if (i >= kLockAfter) lock();
    last_ = selected_;
    last_count_ = selected_count_;
    select(x);
    const double residual = solve_forces();
    Vec3 next = compute_next();
    const double way = (next - x).norm();
    solution_.residual = std::max(residual, way);
    if (!(way < 1e3)) break;  // not finite, or absurd: stay where the point is known to be outside
    if (outside && way <= options_.tolerance && residual <= options_.tolerance &&
        (same_selection() || forced_count_ > 0)) {
      solution_.converged = forced_count_ == 0 || is_supported(x);
      anchor = solution_.converged ? x : grounded;
      break;
    }
    const bool too_far = options_.inner_trust && way > kInnerShare * reach;
    if (too_far) next = x + kInnerShare * reach / way * (next - x);
    if (i >= kCarefulAfter && options_.guard_path && outside) stop_before_surface(x, next);
    x = next;
  }
  finish(options_.guard_path || solution_.converged ? anchor : x);
  return solution_;
}

/// What does not settle by itself flits between the faces of a convex edge, each of whose friction drags the point over
/// to the other: at an edge the normal is any between the two, and both faces together say so.
void PatchSolver::lock() noexcept {
  for (int k = 0; k < last_count_; ++k) {
    if (last_[as_size(k)].triangle >= 0) force(last_[as_size(k)].triangle);
  }
}

/// Forgets the active constraints that x violates by more than a touch.
void PatchSolver::drop_violated() noexcept {
  int kept = 0;
  for (int k = 0; k < active_count_; ++k) {
    Active a = active_[as_size(k)];
    if (a.psi < -touch_) continue;
    a.psi = std::max(a.psi, 0.0);
    active_[as_size(kept++)] = a;
  }
  active_count_ = kept;
}

/// Whether one of the triangles that bear is where the point is: planes kept together may meet in the air beside them.
bool PatchSolver::is_supported(const Vec3& x) const noexcept {
  for (int k = 0; k < selected_count_; ++k) {
    const Selected& s = selected_[as_size(k)];
    if (s.triangle < 0 || !(s.lambda[0] > 0.0)) continue;
    if ((x - foot_at(s.triangle, weights_at(s.triangle, x))).norm() <= 10.0 * touch_) return true;
  }
  return false;
}

/// Makes a triangle a constraint whatever the regions say; false if it is one already, or if there is no room.
bool PatchSolver::force(std::int32_t triangle) noexcept {
  const auto end = forced_.begin() + forced_count_;
  if (forced_count_ == kMaxForced || std::find(forced_.begin(), end, triangle) != end) return false;
  forced_[as_size(forced_count_++)] = triangle;
  return true;
}

/// Shortens the way from x, outside, to where it first meets a surface: a trust region that has shrunk to nothing.
/// What it meets holds the point in the next iteration, whatever the regions say.
void PatchSolver::stop_before_surface(const Vec3& x, Vec3& next) noexcept {
  double share = 1.0;
  met_ = find_crossing(x, next, share);
  if (met_ < 0) return;
  const double approach = -patch_->triangle[as_size(met_)].normal.dot(next - x);
  if (approach > 0.0) next = x + std::max(0.0, share - patch_->skin / approach) * (next - x);
}

void PatchSolver::finish(const Vec3& x) noexcept {
  solution_.position = x;
  solution_.yield.setZero();
  solution_.contacts = 0;
  for (int k = 0; k < selected_count_; ++k) {
    const Selected& s = selected_[as_size(k)];
    if (s.triangle < 0) {
      solution_.trust_force += force_of(s);
      continue;
    }
    solution_.contact_force += force_of(s);
    if (solution_.converged) solution_.yield.noalias() -= C_ * force_of(s);
    if (s.lambda[0] > 0.0 && solution_.contacts < PatchSolution::kMaxContacts) {
      solution_.contact[as_size(solution_.contacts++)] = {s.triangle, s.weights, s.normal, force_of(s)};
    }
  }
}

/// What this tick can meet: all within the tick's longest way of the start, and as far below as an iterate may be. The
/// start is outside, so no constraint asks the point to end further from the free motion than the start is, and an
/// iterate inside is no deeper than it is far from the start (half as much again for a C that is not isotropic).
/// Gathered with some room, and kept while it suffices.
void PatchSolver::gather() noexcept {
  most_ = std::max(3.0 * (free_ - start_).norm(), kDeepest);
  const double need = most_ + std::min(most_, kDeepest) + options_.radius;
  if (near_radius_ >= 0.0 && (start_ - near_centre_).norm() + need <= near_radius_) return;
  near_centre_ = start_;
  near_radius_ = need + kRoom;
  near_count_ = 0;
  for (std::int32_t k = 0; k < patch_->triangles; ++k) {
    const auto i = as_size(k);
    const double wide = patch_->extent[i] + near_radius_;
    if ((patch_->middle[i] - near_centre_).squaredNorm() <= wide * wide)
      near_[as_size(near_count_++)] = static_cast<std::int16_t>(k);
  }
}

/// Weights of the triangle's corners at the point of it nearest to x.
Vec3 PatchSolver::weights_at(std::int32_t triangle, const Vec3& x) const noexcept {
  const auto& v = patch_->triangle[as_size(triangle)].vertex;
  return closest_on_triangle(x, patch_->position[as_size(v[0])], patch_->position[as_size(v[1])],
                             patch_->position[as_size(v[2])]);
}

Vec3 PatchSolver::foot_at(std::int32_t triangle, const Vec3& weights) const noexcept {
  const auto& v = patch_->triangle[as_size(triangle)].vertex;
  Vec3 foot = Vec3::Zero();
  for (int c = 0; c < 3; ++c) foot += weights[c] * patch_->position[as_size(v[as_size(c)])];
  return foot;
}

double PatchSolver::psi_at(std::int32_t triangle, const Vec3& x) const noexcept {
  const Triangle& t = patch_->triangle[as_size(triangle)];
  return t.normal.dot(x - patch_->position[as_size(t.vertex[0])]);
}

/// How far x lies beyond an edge, along the triangle's plane [m]; negative on the triangle's side.
double PatchSolver::beyond_edge(std::int32_t triangle, int edge, const Vec3& x) const noexcept {
  const Triangle& t = patch_->triangle[as_size(triangle)];
  const Vec3& a = patch_->position[as_size(t.vertex[as_size(edge)])];
  const Vec3& b = patch_->position[as_size(t.vertex[as_size((edge + 1) % 3)])];
  return (b - a).cross(t.normal).normalized().dot(x - a);
}

/// Whether x is on the triangle's side of all its edges.
bool PatchSolver::is_under(std::int32_t triangle, const Vec3& x) const noexcept {
  for (int e = 0; e < 3; ++e) {
    if (beyond_edge(triangle, e, x) > touch_) return false;
  }
  return true;
}

/// Whether x lies beyond the edge that `triangle` shares with `neighbour`, seen from `triangle`: in the gap between
/// them.
bool PatchSolver::is_beyond_shared(std::int32_t triangle, std::int32_t neighbour, const Vec3& x) const noexcept {
  const Triangle& t = patch_->triangle[as_size(triangle)];
  for (int e = 0; e < 3; ++e) {
    if (t.neighbour[as_size(e)] == neighbour && beyond_edge(triangle, e, x) > 0.0) return true;
  }
  return false;
}

/// Whether x, at ψ below the triangle's plane, is this triangle's business: edge by edge.
bool PatchSolver::in_region(std::int32_t triangle, double psi, const Vec3& x) const noexcept {
  const Triangle& t = patch_->triangle[as_size(triangle)];
  const auto index = as_size(triangle);
  const bool held = was_selected(triangle);
  for (int e = 0; e < 3; ++e) {
    const double beyond = beyond_edge(triangle, e, x);
    const std::int32_t other = t.neighbour[as_size(e)];
    if (other < 0) {
      if (beyond > touch_) return false;
      continue;
    }
    const Triangle& n = patch_->triangle[as_size(other)];
    const Vec3 apart = patch_->middle[as_size(other)] - patch_->middle[index];
    const double rise = t.normal.dot(apart) - n.normal.dot(apart);  // positive: the edge is a valley
    if (std::abs(rise) <= kFlat * apart.norm()) {
      if (beyond > touch_) return false;
      continue;
    }
    if (rise > 0.0) {
      if (beyond <= touch_) continue;
      const double psi_other = psi_at(other, x);
      // On the surface only the line of the valley itself belongs to both: further on this plane would hold the point
      // in the air beside the triangle. Inside, the overlap keeps both until both are satisfied.
      const bool at_line = psi_other <= touch_ && beyond * rise <= 2.0 * touch_ * apart.norm();
      const double overlap = (held ? 1.0 : 0.5) * patch_->extent[index];
      const bool under = is_under(other, x);
      const bool inside = psi < -touch_ && (under ? beyond <= overlap && psi_other < -touch_
                                                  : psi <= psi_other && is_beyond_shared(other, triangle, x));
      if (!at_line && !inside) return false;
    } else {
      // On the plane of equal violation both are as good. Where x is in front of this triangle's plane or touches it,
      // the plane cuts rightly too: past the edge the neighbour's violation is the smaller one.
      const double psi_other = psi_at(other, x);
      if (psi < psi_other - touch_) return false;
      if (beyond > touch_ && psi >= psi_other) return false;
    }
  }
  return true;
}

/// Fills active_; returns how far x may go before it leaps over a constraint [m].
double PatchSolver::find_active(const Vec3& x) noexcept {
  active_count_ = 0;
  double reach = patch_->half_edge;
  // The start is outside, or nearly: what is inside now is no deeper than it is far from there. A face that says more
  // is not the one that was passed, but one whose region leaves the body on its far side.
  const double deepest = (x - start_).norm() + kStartDepth;
  for (int n = 0; n < near_count_; ++n) {
    const std::int32_t k = near_[as_size(n)];
    const auto i = as_size(k);
    const Triangle& t = patch_->triangle[i];
    const Vec3 apart = x - patch_->middle[i];
    const double far2 = apart.squaredNorm();
    const double wide = patch_->extent[i] + reach;
    if (far2 < wide * wide) reach = std::min(reach, std::max(t.depth, std::sqrt(far2) - patch_->extent[i]));
    // Rough: within the slab below the triangle and around its bounding sphere.
    const double rough = t.normal.dot(apart);
    const double depth = std::min(t.depth, deepest);
    if (rough < -depth - touch_ || rough > touch_) continue;
    const double across2 = far2 - rough * rough;
    const double widest = 2.0 * patch_->extent[i] + std::abs(rough) + touch_;
    if (across2 > widest * widest) continue;
    const double psi = psi_at(k, x);
    if (!(psi <= touch_ && psi >= -depth) || !in_region(k, psi, x)) continue;
    if (active_count_ < kMaxActive) active_[as_size(active_count_++)] = {k, psi};
  }
  return reach;
}

bool PatchSolver::was_selected(std::int32_t triangle) const noexcept {
  for (int k = 0; k < selected_count_; ++k) {
    const Selected& s = selected_[as_size(k)];
    if (s.triangle == triangle) return s.lambda[0] > 0.0;
  }
  return false;
}

/// Splits active_ into mutually convex sets, with the least violated of each in best_; at a tie the one that held
/// before. Returns whether the point is outside of all of them: it is outside of a set when it is in front of one face.
bool PatchSolver::decompose() noexcept {
  std::array<int, kMaxActive> set_of;
  sets_ = 0;
  for (int i = 0; i < active_count_; ++i) {
    const Active& a = active_[as_size(i)];
    int set = 0;
    for (; set < sets_; ++set) {
      bool fits = true;
      for (int j = 0; j < i && fits; ++j)
        fits = set_of[as_size(j)] != set || are_mutually_convex(*patch_, a.triangle, active_[as_size(j)].triangle);
      if (fits) break;
    }
    set_of[as_size(i)] = set;
    if (set == sets_) {
      best_[as_size(sets_++)] = i;
      continue;
    }
    const Active& b = active_[as_size(best_[as_size(set)])];
    const double lead = (was_selected(a.triangle) ? touch_ : 0.0) - (was_selected(b.triangle) ? touch_ : 0.0);
    if (a.psi + lead > b.psi) best_[as_size(set)] = i;
  }
  for (int set = 0; set < sets_; ++set) {
    if (active_[as_size(best_[as_size(set)])].psi < 0.0) return false;
  }
  return true;
}

/// The least violated of each set, what the guard asks for, and the trusted box.
void PatchSolver::select(const Vec3& x) noexcept {
  selected_count_ = 0;
  for (int f = 0; f < forced_count_; ++f) {
    const std::int32_t t = forced_[as_size(f)];
    add_selected(t, x);
  }
  if (met_ >= 0) add_selected(met_, x);
  met_ = -1;
  for (int set = 0; set < sets_; ++set) {
    const Active& a = active_[as_size(best_[as_size(set)])];
    add_selected(a.triangle, x);
  }
  add_box_faces();
}

bool PatchSolver::same_selection() const noexcept {
  if (selected_count_ != last_count_) return false;
  for (int i = 0; i < selected_count_; ++i) {
    bool found = false;
    for (int j = 0; j < last_count_; ++j) found = found || selected_[as_size(i)].triangle == last_[as_size(j)].triangle;
    if (!found) return false;
  }
  return true;
}

/// The first triangle that the way leads through from its front to its back; −1: none.
std::int32_t PatchSolver::find_crossing(const Vec3& from, const Vec3& to, double& share) const noexcept {
  std::int32_t found = -1;
  const Vec3 way = to - from;
  const double length = way.norm();
  for (int n = 0; n < near_count_; ++n) {
    const std::int32_t k = near_[as_size(n)];
    const auto i = as_size(k);
    const Triangle& t = patch_->triangle[i];
    const Vec3& a = patch_->position[as_size(t.vertex[0])];
    const double before = t.normal.dot(from - a), after = t.normal.dot(to - a);
    if (!(before >= 0.0 && after < 0.0)) continue;
    const double wide = patch_->extent[i] + length + touch_;
    if ((patch_->middle[i] - from).squaredNorm() > wide * wide) continue;
    const Vec3& b = patch_->position[as_size(t.vertex[1])];
    const Vec3& c = patch_->position[as_size(t.vertex[2])];
    // The signs of the three volumes over the edges: shared edges have the same value in both their triangles, so
    // nothing passes between two (an edge that is met exactly belongs to both).
    const Vec3 fa = a - from, fb = b - from, fc = c - from;
    const double u = -way.dot(fa.cross(fb)), v = -way.dot(fb.cross(fc)), w = -way.dot(fc.cross(fa));
    if (u < 0.0 || v < 0.0 || w < 0.0) continue;
    const double at = before / (before - after);
    if (at < share || found < 0) {
      share = at;
      found = k;
    }
  }
  return found;
}

}  // namespace palpate::limited
