#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <random>

#include "palpate/geometry/convex_shape.h"
#include "palpate/geometry/shapes.h"

// One manifold of two convex solids, over 256 poses of each pair in which the second lies at a given gap above a face
// or a corner of the first: how its time grows with the number of faces, apart, in touch and overlapping.
namespace palpate {
namespace {

constexpr double kRadius = 0.05;

enum Kind : std::int64_t { kBox, kPlate, kCylinder, kBall20, kBall180, kBall500 };

ConvexShape make_solid(std::int64_t kind) {
  switch (kind) {
    case kBox:
      return ConvexShape(make_convex_box(Vec3(0.1, 0.08, 0.06), {}));
    case kPlate:
      return ConvexShape(make_convex_box(Vec3(0.3, 0.02, 0.3), {}));
    case kCylinder:
      return ConvexShape(make_convex_hull(make_cylinder(kRadius, 0.08, 24, 1).vertices));
    case kBall20:
      return ConvexShape(make_convex_hull(make_sphere(kRadius, 1).vertices));
    case kBall180:
      return ConvexShape(make_convex_hull(make_sphere(kRadius, 3).vertices));
    default:
      return ConvexShape(make_convex_hull(make_sphere(kRadius, 5).vertices));
  }
}

/// b touches a at the given gap: its lowest corner above a point of a face of a, or every other time above a corner.
Pose make_pose(const ConvexPolyhedron& a, const ConvexPolyhedron& b, double gap, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.1, 1.0);
  const auto& f = a.faces[random() % a.faces.size()];
  Vec3 p = Vec3::Zero(), up = f.normal;
  double sum = 0.0;
  for (std::int32_t k = 0; k < f.count; ++k) {
    const double weight = uniform(random);
    sum += weight;
    p += weight * a.vertices[as_size(a.loop[f.begin + k])];
  }
  p /= sum;
  if (random() % 2 == 0) {
    const std::int32_t corner = a.loop[f.begin];
    p = a.vertices[as_size(corner)];
    for (const auto& g : a.faces) {
      const auto begin = a.loop.begin() + g.begin, end = begin + g.count;
      if (std::find(begin, end, corner) != end) up += uniform(random) * g.normal;
    }
    up.normalize();
  }
  Pose pose;
  pose.rotation = Quat(normal(random), normal(random), normal(random), normal(random)).normalized();
  Vec3 lowest = pose.rotation * b.vertices[0];
  for (const Vec3& v : b.vertices) {
    if (up.dot(pose.rotation * v) < up.dot(lowest)) lowest = pose.rotation * v;
  }
  pose.position = p + gap * up - lowest;
  return pose;
}

/// Arguments: both solids, the gap [µm], and 1 for faces alone.
void BM_Convex_Manifold(benchmark::State& state) {
  const ConvexShape a = make_solid(state.range(0)), b = make_solid(state.range(1));
  const double gap = 1e-6 * static_cast<double>(state.range(2));
  const auto compute = state.range(3) == 1 ? compute_face_manifold : compute_manifold;
  std::mt19937 random(1);
  std::array<Pose, 256> poses;
  for (Pose& pose : poses) pose = make_pose(a.polyhedron(), b.polyhedron(), gap, random);
  std::size_t i = 0, found = 0;
  Manifold m;
  for (auto _ : state) found += compute(a, {}, b, poses[i++ % poses.size()], 0.02, m) ? 1 : 0;
  state.counters["found"] = static_cast<double>(found) / static_cast<double>(state.iterations());
}

void add_pairs(benchmark::internal::Benchmark* b) {
  for (const auto& [first, second] :
       {std::pair(kBox, kBox), std::pair(kCylinder, kBox), std::pair(kBall20, kBall20), std::pair(kBall180, kBall180),
        std::pair(kBall500, kPlate), std::pair(kBall500, kBall500)}) {
    for (const std::int64_t gap : {1000, 0, -1000, -10000}) b->Args({first, second, gap, 0});
    b->Args({first, second, -1000, 1});
  }
}
BENCHMARK(BM_Convex_Manifold)->Apply(add_pairs)->ArgNames({"a", "b", "gap_um", "faces_only"});

}  // namespace
}  // namespace palpate
