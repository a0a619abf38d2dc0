#include <gtest/gtest.h>

#include <filesystem>

#include "palpate/core/error.h"
#include "palpate/geometry/mesh_file.h"
#include "palpate/scene/builtin.h"
#include "palpate/scene/warnings.h"

namespace palpate::scene_warnings_test {
namespace {

/// A soft block with its lowest nodes fixed, and a point that comes down on it.
Scene make_scene() {
  Scene scene;
  scene.name = "test";
  scene.run.seconds = 1.0;
  scene.bodies.resize(1);
  SceneSoft soft;
  soft.shape = SceneShape{BoxShape{Vec3(0.1, 0.1, 0.1)}};
  soft.cell = 0.05;
  soft.fixed = {{Vec3(-1.0, -0.06, -1.0), Vec3(1.0, -0.04, 1.0)}};
  scene.bodies[0].kind = soft;
  scene.first().hand.kind = SceneScriptedHand{
      .path = SceneTapPath{.start = Vec3(0.0, 0.08, 0.0), .direction = Vec3(0.0, -1.0, 0.0), .depth = 0.04}};
  return scene;
}

std::vector<std::string> warnings_of(const Scene& scene) {
  return find_world_warnings(scene, make_world(scene));
}

bool has(const std::vector<std::string>& all, std::string_view words) {
  return std::any_of(all.begin(), all.end(), [&](const std::string& w) { return w.find(words) != std::string::npos; });
}

TEST(SceneWarnings, AreNoneWhereAllIsWell) {
  EXPECT_EQ(warnings_of(make_scene()), std::vector<std::string>());
}

TEST(SceneWarnings, NameMethodsThatAreMadeForOtherWorldsAndWhatToTakeInstead) {
  Scene soft = make_scene(), loose = make_scene(), tied = make_scene();
  for (Scene* scene : {&loose, &tied}) {
    scene->bodies[0].name = "brick";
    scene->bodies[0].kind = SceneRigid{};
  }
  tied.joints.resize(1);
  tied.joints[0].a = "brick";
  for (const char* method : {"limited", "halfspace"}) {
    EXPECT_TRUE(find_method_warning(soft, method).find("wall") != std::string::npos) << method;
    EXPECT_EQ(find_method_warning(loose, method), "") << method;
  }
  EXPECT_EQ(find_method_warning(loose, "compliance"), "") << "live contacts have a few rigid bodies in the tick";
  std::get<SceneRigid>(loose.bodies[0].kind).copies.x = 9;
  for (const char* method : {"compliance", "double_coupling"}) {
    EXPECT_TRUE(find_method_warning(loose, method).find("accelerance") != std::string::npos) << method;
    EXPECT_EQ(find_method_warning(soft, method), "") << method;
    EXPECT_EQ(find_method_warning(tied, method), "") << "it cannot go away: " << method;
  }
  for (const char* method : {"reference", "reduced", "direct", "accelerance", "jacobian"}) {
    EXPECT_EQ(find_method_warning(soft, method), "") << method;
    EXPECT_EQ(find_method_warning(loose, method), "") << method;
  }
  soft.tools.resize(2, soft.tools[0]);
  EXPECT_EQ(find_method_warnings(soft, "limited").size(), 1u) << "each once";
}

/// Words between quotation marks.
std::vector<std::string> quoted(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 1)) {
    const std::size_t end = text.find('"', at + 1);
    out.push_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return out;
}

// Advice that is refused when one follows it would be none.
TEST(SceneWarnings, MethodsToTakeInsteadWorkOnThatScene) {
  const std::pair<const char*, const char*> poor[] = {
      {"cubes", "compliance"}, {"cubes", "double_coupling"}, {"two-hands-points", "limited"}};
  for (const auto& [name, method] : poor) {
    const Scene scene = load_builtin_scene(name);
    const std::vector<std::string> instead = quoted(find_method_warning(scene, method));
    EXPECT_GE(instead.size(), 2u) << name;
    World world = make_world(scene);
    for (const std::string& other : instead) {
      EXPECT_EQ(refuse_method(scene, other, world), "") << other << " on " << name;
      EXPECT_EQ(find_method_warning(scene, other), "") << other << " on " << name;
    }
  }
}

TEST(SceneWarnings, TheWayOfAHandIsMeasuredFromTheSurface) {
  const Scene scene = make_scene();
  const Approach a = find_approach(scene, make_world(scene), 0);
  EXPECT_NEAR(a.start, 0.03, 1e-12) << "from 80 mm to the top at 50 mm";
  EXPECT_NEAR(a.nearest, -0.01, 1e-3) << "40 mm further down";
  EXPECT_EQ(a.body, "box");
}

TEST(SceneWarnings, MassAndFixedNodesAreThoseOfTheBlock) {
  const Scene scene = make_scene();
  const World world = make_world(scene);
  const double density = std::get<SceneSoft>(scene.bodies[0].kind).material.density;
  EXPECT_NEAR(compute_mass(world.bodies()[0]), density * 1e-3, 1e-9 * density);
  EXPECT_EQ(count_fixed(world.bodies()[0]), 9) << "three by three";
}

TEST(SceneWarnings, NameAHandThatStaysAwayAndOneThatStartsInside) {
  Scene scene = make_scene();
  auto& tap = std::get<SceneTapPath>(std::get<SceneScriptedHand>(scene.first().hand.kind).path);
  tap.start = Vec3(0.0, 0.2, 0.0);
  EXPECT_TRUE(has(warnings_of(scene), "never comes near a body: the least distance on its path is 0.11 m"));
  tap.start = Vec3(0.0, 0.03, 0.0);
  EXPECT_TRUE(has(warnings_of(scene), "the tool starts 0.02 m inside \"box\""));
}

TEST(SceneWarnings, NameASoftBodyThatNothingHolds) {
  Scene scene = make_scene();
  std::get<SceneSoft>(scene.bodies[0].kind).fixed.clear();
  EXPECT_TRUE(has(warnings_of(scene), "nothing holds \"box\""));
  scene.bodies.emplace_back();
  scene.bodies.back().kind = ScenePlane{};
  scene.bodies.back().position = Vec3(0.0, -0.05, 0.0);
  EXPECT_FALSE(has(warnings_of(scene), "nothing holds")) << "it lies on a plane";
}

/// A box without its lid, in millimetres, as files come.
struct OpenBox {
  std::filesystem::path file = std::filesystem::temp_directory_path() / "palpate-open-box.ply";
  OpenBox() {
    TriangleMesh mesh = make_box(Vec3(100.0, 100.0, 100.0), 4);
    std::erase_if(mesh.triangles, [&](const auto& t) {
      return mesh.vertices[t[0]].y() > 49.0 && mesh.vertices[t[1]].y() > 49.0 && mesh.vertices[t[2]].y() > 49.0;
    });
    write_mesh(file, mesh);
  }
  ~OpenBox() { std::filesystem::remove(file); }
};

TEST(SceneWarnings, MillimetresAndAnOpenMeshThatIsRepaired) {
  const OpenBox box;
  Scene scene = make_scene();
  auto& soft = std::get<SceneSoft>(scene.bodies[0].kind);
  soft.shape = SceneShape{MeshShape{.file = box.file.string(), .scale = 0.001}};
  soft.cell = 0.02;  // divides the box: the lattice has its faces
  EXPECT_THROW(make_world(scene), InputError) << "open";
  std::get<MeshShape>(soft.shape->kind).repair = true;
  const World world = make_world(scene);
  const double density = soft.material.density;
  EXPECT_NEAR(compute_mass(world.bodies()[0]), density * 1e-3, 1e-3 * density * 1e-3) << "the lid is there";
  EXPECT_EQ(find_world_warnings(scene, world), std::vector<std::string>());
  std::get<MeshShape>(soft.shape->kind).scale = 1.0;
  try {
    make_world(scene);
    FAIL() << "cells of 2 cm in a box of 100 m";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("millimetres? Then write \"scale\": 0.001 "), std::string::npos)
        << error.what();
  }
  soft.cell = 20.0;
  soft.fixed = {{Vec3(-1e3, -60.0, -1e3), Vec3(1e3, -40.0, 1e3)}};
  EXPECT_TRUE(has(warnings_of(scene), "is 100 m large")) << "and";
  EXPECT_TRUE(has(warnings_of(scene), "Then write \"scale\": 0.001 "));
}

}  // namespace
}  // namespace palpate::scene_warnings_test
