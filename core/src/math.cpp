#include "palpate/core/math.h"

#include <cmath>

namespace palpate {

Vec3 rotation_vector(const Quat& q) noexcept {
  const double sign = q.w() < 0.0 ? -1.0 : 1.0;  // the shorter of the two ways round
  const Vec3 v = sign * q.vec();
  const double s = v.norm();
  const double angle = 2.0 * std::atan2(s, sign * q.w());
  return s > 1e-12 ? Vec3(v * (angle / s)) : Vec3(2.0 * v);
}

Quat rotation_from_vector(const Vec3& r) noexcept {
  const double angle = r.norm();
  const double half = 0.5 * angle;
  const double scale = angle > 1e-6 ? std::sin(half) / angle : 0.5 - angle * angle / 48.0;
  Quat q(std::cos(half), scale * r.x(), scale * r.y(), scale * r.z());
  q.normalize();
  return q;
}

void make_tangents(const Vec3& n, Vec3& t1, Vec3& t2) noexcept {
  const double sign = std::copysign(1.0, n.z());
  const double a = -1.0 / (sign + n.z());
  const double b = n.x() * n.y() * a;
  t1 = Vec3(1.0 + sign * n.x() * n.x() * a, sign * b, -sign * n.x());
  t2 = Vec3(b, sign + n.y() * n.y() * a, -n.y());
}

}  // namespace palpate
