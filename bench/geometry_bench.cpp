#include <benchmark/benchmark.h>

#include <map>
#include <numbers>

#include "palpate/core/clock.h"
#include "palpate/core/histogram.h"
#include "palpate/geometry/shapes.h"
#include "palpate/geometry/triangle_tree.h"

// Queries as a haptic tick makes them: 20,000 along a path over a noisy sphere of radius 0.1 m, 0.1 mm from one to the
// next. The time shown is the mean over the path; p50_ns and p99_ns come from a second pass that times each query and
// include reading the clock (clock_ns).
namespace palpate {
namespace {

constexpr double kRadius = 0.1;
constexpr int kQueries = 20000;

const TriangleTree& tree_of(int triangles) {
  static std::map<int, TriangleTree> made;
  const auto found = made.find(triangles);
  if (found != made.end()) return found->second;
  return made.emplace(triangles, TriangleTree(make_noisy_sphere(kRadius, triangles, 0.0002, 1))).first->second;
}

/// A spiral over the sphere; its height swings by 1 mm through the surface, as a proxy's does.
std::vector<Vec3> make_path() {
  std::vector<Vec3> path;
  Vec3 axis = Vec3(0.3, 1.0, 0.2).normalized(), p = axis.cross(Vec3::UnitX()).normalized();
  for (int i = 0; i < kQueries; ++i) {
    path.push_back((kRadius + 0.001 * std::sin(0.02 * i)) * p);
    p = (p + 1e-4 / kRadius * axis.cross(p)).normalized();
    axis = (axis + 2e-5 * p.cross(axis)).normalized();
  }
  return path;
}

template <typename Query>
void run_path(benchmark::State& state, Query query) {
  const std::vector<Vec3> path = make_path();
  for (auto _ : state) {
    for (int i = 0; i < kQueries; ++i) benchmark::DoNotOptimize(query(path[i]));
  }
  Histogram times, clock;
  for (int i = 0; i < kQueries; ++i) {
    const std::int64_t start = monotonic_ns();
    benchmark::DoNotOptimize(query(path[i]));
    const std::int64_t end = monotonic_ns();
    times.add(end - start);
    clock.add(monotonic_ns() - end);
  }
  state.SetItemsProcessed(state.iterations() * kQueries);
  state.counters["mean"] = benchmark::Counter(static_cast<double>(state.iterations()) * kQueries,
                                              benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["p50_ns"] = times.compute_percentile_ns(0.5);
  state.counters["p99_ns"] = times.compute_percentile_ns(0.99);
  state.counters["clock_ns"] = clock.compute_percentile_ns(0.5);
}

/// Segments of the given length [µm], slanted to the surface.
void first_hit(benchmark::State& state) {
  const TriangleTree& tree = tree_of(static_cast<int>(state.range(0)));
  const double length = 1e-6 * static_cast<double>(state.range(1));
  run_path(state, [&](const Vec3& p) {
    SegmentHit hit;
    const Vec3 half = 0.5 * length * (p / kRadius + Vec3(0.3, 0.4, 0.2)).normalized();
    return tree.find_first_hit(p + half, p - half, hit);
  });
}

void closest_point(benchmark::State& state) {
  const TriangleTree& tree = tree_of(static_cast<int>(state.range(0)));
  run_path(state, [&](const Vec3& p) {
    ClosestPoint c;
    return tree.find_closest(p, 0.01, c);
  });
}

void build(benchmark::State& state) {
  const TriangleMesh mesh = make_noisy_sphere(kRadius, static_cast<int>(state.range(0)), 0.0002, 1);
  for (auto _ : state) benchmark::DoNotOptimize(TriangleTree(mesh));
}

void refit(benchmark::State& state) {
  TriangleTree tree(make_noisy_sphere(kRadius, static_cast<int>(state.range(0)), 0.0002, 1));
  const std::vector<Vec3> vertices = tree.mesh().vertices;
  for (auto _ : state) benchmark::DoNotOptimize(tree.refit(vertices));
}

BENCHMARK(first_hit)
    ->Name("tree/first_hit")
    ->ArgNames({"triangles", "um"})
    ->ArgsProduct({{1000, 10000, 100000, 1000000}, {100, 1000, 3000}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(closest_point)
    ->Name("tree/closest")
    ->ArgName("triangles")
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(build)->Name("tree/build")->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(refit)->Name("tree/refit")->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace palpate
