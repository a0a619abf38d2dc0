#include "palpate/server/world_watch.h"
#include "palpate/methods/hand_driven.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "palpate/methods/slow_step.h"
#include "palpate/scene/builtin.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::world_watch_test {
namespace {

// What pages draw is where the bodies are.
TEST(WorldWatch, CopiesTheWorldAsItIs) {
  const Scene scene = load_builtin_scene("soft-block");
  World world = make_world(scene);
  WorldWatch watch(world);
  StepReport report;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.step(0.02, report));
  {
    const testing::RealtimeGuard guard;
    watch.copy_out();
    EXPECT_EQ(guard.violations().total(), 0);
  }
  ASSERT_TRUE(watch.refresh());
  EXPECT_FALSE(watch.refresh());
  std::size_t k = 0;
  for (const WorldBody& b : world.bodies()) {
    if (!b.body || b.body->block_count() == 0) continue;
    for (const Vec3& p : b.body->surface().positions) {
      ASSERT_LT(3 * k, watch.positions().size());
      EXPECT_NEAR(watch.positions()[3 * k + 1], p.y(), 1e-7);
      ++k;
    }
  }
  EXPECT_EQ(3 * k, watch.positions().size());
}

// Stress and model are computed only while somebody looks; bodies that have no stress say so.
TEST(WorldWatch, GivesStressAndModelOnDemand) {
  const Scene scene = load_builtin_scene("otaduy-organ");
  World world = make_world(scene);
  WorldWatch watch(world);
  watch.refresh();
  EXPECT_TRUE(watch.stress().empty());
  watch.want(true, true);
  watch.copy_out();
  ASSERT_TRUE(watch.refresh());
  ASSERT_EQ(3 * watch.stress().size(), watch.positions().size());
  std::size_t at = 0;
  for (const WorldBody& b : world.bodies()) {
    if (!b.body || b.body->block_count() == 0) continue;
    for (std::size_t i = 0; i < b.body->surface().positions.size(); ++i, ++at) {
      if (b.body->block_count() > 2)
        EXPECT_NEAR(watch.stress()[at], 0.0, 1e-3);  // at rest
      else
        EXPECT_EQ(watch.stress()[at], -1.0F);
    }
  }

  const Scene still = load_builtin_scene("sine-static");
  World other = make_world(still);
  WorldWatch second(other);
  for (const bool wanted : {false, true}) {
    Method made = make_method(still, "limited", other, *make_device(still));
    const SlowHalf* slow = made.slow.get();
    HandDriven method(std::move(made));
    second.want(wanted, false);
    method.step();
    const ToolMessages messages{slow, method.feedback(), method.model()};
    second.after_step({}, {&messages, 1});
    ASSERT_TRUE(second.refresh());
    EXPECT_EQ(second.faces().empty(), !wanted);
  }
}

// A page finds the body by its number in the geometry, where static surfaces and bodies without one are not counted.
TEST(WorldWatch, SurfaceSaysWhichBodiesAreReduced) {
  const Scene scene = load_builtin_scene("soft-block");
  World world = make_world(scene);
  WorldWatch watch(world);
  for (const bool wanted : {false, true}) {
    Method made = make_method(scene, "reduced", world, *make_device(scene));
    const SlowHalf* slow = made.slow.get();
    HandDriven method(std::move(made));
    watch.want(wanted, false);
    method.step();
    const ToolMessages messages{slow, method.feedback(), method.model()};
    watch.after_step({}, {&messages, 1});
    ASSERT_TRUE(watch.refresh());
    const std::string surface = watch.make_surface(7);
    const std::size_t at = surface.find("REDU");
    ASSERT_NE(at, std::string::npos);
    std::uint32_t length = 0;
    std::memcpy(&length, surface.data() + at + 4, sizeof length);
    ASSERT_EQ(length, wanted ? 4 * sizeof(float) : 0);
    if (!wanted) continue;
    float values[4];
    std::memcpy(values, surface.data() + at + 8, sizeof values);
    const std::string geometry = watch.make_geometry(7, scene.name);
    std::uint32_t text = 0;
    std::memcpy(&text, geometry.data() + 4, sizeof text);
    const auto bodies = nlohmann::json::parse(geometry.substr(8, text)).at("bodies");
    EXPECT_EQ(bodies.at(static_cast<std::size_t>(values[0])).at("name"), "block");
    EXPECT_GT(values[1], 0.0F);
    EXPECT_LE(values[1], values[2]);
    EXPECT_GE(values[3], 0.0F);
    EXPECT_LE(values[3], 1.0F);
  }
}

// A page finds the surface of each tool by its number.
TEST(WorldWatch, GeometrySaysWhichToolABodyIs) {
  const Scene scene = load_builtin_scene("two-hands");
  const World world = make_world(scene);
  const std::string geometry = WorldWatch(world).make_geometry(7, scene.name);
  std::uint32_t text = 0;
  std::memcpy(&text, geometry.data() + 4, sizeof text);
  std::map<std::string, int> tools;
  const auto head = nlohmann::json::parse(geometry.substr(8, text));
  for (const auto& body : head.at("bodies")) tools[body.at("name").get<std::string>()] = body.at("tool").get<int>();
  EXPECT_EQ(tools, (std::map<std::string, int>{{"block", -1}, {"left", 0}, {"right", 1}}));
}

// The geometry's text says how many bytes follow it.
TEST(WorldWatch, GeometryIsAsLongAsItSays) {
  for (const BuiltinScene& s : builtin_scenes()) {
    const Scene scene = load_builtin_scene(s.name);
    const World world = make_world(scene);
    const std::string geometry = WorldWatch(world).make_geometry(7, scene.name);
    std::uint32_t text = 0;
    std::memcpy(&text, geometry.data() + 4, sizeof text);
    EXPECT_EQ(text % 4, 0u);
    std::size_t expected = 8 + text;
    for (const WorldBody& b : world.bodies()) {
      if (b.body && b.body->block_count() > 0)
        expected += 12 * (b.body->surface().positions.size() + b.body->surface().triangles.size());
    }
    for (const StaticSurface& f : world.static_surfaces())
      expected += 12 * (f.surface.mesh().vertices.size() + f.surface.mesh().triangles.size());
    EXPECT_EQ(geometry.size(), expected) << s.name;
  }
}

}  // namespace
}  // namespace palpate::world_watch_test
