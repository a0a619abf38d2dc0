#include <algorithm>
#include <cmath>

#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"

namespace palpate {
namespace {

/// Union (of distances a, b) rounded over a width k: the polynomial smooth minimum.
double join(double a, double b, double k) noexcept {
  const double h = std::max(k - std::abs(a - b), 0.0) / k;
  return std::min(a, b) - 0.25 * k * h * h;
}

/// a without b, rounded.
double cut(double a, double b, double k) noexcept {
  return -join(-a, b, k);
}

/// Near its surface about the distance to an ellipsoid with the given half axes.
double ellipsoid(const Vec3& p, const Vec3& center, const Vec3& half) noexcept {
  const Vec3 q = p - center;
  const double k0 = q.cwiseQuotient(half).norm();
  const double k1 = q.cwiseQuotient(half.cwiseAbs2()).norm();
  return k1 > 0.0 ? k0 * (k0 - 1.0) / k1 : -half.minCoeff();
}

/// A rod from a to b with radius ra at a and rb at b.
double rod(const Vec3& p, const Vec3& a, const Vec3& b, double ra, double rb) noexcept {
  const Vec3 d = b - a;
  const double t = std::clamp((p - a).dot(d) / d.squaredNorm(), 0.0, 1.0);
  return (p - a - t * d).norm() - (ra + t * (rb - ra));
}

/// An upright disc of half height h with rounded rim.
double disc(const Vec3& p, const Vec3& center, double radius, double h, double rim) noexcept {
  const Vec3 q = p - center;
  const double u = std::hypot(q.x(), q.z()) - (radius - rim), v = std::abs(q.y()) - (h - rim);
  return std::min(std::max(u, v), 0.0) + std::hypot(std::max(u, 0.0), std::max(v, 0.0)) - rim;
}

/// Length about 1 along x.
double organ(const Vec3& p) noexcept {
  double f = ellipsoid(p, Vec3(-0.20, 0.0, 0.0), Vec3(0.29, 0.24, 0.21));
  f = join(f, ellipsoid(p, Vec3(-0.02, 0.04, 0.02), Vec3(0.28, 0.17, 0.15)), 0.12);
  f = join(f, ellipsoid(p, Vec3(0.22, 0.07, 0.03), Vec3(0.28, 0.10, 0.12)), 0.10);
  // A blunt end: that of the ellipsoid is sharper than cells of a tenth of the length, which tear it.
  f = join(f, ellipsoid(p, Vec3(0.388, 0.07, 0.03), Vec3(0.09, 0.09, 0.10)), 0.04);
  f = cut(f, rod(p, Vec3(0.06, -0.16, -0.3), Vec3(0.06, -0.16, 0.3), 0.06, 0.06), 0.06);
  return cut(f, ellipsoid(p, Vec3(-0.16, -0.30, 0.02), Vec3(0.20, 0.12, 0.16)), 0.08);
}

/// One person standing at x, facing z.
double person(const Vec3& p, double x, double height) noexcept {
  const auto at = [&](double dx, double y, double z = 0.0) { return Vec3(x + dx, y * height, z); };
  double f = rod(p, at(0, 0.05), at(0, 0.40), 0.115, 0.075);
  f = join(f, ellipsoid(p, at(0, 0.58), Vec3(0.095, 0.17 * height, 0.070)), 0.06);
  f = join(f, rod(p, at(-0.075, 0.71), at(0.075, 0.71), 0.040, 0.040), 0.04);
  f = join(f, rod(p, at(0, 0.72), at(0, 0.82), 0.034, 0.030), 0.03);
  f = join(f, ellipsoid(p, at(0, 0.895, 0.008), Vec3(0.062, 0.085, 0.068)), 0.02);
  return join(f, ellipsoid(p, at(0, 0.885, 0.075), Vec3(0.012, 0.018, 0.016)), 0.015);
}

double arm(const Vec3& p, const Vec3& shoulder, const Vec3& elbow, const Vec3& hand) noexcept {
  return join(rod(p, shoulder, elbow, 0.036, 0.030), rod(p, elbow, hand, 0.030, 0.026), 0.02);
}

/// Height about 1 along y, standing on 0.
double figure(const Vec3& p) noexcept {
  constexpr double kTall = 0.98, kSmall = 0.86;
  double f = disc(p, Vec3(0, 0.035, 0), 0.37, 0.035, 0.02);
  f = join(f, person(p, -0.19, kTall), 0.03);
  f = join(f, person(p, 0.19, kSmall), 0.03);
  // An arm around the other's shoulders, the hands joined below, and one hand on the hip: three handles.
  f = join(f, arm(p, Vec3(-0.11, 0.69, 0), Vec3(0.0, 0.665, 0.01), Vec3(0.12, 0.60, 0)), 0.025);
  f = join(f, arm(p, Vec3(0.11, 0.56, 0.02), Vec3(0.04, 0.44, 0.05), Vec3(-0.13, 0.43, 0.04)), 0.025);
  f = join(f, arm(p, Vec3(-0.26, 0.69, 0), Vec3(-0.385, 0.545, 0), Vec3(-0.26, 0.44, 0.0)), 0.025);
  return cut(f, p.y() - 0.005, 0.01);  // flat below
}

TriangleMesh make_scaled(double (*f)(const Vec3&), const BoundingBox& box, int axis, double size, int resolution) {
  TriangleMesh mesh = make_implicit_surface(f, box, 1.0 / resolution);
  const double scale = size / compute_bounding_box(mesh.vertices).size()[axis];
  for (Vec3& p : mesh.vertices) p *= scale;
  return mesh;
}

void require(std::string_view shape, double size, int resolution, int least) {
  if (!(size > 0.0) || !std::isfinite(size))
    fail_input("{}: size is {} m; it must be finite and positive", shape, size);
  if (resolution < least || resolution > 400) {
    fail_input("{}: resolution is {}; allowed are {} to 400", shape, resolution, least);
  }
}

}  // namespace

TriangleMesh make_organ(double size, int resolution) {
  require("organ", size, resolution, 16);
  BoundingBox box;
  box.add(Vec3(-0.62, -0.42, -0.36));
  box.add(Vec3(0.62, 0.42, 0.36));
  return make_scaled(organ, box, 0, size, resolution);
}

TriangleMesh make_figure(double size, int resolution) {
  require("figure", size, resolution, 40);
  BoundingBox box;
  box.add(Vec3(-0.5, -0.08, -0.45));
  box.add(Vec3(0.5, 1.1, 0.45));
  TriangleMesh mesh = make_scaled(figure, box, 1, size, resolution);
  const double floor = compute_bounding_box(mesh.vertices).lower.y();
  for (Vec3& p : mesh.vertices) p.y() -= floor;
  return mesh;
}

}  // namespace palpate
