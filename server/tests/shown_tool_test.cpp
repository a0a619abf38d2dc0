#include "../src/shown_tool.h"

#include <gtest/gtest.h>

#include "palpate/scene/builtin.h"

namespace palpate::shown_tool_test {
namespace {

TEST(ShownTools, AreThoseOfTheSceneInItsOrder) {
  const Scene scene = load_builtin_scene("two-hands-points");
  const auto tools = make_shown_tools(scene, {});
  ASSERT_EQ(tools.size(), scene.tools.size());
  for (std::size_t i = 0; i < tools.size(); ++i) {
    EXPECT_EQ(tools[i].name, scene.tools[i].name);
    EXPECT_EQ(tools[i].kind, "point");
    EXPECT_EQ(tools[i].coupling_stiffness, scene.tools[i].tool.coupling.stiffness);
    EXPECT_EQ(tools[i].method, scene.tools[i].method);
  }
  EXPECT_EQ(make_shown_tools(load_builtin_scene("two-hands"), {}).front().kind, "body");
}

// One method for all takes the place of each one's own.
TEST(ShownTools, HaveACommonMethodOnlyIfAllShareIt) {
  Scene scene = load_builtin_scene("two-hands-points");
  EXPECT_EQ(find_common_method(scene.tools), "limited");
  scene.tools[1].method = "direct";
  EXPECT_EQ(find_common_method(scene.tools), "");
  EXPECT_EQ(find_common_method(make_shown_tools(scene, {})), "");
  EXPECT_EQ(find_common_method(make_shown_tools(scene, "halfspace")), "halfspace");
}

}  // namespace
}  // namespace palpate::shown_tool_test
