#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/particle.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/bodies/static_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/world/contact_finder.h"

// Bodies to touch each other, and a finder with what it needs.
namespace palpate::testing {

using Surface = ContactShape::Surface;
using Hull = ContactShape::Hull;
using Chain = ContactShape::Chain;

template <typename Kind>
ContactShape shape_of(Kind kind, double friction = 0.5) {
  ContactShape s;
  s.kind = kind;
  s.friction = friction;
  return s;
}

inline ContactShape box_shape(const Vec3& size) {
  return shape_of(ContactShape::Box{.size = size});
}

inline ContactShape sphere_shape(double radius) {
  return shape_of(ContactShape::Sphere{.radius = radius});
}

inline ContactShape point_shape(double radius) {
  return shape_of(ContactShape::Point{radius});
}

inline ContactShape plane_shape(const Vec3& normal, double offset) {
  return shape_of(ContactShape::Plane{normal, offset});
}

inline std::unique_ptr<RigidBody> make_rigid(const Pose& pose, TriangleMesh surface = {}) {
  RigidBodySettings s;
  s.pose = pose;
  s.surface = std::move(surface);
  return std::make_unique<RigidBody>(s);
}

inline std::unique_ptr<CorotationalTets> make_soft_block(const Vec3& size, const std::array<int, 3>& cells,
                                                         const Vec3& offset = Vec3::Zero()) {
  const Material material{.young_modulus = 1e4, .poisson_ratio = 0.3};
  TetMesh mesh = make_tet_block(size, cells);
  for (Vec3& v : mesh.vertices) v += offset;
  return std::make_unique<CorotationalTets>(mesh, std::span(&material, 1));
}

inline std::unique_ptr<BeamChain> make_chain(std::span<const Vec3> points, double radius) {
  BeamChainSettings s;
  s.rest = make_chain_poses(points);
  s.section = make_round_section(radius, 0.3);
  return std::make_unique<BeamChain>(s);
}

inline Pose random_pose(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Pose pose;
  for (int i = 0; i < 3; ++i) pose.position[i] = size * uniform(random);
  for (int i = 0; i < 4; ++i) pose.rotation.coeffs()[i] = uniform(random);
  pose.rotation.normalize();
  return pose;
}

/// Bodies, a finder over them, and the contacts of one find() under the velocities that the bodies have.
class Scene {
 public:
  explicit Scene(const ContactFinderSettings& settings = {}) : finder(settings) {}

  int add(std::unique_ptr<Body> body, const ContactShape& shape) {
    bodies.push_back(std::move(body));
    return finder.add(bodies.back().get(), shape);
  }
  FindReport find(double h = 0.0) {
    report = finder.find(h, {}, contacts);
    return report;
  }
  Body& body(int i) { return *bodies[as_size(i)]; }

  /// What every contact promises.
  void check_contacts(double size) const {
    const double tolerance = 1e-13 * size;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const Contact& c = contacts[i];
      EXPECT_NEAR(c.normal.norm(), 1.0, 1e-13);
      EXPECT_NEAR(c.gap, (c.point_a - c.point_b).dot(c.normal), tolerance);
      EXPECT_LE(c.body_a, c.body_b);
      check_foot(c.body_a, c.foot_a, c.point_a, tolerance);
      check_foot(c.body_b, c.foot_b, c.point_b, tolerance);
      for (std::size_t j = 0; j < i; ++j) EXPECT_NE(contacts[j].id, c.id);
      if (i == 0) continue;
      const Contact& before = contacts[i - 1];
      EXPECT_LT(std::tie(before.body_a, before.body_b, before.id), std::tie(c.body_a, c.body_b, c.id));
    }
    EXPECT_EQ(report.contacts, static_cast<int>(contacts.size()));
  }

  std::vector<std::unique_ptr<Body>> bodies;
  ContactFinder finder;
  std::vector<Contact> contacts;
  FindReport report;

 private:
  void check_foot(int index, const BodyPoint& foot, const Vec3& point, double tolerance) const {
    const Body* body = bodies[as_size(index)].get();
    // A plane has no material points, and a particle's radius turns with nothing: it keeps its centre as foot.
    if (body == nullptr || dynamic_cast<const Particle*>(body) != nullptr) return;
    EXPECT_NEAR((body->compute_point(foot) - point).norm(), 0.0, tolerance);
  }
};

}  // namespace palpate::testing
