#include "palpate/server/world_watch.h"

#include <gtest/gtest.h>

#include <cstring>

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
      ASSERT_LT(k, watch.vertex_count());
      EXPECT_NEAR(watch.positions()[3 * k + 1], p.y(), 1e-7);
      ++k;
    }
  }
  EXPECT_EQ(k, watch.vertex_count());
}

// The geometry's text says how many bytes follow it.
TEST(WorldWatch, GeometryIsAsLongAsItSays) {
  for (const BuiltinScene& s : builtin_scenes()) {
    const Scene scene = load_builtin_scene(s.name);
    const World world = make_world(scene);
    const std::string geometry = WorldWatch(world).make_geometry();
    std::uint32_t text = 0;
    std::memcpy(&text, geometry.data(), sizeof text);
    EXPECT_EQ(text % 4, 0u);
    std::size_t expected = 4 + text;
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
