#include "palpate/bodies/body.h"

#include <limits>

#include "palpate/geometry/triangle_tree.h"

namespace palpate {

BodyPoint find_surface_point(const BodySurface& surface, const Vec3& p) {
  const TriangleTree tree(
      {{surface.positions.begin(), surface.positions.end()}, {surface.triangles.begin(), surface.triangles.end()}});
  ClosestPoint closest;
  tree.find_closest(p, std::numeric_limits<double>::infinity(), closest);
  return BodyPoint::on_surface(closest.triangle, closest.barycentric);
}

}  // namespace palpate
