#include "palpate/world/contact_finder.h"

#include <map>
#include <numbers>
#include <set>

#include "contact_bodies.h"
#include "palpate/geometry/closest_features.h"
#include "palpate/geometry/triangle_tree.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::contact_finder_test {
namespace {

using testing::box_shape;
using testing::Chain;
using testing::Hull;
using testing::make_chain;
using testing::make_rigid;
using testing::make_soft_block;
using testing::plane_shape;
using testing::point_shape;
using testing::random_pose;
using testing::Scene;
using testing::shape_of;
using testing::sphere_shape;
using testing::Surface;

/// A cylinder of 160 triangles on a block with its top at y = 0.05, lying on its side or standing, pressed in by
/// `depth`.
std::unique_ptr<RigidBody> make_tool(bool standing, double depth) {
  constexpr double kRadius = 0.02, kHeight = 0.06;
  const TriangleMesh mesh = make_cylinder(kRadius, kHeight, 16, 2);
  Pose pose;
  pose.position.y() = 0.05 - depth + (standing ? 0.5 * kHeight : kRadius * std::cos(std::numbers::pi / 16));
  if (!standing) pose.rotation = rotation_from_vector(Vec3(0.0, 0.0, 0.5 * std::numbers::pi));
  if (!standing) pose.rotation = pose.rotation * rotation_from_vector(Vec3(0.0, std::numbers::pi / 16, 0.0));
  return make_rigid(pose, mesh);
}

TEST(Reduction, FewContactsGuardEveryVertexOfACylinderOnABlock) {
  for (const bool standing : {false, true}) {
    for (const ContactShape& kind : {shape_of(Surface{}), shape_of(Hull{})}) {
      for (const int cells : {8, 16}) {
        Scene scene({.alarm_distance = 0.003, .max_contacts_per_soft_pair = 24});
        const auto tool = make_tool(standing, 0.002);
        ASSERT_EQ(tool->surface().triangles.size(), 160u);
        const TriangleTree tree(TriangleMesh{{tool->surface().positions.begin(), tool->surface().positions.end()},
                                             {tool->surface().triangles.begin(), tool->surface().triangles.end()}});
        scene.add(std::make_unique<RigidBody>(*tool), kind);
        scene.add(make_soft_block(Vec3::Constant(0.1), {cells, cells, cells}), shape_of(Surface{}));
        scene.find();
        scene.check_contacts(0.2);
        EXPECT_GE(scene.contacts.size(), standing ? 8u : 4u);
        EXPECT_LE(scene.contacts.size(), 24u);
        for (const Contact& c : scene.contacts) EXPECT_GT(c.normal.y(), standing ? -0.1 : 0.5);
        // Every vertex of the block inside the tool has a contact near: a sixth of the patch, 4 cm × 6 cm at most.
        double deepest = 0.0;
        for (const Vec3& p : scene.body(1).surface().positions) {
          const double depth = -tree.signed_distance(p);
          deepest = std::max(deepest, depth);
          if (depth <= 1e-9) continue;
          double nearest = 1.0;
          for (const Contact& c : scene.contacts) nearest = std::min(nearest, (c.point_b - p).norm());
          EXPECT_LT(nearest, 0.012);
        }
        EXPECT_NEAR(scene.report.deepest, 0.002, 1e-12);
        EXPECT_LE(deepest, scene.report.deepest + 1e-12);
      }
    }
  }
}

TEST(Reduction, FlatBoxOnAFineMeshKeepsItsCorners) {
  Scene scene({.alarm_distance = 0.002, .max_contacts_per_soft_pair = 24});
  scene.add(make_rigid({Vec3(0.003, 0.05 + 0.01 - 1e-4, 0.001), Quat::Identity()}), box_shape(Vec3(0.05, 0.02, 0.03)));
  scene.add(make_soft_block(Vec3::Constant(0.1), {20, 4, 20}), shape_of(Surface{}));
  scene.find();
  scene.check_contacts(0.2);
  EXPECT_LE(scene.contacts.size(), 24u);
  EXPECT_GE(scene.contacts.size(), 12u);
  for (const double x : {-0.022, 0.028}) {
    for (const double z : {-0.014, 0.016}) {
      double nearest = 1.0;
      for (const Contact& c : scene.contacts) nearest = std::min(nearest, (c.point_a - Vec3(x, 0.0499, z)).norm());
      EXPECT_LT(nearest, 1e-4);
    }
  }
}

/// Applies the linear constraint of each contact to the free motion: what the step may do at most.
void expect_stopped(const Scene& scene, const Vec3& motion_a, double tolerance) {
  for (const Contact& c : scene.contacts) {
    EXPECT_GE(c.gap, -1e-12);
    EXPECT_LE(c.gap + motion_a.dot(c.normal), tolerance);  // it will act
  }
}

TEST(Continuous, ThinFastPlateDoesNotPassASheetNorASoftBlock) {
  const double h = 0.01;
  const Quat tilts[] = {Quat::Identity(), rotation_from_vector(Vec3(0.3, 0.2, -0.1)),
                        rotation_from_vector(Vec3(0.0, 0.0, 0.5 * std::numbers::pi))};
  for (const Quat& tilt : tilts) {
    for (const double side : {1.0, -1.0}) {
      for (int target = 0; target < 3; ++target) {
        Scene scene({.alarm_distance = 0.001});
        const Vec3 v(0.0, -10.0 * side, 0.0);
        const double start = target == 2 ? 0.1 : 0.05;
        if (target == 2 && side < 0.0) continue;
        scene.add(make_rigid({Vec3(0.003, side * start, 0.002), tilt}), box_shape(Vec3(0.04, 0.001, 0.04)));
        scene.body(0).set_velocities(std::vector<Vec3>{v, Vec3::Zero()});
        if (target == 0) {  // 1 mm thick, closed
          scene.add(std::make_unique<StaticBody>(make_box(Vec3(0.1, 0.001, 0.1), 5)), shape_of(Surface{}));
        } else if (target == 1) {  // no thickness
          ContactShape sheet = shape_of(Surface{.two_sided = true});
          scene.add(std::make_unique<StaticBody>(make_sine_surface({.amplitude = 0.0, .cell = 0.02})), sheet);
        } else {
          scene.add(make_soft_block(Vec3::Constant(0.1), {4, 4, 4}), shape_of(Surface{}));
        }
        scene.find(h);
        scene.check_contacts(0.3);
        SCOPED_TRACE(::testing::Message() << "target " << target << " side " << side);
        ASSERT_FALSE(scene.contacts.empty());
        expect_stopped(scene, h * v, 0.001);
        // Held at each contact, the plate stays on its side: no contact may let it through, and one must lie against
        // the motion.
        double against = 0.0;
        for (const Contact& c : scene.contacts) against = std::max(against, -c.normal.dot(v.normalized()));
        EXPECT_GT(against, 0.9);
        scene.body(0).set_velocities(std::vector<Vec3>{-v, Vec3::Zero()});
        scene.find(h);
        EXPECT_TRUE(scene.contacts.empty());
      }
    }
  }
}

TEST(Continuous, FastThinChainAndPointDoNotPassASheet) {
  ContactShape sheet = shape_of(Surface{.two_sided = true});
  Scene scene({.alarm_distance = 0.001});
  scene.add(std::make_unique<StaticBody>(make_sine_surface({.amplitude = 0.002, .cell = 0.004})), sheet);
  const Vec3 points[] = {Vec3(-0.02, 0.04, 0.001), Vec3(0.0, 0.041, 0.002), Vec3(0.02, 0.04, 0.0)};
  scene.add(make_chain(points, 0.0005), shape_of(Chain{}));
  scene.add(std::make_unique<Particle>(1.0, Vec3(0.011, -0.03, 0.013)), point_shape(0.0));
  std::vector<Vec3> v(6, Vec3::Zero());
  for (std::size_t i = 0; i < 6; i += 2) v[i] = Vec3(0.0, -10.0, 0.0);
  scene.body(1).set_velocities(v);
  scene.body(2).set_velocities(std::vector<Vec3>{Vec3(1.0, 10.0, 0.0)});
  scene.find(0.01);
  scene.check_contacts(0.2);
  std::set<int> bodies;
  for (const Contact& c : scene.contacts) {
    if (c.body_a == 0) bodies.insert(c.body_b);
    // From the other body to the sheet: down for the chain above, up for the point below.
    EXPECT_GT(c.normal.y() * (c.body_b == 1 ? -1.0 : 1.0), 0.3);
  }
  EXPECT_EQ(bodies, (std::set<int>{1, 2}));
}

TEST(Sheet, WhatIsPressedIntoItsThicknessStaysOnItsSide) {
  for (const double side : {1.0, -1.0}) {
    ContactShape sheet = shape_of(Surface{.two_sided = true, .half_thickness = 0.0005});
    Scene scene({.alarm_distance = 0.002});
    scene.add(std::make_unique<Particle>(1.0, Vec3(0.003, side * 0.0002, 0.001)), point_shape(0.0));
    scene.add(std::make_unique<StaticBody>(make_sine_surface({.amplitude = 0.0, .cell = 0.01})), sheet);
    EXPECT_NEAR(scene.find().deepest, 0.0003, 1e-15);
    ASSERT_EQ(scene.contacts.size(), 1u);
    const Contact& c = scene.contacts[0];
    EXPECT_NEAR((c.normal - side * Vec3::UnitY()).norm(), 0.0, 1e-15);
    EXPECT_NEAR(c.gap, (c.point_a - c.point_b).dot(c.normal), 1e-15);
    // The foot lies in the middle, the point it stands for on the sheet's side.
    EXPECT_NEAR((scene.body(1).compute_point(c.foot_b) + 0.0005 * c.normal - c.point_b).norm(), 0.0, 1e-15);
  }
}

/// A bar bent into a ring until its ends nearly meet.
std::unique_ptr<CorotationalTets> make_bent_bar(double opening) {
  auto bar = make_soft_block(Vec3(0.2, 0.01, 0.01), {40, 2, 2});
  std::vector<double> state(as_size(bar->state_size()));
  bar->save_state(state);
  for (std::size_t n = 0; n < as_size(bar->node_count()); ++n) {
    Eigen::Map<Vec3> x(&state[3 * n]);
    const double radius = 0.2 / (2.0 * std::numbers::pi) - x.y();
    const double angle = x.x() / 0.2 * (2.0 * std::numbers::pi - opening);
    x = Vec3(radius * std::sin(angle), -radius * std::cos(angle), x.z());
  }
  bar->restore_state(state);
  return bar;
}

TEST(SelfContact, EndsOfABentBarTouchAndNothingElse) {
  ContactShape shape = shape_of(Surface{.self = true});
  // At rest nothing touches although all neighbours are near.
  Scene straight({.alarm_distance = 0.004});
  straight.add(make_soft_block(Vec3(0.2, 0.01, 0.01), {40, 2, 2}), shape);
  straight.find();
  EXPECT_TRUE(straight.contacts.empty());

  for (const double opening : {0.06, -0.02}) {
    Scene scene({.alarm_distance = 0.004});
    auto bar = make_soft_block(Vec3(0.2, 0.01, 0.01), {40, 2, 2});
    const auto bent = make_bent_bar(opening);
    std::vector<double> state(as_size(bar->state_size()));
    CorotationalTets& moved = *bar;
    scene.add(std::move(bar), shape);
    bent->save_state(state);
    moved.restore_state(state);
    scene.find();
    scene.check_contacts(0.2);
    ASSERT_GE(scene.contacts.size(), 4u) << opening;
    for (const Contact& c : scene.contacts) {
      EXPECT_EQ(c.body_a, c.body_b);
      EXPECT_GT(c.point_a.y(), 0.02);  // at the top, where the ends are
      EXPECT_GT(std::abs(c.normal.x()), 0.9);
      EXPECT_EQ(c.gap > 0.0, opening > 0.0);
    }
  }
}

/// Everything at once: about thirty bodies of all kinds in a heap.
void fill(Scene& scene, const std::vector<int>& order, std::vector<int>* place = nullptr) {
  std::mt19937 random(8);
  std::vector<std::pair<std::unique_ptr<Body>, ContactShape>> made;
  made.emplace_back(nullptr, plane_shape(Vec3::UnitY(), -0.1));
  for (int i = 0; i < 6; ++i) {
    made.emplace_back(make_rigid(random_pose(random, 0.06)), box_shape(Vec3(0.05, 0.03, 0.04)));
    made.emplace_back(make_rigid(random_pose(random, 0.06)), sphere_shape(0.02));
    made.emplace_back(make_rigid(random_pose(random, 0.06), make_torus(0.02, 0.008, 12, 8)), shape_of(Surface{}));
    const Pose p = random_pose(random, 0.06);
    const Vec3 points[] = {p.position, p.position + p.rotation * Vec3(0.02, 0.0, 0.0),
                           p.position + p.rotation * Vec3(0.04, 0.01, 0.0)};
    made.emplace_back(make_chain(points, 0.002), shape_of(Chain{}));
    made.emplace_back(std::make_unique<Particle>(1.0, random_pose(random, 0.06).position), point_shape(0.001));
  }
  made.emplace_back(make_soft_block(Vec3(0.08, 0.05, 0.08), {4, 3, 4}), shape_of(Surface{}));
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (auto& [body, shape] : made) {
    if (body == nullptr) continue;
    std::vector<Vec3> v(body->velocities().size());
    for (Vec3& x : v) {
      for (int k = 0; k < 3; ++k) x[k] = 0.5 * uniform(random);
    }
    body->set_velocities(v);
  }
  if (place != nullptr) place->resize(made.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto from = order.empty() ? i : as_size(order[i]);
    const int at = scene.add(std::move(made[from].first), made[from].second);
    if (place != nullptr) (*place)[as_size(at)] = static_cast<int>(from);
  }
}

TEST(ContactFinder, SecondFindAllocatesNothing) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "the sanitizer owns malloc: nothing is counted";
  Scene scene;
  fill(scene, {});
  scene.find(0.01);
  const std::size_t first = scene.contacts.size();
  EXPECT_GT(first, 100u);
  const testing::RealtimeGuard guard;
  scene.find(0.01);
  EXPECT_EQ(guard.violations().total(), 0);
  EXPECT_EQ(scene.contacts.size(), first);
}

TEST(ContactFinder, SameBitsTwice) {
  Scene one, two;
  fill(one, {});
  fill(two, {});
  one.find(0.01);
  two.find(0.01);
  two.find(0.01);  // no memory of what was before
  ASSERT_EQ(one.contacts.size(), two.contacts.size());
  one.check_contacts(0.3);
  for (std::size_t i = 0; i < one.contacts.size(); ++i) {
    const Contact &a = one.contacts[i], &b = two.contacts[i];
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.gap, b.gap);
    EXPECT_EQ(a.normal, b.normal);
    EXPECT_EQ(a.foot_a.offset, b.foot_a.offset);
    EXPECT_EQ(a.foot_b.weights, b.foot_b.weights);
  }
}

TEST(ContactFinder, OrderOfBodiesDoesNotMatter) {
  Scene one, two;
  std::vector<int> place;
  fill(one, {});
  std::vector<int> order(one.bodies.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>((7 * i + 3) % order.size());
  fill(two, order, &place);
  one.find(0.01);
  two.find(0.01);
  // The number of contacts and the deepest of each pair.
  const auto summarise = [](const Scene& scene, const std::vector<int>& name) {
    std::map<std::pair<int, int>, std::pair<int, double>> pairs;
    for (const Contact& c : scene.contacts) {
      const int a = name.empty() ? c.body_a : name[as_size(c.body_a)];
      const int b = name.empty() ? c.body_b : name[as_size(c.body_b)];
      auto& [count, gap] = pairs.try_emplace({std::min(a, b), std::max(a, b)}, 0, 1.0).first->second;
      ++count;
      gap = std::min(gap, c.gap);
    }
    return pairs;
  };
  const auto first = summarise(one, {}), second = summarise(two, place);
  ASSERT_EQ(first.size(), second.size());
  for (auto i = first.begin(), j = second.begin(); i != first.end(); ++i, ++j) {
    EXPECT_EQ(i->first, j->first);
    // Boxes prefer the first one's face, and reduction takes equals by a hash: the same place, not the same points.
    EXPECT_NEAR(i->second.second, j->second.second, 1e-4) << i->first.first << " " << i->first.second;
  }
}

TEST(ContactFinder, IdsPersistUnderSmallMotionAndDifferBetweenPairs) {
  Scene scene;
  fill(scene, {});
  scene.find(0.0);
  std::set<std::uint64_t> before, now;
  for (const Contact& c : scene.contacts) before.insert(c.id);
  EXPECT_EQ(before.size(), scene.contacts.size());
  for (const auto& body : scene.bodies) {
    if (body != nullptr) {
      const std::vector<Vec3> none(as_size(body->block_count()), Vec3::Zero());
      const double h = 1e-5;  // 5 µm
      body->linearise(std::span(&h, 1));
      body->advance(h, none);
    }
  }
  scene.find(0.0);
  for (const Contact& c : scene.contacts) now.insert(c.id);
  std::vector<std::uint64_t> both;
  std::set_intersection(before.begin(), before.end(), now.begin(), now.end(), std::back_inserter(both));
  // A few change features or places with equals.
  EXPECT_GT(static_cast<double>(both.size()), 0.9 * static_cast<double>(before.size()));
}

TEST(ContactFinder, NotFiniteBodiesTouchNothingAndHarmNone) {
  Scene scene;
  fill(scene, {});
  scene.find(0.01);
  const std::size_t all = scene.contacts.size();
  const double bad[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
  for (const double value : bad) {
    for (std::size_t i = 1; i < scene.bodies.size(); i += 3) {
      std::vector<Vec3> v(scene.bodies[i]->velocities().size(), Vec3(0.0, value, 0.0));
      scene.bodies[i]->set_velocities(v);
    }
    scene.find(0.01);
    EXPECT_GT(scene.contacts.size(), 0u);
    EXPECT_LT(scene.contacts.size(), all);
    for (const Contact& c : scene.contacts) EXPECT_TRUE(std::isfinite(c.gap));
  }
}

TEST(ContactFinder, OverflowKeepsTheNearestAndSaysSo) {
  Scene all, some({.max_contacts = 20});
  fill(all, {});
  fill(some, {});
  all.find(0.0);
  EXPECT_FALSE(all.report.overflow);
  some.find(0.0);
  EXPECT_TRUE(some.report.overflow);
  ASSERT_EQ(some.contacts.size(), 20u);
  EXPECT_EQ(some.report.deepest, all.report.deepest);
  std::vector<double> gaps;
  for (const Contact& c : all.contacts) gaps.push_back(c.gap);
  std::sort(gaps.begin(), gaps.end());
  for (const Contact& c : some.contacts) EXPECT_LE(c.gap, gaps[19]);
}

TEST(ContactFinder, IgnoredPairsAndFixedBodiesDoNotTouch) {
  Scene scene;
  scene.add(make_rigid({}), sphere_shape(0.1));
  scene.add(make_rigid({Vec3(0.15, 0.0, 0.0), Quat::Identity()}), sphere_shape(0.1));
  scene.add(std::make_unique<StaticBody>(make_box(Vec3::Constant(0.3), 1)), shape_of(Surface{}));
  scene.add(nullptr, plane_shape(Vec3::UnitY(), 1.0));
  scene.finder.ignore(1, 0);
  scene.finder.ignore(0, 2);
  scene.find();
  for (const Contact& c : scene.contacts) {
    const std::pair pair(c.body_a, c.body_b);
    EXPECT_TRUE(pair == std::pair(1, 2) || pair == std::pair(0, 3) || pair == std::pair(1, 3));
  }
  EXPECT_EQ(scene.contacts.size(), 3u);
}

}  // namespace
}  // namespace palpate::contact_finder_test
