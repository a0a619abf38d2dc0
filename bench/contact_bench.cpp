#include <benchmark/benchmark.h>

#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>
#include <BulletCollision/CollisionDispatch/btCollisionObject.h>
#include <BulletCollision/CollisionDispatch/btCollisionWorld.h>
#include <BulletCollision/CollisionDispatch/btDefaultCollisionConfiguration.h>
#include <BulletCollision/CollisionShapes/btBoxShape.h>

#include <memory>
#include <numbers>
#include <random>

#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/world/contact_finder.h"

// Contact detection of one step. A pile of 80 cubes against Bullet's own collision world on the same poses; the
// cylinder of 160 triangles on soft blocks of 2,560 and 20,480 tets (8 and 16 cells along each edge).
namespace palpate {
namespace {

constexpr double kEdge = 0.05;

/// 4 × 4 × 5 cubes, each a little off its place and turned, so that neighbours touch, overlap or just miss.
std::vector<Pose> make_pile() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<Pose> poses;
  for (int i = 0; i < 80; ++i) {
    Pose p;
    p.position = kEdge * Vec3(i % 4, i / 16, i / 4 % 4);
    for (int k = 0; k < 3; ++k) p.position[k] += 0.01 * kEdge * uniform(random);
    const double x = uniform(random), y = uniform(random), z = uniform(random);
    p.rotation = rotation_from_vector(0.02 * Vec3(x, y, z));
    poses.push_back(p);
  }
  return poses;
}

/// Argument: alarm distance [µm]. Bullet's boxes touch only when they overlap, so 1 is the fair one.
void BM_Contact_80Cubes(benchmark::State& state) {
  ContactFinder finder({.alarm_distance = 1e-6 * static_cast<double>(state.range(0))});
  std::vector<std::unique_ptr<RigidBody>> bodies;
  ContactShape box;
  box.kind = ContactShape::Box{.size = Vec3::Constant(kEdge)};
  for (const Pose& pose : make_pile()) {
    RigidBodySettings settings;
    settings.pose = pose;
    bodies.push_back(std::make_unique<RigidBody>(settings));
    finder.add(bodies.back().get(), box);
  }
  std::vector<Contact> contacts;
  for (auto _ : state) finder.find(0.01, {}, contacts);
  state.counters["contacts"] = static_cast<double>(contacts.size());
}
BENCHMARK(BM_Contact_80Cubes)->Arg(1)->Arg(1000)->Unit(benchmark::kMicrosecond);

void BM_Contact_80CubesBullet(benchmark::State& state) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad_phase;
  btCollisionWorld world(&dispatcher, &broad_phase, &configuration);
  btBoxShape box(btVector3(0.5 * kEdge, 0.5 * kEdge, 0.5 * kEdge));
  box.setMargin(0.0);
  std::vector<std::unique_ptr<btCollisionObject>> objects;
  for (const Pose& pose : make_pile()) {
    objects.push_back(std::make_unique<btCollisionObject>());
    const Quat& q = pose.rotation;
    const Vec3& p = pose.position;
    objects.back()->setWorldTransform(
        btTransform(btQuaternion(q.x(), q.y(), q.z(), q.w()), btVector3(p.x(), p.y(), p.z())));
    objects.back()->setCollisionShape(&box);
    world.addCollisionObject(objects.back().get());
  }
  for (auto _ : state) world.performDiscreteCollisionDetection();
  int contacts = 0;
  for (int i = 0; i < dispatcher.getNumManifolds(); ++i) {
    contacts += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
  }
  state.counters["contacts"] = contacts;
  for (const auto& object : objects) world.removeCollisionObject(object.get());
}
BENCHMARK(BM_Contact_80CubesBullet)->Unit(benchmark::kMicrosecond);

/// Arguments: cells along each edge of the block; 1 if the cylinder stands, 0 if it lies; speed downwards [m/s].
void BM_Contact_CylinderOnBlock(benchmark::State& state) {
  const Material material{.young_modulus = 2e4, .poisson_ratio = 0.35};
  const int n = static_cast<int>(state.range(0));
  CorotationalTets block(make_tet_block(Vec3::Constant(0.1), {n, n, n}), std::span(&material, 1));
  const bool standing = state.range(1) == 1;
  RigidBodySettings settings;
  settings.surface = make_cylinder(0.02, 0.06, 16, 2);
  settings.pose.position.y() = 0.05 - 0.001 + (standing ? 0.03 : 0.02);
  if (!standing) settings.pose.rotation = rotation_from_vector(Vec3(0.0, 0.0, 0.5 * std::numbers::pi));
  settings.velocity.linear.y() = -static_cast<double>(state.range(2));
  const RigidBody tool(settings);
  ContactFinder finder({.alarm_distance = 0.003});
  ContactShape surface;
  surface.kind = ContactShape::Surface{};
  finder.add(&tool, surface);
  finder.add(&block, surface);
  std::vector<Contact> contacts;
  for (auto _ : state) finder.find(0.01, {}, contacts);
  state.counters["contacts"] = static_cast<double>(contacts.size());
  state.counters["triangles"] = static_cast<double>(block.surface().triangles.size());
}
BENCHMARK(BM_Contact_CylinderOnBlock)
    ->ArgsProduct({{8, 16}, {0, 1}, {0, 10}})
    ->ArgNames({"cells", "standing", "speed"})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace palpate
