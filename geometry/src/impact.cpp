#include "palpate/geometry/impact.h"

#include <algorithm>
#include <cmath>

#include "palpate/geometry/closest_features.h"

namespace palpate {
namespace {

/// Bounds the time of one query if the tolerance is tiny against the motion; then they count as met, which is safe.
constexpr int kMaxImpactSteps = 512;

/// `place(t, out)` writes the nearest points at time t and returns a − b there. `speed`: the most by which the distance
/// can change in the whole motion.
template <typename Place>
bool advance_to_impact(const ImpactSettings& settings, double speed, Impact& out, Place&& place) noexcept {
  double t = 0.0;
  for (int step = 0; step < kMaxImpactSteps; ++step) {
    const Vec3 apart = place(t, out);
    const double distance = apart.norm();
    if (!std::isfinite(distance)) return false;
    const double gap = distance - settings.thickness;
    out.time = t;
    out.distance = distance;
    if (distance > 0.0) out.normal = apart / distance;
    if (gap <= settings.tolerance) return true;
    if (!(speed > 0.0)) return false;
    t += (gap - 0.5 * settings.tolerance) / speed;
    if (!(t <= 1.0)) return false;
  }
  return true;
}

/// Whether all of `a` stays beyond all of `b` along an axis of any length, on either side.
template <std::size_t M, std::size_t N>
bool is_apart_along(const std::array<MovingVertex, M>& a, const std::array<MovingVertex, N>& b, const Vec3& axis,
                    double distance) noexcept {
  double a_low[2] = {1e300, 1e300}, a_high[2] = {-1e300, -1e300}, b_low[2] = {1e300, 1e300},
         b_high[2] = {-1e300, -1e300};
  const auto add = [&](const MovingVertex& v, double(&low)[2], double(&high)[2]) {
    const double start = axis.dot(v.start), end = start + axis.dot(v.motion);
    low[0] = std::min(low[0], start);
    low[1] = std::min(low[1], end);
    high[0] = std::max(high[0], start);
    high[1] = std::max(high[1], end);
  };
  for (const MovingVertex& v : a) add(v, a_low, a_high);
  for (const MovingVertex& v : b) add(v, b_low, b_high);
  const double limit = distance * axis.norm();
  return (a_low[0] - b_high[0] > limit && a_low[1] - b_high[1] > limit) ||
         (b_low[0] - a_high[0] > limit && b_low[1] - a_high[1] > limit);
}

/// `offset` without its part along `motion`.
Vec3 square_to(const Vec3& offset, const Vec3& motion) noexcept {
  const double length2 = motion.squaredNorm();
  return length2 > 0.0 ? Vec3(offset - offset.dot(motion) / length2 * motion) : offset;
}

Vec3 at(const MovingVertex& v, const Vec3& common, double t) noexcept {
  return v.start + t * (v.motion - common);
}

}  // namespace

bool is_apart(const MovingVertex& a, const std::array<MovingVertex, 3>& b, double distance) noexcept {
  const std::array<MovingVertex, 1> point = {a};
  const Vec3 face = (b[1].start - b[0].start).cross(b[2].start - b[0].start);
  if (is_apart_along(point, b, face, distance)) return true;
  const Vec3 offset = a.start - (b[0].start + b[1].start + b[2].start) / 3.0;
  const Vec3 motion = a.motion - (b[0].motion + b[1].motion + b[2].motion) / 3.0;
  return is_apart_along(point, b, square_to(offset, motion), distance);
}

bool is_apart(const std::array<MovingVertex, 2>& a, const std::array<MovingVertex, 2>& b, double distance) noexcept {
  const Vec3 offset = 0.5 * (a[0].start + a[1].start - b[0].start - b[1].start);
  const Vec3 motion = 0.5 * (a[0].motion + a[1].motion - b[0].motion - b[1].motion);
  if (is_apart_along(a, b, square_to(offset, motion), distance)) return true;
  const Vec3 common = (a[1].start - a[0].start).cross(b[1].start - b[0].start);
  return is_apart_along(a, b, common, distance);
}

bool find_impact(const MovingVertex& a, const std::array<MovingVertex, 3>& b, const ImpactSettings& settings,
                 Impact& out) noexcept {
  // What all share brings nothing nearer.
  const Vec3 common = 0.25 * (a.motion + b[0].motion + b[1].motion + b[2].motion);
  const double speed =
      (a.motion - common).norm() +
      std::max({(b[0].motion - common).norm(), (b[1].motion - common).norm(), (b[2].motion - common).norm()});
  return advance_to_impact(settings, speed, out, [&](double t, Impact& o) {
    const Vec3 p = at(a, common, t), x = at(b[0], common, t), y = at(b[1], common, t), z = at(b[2], common, t);
    o.weights_a = Vec3::UnitX();
    o.weights_b = closest_on_triangle(p, x, y, z);
    return Vec3(o.weights_b[0] * (p - x) + o.weights_b[1] * (p - y) + o.weights_b[2] * (p - z));
  });
}

bool find_impact(const std::array<MovingVertex, 2>& a, const std::array<MovingVertex, 2>& b,
                 const ImpactSettings& settings, Impact& out) noexcept {
  const Vec3 common = 0.25 * (a[0].motion + a[1].motion + b[0].motion + b[1].motion);
  const double speed = std::max((a[0].motion - common).norm(), (a[1].motion - common).norm()) +
                       std::max((b[0].motion - common).norm(), (b[1].motion - common).norm());
  return advance_to_impact(settings, speed, out, [&](double t, Impact& o) {
    const Vec3 a0 = at(a[0], common, t), a1 = at(a[1], common, t), b0 = at(b[0], common, t), b1 = at(b[1], common, t);
    const SegmentPair c = closest_of_segments(a0, a1, b0, b1);
    o.weights_a = Vec3(1.0 - c.s, c.s, 0.0);
    o.weights_b = Vec3(1.0 - c.t, c.t, 0.0);
    return Vec3((a0 - b0) + c.s * (a1 - a0) - c.t * (b1 - b0));
  });
}

}  // namespace palpate
