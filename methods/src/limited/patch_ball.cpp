#include <algorithm>
#include <cmath>

#include "limited/patch_solver.h"

// A point with a radius: a ball among triangles, by planes that are made anew around every iterate.
namespace palpate::limited {
namespace {

/// Around an edge iterates settle by a share of their way, not at once: what is left then [m] is a micronewton of any
/// coupling.
constexpr double kSettled = 1e-9;
/// Planes that an iterate may begin with: the rest of the room is for what is met on the way.
constexpr int kMaxTouched = 5;
/// Two planes whose normals differ by less than this hold the same.
constexpr double kSameNormal = 1e-9;

}  // namespace

void PatchSolver::solve_ball() noexcept {
  Vec3 x = start_;
  while (!solution_.converged) {
    select_touched(x);
    Vec3 next = x;
    if (!find_next_outside(x, next)) break;
    solution_.residual = (next - x).norm();
    solution_.converged = solution_.residual <= std::max(options_.tolerance, kSettled);
    x = next;
  }
  finish(x);
}

/// The next iterate: forces of the planes at hand, and of one more for each triangle that would be too near. False if
/// there is no room or no time for them; x is then the best that is known to be outside.
bool PatchSolver::find_next_outside(const Vec3& x, Vec3& next) noexcept {
  while (solution_.iterations < options_.max_iterations) {
    ++solution_.iterations;
    solve_forces();
    next = compute_next();
    const double way = (next - x).norm();
    if (!(way < 1e3)) return false;  // not finite, or absurd
    if (way > options_.radius) next = x + options_.radius / way * (next - x);
    const std::int32_t violated = find_most_violated(next);
    if (violated < 0) return true;
    last_ = selected_;
    last_count_ = selected_count_;
    if (!add_plane(violated, x)) return false;
  }
  return false;
}

/// Planes of what bore in the last iterate and of what x touches, each anew at x, and the trusted box.
void PatchSolver::select_touched(const Vec3& x) noexcept {
  last_ = selected_;
  last_count_ = selected_count_;
  selected_count_ = 0;
  add_box_faces();
  const int box = selected_count_;
  for (int k = 0; k < last_count_; ++k) {
    const Selected& s = last_[as_size(k)];
    if (s.triangle >= 0 && s.lambda[0] > 0.0 && selected_count_ < box + kMaxTouched) add_plane(s.triangle, x);
  }
  const double touched = options_.radius + touch_;
  for (int n = 0; n < near_count_ && selected_count_ < box + kMaxTouched; ++n) {
    const std::int32_t k = near_[as_size(n)];
    const double wide = patch_->extent[as_size(k)] + touched;
    if ((patch_->middle[as_size(k)] - x).squaredNorm() > wide * wide || is_selected(k)) continue;
    if ((x - foot_at(k, weights_at(k, x))).norm() <= touched) add_plane(k, x);
  }
}

/// The plane that keeps a triangle's point nearest to x at the radius. False if there is no room; a plane that is there
/// already is no second one.
bool PatchSolver::add_plane(std::int32_t triangle, const Vec3& x) noexcept {
  Selected s;
  s.triangle = triangle;
  s.weights = weights_at(triangle, x);
  const Vec3 foot = foot_at(triangle, s.weights), apart = x - foot;
  const double distance = apart.norm();
  s.normal = distance > patch_->skin ? Vec3(apart / distance) : patch_->triangle[as_size(triangle)].normal;
  for (int k = 0; k < selected_count_; ++k) {
    const Selected& other = selected_[as_size(k)];
    if (other.triangle < 0 || (other.normal - s.normal).norm() > kSameNormal) continue;
    if (std::abs(s.normal.dot(foot_at(other.triangle, other.weights) - foot)) < patch_->skin) return true;
  }
  make_tangents(s.normal, s.tangent1, s.tangent2);
  s.gap_free = s.normal.dot(free_ - foot) - options_.radius - 2.0 * patch_->skin;
  if (selected_count_ < kMaxSelected) {
    selected_[as_size(selected_count_++)] = s;
    return true;
  }
  const auto idle = std::find_if(selected_.begin(), selected_.begin() + selected_count_,
                                 [](const Selected& c) { return c.triangle >= 0 && !(c.lambda[0] > 0.0); });
  if (idle == selected_.begin() + selected_count_) return false;
  *idle = s;
  return true;
}

bool PatchSolver::is_selected(std::int32_t triangle) const noexcept {
  const auto end = selected_.begin() + selected_count_;
  return std::find_if(selected_.begin(), end, [&](const Selected& s) { return s.triangle == triangle; }) != end;
}

/// The nearest triangle that is nearer than the radius and has no plane; −1: none.
std::int32_t PatchSolver::find_most_violated(const Vec3& x) const noexcept {
  std::int32_t found = -1;
  double nearest = options_.radius + patch_->skin;  // planes keep two skins
  for (int n = 0; n < near_count_; ++n) {
    const std::int32_t k = near_[as_size(n)];
    const double wide = patch_->extent[as_size(k)] + nearest;
    if ((patch_->middle[as_size(k)] - x).squaredNorm() > wide * wide) continue;
    const double distance = (x - foot_at(k, weights_at(k, x))).norm();
    if (distance >= nearest || is_selected(k)) continue;
    nearest = distance;
    found = k;
  }
  return found;
}

}  // namespace palpate::limited
