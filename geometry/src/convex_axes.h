#pragma once

#include <limits>

#include "palpate/geometry/convex_shape.h"

// Along which axis two convex solids are apart, or overlap least. b's pose X_AB is given in a's frame, and so is what
// comes out.
namespace palpate {

enum class AxisKind : std::uint8_t { kFaceOfA, kFaceOfB, kEdges, kPoints };

/// A direction along which two solids are apart, or least deep.
struct ConvexSeparation {
  double separation = -std::numeric_limits<double>::infinity();
  Vec3 normal = Vec3::UnitY();  ///< from b to a, in a's frame
  AxisKind kind = AxisKind::kFaceOfA;
  int feature_a = 0, feature_b = 0;
};

struct SupportPoint {
  double height;
  int vertex;
};

/// The vertex lowest along a direction.
SupportPoint lowest(const ConvexPolyhedron& p, const Vec3& direction) noexcept;

/// How far a lies above b along `normal` [m].
double separation_along(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB,
                        const Vec3& normal) noexcept;

/// The face of `a` that is farthest below `b`. `hint`: unless zero, only faces within 25° of it are tried.
ConvexSeparation best_face(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB,
                           const Vec3& hint) noexcept;

/// The best of all cross products of edge directions.
ConvexSeparation best_edges(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB) noexcept;

/// Two boxes along the 15 axes on which only they can be apart (Gottschalk, Lin & Manocha 1996, section 5).
class BoxPair {
 public:
  BoxPair(const ConvexPolyhedron::Box& a, const ConvexPolyhedron::Box& b, const Pose& X_AB) noexcept
      : half_a_(a.half), half_b_(b.half), a_(a.axes), b_(X_AB.rotation * b.axes) {
    from_a_to_b_ = X_AB.position + X_AB.rotation * b.centre - a.centre;
    c_ = a_.transpose() * b_;
    absolute_ = c_.cwiseAbs();
  }

  ConvexSeparation best_face_of_a() const noexcept;
  ConvexSeparation best_face_of_b() const noexcept;
  ConvexSeparation best_edges() const noexcept;

 private:
  Vec3 half_a_, half_b_, from_a_to_b_;
  Mat3 a_, b_, c_, absolute_;
};

}  // namespace palpate
