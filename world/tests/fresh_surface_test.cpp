#include <gtest/gtest.h>

#include <cmath>

#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/world/contact_finder.h"
#include "told_surface.h"

namespace palpate::fresh_surface_test {
namespace {

using testing::place_ball;
using testing::ToldSurface;

// Where something is near, contacts are those of the whole surface to the last bit, though most of it lies where it was
// up to nine steps ago.
TEST(FreshSurface, PartThatIsKeptUpToDateTouchesAsTheWholeDoes) {
  constexpr double kStep = 0.001, kReach = 0.03;
  const TriangleMesh mesh = make_sphere(0.05, 16);
  const TriangleMesh rod_mesh = make_cylinder(0.008, 0.04, 12, 2);
  RigidBodySettings settings;
  settings.mass = compute_mass_properties(rod_mesh, 1000.0);
  settings.pose = {Vec3(0.0, 0.056, 0.0), rotation_from_vector(Vec3(1.5, 0.0, 0.0))};
  settings.surface = rod_mesh;
  RigidBody rod(settings);
  ToldSurface whole(mesh), part(mesh);
  ContactShape surface;
  surface.kind = ContactShape::Surface{};
  ContactFinder of_whole({.alarm_distance = 0.001}), of_part({.alarm_distance = 0.001});
  for (auto [finder, body] : {std::pair(&of_whole, &whole), std::pair(&of_part, &part)}) {
    finder->add(body, surface);
    finder->add(&rod, surface);
  }
  std::vector<Contact> expected, found;
  std::size_t contacts = 0, stale = 0;
  for (int i = 0; i < 300; ++i) {
    const double time = kStep * i;
    const std::array velocities{Vec3(0.1 * std::cos(20.0 * time), 0.02 * std::sin(20.0 * time), 0.0),
                                Vec3(0.0, 0.0, 2.0)};
    rod.set_velocities(velocities);
    const Vec3 middle = rod.centre_pose().position;
    const std::vector<Vec3> now = place_ball(mesh, time), next = place_ball(mesh, time + kStep);
    if (i == 0) whole.choose(now, middle, HUGE_VAL);
    if (i % 10 == 0) part.choose(now, middle, kReach);
    whole.move(now, next);
    part.move(now, next);
    stale += part.fresh_surface().vertices.size() < mesh.vertices.size() ? 1 : 0;
    const auto check = [&](const FindReport& a, const FindReport& b) {
      ASSERT_EQ(a.contacts, b.contacts) << "step " << i;
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_EQ(expected[k].id, found[k].id);
        EXPECT_EQ(expected[k].gap, found[k].gap);
        EXPECT_EQ(expected[k].normal, found[k].normal);
      }
      contacts += expected.size();
    };
    check(of_whole.find(kStep, {}, expected), of_part.find(kStep, {}, found));
    check(of_whole.find_overlaps_ahead(kStep, {}, expected), of_part.find_overlaps_ahead(kStep, {}, found));
    rod.advance(kStep, std::array{Vec3(Vec3::Zero()), Vec3(Vec3::Zero())});
  }
  EXPECT_GT(contacts, 1000u) << "they touch";
  EXPECT_EQ(stale, 300u) << "and most of it is left alone";
}

}  // namespace
}  // namespace palpate::fresh_surface_test
