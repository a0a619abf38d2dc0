#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
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
  struct Edge {
    std::array<std::int32_t, 2> vertex;  ///< the first is the smaller number
    /// `face[0]` has it from the first vertex to the second, `face[1]` the other way round; −1: none does, as happens
    /// where faces that are nearly in a plane were made one.
    std::array<std::int32_t, 2> face;
  };
  std::vector<Vec3> vertices;  ///< [m]
  std::vector<Face> faces;
  std::vector<std::int32_t> loop;
  std::vector<Edge> edges;
  Vec3 centre = Vec3::Zero();  ///< the mean of all corners [m]
  double size = 0.0;           ///< largest distance of a corner from it [m]

  /// Of a box: its half edges, centre and axes; then faces come in the order −x, +x, −y …
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
  double separation = 0.0;      ///< distance along `normal` [m], negative: they overlap; the least gap of all points
  int count = 0;
  std::array<ManifoldPoint, kMaxPoints> points;
};

/// A convex solid ready for queries.
class ConvexShape {
 public:
  explicit ConvexShape(ConvexPolyhedron polyhedron) : polyhedron_(std::move(polyhedron)) {}
  const ConvexPolyhedron& polyhedron() const noexcept { return polyhedron_; }

 private:
  ConvexPolyhedron polyhedron_;
};

/// Where two convex solids nearer than `max_gap` [m] touch: the corners of the area in which their nearest faces
/// overlap, or one pair of points where edges or corners meet. False if they are farther apart.
///
/// `separation` is exact up to 1e-8 of the larger size: the distance of solids that are apart, and of solids that
/// overlap minus the shortest way that parts them. `normal` is the direction of either. Only where two directions are
/// as good as each other within 1e-10 of the size it is a choice, and then a face of a comes first, a face of b second.
///
/// Two polyhedra that overlap part along the normal of a face of one of them, or square to an edge of each. All of
/// these count that can be better than the best one so far (two boxes: the 15 axes of Gottschalk, Lin & Manocha 1996).
/// None is the difference of two points, so touch is no special case. Solids that are apart and whose nearest features
/// are corners have a distance of their own kind (GJK: Gilbert, Johnson & Keerthi 1988).
///
/// Points come from the face of a, or else of b, whose own separation is less than the exact one by no more than 1e-3
/// of the size and whose normal is within 8° of `normal`; so what touches in a face has the same points, and the same
/// features, whichever direction is the best by a hair.
/// Any thread, also in a tick. Works in a's frame: as exact far from the origin as at it. Allocates nothing; the time
/// is that of the faces, and of the edges near the contact: with all edges of both near it, that of all pairs of edges.
bool compute_manifold(const ConvexShape& a, const Pose& X_WA, const ConvexShape& b, const Pose& X_WB, double max_gap,
                      Manifold& out) noexcept;

/// The same by faces alone: corners of one over the best face of the other, also where an edge or a corner is nearer.
/// What comes next when two that touch in one point turn about it. `separation` and `normal` are that face's; a's
/// counts unless b's is better by 1e-3 of the size.
bool compute_face_manifold(const ConvexShape& a, const Pose& X_WA, const ConvexShape& b, const Pose& X_WB,
                           double max_gap, Manifold& out) noexcept;

}  // namespace palpate
