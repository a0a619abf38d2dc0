#pragma once

#include <limits>
#include <utility>

#include "palpate/geometry/convex_shape.h"

// Along which axis two convex solids are apart, or overlap least. b's pose X_AB is given in a's frame, and so is what
// comes out.
//
// All searches are complete: an axis is left out only where a bound shows that it is no better than another one, by
// more than `tie` [m]. Of axes that are as good as each other within `tie` the first in the order of numbers is taken.
namespace palpate {

enum class AxisKind : std::uint8_t { kFaceOfA, kFaceOfB, kEdges, kPoints };

/// A direction along which two solids are apart, or least deep.
struct ConvexSeparation {
  double separation = -std::numeric_limits<double>::infinity();
  Vec3 normal = Vec3::UnitY();  ///< from b to a, in a's frame
  AxisKind kind = AxisKind::kFaceOfA;
  int feature_a = 0, feature_b = 0;  ///< face or edge; of two boxes' edges, their axis
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

/// A few corners of one solid, in the frame of the other, that show of most of the other's faces that they lie high
/// above the lowest corner: a face is no farther below a solid than below any of its corners.
class ConvexProbes {
 public:
  void add(const Vec3& p) noexcept {
    corners_[as_size(next_)] = p;
    next_ = (next_ + 1) % kMax;
    count_ = std::min(count_ + 1, kMax);
  }
  /// Whether `test` is true of one of them; that one is asked first the next time.
  template <typename Test>
  bool any(const Test& test) noexcept {
    for (std::size_t i = 0; i < as_size(count_); ++i) {
      if (!test(corners_[i])) continue;
      std::swap(corners_[i], corners_[0]);
      return true;
    }
    return false;
  }

 private:
  static constexpr int kMax = 8;
  std::array<Vec3, kMax> corners_;
  int count_ = 0, next_ = 0;
};

/// The face of `a` that is farthest below `b`, if it is so by more than `floor` [m]. `probes`, corners of b, are used
/// and added to.
ConvexSeparation best_face(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB, double floor,
                           double tie, ConvexProbes& probes) noexcept;

/// The axis square to an edge of each that has the largest separation, if that is more than `floor` [m]. Probes as they
/// come from the search for faces: corners of b in a's frame, and corners of a in b's.
ConvexSeparation best_edges(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB, double floor,
                            double tie, ConvexProbes& of_b, ConvexProbes& of_a) noexcept;

/// Two boxes along the 15 axes on which only they can be apart (Gottschalk, Lin & Manocha 1996, section 5).
class BoxPair {
 public:
  BoxPair(const ConvexPolyhedron::Box& a, const ConvexPolyhedron::Box& b, const Pose& X_AB, double tie) noexcept
      : half_a_(a.half), half_b_(b.half), a_(a.axes), b_(X_AB.rotation * b.axes), tie_(tie) {
    from_a_to_b_ = X_AB.position + X_AB.rotation * b.centre - a.centre;
    c_ = a_.transpose() * b_;
    absolute_ = c_.cwiseAbs();
  }

  ConvexSeparation best_face_of_a() const noexcept;
  ConvexSeparation best_face_of_b() const noexcept;
  ConvexSeparation best_edges() const noexcept;

 private:
  double separation_along(const Vec3& unit) const noexcept {
    return std::abs(unit.dot(from_a_to_b_)) - half_a_.dot((a_.transpose() * unit).cwiseAbs()) -
           half_b_.dot((b_.transpose() * unit).cwiseAbs());
  }

  Vec3 half_a_, half_b_, from_a_to_b_;
  Mat3 a_, b_, c_, absolute_;
  double tie_;
};

}  // namespace palpate
