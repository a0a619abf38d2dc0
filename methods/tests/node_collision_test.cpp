#include "../src/interpolation/node_collision.h"

#include <gtest/gtest.h>

#include "palpate/geometry/shapes.h"
#include "palpate/methods/interpolation_settings.h"

// Method `interpolation`: the collision of one node.
namespace palpate::node_collision_test {
namespace {

using namespace interpolation;
using Contact = InterpolationSettings::Contact;

Proxy make_plane_at(const Vec3& normal, double offset) {
  return make_plane_proxy({normal, offset}, 0.0);
}

/// A free node on a spring towards the inside of a moving plane, by Newmark's steps and collide().
struct FallingNode {
  double mass = 1e-3, damping = 2e-3, dt = 1e-3;
  Vec3 x, v, a = Vec3::Zero();
  Vec3 pull = Vec3(0.02, -0.03, 0.01);
  Proxy plane = make_plane_at(Vec3(1, 2, 2) / 3.0, 0.0);
  CollisionRules rules{Contact::kPaper, 1e-3, 0.0, 0.0};
  NodeContact last{};
  double skin = 0.0;

  /// The plane moves with its velocity, without turning.
  bool step() {
    x += dt * v + 0.5 * dt * dt * a;
    plane.offset += dt * plane.velocity.linear.dot(plane.normal);
    plane.pose.position += dt * plane.velocity.linear;
    NodeState node{mass, damping, pull, v, a, x};
    const Vec3 mid = v + 0.5 * dt * a;
    node.acceleration = (pull - damping * mid) / (mass + 0.5 * dt * damping);
    node.velocity = mid + 0.5 * dt * node.acceleration;
    last = {};
    last.friction = 0.3;
    Clearance memory;
    const bool touches = find_touch(plane, x, skin, last.touch, memory);
    if (touches) collide(rules, {&plane, 1}, node, {&last, 1});
    v = node.velocity;
    a = node.acceleration;
    return touches;
  }
  double gap() const { return plane.normal.dot(x) - plane.offset; }
};

// Eq. (13): after two equal steps the node has the distance to the moving proxy that it had before the collision, to
// rounding of coordinates of a metre. Without the collision it would be 2 · 0.3 mm inside.
TEST(NodeCollision, PapersScheme_IsWhereItWasAfterTwoEqualSteps) {
  FallingNode node;
  node.x = Vec3(0.4, 0.5, -0.2);
  node.plane.offset = node.plane.normal.dot(node.x) - 1e-4;
  node.plane.velocity.linear = Vec3(0.1, 0.05, 0.1);
  node.v = Vec3(0.05, -0.1, -0.1);
  const double before = node.gap();
  ASSERT_TRUE(node.step());
  EXPECT_LT(node.gap(), -1e-4);                                                           // it came in
  EXPECT_NEAR((node.v - node.plane.velocity.linear).dot(node.plane.normal), 0.0, 1e-15);  // (11)
  node.step();
  EXPECT_NEAR(node.gap(), before, 1e-15);
}

// And ours: it stays at the depth at which it came to rest, bearing the static force, and with pushing out it leaves
// the proxy no faster than allowed until it is out.
TEST(NodeCollision, Inelastic_BearsTheStaticForceAndComesOutSlowly) {
  FallingNode node;
  node.rules.contact = Contact::kInelastic;
  node.x = Vec3(0.4, 0.5, -0.2);
  node.plane.offset = node.plane.normal.dot(node.x) - 1e-4;
  node.v = Vec3(0.05, -0.2, -0.2);
  node.step();
  const double depth = node.gap();
  ASSERT_LT(depth, 0.0);
  for (int i = 0; i < 100; ++i) node.step();
  EXPECT_NEAR(node.gap(), depth, 1e-14);
  EXPECT_NEAR(node.last.after.dot(node.plane.normal), -node.pull.dot(node.plane.normal), 1e-15);
  node.rules.push_out_speed = 0.01;
  double previous = node.gap();
  for (int i = 0; i < 100; ++i) {
    node.step();
    EXPECT_GE(node.gap(), previous - 1e-15);
    EXPECT_LE(node.gap() - previous, 0.01 * node.dt * (1.0 + 1e-9));
    previous = node.gap();
  }
  EXPECT_GT(previous, -1e-8);  // 0.9 a step
}

// A node that would come in is slowed down to arrive: it never does come in, whatever its speed.
TEST(NodeCollision, Inelastic_ArrivesWithoutComingIn) {
  for (const double speed : {0.01, 0.3, 1.7}) {
    FallingNode node;
    node.rules.contact = Contact::kInelastic;
    node.skin = 0.002;
    node.x = Vec3(0.4, 0.5, -0.2);
    node.plane.offset = node.plane.normal.dot(node.x) - 0.005;
    node.plane.velocity.linear = Vec3(0.01, 0.02, 0.03);
    node.v = -speed * node.plane.normal;
    double lowest = 1.0;
    for (int i = 0; i < 1000; ++i) {
      node.step();
      lowest = std::min(lowest, node.gap());
    }
    // A thousand sums of coordinates below 1 m.
    EXPECT_GT(lowest, -1e-13);
    EXPECT_LT(node.gap(), 1e-13);
  }
}

// Below the cone the node comes to rest on the proxy, at it it slides with μ times the normal force against the slip.
TEST(NodeCollision, FrictionSticksBelowTheConeAndSlidesOnIt) {
  for (const Contact contact : {Contact::kInelastic, Contact::kPaper}) {
    for (const double slope : {0.2, 0.5}) {
      FallingNode node;
      node.rules.contact = contact;
      node.plane = make_plane_at(Vec3::UnitY(), 0.0);
      node.damping = 0.0;
      node.x = Vec3(0.0, -1e-6, 0.0);
      node.v = Vec3::Zero();
      node.pull = Vec3(slope * 0.05, -0.05, 0.0);
      node.a = contact == Contact::kPaper ? Vec3(Vec3::Zero()) : Vec3(node.pull / node.mass);
      double normal = 0.0, tangential = 0.0;
      for (int i = 0; i < 400; ++i) {
        node.step();
        normal += node.last.before.y() + node.last.after.y();
        tangential -= node.last.before.x() + node.last.after.x();
      }
      if (slope < 0.3) {
        EXPECT_NEAR(tangential / normal, slope, 0.01) << slope;
        EXPECT_LT(node.v.x(), 1e-6);
      } else {
        EXPECT_NEAR(tangential / normal, 0.3, 1e-9);
        // (slope − μ) g; the node was let go of before it touched, by less than a step.
        EXPECT_NEAR(node.v.x() / (400.0 * node.dt), (slope - 0.3) * 50.0, 0.01 * 10.0);
      }
    }
  }
}

TEST(NodeCollision, InsideOfATorusIsItsTubeAndNotItsHole) {
  Finger finger;
  finger.surface = make_torus(0.05, 0.01, 48, 24);
  Proxy ring = make_finger_proxy(finger, 0, 0.0);
  ring.move_to({Vec3(1, 2, 3), Quat(Eigen::AngleAxisd(0.7, Vec3(1, 1, 0).normalized()))});
  Touch touch;
  Clearance memory;  // of one node that goes from place to place: what it remembers must not change an answer
  const auto is_inside = [&](const Vec3& p) {
    return find_touch(ring, ring.pose.position + ring.pose.rotation * p, 0.001, touch, memory) && touch.gap <= 0.0;
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(is_inside(Vec3::Zero()));
    EXPECT_FALSE(is_inside(Vec3(0.0, 0.001, 0.0)));
    EXPECT_FALSE(is_inside(Vec3(0.039, 0.0, 0.0)));
    ASSERT_TRUE(is_inside(Vec3(0.043, 0.0, 0.0)));
    EXPECT_NEAR(touch.gap, -0.003, 2e-4);  // of an inscribed mesh
    // Facets turn by 15° from one to the next, so a normal is at most 7.5° off.
    EXPECT_LT((touch.normal - ring.pose.rotation * Vec3(-1.0, 0.0, 0.0)).norm(), 0.131);
    EXPECT_FALSE(is_inside(Vec3(0.0, 0.0, 0.07)));
  }
}

}  // namespace
}  // namespace palpate::node_collision_test
