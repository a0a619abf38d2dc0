#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "contact_bodies.h"
#include "told_surface.h"

// A finder that remembers which features are far from each other finds what one finds that looks at all of them.
namespace palpate::pair_memory_test {
namespace {

using namespace testing;

constexpr double kStep = 0.001;

struct Tool {
  const char* name;
  std::function<std::unique_ptr<Body>(const Pose&)> make;
  ContactShape shape;
};

std::vector<Tool> make_tools() {
  const TriangleMesh rod = make_cylinder(0.008, 0.04, 12, 2);
  const auto rigid = [](const TriangleMesh& mesh) {
    return [mesh](const Pose& pose) -> std::unique_ptr<Body> {
      RigidBodySettings settings;
      settings.mass = compute_mass_properties(mesh, 1000.0);
      settings.pose = pose;
      settings.surface = mesh;
      return std::make_unique<RigidBody>(settings);
    };
  };
  const TriangleMesh box = make_box(Vec3(0.03, 0.02, 0.04), 1);
  return {{"mesh", rigid(rod), shape_of(Surface{})},
          {"hull", rigid(rod), shape_of(Hull{})},
          {"box", rigid(box), box_shape(Vec3(0.03, 0.02, 0.04))},
          {"ball", rigid(make_sphere(0.01, 8)), sphere_shape(0.01)}};
}

void expect_same(const std::vector<Contact>& expected, const std::vector<Contact>& found, const std::string& where) {
  ASSERT_EQ(expected.size(), found.size()) << where;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(expected[k].id, found[k].id) << where;
    EXPECT_EQ(expected[k].gap, found[k].gap) << where;
    EXPECT_EQ(expected[k].normal, found[k].normal) << where;
    EXPECT_EQ(expected[k].foot_a.element, found[k].foot_a.element) << where;
    EXPECT_EQ(expected[k].foot_b.element, found[k].foot_b.element) << where;
  }
}

// To the last bit: on a surface that breathes, of which now all and now a part is kept up to date, under tools that
// roll, slide at 0 to 1 m/s, are lifted off, and are put elsewhere without a way in between.
TEST(PairMemory, FindsWhatIsFoundWithoutIt) {
  const TriangleMesh mesh = make_sphere(0.05, 16);
  std::mt19937 random(7);
  const auto any = [&](double most) { return std::uniform_real_distribution<double>(-most, most)(random); };
  const auto any_vector = [&](double most) { return Vec3(any(most), any(most), any(most)); };
  for (const Tool& tool : make_tools()) {
    std::size_t contacts = 0;
    for (int run = 0; run < 8; ++run) {
      const auto body = tool.make({Vec3(0.0, 0.056, 0.0), rotation_from_vector(any_vector(1.5))});
      auto& rigid = dynamic_cast<RigidBody&>(*body);
      ToldSurface ball(mesh);
      const bool only_new = run % 4 >= 2;
      ContactFinder with({.alarm_distance = 0.001, .only_new_overlaps = only_new});
      ContactFinder without({.alarm_distance = 0.001, .remembers = false, .only_new_overlaps = only_new});
      for (ContactFinder* finder : {&with, &without}) {
        finder->add(&ball, shape_of(Surface{}));
        finder->add(&rigid, tool.shape);
      }
      const double speed = run == 7 ? 1.0 : 0.01 * run * run;
      std::vector<Contact> expected, found;
      for (int i = 0; i < 150; ++i) {
        const double time = kStep * i;
        const std::string where =
            std::string(tool.name) + ", run " + std::to_string(run) + ", step " + std::to_string(i);
        const std::vector<Vec3> now = place_ball(mesh, time), next = place_ball(mesh, time + kStep);
        if (i % 12 == 0) ball.choose(now, rigid.centre_pose().position, run % 2 ? 0.04 : HUGE_VAL);
        ball.move(now, next);
        const Vec3 back = Vec3(0.0, 0.056, 0.0) - rigid.centre_pose().position;
        rigid.set_velocities(std::array{Vec3(speed * any_vector(1.0) + 20.0 * back), any_vector(10.0 * speed)});
        if (i % 50 == 49) {
          const Pose elsewhere{Vec3(any(0.01), 0.057 + any(0.004), any(0.01)), rotation_from_vector(any_vector(3.0))};
          std::vector<double> state(as_size(rigid.state_size()));
          tool.make(elsewhere)->save_state(state);
          rigid.restore_state(state);
        }
        with.find(kStep, {}, found);
        without.find(kStep, {}, expected);
        expect_same(expected, found, where);
        contacts += expected.size();
        with.find_overlaps_ahead(kStep, {}, found);
        without.find_overlaps_ahead(kStep, {}, expected);
        expect_same(expected, found, where + ", ahead");
        if (HasFatalFailure()) return;
        rigid.advance(kStep, std::array{Vec3(Vec3::Zero()), Vec3(Vec3::Zero())});
      }
    }
    EXPECT_GT(contacts, 1000u) << tool.name << " touches";
  }
}

// A static surface never moves, and one of two sides has no inside.
TEST(PairMemory, FindsWhatIsFoundWithoutItOnAStaticSheet) {
  const TriangleMesh sheet = make_sphere(0.05, 24);
  StaticBody fixed(sheet);
  RigidBodySettings settings;
  const TriangleMesh rod = make_cylinder(0.004, 0.05, 10, 2);
  settings.mass = compute_mass_properties(rod, 1000.0);
  settings.surface = rod;
  settings.pose = {Vec3(0.0, 0.055, 0.0), rotation_from_vector(Vec3(1.5, 0.2, 0.0))};
  RigidBody rigid(settings);
  ContactShape two_sided = shape_of(Surface{.two_sided = true, .half_thickness = 0.0005});
  ContactFinder with({.alarm_distance = 0.001}), without({.alarm_distance = 0.001, .remembers = false});
  for (ContactFinder* finder : {&with, &without}) {
    finder->add(&fixed, two_sided);
    finder->add(&rigid, shape_of(Surface{}));
  }
  std::vector<Contact> expected, found;
  std::size_t contacts = 0;
  for (int i = 0; i < 1000; ++i) {
    const double time = kStep * i;
    rigid.set_velocities(std::array{Vec3(0.06 * std::cos(9.0 * time), 0.02 * std::sin(30.0 * time), 0.05),
                                    Vec3(0.0, 1.0, 2.0 * std::sin(5.0 * time))});
    with.find(kStep, {}, found);
    without.find(kStep, {}, expected);
    expect_same(expected, found, "step " + std::to_string(i));
    contacts += expected.size();
    with.find_overlaps_ahead(kStep, {}, found);
    without.find_overlaps_ahead(kStep, {}, expected);
    expect_same(expected, found, "step " + std::to_string(i) + ", ahead");
    if (HasFatalFailure()) return;
    rigid.advance(kStep, std::array{Vec3(Vec3::Zero()), Vec3(Vec3::Zero())});
  }
  EXPECT_GT(contacts, 1000u);
}

}  // namespace
}  // namespace palpate::pair_memory_test
