#include <numbers>

#include "contact_bodies.h"
#include "palpate/geometry/closest_features.h"
#include "palpate/geometry/triangle_tree.h"

namespace palpate::feature_contact_test {
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

/// A body as points, segments and triangles with a radius, for brute force.
struct Pieces {
  std::vector<std::vector<Vec3>> parts;
  double radius = 0.0;
};

double distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double best = std::numeric_limits<double>::infinity();
  const auto vertices = [&](const std::vector<Vec3>& p, const std::vector<Vec3>& q) {
    for (const Vec3& x : p) {
      Vec3 w = Vec3::UnitX();
      if (q.size() == 2) w = Vec3(1.0 - closest_on_segment(x, q[0], q[1]), closest_on_segment(x, q[0], q[1]), 0.0);
      if (q.size() == 3) w = closest_on_triangle(x, q[0], q[1], q[2]);
      Vec3 y = Vec3::Zero();
      for (std::size_t k = 0; k < q.size(); ++k) y += w[static_cast<int>(k)] * q[k];
      best = std::min(best, (x - y).norm());
    }
  };
  vertices(a, b);
  vertices(b, a);
  const auto edges = [](const std::vector<Vec3>& p) { return p.size() == 3 ? 3u : p.size() - 1u; };
  for (std::size_t i = 0; i < edges(a); ++i) {
    for (std::size_t j = 0; j < edges(b); ++j) {
      const Vec3 &p = a[i], &q = a[(i + 1) % a.size()], &r = b[j], &s = b[(j + 1) % b.size()];
      const SegmentPair c = closest_of_segments(p, q, r, s);
      best = std::min(best, (p + c.s * (q - p) - r - c.t * (s - r)).norm());
    }
  }
  return best;
}

double distance(const Pieces& a, const Pieces& b, const Vec3& moved = Vec3::Zero()) {
  double best = std::numeric_limits<double>::infinity();
  for (std::vector<Vec3> p : a.parts) {
    for (Vec3& x : p) x += moved;
    for (const std::vector<Vec3>& q : b.parts) best = std::min(best, distance(p, q));
  }
  return best - a.radius - b.radius;
}

/// All kinds of bodies.
enum class Sort { kSoft, kBox, kSphere, kHull, kMesh, kChain, kPoint, kStatic };
constexpr Sort kSorts[] = {Sort::kSoft, Sort::kBox,   Sort::kSphere, Sort::kHull,
                           Sort::kMesh, Sort::kChain, Sort::kPoint,  Sort::kStatic};

struct Made {
  std::unique_ptr<Body> body;
  ContactShape shape;
  Pieces pieces;
};

Pieces pieces_of(const BodySurface& surface) {
  Pieces out;
  for (const auto& [i, j, k] : surface.triangles) {
    out.parts.push_back({surface.positions[as_size(i)], surface.positions[as_size(j)], surface.positions[as_size(k)]});
  }
  return out;
}

/// About 5 cm across.
Made make(Sort sort, const Pose& pose) {
  const auto placed = [&](TriangleMesh mesh) {
    for (Vec3& v : mesh.vertices) v = pose.position + pose.rotation * v;
    return mesh;
  };
  Made m;
  switch (sort) {
    case Sort::kSoft: {
      auto block = make_soft_block(Vec3(0.05, 0.04, 0.03), {3, 2, 2});
      std::vector<double> state(as_size(block->state_size()));
      block->save_state(state);
      for (std::size_t n = 0; n < as_size(block->node_count()); ++n) {
        Eigen::Map<Vec3> x(&state[3 * n]);
        x = (pose.position + pose.rotation * Vec3(x)).eval();
      }
      block->restore_state(state);
      m.pieces = pieces_of(block->surface());
      m.body = std::move(block);
      m.shape = shape_of(Surface{});
      break;
    }
    case Sort::kBox:
      m.body = make_rigid(pose);
      m.shape = box_shape(Vec3(0.05, 0.03, 0.02));
      m.pieces = pieces_of(StaticBody(placed(make_box(m.shape.as<ContactShape::Box>()->size, 1))).surface());
      break;
    case Sort::kSphere:
      m.body = make_rigid(pose);
      m.shape = sphere_shape(0.02);
      m.pieces = {{{pose.position}}, 0.02};
      break;
    case Sort::kHull:
    case Sort::kMesh:
      m.body = make_rigid(pose, sort == Sort::kHull ? make_cylinder(0.02, 0.04, 7, 1) : make_torus(0.02, 0.008, 9, 6));
      m.shape = sort == Sort::kHull ? shape_of(Hull{}) : shape_of(Surface{});
      m.pieces = pieces_of(m.body->surface());
      break;
    case Sort::kStatic:
      m.body = std::make_unique<StaticBody>(placed(make_noisy_sphere(0.025, 80, 0.005, 3)));
      m.shape = shape_of(Surface{});
      m.pieces = pieces_of(m.body->surface());
      break;
    case Sort::kChain: {
      std::vector<Vec3> points;
      for (int i = 0; i < 5; ++i)
        points.push_back(pose.position + pose.rotation * Vec3(0.01 * i - 0.02, 0.0005 * i * i, 0.0));
      m.body = make_chain(points, 0.003);
      m.shape = shape_of(Chain{});
      for (std::size_t i = 0; i + 1 < points.size(); ++i) m.pieces.parts.push_back({points[i], points[i + 1]});
      m.pieces.radius = 0.003;
      break;
    }
    case Sort::kPoint:
      m.body = std::make_unique<Particle>(1.0, pose.position);
      m.shape = point_shape(0.004);
      m.pieces = {{{pose.position}}, 0.004};
      break;
  }
  return m;
}

TEST(FeatureContact, NearestContactIsTheDistanceOfAllFeatures) {
  std::mt19937 random(1);
  constexpr double kAlarm = 0.01;
  for (const Sort first : kSorts) {
    for (const Sort second : kSorts) {
      if (first == Sort::kStatic && second == Sort::kStatic) continue;
      int checked = 0;
      for (int trial = 0; trial < 300 && checked < 6; ++trial) {
        const Pose x = random_pose(random, 0.0), y = random_pose(random, 0.05);
        Made a = make(first, x), b = make(second, y);
        const double expected = distance(a.pieces, b.pieces);
        // Inside or across is for other tests.
        if (expected < 1e-4 || expected > 0.9 * kAlarm) continue;
        Scene scene({.alarm_distance = kAlarm});
        const Pieces pieces_a = a.pieces, pieces_b = b.pieces;
        scene.add(std::move(a.body), a.shape);
        scene.add(std::move(b.body), b.shape);
        scene.find();
        scene.check_contacts(0.2);
        const auto nearest = std::min_element(scene.contacts.begin(), scene.contacts.end(),
                                              [](const Contact& c, const Contact& d) { return c.gap < d.gap; });
        if (scene.contacts.empty() || nearest->gap < 0.0) {
          // One inside the other without touching: brute force over surfaces does not see it.
          if (!scene.contacts.empty()) continue;
        }
        ++checked;
        SCOPED_TRACE(::testing::Message() << static_cast<int>(first) << " on " << static_cast<int>(second));
        ASSERT_FALSE(scene.contacts.empty());
        // Convex pairs prefer faces up to 1e-3 of the smaller size; of others the distance is exact.
        const bool convex = scene.contacts.size() > 0 && !a.shape.is<ContactShape::Sphere>() &&
                            (first == Sort::kBox || first == Sort::kHull) &&
                            (second == Sort::kBox || second == Sort::kHull);
        EXPECT_NEAR(nearest->gap, expected, convex ? 5e-5 : 1e-14);
        const double step = 1e-6;
        EXPECT_GT(distance(pieces_a, pieces_b, step * nearest->normal), expected + 0.5 * step);
      }
      EXPECT_GE(checked, 3) << static_cast<int>(first) << " on " << static_cast<int>(second);
    }
  }
}

TEST(FeatureContact, PointInsideAClosedSurfaceGoesOutTheShortestWay) {
  std::mt19937 random(2);
  const TriangleMesh mesh = make_noisy_sphere(0.05, 300, 0.01, 5);
  const TriangleTree tree(mesh);
  int inside = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Vec3 p = random_pose(random, 0.04).position;
    const double expected = tree.signed_distance(p);
    if (expected > 0.0) continue;
    ++inside;
    Scene scene;
    scene.add(std::make_unique<Particle>(1.0, p), point_shape(0.002));
    scene.add(std::make_unique<StaticBody>(mesh), shape_of(Surface{}));
    EXPECT_NEAR(scene.find().deepest, 0.002 - expected, 1e-15);
    scene.check_contacts(0.1);
    ASSERT_EQ(scene.contacts.size(), 1u);
    const Contact& c = scene.contacts[0];
    // The normal, from b to a, leads to the surface and not beyond.
    EXPECT_GT(tree.signed_distance(p + (1e-7 - expected) * c.normal), 0.0);
    EXPECT_LT(tree.signed_distance(p - (1e-7 + expected) * c.normal), 0.0);
  }
  EXPECT_GT(inside, 30);
}

TEST(FeatureContact, VertexInAGrooveTouchesBothWalls) {
  // Two walls at 90° that meet at the z axis, normals inward; the ball is nearer to one.
  TriangleMesh groove;
  groove.vertices = {Vec3(0, 0, -1), Vec3(0, 0, 1), Vec3(1, 1, -1), Vec3(1, 1, 1), Vec3(-1, 1, -1), Vec3(-1, 1, 1)};
  groove.triangles = {{0, 1, 2}, {1, 3, 2}, {0, 4, 1}, {4, 5, 1}};
  Scene scene({.alarm_distance = 0.03});
  scene.add(make_rigid({Vec3(0.01, 0.16, 0.0), Quat::Identity()}), sphere_shape(0.1));
  scene.add(std::make_unique<StaticBody>(groove), shape_of(Surface{}));
  scene.find();
  scene.check_contacts(1.0);
  ASSERT_EQ(scene.contacts.size(), 2u);
  EXPECT_NEAR(scene.contacts[0].normal.dot(scene.contacts[1].normal), 0.0, 1e-14);
  for (const Contact& c : scene.contacts) {
    EXPECT_GT(c.normal.y(), 0.7);
    EXPECT_NEAR(c.gap, (0.16 - std::copysign(0.01, -c.normal.x())) / std::sqrt(2.0) - 0.1, 1e-14);
  }
}

TEST(FeatureContact, SlidingOnAFlatMeshMeetsNoInnerEdges) {
  // The classical trap: a contact with an edge between two coplanar faces would stop the slide.
  for (const double h : {0.0, 0.01, 0.1}) {
    Scene scene({.alarm_distance = 0.002});
    scene.add(std::make_unique<Particle>(1.0, Vec3(0.013, 1e-6, 0.002)), point_shape(0.0));
    scene.add(make_rigid({Vec3(-0.01, 0.005 + 1e-6, 0.02), Quat::Identity()}, make_box(Vec3(0.03, 0.01, 0.02), 3)),
              shape_of(Surface{}));
    scene.add(std::make_unique<StaticBody>(make_sine_surface({.amplitude = 0.0, .cell = 0.01})), shape_of(Surface{}));
    scene.body(0).set_velocities(std::vector<Vec3>{Vec3(0.2, -0.01, 0.1)});
    scene.body(1).set_velocities(std::vector<Vec3>{Vec3(0.2, -0.01, 0.1), Vec3::Zero()});
    scene.finder.ignore(0, 1);
    scene.find(h);
    EXPECT_GE(scene.contacts.size(), 5u);
    for (const Contact& c : scene.contacts) EXPECT_NEAR(std::abs(c.normal.y()), 1.0, 1e-12);
  }
}

TEST(FeatureContact, CrossedBarsTouchEdgeToEdgeAndPart) {
  // Two square bars turned by 45° about their axes, ridge on ridge.
  for (const double gap : {1e-3, -1e-3}) {
    Scene scene;
    const Quat ridge_x = rotation_from_vector(Vec3(0.25 * std::numbers::pi, 0, 0));
    const Quat ridge_z = rotation_from_vector(Vec3(0, 0, 0.25 * std::numbers::pi));
    scene.add(make_rigid({Vec3(0, 0.02 * std::sqrt(2.0) + gap, 0), ridge_z}, make_box(Vec3(0.02, 0.02, 0.2), 1)),
              shape_of(Surface{}));
    scene.add(make_rigid({Vec3::Zero(), ridge_x}, make_box(Vec3(0.2, 0.02, 0.02), 1)), shape_of(Surface{}));
    scene.find();
    scene.check_contacts(0.3);
    ASSERT_EQ(scene.contacts.size(), 1u);
    EXPECT_NEAR(scene.contacts[0].gap, gap, 1e-14);
    EXPECT_NEAR((scene.contacts[0].normal - Vec3::UnitY()).norm(), 0.0, 1e-12);
  }
}

TEST(FeatureContact, FrictionIsTheGeometricMeanOrTheOthers) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double cases[][3] = {{0.2, 0.8, 0.4}, {none, 0.3, 0.3}, {0.3, none, 0.3}, {none, none, 0.0}};
  for (const auto& [a, b, expected] : cases) {
    Scene scene;
    ContactShape ball = sphere_shape(0.1), floor = plane_shape(Vec3::UnitY(), 0.0);
    ball.friction = a;
    floor.friction = b;
    scene.add(make_rigid({Vec3(0, 0.1, 0), Quat::Identity()}), ball);
    scene.add(nullptr, floor);
    scene.find();
    ASSERT_EQ(scene.contacts.size(), 1u);
    EXPECT_DOUBLE_EQ(scene.contacts[0].friction, expected);
  }
}

}  // namespace
}  // namespace palpate::feature_contact_test
