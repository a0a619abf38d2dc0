#include "palpate/geometry/impact.h"

#include <algorithm>
#include <cmath>

#include "palpate/core/simd.h"
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

/// Four vertices, one in each lane.
struct MovingLanes {
  simd::Double4 start[3], motion[3];

  MovingLanes(const MovingVertex& a, const MovingVertex& b, const MovingVertex& c, const MovingVertex& d) noexcept {
    for (int k = 0; k < 3; ++k) {
      start[k] = simd::Double4{a.start[k], b.start[k], c.start[k], d.start[k]};
      motion[k] = simd::Double4{a.motion[k], b.motion[k], c.motion[k], d.motion[k]};
    }
  }
};

/// How far the first `Count` vertices are from all the others along an axis of any length at the start, if they stay
/// beyond them by more than `distance`, on either side; else 0 [m].
template <int Count>
inline double find_apart_along(const MovingLanes& v, const Vec3& axis, double distance) noexcept {
  const auto project = [&](const simd::Double4(&x)[3]) { return x[0] * axis[0] + (x[1] * axis[1] + x[2] * axis[2]); };
  const simd::Double4 start = project(v.start), end = start + project(v.motion);
  const double length2 = axis.squaredNorm(), limit2 = distance * distance * length2;
  const auto is_beyond = [limit2](double way) { return way > 0.0 && way * way > limit2; };
  const auto low = [](const simd::Double4& x) {
    return Count == 1 ? std::min(x[1], std::min(x[2], x[3])) : std::min(x[2], x[3]);
  };
  const auto high = [](const simd::Double4& x) {
    return Count == 1 ? std::max(x[1], std::max(x[2], x[3])) : std::max(x[2], x[3]);
  };
  const auto own_low = [](const simd::Double4& x) { return Count == 1 ? x[0] : std::min(x[0], x[1]); };
  const auto own_high = [](const simd::Double4& x) { return Count == 1 ? x[0] : std::max(x[0], x[1]); };
  const double above = own_low(start) - high(start), below = low(start) - own_high(start);
  const bool stays = (is_beyond(above) && is_beyond(own_low(end) - high(end))) ||
                     (is_beyond(below) && is_beyond(low(end) - own_high(end)));
  return stays ? std::max(above, below) / std::sqrt(length2) : 0.0;
}

/// The most by which the distance of the first `Count` vertices to the others can change: what all share brings nothing
/// nearer.
template <int Count>
double compute_speed(const MovingLanes& v) noexcept {
  simd::Double4 square{};
  for (const simd::Double4& m : v.motion) {
    const simd::Double4 own = m - simd::fill(0.25 * (m[0] + m[1] + m[2] + m[3]));
    square += own * own;
  }
  const double first = Count == 1 ? square[0] : std::max(square[0], square[1]);
  const double others = std::max(Count == 1 ? std::max(square[1], square[2]) : square[2], square[3]);
  return std::sqrt(first) + std::sqrt(others);
}

/// Beyond the rounding of both computations.
template <int Count>
bool is_beyond(const MovingLanes& v, const ImpactSettings& settings, double distance) noexcept {
  const double gap = distance - settings.thickness;
  return gap > settings.tolerance && gap - 0.5 * settings.tolerance > (1.0 + 1e-9) * compute_speed<Count>(v);
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

double find_apart(const MovingVertex& a, const std::array<MovingVertex, 3>& b, double distance) noexcept {
  const MovingLanes lanes(a, b[0], b[1], b[2]);
  const Vec3 face = (b[1].start - b[0].start).cross(b[2].start - b[0].start);
  const double above_face = find_apart_along<1>(lanes, face, distance);
  if (above_face > 0.0) return above_face;
  const Vec3 offset = a.start - (b[0].start + b[1].start + b[2].start) / 3.0;
  const Vec3 motion = a.motion - (b[0].motion + b[1].motion + b[2].motion) / 3.0;
  return find_apart_along<1>(lanes, square_to(offset, motion), distance);
}

double find_apart(const std::array<MovingVertex, 2>& a, const std::array<MovingVertex, 2>& b,
                  double distance) noexcept {
  const MovingLanes lanes(a[0], a[1], b[0], b[1]);
  const Vec3 offset = 0.5 * (a[0].start + a[1].start - b[0].start - b[1].start);
  const Vec3 motion = 0.5 * (a[0].motion + a[1].motion - b[0].motion - b[1].motion);
  const double beside = find_apart_along<2>(lanes, square_to(offset, motion), distance);
  if (beside > 0.0) return beside;
  const Vec3 common = (a[1].start - a[0].start).cross(b[1].start - b[0].start);
  return find_apart_along<2>(lanes, common, distance);
}

bool is_out_of_reach(const MovingVertex& a, const std::array<MovingVertex, 3>& b, const ImpactSettings& settings,
                     double distance) noexcept {
  return is_beyond<1>(MovingLanes(a, b[0], b[1], b[2]), settings, distance);
}

bool is_out_of_reach(const std::array<MovingVertex, 2>& a, const std::array<MovingVertex, 2>& b,
                     const ImpactSettings& settings, double distance) noexcept {
  return is_beyond<2>(MovingLanes(a[0], a[1], b[0], b[1]), settings, distance);
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
