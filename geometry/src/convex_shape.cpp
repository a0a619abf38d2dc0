#include "palpate/geometry/convex_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "convex_hull.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

/// Edges, centre and size, from vertices and faces.
void finish(ConvexPolyhedron& p) {
  for (std::size_t f = 0; f < p.faces.size(); ++f) {
    const ConvexPolyhedron::Face& face = p.faces[f];
    for (std::int32_t k = 0; k < face.count; ++k) {
      const std::int32_t i = p.loop[face.begin + k], j = p.loop[face.begin + (k + 1) % face.count];
      p.edges.push_back({{std::min(i, j), std::max(i, j)}, {-1, -1}});
      p.edges.back().face[i < j ? 0 : 1] = static_cast<std::int32_t>(f);
    }
  }
  std::sort(p.edges.begin(), p.edges.end(), [](const auto& d, const auto& e) { return d.vertex < e.vertex; });
  std::size_t count = 0;
  for (const ConvexPolyhedron::Edge e : p.edges) {
    if (count == 0 || p.edges[count - 1].vertex != e.vertex) p.edges[count++] = {e.vertex, {-1, -1}};
    for (int side = 0; side < 2; ++side) {
      if (e.face[side] >= 0) p.edges[count - 1].face[side] = e.face[side];
    }
  }
  p.edges.resize(count);
  for (const Vec3& v : p.vertices) p.centre += v / static_cast<double>(p.vertices.size());
  for (const Vec3& v : p.vertices) p.size = std::max(p.size, (v - p.centre).norm());
}

/// A corner of a face, in coordinates within it.
struct FlatCorner {
  Eigen::Vector2d p;
  std::int32_t vertex;
};

/// Counter-clockwise hull without points that stand out by less than `tolerance`: wrapped from the point farthest out,
/// which is surely a corner, each time to the farthest of those that have all others on their left (Jarvis 1973).
std::vector<FlatCorner> make_flat_hull(const std::vector<FlatCorner>& points, double tolerance) {
  Eigen::Vector2d mean = Eigen::Vector2d::Zero();
  for (const FlatCorner& c : points) mean += c.p / static_cast<double>(points.size());
  const auto start = std::max_element(points.begin(), points.end(), [&](const FlatCorner& a, const FlatCorner& b) {
    return (a.p - mean).squaredNorm() < (b.p - mean).squaredNorm();
  });
  std::vector<FlatCorner> hull{*start};
  while (hull.size() <= points.size()) {
    const Eigen::Vector2d& from = hull.back().p;
    const FlatCorner* best = nullptr;
    for (const FlatCorner& c : points) {
      const Eigen::Vector2d e = c.p - from;
      if (e.norm() <= tolerance) continue;
      if (best == nullptr) {
        best = &c;
        continue;
      }
      const Eigen::Vector2d d = best->p - from;
      const double right = (e.x() * d.y() - e.y() * d.x()) / std::max(d.norm(), e.norm());
      const bool beyond = std::abs(right) <= tolerance && e.dot(d) > 0.0 && e.squaredNorm() > d.squaredNorm();
      if (right > tolerance || beyond) best = &c;
    }
    if (best == nullptr || (best->p - start->p).norm() <= tolerance) break;
    hull.push_back(*best);
  }
  return hull;
}

/// Adds the face on which `normal` is largest, of all vertices within `tolerance` of it.
void add_face(ConvexPolyhedron& p, const Vec3& normal, double tolerance) {
  double offset = -std::numeric_limits<double>::infinity();
  for (const Vec3& v : p.vertices) offset = std::max(offset, normal.dot(v));
  Vec3 u, w;
  make_tangents(normal, u, w);
  std::vector<FlatCorner> corners;
  for (std::size_t i = 0; i < p.vertices.size(); ++i) {
    const Vec3& v = p.vertices[i];
    if (normal.dot(v) >= offset - tolerance) corners.push_back({{u.dot(v), w.dot(v)}, static_cast<std::int32_t>(i)});
  }
  corners = make_flat_hull(corners, tolerance);
  p.faces.push_back(
      {normal, offset, static_cast<std::int32_t>(p.loop.size()), static_cast<std::int32_t>(corners.size())});
  for (const FlatCorner& c : corners) p.loop.push_back(c.vertex);
}

/// Drops vertices that no face has.
void drop_unused(ConvexPolyhedron& p) {
  std::vector<std::int32_t> place(p.vertices.size(), -1);
  for (const std::int32_t v : p.loop) place[as_size(v)] = 0;
  std::size_t count = 0;
  for (std::size_t v = 0; v < place.size(); ++v) {
    if (place[v] < 0) continue;
    p.vertices[count] = p.vertices[v];
    place[v] = static_cast<std::int32_t>(count++);
  }
  p.vertices.resize(count);
  for (std::int32_t& v : p.loop) v = place[as_size(v)];
}

}  // namespace

ConvexPolyhedron make_convex_box(const Vec3& size, const Pose& pose) {
  if (!(size.minCoeff() > 0.0) || !size.allFinite()) {
    fail_input("box size = ({}, {}, {}) m; allowed: above 0", size.x(), size.y(), size.z());
  }
  ConvexPolyhedron p;
  for (int i = 0; i < 8; ++i) {
    const Vec3 corner(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5);
    p.vertices.push_back(pose.position + pose.rotation * corner.cwiseProduct(size));
  }
  for (int axis = 0; axis < 3; ++axis) {
    for (const double sign : {-1.0, 1.0})
      add_face(p, pose.rotation * Vec3(sign * Vec3::Unit(axis)), 1e-7 * size.norm());
  }
  p.box = {0.5 * size, pose.position, pose.rotation.toRotationMatrix()};
  finish(p);
  return p;
}

ConvexPolyhedron make_convex_hull(std::span<const Vec3> points) {
  if (points.size() < 4) fail_input("a convex hull of {} points; at least 4 are needed", points.size());
  for (const Vec3& v : points) {
    if (!v.allFinite()) fail_input("a convex hull of points that are not all finite");
  }
  const std::vector<std::array<std::int32_t, 3>> triangles = compute_hull_triangles(points);
  std::vector<std::int32_t> used;
  for (const auto& t : triangles) used.insert(used.end(), t.begin(), t.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  ConvexPolyhedron p;
  for (const std::int32_t i : used) p.vertices.push_back(points[as_size(i)]);
  const double tolerance = used.empty() ? 0.0 : 1e-7 * compute_bounding_box(p.vertices).size().norm();

  // Planes are those of the largest triangles: the normals of the smallest say little.
  struct Plane {
    Vec3 area;
    std::array<Vec3, 3> corners;
  };
  std::vector<Plane> planes;
  for (const auto& t : triangles) {
    Plane plane;
    for (std::size_t k = 0; k < 3; ++k) plane.corners[k] = points[as_size(t[k])];
    const Vec3 e = plane.corners[1] - plane.corners[0], d = plane.corners[2] - plane.corners[0];
    plane.area = e.cross(d);
    const double longest = std::sqrt(std::max({e.squaredNorm(), d.squaredNorm(), (e - d).squaredNorm()}));
    if (plane.area.norm() > tolerance * longest) planes.push_back(plane);
  }
  std::stable_sort(planes.begin(), planes.end(),
                   [](const Plane& x, const Plane& y) { return x.area.squaredNorm() > y.area.squaredNorm(); });
  for (const Plane& plane : planes) {
    const auto same = [&](const ConvexPolyhedron::Face& g) {
      return std::all_of(plane.corners.begin(), plane.corners.end(),
                         [&](const Vec3& v) { return g.normal.dot(v) > g.offset - tolerance; });
    };
    if (std::none_of(p.faces.begin(), p.faces.end(), same)) add_face(p, plane.area.normalized(), tolerance);
  }
  if (p.faces.size() < 4) fail_input("a convex hull of {} points that span no volume", points.size());
  drop_unused(p);
  finish(p);
  return p;
}

TriangleMesh make_triangles(const ConvexPolyhedron& p) {
  TriangleMesh mesh{p.vertices, {}};
  for (const ConvexPolyhedron::Face& f : p.faces) {
    for (std::int32_t k = 1; k + 1 < f.count; ++k) {
      mesh.triangles.push_back({p.loop[f.begin], p.loop[f.begin + k], p.loop[f.begin + k + 1]});
    }
  }
  return mesh;
}

}  // namespace palpate
