#include <algorithm>
#include <cmath>

#include "candidates.h"

namespace palpate {
namespace {

constexpr int kMaxAdvances = 32;

Pose interpolate(const Pose& x, const Pose& y, double t) noexcept {
  return {x.position + t * (y.position - x.position), x.rotation.slerp(t, y.rotation)};
}

/// How much nearer along `normal` the bodies may come in a whole step, at most [m].
double max_approach(const FinderBody& a, const FinderBody& b, const Vec3& normal) noexcept {
  const Vec3 towards = (b.next_pose.position - b.pose.position) - (a.next_pose.position - a.pose.position);
  return towards.dot(normal) + a.size * a.turn + b.size * b.turn;
}

/// Bodies not yet near: the manifold when they first come within the alarm distance, at time t of the step. False if
/// they never do (conservative advancement, Mirtich 1996: no step is longer than the approach allows).
bool advance_to_contact(const PairContacts& pair, double reach, Manifold& m, double& t) noexcept {
  const FinderBody& a = *pair.a;
  const FinderBody& b = *pair.b;
  t = 0.0;
  for (int i = 0; i < kMaxAdvances; ++i) {
    if (m.separation <= pair.alarm_distance) return true;
    const double approach = max_approach(a, b, m.normal);
    if (!(approach > 0.0)) return false;
    t += (m.separation - 0.5 * pair.alarm_distance) / approach;
    if (!(t < 1.0)) return false;
    if (!compute_manifold(*a.convex, interpolate(a.pose, a.next_pose, t), *b.convex,
                          interpolate(b.pose, b.next_pose, t), 2.0 * reach, m)) {
      return false;
    }
  }
  return true;  // creeping towards each other: as good as there
}

}  // namespace

void find_convex_contacts(PairContacts& pair) {
  const FinderBody& a = *pair.a;
  const FinderBody& b = *pair.b;
  const Vec3 way_a = a.next_pose.position - a.pose.position, way_b = b.next_pose.position - b.pose.position;
  const Vec3 relative = way_b - way_a;
  // Two that fall side by side come no nearer, until one is stopped by a third within the step.
  pair.alarm_distance += std::min(std::max(way_a.norm(), way_b.norm()), 0.5 * std::min(a.size, b.size));
  const double reach = pair.alarm_distance + relative.norm() + max_approach(a, b, Vec3::Zero());
  Manifold m;
  double t = 0.0;
  if (!compute_manifold(*a.convex, a.pose, *b.convex, b.pose, reach, m)) return;
  if (!pair.backwards && !advance_to_contact(pair, reach, m, t)) return;
  const Pose X_WA = t > 0.0 ? interpolate(a.pose, a.next_pose, t) : a.pose;
  const Pose X_WB = t > 0.0 ? interpolate(b.pose, b.next_pose, t) : b.pose;
  const auto place = [](const Pose& from, const Pose& to, const Vec3& p) {
    return Vec3(to.position + to.rotation * (from.rotation.conjugate() * (p - from.position)));
  };
  const auto add_points = [&](const Manifold& points, bool only_apart) {
    for (int i = 0; i < points.count; ++i) {
      const ManifoldPoint& p = points.points[as_size(i)];
      Candidate c;
      c.normal = points.normal;
      c.point_a = t > 0.0 ? place(X_WA, a.pose, p.on_a) : p.on_a;
      c.point_b = t > 0.0 ? place(X_WB, b.pose, p.on_b) : p.on_b;
      c.gap = (c.point_a - c.point_b).dot(c.normal);
      c.then = (place(X_WA, a.next_pose, p.on_a) - place(X_WB, b.next_pose, p.on_b)).dot(c.normal);
      c.lowest = std::min(c.gap, c.then);
      if (pair.backwards && !(c.gap < -kMissedDepth)) continue;
      if (!(c.lowest <= pair.alarm_distance) || (only_apart && !(c.gap > 0.0))) continue;
      c.feature = only_apart ? ~p.feature : p.feature;  // both manifolds may have the same corner
      pair.candidates.push_back(c);
    }
  };
  add_points(m, false);
  // Two that touch in a corner or across edges turn about it, and other corners come down within the step.
  Manifold faces;
  if (!pair.backwards && m.count < 3 && compute_face_manifold(*a.convex, X_WA, *b.convex, X_WB, reach, faces))
    add_points(faces, true);
}

}  // namespace palpate
