#include "../src/opened_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "../src/file_desk.h"
#include "../src/scene_bounds.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_file.h"

namespace palpate::opened_file_test {
namespace {

TriangleMesh scaled(TriangleMesh mesh, double scale, const Vec3& shift = Vec3::Zero()) {
  for (Vec3& p : mesh.vertices) p = scale * p + shift;
  return mesh;
}

OpenedMesh open_mesh(const TriangleMesh& mesh) {
  return *read_opened({"thing.off", format_off(mesh)}).mesh;
}

/// Runs the scene's own hand through the world in lockstep; the largest force on it [N].
double find_largest_force(const Scene& scene) {
  struct Largest final : RunSink {
    void add(const TickRow& row) override { force = std::max(force, row.sent.force.norm()); }
    void add(const StepRow&) override {}
    double force = 0.0;
  } largest;
  World world = make_world(scene);
  const auto device = make_device(scene);
  Method method = make_method(scene, scene.first().method, world, *device);
  RunSettings run = scene.run;
  run.seconds = 2.0;
  run_lockstep(run, RunParts({{method, *device, scene.first().guards}}, &largest), {});
  return largest.force;
}

// Whatever unit and place the same body was drawn in: the hand feels it, and is not thrown.
TEST(OpenedFile, TheHandPressesOnWhateverIsOpened) {
  const struct {
    const char* what;
    TriangleMesh mesh;
    bool soft;
  } cases[] = {
      {"a ball in metres", make_sphere(0.05, 10), true},
      {"a ball in millimetres, far away", scaled(make_sphere(0.05, 10), 1e3, Vec3(500.0, -80.0, 30.0)), true},
      {"a torus, whose middle is a hole", make_torus(0.06, 0.02, 32, 16), true},
      {"an open sheet", make_sine_surface({.size_x = 0.1, .size_z = 0.1, .cell = 0.005}), false},
      {"a model of unit size", make_sphere(1.0, 10), true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    const OpenedFile file = read_opened({"thing.off", format_off(c.mesh)});
    EXPECT_EQ(file.mesh->suggested.soft, c.soft);
    EXPECT_EQ(file.mesh->refused_soft.empty(), c.soft);
    const double force = find_largest_force(file.scene);
    EXPECT_GT(force, 0.3);
    EXPECT_LT(force, 8.0);
  }
}

TEST(OpenedFile, UnitsAreGuessedFromTheSize) {
  const auto suggest = [](double radius) { return open_mesh(scaled(make_sphere(1.0, 4), radius)); };
  EXPECT_EQ(suggest(0.05).suggested.scale, 1.0);
  EXPECT_TRUE(suggest(0.05).units.empty());
  EXPECT_EQ(suggest(50.0).suggested.scale, 1e-3);
  EXPECT_NE(suggest(50.0).units.find("millimetres"), std::string::npos);
  for (const double radius : {1e-4, 1.0, 5.0, 1e5}) {
    const OpenedMesh m = suggest(radius);
    EXPECT_NEAR(m.suggested.scale * find_extent(m), 0.2, 1e-12) << radius;
    EXPECT_FALSE(m.units.empty());
  }
}

// The number of tets is what the cell was suggested for, whatever the size. Cells at the surface are cut: more than
// half of kFewTets, less than twice.
TEST(OpenedFile, ACellIsSuggestedFromTheVolume) {
  for (const double radius : {0.01, 0.05, 0.2}) {
    const OpenedMesh m = open_mesh(make_sphere(radius, 12));
    const Scene scene = make_opened_scene("ball.off", m, m.suggested);
    const auto& soft = std::get<SceneSoft>(scene.bodies.front().kind);
    const std::size_t tets = make_shape_tets(*soft.shape, soft.cell, "").tets.size();
    EXPECT_GT(tets, 750u);
    EXPECT_LT(tets, 3000u);
    OpenedFile file;
    file.mesh = m;
    EXPECT_TRUE(is_allowed(file, m.suggested));
    MeshChoice finer = m.suggested;
    finer.cell /= 3.0;
    EXPECT_FALSE(is_allowed(file, finer)) << "27 times as many";
  }
}

// Two balls on a thin neck: the tets keep it whole, whatever the cell, and tell when they lose much of it.
TEST(OpenedFile, ThinPartsAreKeptAndWhatIsLostIsTold) {
  const auto dumbbell = [](const Vec3& p) {
    const double balls = std::min((p - Vec3(-0.06, 0.0, 0.0)).norm(), (p - Vec3(0.06, 0.0, 0.0)).norm()) - 0.035;
    const double neck = std::max(std::hypot(p.y(), p.z()) - 0.004, std::abs(p.x()) - 0.06);
    return std::min(balls, neck);
  };
  BoundingBox box;
  box.add(Vec3(-0.1, -0.04, -0.04));
  box.add(Vec3(0.1, 0.04, 0.04));
  const OpenedMesh m = open_mesh(make_implicit_surface(dumbbell, box, 0.002));
  const double coarse = std::cbrt(12.0 * m.report.volume / kFewTets);
  MeshChoice choice = m.suggested;
  const auto describe = [&] {
    const Scene scene = make_opened_scene("a.off", m, choice);
    const auto& soft = std::get<SceneSoft>(scene.bodies.front().kind);
    const MeshReport r = check_mesh(extract_surface(make_shape_tets(*soft.shape, soft.cell, "")).mesh);
    EXPECT_EQ(r.components, 1);
    return describe_loss(m, choice.scale, {r.components, r.volume});
  };
  EXPECT_EQ(describe(), "");
  choice.cell = 2.5 * coarse;
  EXPECT_NE(describe().find("of its volume is lost"), std::string::npos) << describe();
}

TEST(OpenedFile, WhatHasNoInsideCannotBeSoft) {
  const OpenedMesh m = open_mesh(make_sine_surface({.size_x = 0.1, .size_z = 0.1, .cell = 0.01}));
  EXPECT_NE(m.refused_soft.find("open"), std::string::npos);
  OpenedFile file;
  file.mesh = m;
  MeshChoice choice = m.suggested;
  choice.soft = true;
  choice.cell = 0.01;
  EXPECT_FALSE(is_allowed(file, choice));
}

// A ball without a cap of 30°: what fills the hole is flat, so that the cap's volume is missing and nothing else.
TEST(OpenedFile, FilledHolesGiveABodyThatCanBeSoft) {
  TriangleMesh ball = make_sphere(50.0, 24);
  std::erase_if(ball.triangles, [&](const auto& t) {
    const Vec3 middle =
        (ball.vertices[as_size(t[0])] + ball.vertices[as_size(t[1])] + ball.vertices[as_size(t[2])]) / 3.0;
    return middle.y() < -50.0 * std::cos(std::numbers::pi / 6.0);
  });
  OpenedFile file;
  file.mesh = open_mesh(ball);
  ASSERT_EQ(file.mesh->holes.size(), 1u);
  MeshChoice choice = file.mesh->suggested;
  EXPECT_FALSE(choice.soft);
  choice.soft = choice.repair = true;
  EXPECT_TRUE(is_allowed(file, choice)) << "its cell is suggested once it is filled";
  choice.cell = 0.01;
  EXPECT_FALSE(is_allowed(file, choice));
  file.filled = fill_opened("ball.off", *file.mesh);
  EXPECT_TRUE(is_allowed(file, choice));
  EXPECT_TRUE(file.filled->suggested.soft);
  EXPECT_EQ(file.filled->suggested.scale, 0.001) << "in millimetres, as the file is";
  EXPECT_TRUE(file.filled->holes.empty());
  const double h = 50.0 * (1.0 - std::cos(std::numbers::pi / 6.0)), cap = std::numbers::pi * h * h * (50.0 - h / 3.0);
  const double whole = compute_volume(make_sphere(50.0, 24));
  EXPECT_NEAR(file.filled->report.volume, whole - cap, 0.3 * cap) << "the cap's rim is a jagged line";
  const Scene scene = make_opened_scene("ball.off", file.mesh_of(choice), choice);
  EXPECT_GT(find_largest_force(scene), 0.3);
  choice.repair = true;
  file.mesh = file.filled;
  EXPECT_FALSE(is_allowed(file, choice)) << "there is nothing to fill";
}

// A z that is up becomes a y that is up: the same body lies there as if it had been drawn so.
TEST(OpenedFile, ItsZMayBeUp) {
  TriangleMesh flat = make_box(Vec3(0.1, 0.2, 0.05), 2);
  MeshChoice choice = open_mesh(flat).suggested;
  choice.soft = false;
  choice.z_up = true;
  const World world = make_world(make_opened_scene("box.off", open_mesh(flat), choice));
  const Vec3 size = compute_bounding_box(world.static_surfaces().front().surface.mesh().vertices).size();
  EXPECT_LT((size - Vec3(0.1, 0.05, 0.2)).norm(), 1e-12);
}

// The mesh travels with the scene, to the last bit.
TEST(OpenedFile, ASavedSceneIsTheSameScene) {
  TriangleMesh mesh = scaled(make_sphere(0.05, 6), 1.0, Vec3(0.1, 1.0 / 3.0, -0.7));
  const Scene scene = read_opened({"ball.off", format_off(mesh)}).scene;
  const Scene again = read_opened({"ball.json", write_scene(scene)}).scene;
  EXPECT_EQ(again, scene);
  const auto& shape = std::get<MeshShape>(std::get<SceneSoft>(again.bodies.front().kind).shape->kind);
  const TriangleMesh read = parse_mesh("data.off", shape.data).mesh;
  ASSERT_EQ(read.vertices.size(), mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) EXPECT_EQ(read.vertices[i], mesh.vertices[i]);
}

std::string error_of(const Upload& upload) {
  try {
    read_opened(upload);
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

TEST(OpenedFile, SaysWhatIsWrong) {
  EXPECT_EQ(error_of({"a.obj", ""}), "a.obj: the file is empty");
  EXPECT_NE(error_of({"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 zero\nf 1 2 3\n"}).find("a.obj:3: \"zero\" is not a number"),
            std::string::npos);
  EXPECT_NE(error_of({"a.stp", "x"}).find("unknown ending"), std::string::npos);
  EXPECT_NE(error_of({"a", "x"}).find("unknown ending"), std::string::npos);
  EXPECT_NE(error_of({"a.json", "{\"format\": 1, \"bodeis\": []}"}).find("a.json:1"), std::string::npos);
}

// What a page sends must not make the engine read files, nor write where it should not.
TEST(OpenedFile, AScenesFilesAreNotRead) {
  const auto scene = [](const std::string& body, const std::string& hand) {
    return "{\"format\": 1, \"name\": \"../../up/../and away\", \"bodies\": [" + body + "], \"hand\": " + hand + "}";
  };
  const std::string circle = R"({"type": "scripted", "path": {"type": "circle"}})";
  const std::string ball = R"({"type": "static", "shape": {"type": "sphere"}})";
  for (const char* file : {"/etc/passwd", "../x.obj", "data:../x.obj", "x.obj"}) {
    const std::string body = fmt::format(R"({{"type": "static", "shape": {{"type": "mesh", "file": "{}"}}}})", file);
    EXPECT_NE(error_of({"a.json", scene(body, circle)}).find("names the file"), std::string::npos) << file;
  }
  EXPECT_NE(error_of({"a.json", scene(ball, R"({"type": "replay", "file": "/dev/zero"})")}).find("names the file"),
            std::string::npos);
  EXPECT_EQ(read_opened({"a.json", scene(ball, circle)}).scene.name, "up-and-away");
  EXPECT_EQ(read_opened({"organ.off", format_off(make_sphere(0.05, 4))}).scene.name, "organ-file")
      << "not the built-in";
}

TEST(OpenedFile, WhatIsTooLargeIsRefusedBeforeItIsMade) {
  Scene scene = read_opened({"ball.off", format_off(make_sphere(0.05, 4))}).scene;
  EXPECT_NO_THROW(check_bounds(scene));
  EXPECT_NO_THROW(check_bounds(read_opened({"fine.off", format_off(make_sphere(0.05, 100))}).scene))
      << "200,000 triangles";
  Scene fine = scene;
  std::get<SceneSoft>(fine.bodies.front().kind).cell = 1e-4;
  EXPECT_THROW(check_bounds(fine), InputError);
  Scene large = scene;
  large.bodies.push_back({.kind = SceneStatic{{.kind = SphereShape{.subdivisions = 2000}}}});
  EXPECT_THROW(check_bounds(large), InputError);
  Scene many = scene;
  SceneRigid copies;
  copies.copies = {.x = 1000, .y = 1000, .z = 1000};
  many.bodies.push_back({.kind = copies});
  EXPECT_THROW(check_bounds(many), InputError);
}

std::optional<Prepared> wait_for(FileDesk& desk) {
  for (int i = 0; i < 6000 && desk.is_busy(); ++i) {
    if (auto ready = desk.take(0.0)) return ready;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return std::nullopt;
}

TEST(FileDesk, MakesScenesAsideAndOneAtATime) {
  FileDesk desk;
  EXPECT_TRUE(desk.make_json(0.0).is_null());
  EXPECT_FALSE(desk.choose({}, nullptr, 0.0)) << "nothing is open";
  const Upload ball{"ball.off", format_off(make_sphere(0.05, 8))};
  ASSERT_TRUE(desk.open(ball, nullptr, 0.0));
  EXPECT_FALSE(desk.open(ball, nullptr, 0.0)) << "it is busy";
  const auto ready = wait_for(desk);
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->scene.name, "ball");
  EXPECT_FALSE(ready->world->is_static());
  MeshChoice hard{.soft = false, .scale = 1.0};
  ASSERT_TRUE(desk.choose(hard, nullptr, 0.0));
  ASSERT_TRUE(wait_for(desk));
  EXPECT_FALSE(desk.make_json(0.0)["mesh"]["soft"].get<bool>());
  // What is wrong changes nothing of what was open.
  ASSERT_TRUE(desk.open({"bad.off", "OFF\n1 1 0\n"}, nullptr, 0.0));
  EXPECT_FALSE(wait_for(desk));
  EXPECT_NE(desk.make_json(0.0)["error"].get<std::string>().find("bad.off"), std::string::npos);
  EXPECT_EQ(desk.scene()->name, "ball");
}

TEST(FileDesk, GivesUpWhatTakesTooLong) {
  FileDesk desk;
  ASSERT_TRUE(desk.open({"ball.off", format_off(make_sphere(0.05, 40))}, nullptr, 0.0));
  desk.take(FileDesk::kPatience + 1.0);  // its clock is ours
  if (!desk.is_busy()) GTEST_SKIP() << "it was ready at once";
  EXPECT_NE(desk.make_json(0.0)["error"].get<std::string>().find("given up"), std::string::npos);
  EXPECT_FALSE(wait_for(desk)) << "what was given up does not come later";
  EXPECT_EQ(desk.scene(), nullptr);
}

}  // namespace
}  // namespace palpate::opened_file_test
