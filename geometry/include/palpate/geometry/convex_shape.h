#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// A convex solid by its corners and flat faces.
struct ConvexPolyhedron {
  struct Face {
    Vec3 normal = Vec3::UnitY();        ///< unit, outward
    double offset = 0.0;                ///< normal·x of its points [m]
    std::int32_t begin = 0, count = 0;  ///< its corners in `loop`, counter-clockwise seen from outside
  };
  std::vector<Vec3> vertices;  ///< [m]
  std::vector<Face> faces;
  std::vector<std::int32_t> loop;
  std::vector<std::array<std::int32_t, 2>> edges;
  std::vector<Vec3> edge_directions;  ///< unit, parallel edges once
  double size = 0.0;                  ///< largest distance of a corner from the mean of all [m]

  /// Of a box: its half edges, centre and axes; then faces come in the order −x, +x, −y …, and directions x, y, z.
  struct Box {
    Vec3 half = Vec3::Zero();    ///< [m]; zero: it is none
    Vec3 centre = Vec3::Zero();  ///< [m]
    Mat3 axes = Mat3::Identity();
  };
  Box box;
};

/// A box of edges `size` at `pose`. Throws InputError if an edge is not positive.
ConvexPolyhedron make_convex_box(const Vec3& size, const Pose& pose);

/// The hull of points; faces within 1e-7 of the size of a common plane are one. Throws InputError if the points span
/// no volume.
ConvexPolyhedron make_convex_hull(std::span<const Vec3> points);

/// Its surface: each face as a fan. Vertices keep their numbers.
TriangleMesh make_triangles(const ConvexPolyhedron& polyhedron);

/// One pair of points of two convex solids that touch or nearly do.
struct ManifoldPoint {
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();  ///< world frame [m]
  std::uint32_t feature = 0;                      ///< the same as long as the same corners and edges meet
};

/// All that is needed to keep two convex solids apart.
struct Manifold {
  static constexpr int kMaxPoints = 8;
  Vec3 normal = Vec3::UnitY();  ///< unit, from b to a
  double separation = 0.0;      ///< distance along `normal` [m], negative: they overlap
  int count = 0;
  std::array<ManifoldPoint, kMaxPoints> points;
};

/// A convex solid ready for queries.
class ConvexShape {
 public:
  explicit ConvexShape(ConvexPolyhedron polyhedron);
  ~ConvexShape();
  ConvexShape(ConvexShape&&) noexcept;
  ConvexShape& operator=(ConvexShape&&) noexcept;

  const ConvexPolyhedron& polyhedron() const noexcept { return polyhedron_; }

 private:
  friend struct ConvexGjk;
  ConvexPolyhedron polyhedron_;
  struct Support;
  std::unique_ptr<Support> support_;
};

/// Where two convex solids nearer than `max_gap` [m] touch: the corners of the area in which their nearest faces
/// overlap, or one pair of points where edges or corners meet. False if they are farther apart.
///
/// The normal is the axis of largest separation: of all face normals, of all pairs of edges where these are few (two
/// boxes: the 15 axes of Gottschalk, Lin & Manocha 1996), else of the nearest points or the least penetration (GJK and
/// EPA: Gilbert, Johnson & Keerthi 1988; van den Bergen 2001; by Bullet). An axis only counts by its separation as
/// measured here, so where GJK is degenerate, in touch, it does no harm. A face wins over an edge, and a's face over
/// b's, unless worse by 1e-3 of the size: so manifolds do not flicker.
/// Works in a's frame: as exact far from the origin as at it. Allocates nothing.
bool compute_manifold(const ConvexShape& a, const Pose& X_WA, const ConvexShape& b, const Pose& X_WB, double max_gap,
                      Manifold& out) noexcept;

/// The same by faces alone: corners of one over the best face of the other, also where an edge or a corner is nearer.
/// What comes next when two that touch in one point turn about it.
bool compute_face_manifold(const ConvexShape& a, const Pose& X_WA, const ConvexShape& b, const Pose& X_WB,
                           double max_gap, Manifold& out) noexcept;

}  // namespace palpate
