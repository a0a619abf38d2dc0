#pragma once

#include <vector>

#include "messages.h"
#include "palpate/methods/limited_settings.h"

namespace palpate::limited {

/// Fills patches from the world around a point. Thread: the slow loop's or the one beside it, one at a time; may
/// allocate.
class PatchBuilder {
 public:
  /// `ball`: radius of the point [m]. Its middle is trusted where everything that it may touch from there is known.
  PatchBuilder(const LimitedSettings& settings, PointWorld& world, double ball = 0.0);

  /// Everything near `centre`, as many triangles as fit, and how far they reach. `side` is where the proxy is: open
  /// surfaces are taken from that side. Cheap against finish(), so that a centre can be tried.
  void begin(const Vec3& centre, const Vec3& side, LimitedPatch& out, StepReport& report);
  /// What the fast half needs of them: normals, neighbours, depths and the compliance. Of the last begin().
  void finish(LimitedPatch& out, StepReport& report);

 private:
  struct Found {
    double distance;        ///< of the triangle from the centre [m]
    std::int32_t surface;   ///< −1 − i: plane i
    std::int32_t triangle;  ///< of the surface, or of a plane's two
  };
  void forget();
  double find(const Vec3& centre, StepReport& report);
  double collect(const Vec3& centre, double radius);
  int most_compliant() const;
  bool add(const Found& found, const Vec3& centre, double reach, LimitedPatch& out);
  int add_vertex(std::int32_t surface, std::int32_t vertex, LimitedPatch& out);
  void add_plane(const Found& found, const Vec3& centre, double reach, LimitedPatch& out);
  void finish_triangles(LimitedPatch& out);
  double compute_depth(const Found& found, const LimitedPatch::Triangle& triangle, const Vec3& middle) const;
  void fill_compliance(LimitedPatch& out);

  const LimitedSettings settings_;
  const double ball_;
  PointWorld& world_;
  std::vector<std::int32_t> near_;
  std::vector<Found> found_;
  std::vector<Found> kept_;
  std::vector<std::vector<std::int16_t>> local_vertex_;    ///< of each surface's vertices; −1: not in the patch
  std::vector<std::vector<std::int16_t>> local_triangle_;  ///< the same of its triangles
  std::vector<bool> flipped_;                              ///< surfaces taken from behind
  struct MovingVertex {
    std::int32_t surface, vertex;
  };
  std::vector<MovingVertex> moving_;
  std::vector<BodyPoint> points_;
  std::vector<int> slots_;
  Eigen::MatrixXd C_;
};

}  // namespace palpate::limited
