// A whole fast tick of `reference` on static meshes: 20,000 ticks of 0.1 mm, 3 mm deep, round a noisy sphere of 0.1 m.
// The most used haptics library takes 1.0 / 1.8 / 5 / 19 µs a tick (p50) at 1k / 10k / 100k / 1M triangles on a machine
// like the one this was written on; `of_limit` is our p50 over that. Where Bullet is installed, its own triangle tree
// answers the same three segment queries that a proxy algorithm makes, in the same run: `of_bullet`.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "palpate/core/clock.h"
#include "palpate/geometry/shapes.h"
#include "palpate/haptics/device.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/registry.h"

#include <BulletCollision/CollisionShapes/btBvhTriangleMeshShape.h>
#include <BulletCollision/CollisionShapes/btTriangleIndexVertexArray.h>
#include <BulletCollision/NarrowPhaseCollision/btRaycastCallback.h>

namespace palpate {
namespace {

constexpr int kTicks = 20000;
constexpr double kStep = 1e-4, kDepth = 3e-3, kRadius = 0.1, kNoise = 1e-4;

Vec3 hand_at(int tick) {
  const double angle = tick * kStep / (kRadius - kDepth);
  return (kRadius - kDepth) * Vec3(std::cos(angle), 0.8 * std::sin(angle), 0.6 * std::sin(angle));
}

double median_ns(std::vector<std::int64_t>& times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return static_cast<double>(times[times.size() / 2]);
}

struct NearestHit : btTriangleRaycastCallback {
  using btTriangleRaycastCallback::btTriangleRaycastCallback;
  btScalar reportHit(const btVector3&, btScalar fraction, int, int) override { return fraction; }
};

// Three segments, as a proxy algorithm casts: to the hand, along the surface, back to the hand.
double bullet_p50_ns(const TriangleMesh& mesh) {
  std::vector<float> vertices;
  std::vector<int> indices;
  for (const Vec3& v : mesh.vertices) {
    for (int i = 0; i < 3; ++i) vertices.push_back(static_cast<float>(v[i]));
  }
  for (const auto& t : mesh.triangles) indices.insert(indices.end(), t.begin(), t.end());
  btIndexedMesh part;
  part.m_numTriangles = static_cast<int>(mesh.triangles.size());
  part.m_triangleIndexBase = reinterpret_cast<const unsigned char*>(indices.data());
  part.m_triangleIndexStride = 3 * sizeof(int);
  part.m_numVertices = static_cast<int>(mesh.vertices.size());
  part.m_vertexBase = reinterpret_cast<const unsigned char*>(vertices.data());
  part.m_vertexStride = 3 * sizeof(float);
  part.m_vertexType = PHY_FLOAT;
  btTriangleIndexVertexArray array;
  array.addIndexedMesh(part);
  btBvhTriangleMeshShape shape(&array, true);
  const auto bt = [](const Vec3& p) { return btVector3(btScalar(p.x()), btScalar(p.y()), btScalar(p.z())); };
  const auto cast = [&](const Vec3& a, const Vec3& b) {
    NearestHit hit(bt(a), bt(b));
    shape.performRaycast(&hit, bt(a), bt(b));
    return hit.m_hitFraction;
  };
  std::vector<std::int64_t> times;
  for (int i = 0; i < kTicks; ++i) {
    const Vec3 hand = hand_at(i), before = hand_at(i - 1);
    const Vec3 proxy = before * ((kRadius + kNoise) / before.norm()), next = hand * ((kRadius + kNoise) / hand.norm());
    const std::int64_t start = monotonic_ns();
    benchmark::DoNotOptimize(cast(proxy, hand));
    benchmark::DoNotOptimize(cast(proxy, next));
    benchmark::DoNotOptimize(cast(next, hand));
    times.push_back(monotonic_ns() - start);
  }
  return median_ns(times);
}

void reference_tick(benchmark::State& state) {
  const double limit_us[] = {1.0, 1.8, 5.0, 19.0};
  World world;
  TriangleMesh mesh = make_noisy_sphere(kRadius, static_cast<int>(state.range(0)), kNoise, 1);
  const auto triangles = static_cast<double>(mesh.triangles.size());
  const double bullet = bullet_p50_ns(mesh);
  world.add({"sphere", TriangleTree(std::move(mesh)), 0.0});
  DeviceState device;
  device.pose.position = Vec3(1.2 * kRadius, 0, 0);
  std::vector<std::int64_t> times;
  for (auto _ : state) {
    HandDriven method(make_method("reference", {world, ToolSettings{}, 0.001, 0.02, device}));
    times.clear();
    for (int i = 0; i < kTicks; ++i) {
      DeviceState now = device;
      now.pose.position = hand_at(i);
      const std::int64_t start = monotonic_ns();
      benchmark::DoNotOptimize(method.tick(now));
      times.push_back(monotonic_ns() - start);
    }
  }
  const double p50 = median_ns(times);
  state.counters["triangles"] = triangles;
  state.counters["p50_us"] = 1e-3 * p50;
  state.counters["of_limit"] =
      1e-3 * p50 / limit_us[static_cast<int>(std::log10(static_cast<double>(state.range(0)))) - 3];
  state.counters["of_bullet"] = p50 / bullet;
}
/// The same hand on the same sphere with the point as a body of the world, stepped as a whole: what the tick would cost
/// if a point among static surfaces were no case of its own (decision 2).
void whole_world_tick(benchmark::State& state) {
  World world;
  TriangleMesh mesh = make_noisy_sphere(kRadius, static_cast<int>(state.range(0)), kNoise, 1);
  world.add({"sphere", TriangleTree(std::move(mesh)), 0.0});
  DeviceState device;
  device.pose.position = Vec3(1.2 * kRadius, 0, 0);
  add_tool(world, ToolSettings{}, device.pose);
  world.prepare();
  std::vector<std::int64_t> times;
  for (auto _ : state) {
    world.reset();
    HandDriven method(make_method("reference", {world, ToolSettings{}, 0.001, 0.02, device}));
    times.clear();
    for (int i = 0; i < 2000; ++i) {
      DeviceState now = device;
      now.pose.position = hand_at(i);
      const std::int64_t start = monotonic_ns();
      benchmark::DoNotOptimize(method.tick(now));
      times.push_back(monotonic_ns() - start);
    }
  }
  state.counters["p50_us"] = 1e-3 * median_ns(times);
}

BENCHMARK(reference_tick)
    ->Arg(1000)
    ->Arg(10000)
    ->Arg(100000)
    ->Arg(1000000)
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(whole_world_tick)->Arg(1000)->Arg(100000)->Arg(1000000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace palpate
