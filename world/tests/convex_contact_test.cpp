#include <algorithm>
#include <set>

#include "contact_bodies.h"
#include "palpate/core/error.h"

namespace palpate::convex_contact_test {
namespace {

using testing::box_shape;
using testing::Hull;
using testing::make_rigid;
using testing::plane_shape;
using testing::Scene;
using testing::shape_of;
using testing::sphere_shape;
using testing::Surface;

constexpr double kEps = 0x1p-52;

TEST(PlaneContact, BoxLiesOnItsFourLowerCorners) {
  Scene scene;
  scene.add(nullptr, plane_shape(Vec3::UnitY(), 0.2));
  scene.add(make_rigid({Vec3(1.0, 0.2 + 0.05 - 1e-3, -2.0), Quat::Identity()}), box_shape(Vec3(0.2, 0.1, 0.3)));
  const FindReport report = scene.find();
  scene.check_contacts(3.0);
  ASSERT_EQ(scene.contacts.size(), 4u);
  EXPECT_NEAR(report.deepest, 1e-3, 8 * kEps);
  for (const Contact& c : scene.contacts) {
    EXPECT_EQ(c.body_a, 0);
    EXPECT_EQ(c.body_b, 1);
    // From b, the box, to a, the plane: down.
    EXPECT_NEAR((c.normal + Vec3::UnitY()).norm(), 0.0, 1e-15);
    EXPECT_NEAR(c.gap, -1e-3, 8 * kEps);
    EXPECT_NEAR(std::abs(c.point_b.x() - 1.0), 0.1, 8 * kEps);
    EXPECT_NEAR(std::abs(c.point_b.z() + 2.0), 0.15, 8 * kEps);
    EXPECT_DOUBLE_EQ(c.friction, 0.5);
  }
}

TEST(PlaneContact, DepthOfAnyBodyIsThatOfItsLowestPoint) {
  std::mt19937 random(3);
  const TriangleMesh blob = make_noisy_sphere(0.05, 200, 0.01, 4);
  for (int trial = 0; trial < 20; ++trial) {
    const Vec3 n = testing::random_pose(random, 1.0).rotation * Vec3::UnitX();
    for (const ContactShape& kind : {shape_of(Hull{}), shape_of(Surface{})}) {
      Scene scene;
      const auto body = make_rigid(testing::random_pose(random, 0.03), blob);
      double lowest = std::numeric_limits<double>::infinity();
      for (const Vec3& p : body->surface().positions) lowest = std::min(lowest, n.dot(p));
      scene.add(std::make_unique<RigidBody>(*body), kind);
      scene.add(nullptr, plane_shape(n, lowest + 2e-3));
      EXPECT_NEAR(scene.find().deepest, 2e-3, 1e-15);
      scene.check_contacts(0.1);
      EXPECT_LE(scene.contacts.size(), 24u);
    }
  }
}

TEST(PlaneContact, FastBodyIsSeenBeforeItIsThrough) {
  Scene scene({.alarm_distance = 1e-3});
  scene.add(make_rigid({Vec3(0.0, 0.05, 0.0), Quat::Identity()}), sphere_shape(0.001));
  scene.add(nullptr, plane_shape(Vec3::UnitY(), 0.0));
  scene.find(0.01);
  EXPECT_TRUE(scene.contacts.empty());  // at rest it is far
  scene.body(0).set_velocities(std::vector<Vec3>{Vec3(0.0, -10.0, 0.0), Vec3::Zero()});
  scene.find(0.01);
  ASSERT_EQ(scene.contacts.size(), 1u);
  EXPECT_NEAR(scene.contacts[0].gap, 0.049, 1e-16);
  scene.body(0).set_velocities(std::vector<Vec3>{Vec3(0.0, 10.0, 0.0), Vec3::Zero()});
  scene.find(0.01);
  EXPECT_TRUE(scene.contacts.empty());  // it goes away
}

TEST(BoxBox, StackTouchesInFourCornersOfEachPairOfFaces) {
  for (const double gap : {-1e-4, 0.0, 1e-4}) {
    Scene scene;
    constexpr int kCubes = 5;
    for (int i = 0; i < kCubes; ++i) {
      scene.add(make_rigid({Vec3(0.001 * i, (0.1 + gap) * i, 0.0), Quat::Identity()}), box_shape(Vec3::Constant(0.1)));
    }
    scene.find();
    scene.check_contacts(1.0);
    ASSERT_EQ(scene.contacts.size(), 4u * (kCubes - 1));
    for (const Contact& c : scene.contacts) {
      EXPECT_EQ(c.body_b, c.body_a + 1);
      EXPECT_NEAR((c.normal + Vec3::UnitY()).norm(), 0.0, 1e-14);
      EXPECT_NEAR(c.gap, gap, 1e-15);
      EXPECT_NEAR(std::abs(c.point_a.z()), 0.05, 1e-9);
    }
  }
}

TEST(BoxBox, ManifoldKeepsItsIdsUnderSmallMotion) {
  std::set<std::uint64_t> before;
  for (int step = 0; step < 10; ++step) {
    Scene scene;
    scene.add(make_rigid({}), box_shape(Vec3::Constant(0.1)));
    const Quat turn = rotation_from_vector(Vec3(1e-4 * step, 0.3 + 1e-3 * step, -1e-4 * step));
    scene.add(make_rigid({Vec3(0.005 + 1e-4 * step, 0.1, 0.01), turn}), box_shape(Vec3(0.05, 0.1, 0.04)));
    scene.find();
    std::set<std::uint64_t> ids;
    for (const Contact& c : scene.contacts) ids.insert(c.id);
    EXPECT_EQ(ids.size(), 4u);
    if (step > 0) {
      EXPECT_EQ(ids, before);
    }
    before = ids;
  }
}

/// The least distance of two boxes by projected gradient descent on both points: slow, simple, independent.
double distance_by_descent(const Pose& x, const Vec3& a, const Pose& y, const Vec3& b) {
  const auto project = [](const Pose& pose, const Vec3& half, const Vec3& p) {
    const Vec3 q = pose.rotation.conjugate() * (p - pose.position);
    return Vec3(pose.position + pose.rotation * q.cwiseMin(half).cwiseMax(-half));
  };
  Vec3 p = x.position, q = y.position;
  for (int i = 0; i < 20000; ++i) {
    p = project(x, 0.5 * a, q);
    q = project(y, 0.5 * b, p);
  }
  return (p - q).norm();
}

TEST(BoxBox, GapIsTheDistanceAndNormalParts) {
  std::mt19937 random(11);
  const Vec3 a(0.1, 0.2, 0.15), b(0.05, 0.1, 0.3);
  int separated = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Pose x = testing::random_pose(random, 0.0), y = testing::random_pose(random, 0.2);
    const double expected = distance_by_descent(x, a, y, b);
    Scene scene({.alarm_distance = 0.05});
    scene.add(make_rigid(x), box_shape(a));
    scene.add(make_rigid(y), box_shape(b));
    scene.find();
    scene.check_contacts(1.0);
    double gap = 0.05;
    for (const Contact& c : scene.contacts) gap = std::min(gap, c.gap);
    if (expected > 1e-6) {
      ++separated;
      EXPECT_NEAR(gap, std::min(expected, 0.05), 1e-9);
    } else {
      ASSERT_FALSE(scene.contacts.empty());
      EXPECT_LE(gap, 1e-6);
      // Moving b out along the normal by the depth parts them; by a quarter less does not.
      const auto deepest = std::min_element(scene.contacts.begin(), scene.contacts.end(),
                                            [](const Contact& p, const Contact& q) { return p.gap < q.gap; });
      const Vec3 n = deepest->normal;
      EXPECT_GT(distance_by_descent(x, a, {y.position - (1e-3 - gap) * n, y.rotation}, b), 5e-4);
    }
  }
  EXPECT_GT(separated, 50);
}

TEST(ConvexContact, HullOfABoxTouchesLikeTheBox) {
  std::mt19937 random(5);
  const Vec3 a(0.1, 0.2, 0.15);
  for (int trial = 0; trial < 100; ++trial) {
    const Pose x = testing::random_pose(random, 0.0), y = testing::random_pose(random, 0.15);
    Scene boxes({.alarm_distance = 0.02}), hulls({.alarm_distance = 0.02});
    for (const Pose& pose : {x, y}) {
      boxes.add(make_rigid(pose), box_shape(a));
      hulls.add(make_rigid(pose, make_box(a, 2)), shape_of(Hull{}));
    }
    boxes.find();
    hulls.find();
    hulls.check_contacts(1.0);
    ASSERT_EQ(boxes.contacts.empty(), hulls.contacts.empty());
    double first = 1.0, second = 1.0;
    for (const Contact& c : boxes.contacts) first = std::min(first, c.gap);
    for (const Contact& c : hulls.contacts) second = std::min(second, c.gap);
    EXPECT_NEAR(first, second, 1e-9);
  }
}

TEST(ConvexContact, HullsOfManyFacesAreAsNearAsSpheres) {
  std::mt19937 random(6);
  const TriangleMesh ball = make_sphere(0.05, 5);
  // Inscribed: a face lies inside the sphere by r (1 − cos β), β the angle of its corners from its middle: edges are at
  // most 0.26 rad, β = 0.26/√3.
  const double inside = 2.0 * 0.05 * (1.0 - std::cos(0.26 / std::sqrt(3.0)));
  for (int trial = 0; trial < 100; ++trial) {
    const Pose x = testing::random_pose(random, 0.0);
    Pose y = testing::random_pose(random, 0.05);
    std::uniform_real_distribution<double> uniform(0.09, 0.108);
    y.position *= uniform(random) / y.position.norm();
    Scene scene({.alarm_distance = 0.01});
    scene.add(make_rigid(x, ball), shape_of(Hull{}));
    scene.add(make_rigid(y, ball), shape_of(Hull{}));
    scene.find();
    scene.check_contacts(1.0);
    ASSERT_FALSE(scene.contacts.empty());
    double gap = 1.0;
    for (const Contact& c : scene.contacts) gap = std::min(gap, c.gap);
    const double spheres = y.position.norm() - 0.1;
    EXPECT_GE(gap, spheres - 1e-4);
    EXPECT_LE(gap, spheres + inside);
    // Along the line of centres, up to half the angle of a face and what a tangential offset of a facet adds.
    EXPECT_GT(-scene.contacts[0].normal.dot(y.position.normalized()), 0.95);
  }
}

TEST(ConvexContact, FastBoxMeetsThePlateItWouldJumpOver) {
  for (const double side : {-1.0, 1.0}) {
    Scene scene({.alarm_distance = 1e-3});
    scene.add(make_rigid({Vec3(0.0, side * 0.06, 0.01), rotation_from_vector(Vec3(0.2, 0.1, 0.3))}),
              box_shape(Vec3::Constant(0.02)));
    scene.add(make_rigid({}), box_shape(Vec3(0.2, 0.001, 0.2)));
    const Vec3 v(0.0, -side * 10.0, 0.0);
    scene.body(0).set_velocities(std::vector<Vec3>{v, Vec3::Zero()});
    scene.find(0.01);
    scene.check_contacts(1.0);
    ASSERT_FALSE(scene.contacts.empty());
    for (const Contact& c : scene.contacts) {
      EXPECT_GT(c.normal.y() * side, 0.9);
      EXPECT_GT(c.gap, 0.0);
      EXPECT_LT(c.gap + 0.01 * v.dot(c.normal), 1e-3);
    }
    // Past the plate's border nothing is in the way.
    scene.body(0).set_velocities(std::vector<Vec3>{Vec3(10.0, 0.0, 0.0), Vec3::Zero()});
    scene.find(0.01);
    EXPECT_TRUE(scene.contacts.empty());
  }
}

TEST(ConvexContact, FarFromTheOriginAsAtIt) {
  const Vec3 far(1e4, -2e4, 3e4);
  for (const Vec3& offset : {Vec3(Vec3::Zero()), far}) {
    Scene scene;
    const Quat turn = rotation_from_vector(Vec3(0.1, 0.2, 0.3));
    scene.add(make_rigid({offset, turn}), box_shape(Vec3::Constant(0.1)));
    scene.add(make_rigid({offset + turn * Vec3(0.01, 0.0995, 0.0), turn}), box_shape(Vec3::Constant(0.1)));
    scene.find();
    ASSERT_EQ(scene.contacts.size(), 4u);
    for (const Contact& c : scene.contacts) EXPECT_NEAR(c.gap, -5e-4, 1e-15 + 8 * kEps * offset.norm());
  }
}

TEST(ContactFinder, RefusesShapesThatDoNotFit) {
  ContactFinder finder({});
  const auto rigid = make_rigid({});
  const Particle particle(1.0, Vec3::Zero());
  EXPECT_THROW(finder.add(&particle, box_shape(Vec3::Ones())), InputError);
  EXPECT_THROW(finder.add(rigid.get(), testing::point_shape(0.1)), InputError);
  EXPECT_THROW(finder.add(rigid.get(), shape_of(Surface{})), InputError);
  EXPECT_THROW(finder.add(rigid.get(), shape_of(Hull{})), InputError);
  EXPECT_THROW(finder.add(rigid.get(), box_shape(Vec3(1.0, 0.0, 1.0))), InputError);
  EXPECT_THROW(finder.add(nullptr, sphere_shape(1.0)), InputError);
  EXPECT_THROW(finder.ignore(0, 1), InputError);
  EXPECT_THROW(ContactFinder({.alarm_distance = 0.0}), InputError);
}

}  // namespace
}  // namespace palpate::convex_contact_test
