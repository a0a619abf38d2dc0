#include "interpolation/proxy.h"

#include <algorithm>
#include <cmath>

#include "palpate/geometry/surface_features.h"

namespace palpate::interpolation {
namespace {

/// Behind an open surface there is no inside; what is this far behind has not gone through it [m].
constexpr double kSheetDepth = 0.02;

void enclose(Proxy& proxy, const TriangleMesh& mesh) {
  proxy.centre = compute_bounding_box(mesh.vertices).center();
  proxy.radius = 0.0;
  for (const Vec3& v : mesh.vertices) proxy.radius = std::max(proxy.radius, (v - proxy.centre).norm());
  proxy.middle = proxy.centre;
}

}  // namespace

bool find_touch(const Proxy& proxy, const Vec3& x, double skin, Touch& out, Clearance& memory) noexcept {
  if (proxy.kind == Proxy::Kind::kPlane) {
    out.normal = proxy.normal;
    out.gap = proxy.normal.dot(x) - proxy.offset;
    return out.gap <= skin;
  }
  if (proxy.is_far(x, skin)) return false;
  const Vec3 from_origin = x - proxy.pose.position;
  if (proxy.kind == Proxy::Kind::kBall) {
    const double distance = from_origin.norm();
    out.gap = distance - proxy.radius;
    out.normal = distance > 0.0 ? Vec3(from_origin / distance) : Vec3(Vec3::UnitY());
    return true;
  }
  const Vec3 p = proxy.axes.transpose() * from_origin;
  if (memory.clear > 0.0 && (p - memory.place).squaredNorm() < memory.clear * memory.clear) return false;
  memory = {p, -1.0};
  const double farthest = std::max(proxy.max_depth, skin);
  ClosestPoint closest;
  if (!proxy.tree->find_closest(p, farthest, closest)) {
    memory.clear = farthest - skin;
    return false;
  }
  const Vec3 outward = proxy.tree->pseudo_normal(closest);
  const double side = (p - closest.point).dot(outward) > 0.0 ? 1.0 : -1.0;
  out.gap = side * closest.distance;
  memory.clear = out.gap - skin;
  if (out.gap > skin || out.gap < -proxy.max_depth) return false;
  // Along the way to the nearest point; where that is not told apart from p, the surface's own normal.
  constexpr double kTiny = 1e-12;
  out.normal = proxy.axes * (closest.distance > kTiny ? Vec3((p - closest.point) / out.gap) : outward);
  return true;
}

Proxy make_finger_proxy(const Finger& finger, int index, double friction) {
  Proxy out;
  out.finger = index;
  out.friction = friction;
  out.radius = finger.radius;
  if (finger.surface.triangles.empty()) return out;
  out.kind = Proxy::Kind::kMesh;
  out.owns = std::make_shared<const TriangleTree>(finger.surface);
  out.tree = out.owns.get();
  enclose(out, finger.surface);
  out.max_depth = 2.0 * out.radius;
  return out;
}

Proxy make_surface_proxy(const StaticSurface& surface) {
  Proxy out;
  const TriangleMesh& mesh = surface.surface.mesh();
  out.kind = Proxy::Kind::kMesh;
  out.friction = surface.friction;
  out.tree = &surface.surface;
  enclose(out, mesh);
  const bool closed = SurfaceFeatures(mesh.triangles, mesh.vertices.size()).is_closed();
  out.max_depth = closed ? 2.0 * out.radius : kSheetDepth;
  // Nodes behind an open surface lie outside of the ball around it.
  if (!closed) out.radius += kSheetDepth;
  return out;
}

Proxy make_plane_proxy(const ContactShape::Plane& plane, double friction) {
  Proxy out;
  out.kind = Proxy::Kind::kPlane;
  out.friction = friction;
  out.normal = plane.normal;
  out.offset = plane.offset;
  return out;
}

}  // namespace palpate::interpolation
