#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

BoundingBox compute_bounding_box(std::span<const Vec3> vertices) noexcept {
  BoundingBox box;
  for (const Vec3& p : vertices) box.add(p);
  return box;
}

Vec3 compute_area_normal(const Vec3& a, const Vec3& b, const Vec3& c) noexcept {
  return (b - a).cross(c - a);
}

Vec3 compute_unit_normal(const TriangleMesh& mesh, std::int32_t t) noexcept {
  const auto& [i, j, k] = mesh.triangles[as_size(t)];
  const Vec3 n = compute_area_normal(mesh.vertices[i], mesh.vertices[j], mesh.vertices[k]);
  const double length = n.norm();
  if (!(length > 0.0)) return Vec3::Zero();
  return n / length;
}

double compute_area(const TriangleMesh& mesh) noexcept {
  double twice = 0.0;
  for (const auto& [i, j, k] : mesh.triangles) {
    twice += compute_area_normal(mesh.vertices[i], mesh.vertices[j], mesh.vertices[k]).norm();
  }
  return 0.5 * twice;
}

double compute_volume(const TriangleMesh& mesh) noexcept {
  if (mesh.vertices.empty()) return 0.0;
  // Measured from the centre, or an offset of metres would cancel away the volume of a small mesh.
  const Vec3 o = compute_bounding_box(mesh.vertices).center();
  double six = 0.0;
  for (const auto& [i, j, k] : mesh.triangles) {
    six += (mesh.vertices[i] - o).dot((mesh.vertices[j] - o).cross(mesh.vertices[k] - o));
  }
  return six / 6.0;
}

}  // namespace palpate
