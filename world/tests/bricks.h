#pragma once

#include <gtest/gtest.h>

#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/world/world.h"

// Worlds of boxes, for tests.
namespace palpate::testing {

inline constexpr double kGravity = 9.81;

inline int add_plane(World& world, double friction, const Vec3& normal = Vec3::UnitY()) {
  ContactShape shape;
  shape.kind = ContactShape::Kind::kPlane;
  shape.normal = normal.normalized();
  shape.friction = friction;
  return world.add({"plane", nullptr, shape});
}

struct BrickOptions {
  Vec3 size = Vec3::Constant(0.1);
  double density = 1000.0;
  double friction = 0.5;
  Pose pose{};
  Twist velocity{};
  bool touches = true;
};

inline int add_brick(World& world, const BrickOptions& o) {
  RigidBodySettings s;
  s.surface = make_box(o.size, 1);
  s.mass = compute_mass_properties(s.surface, o.density);
  s.pose = o.pose;
  s.velocity = o.velocity;
  ContactShape shape;
  shape.kind = o.touches ? ContactShape::Kind::kBox : ContactShape::Kind::kNone;
  shape.size = o.size;
  shape.friction = o.friction;
  return world.add({"brick", std::make_unique<RigidBody>(s), shape});
}

inline const RigidBody& rigid(const World& world, int body) {
  return dynamic_cast<const RigidBody&>(*world.bodies()[static_cast<std::size_t>(body)].body);
}

inline Vec3 position_of(const World& world, int body) {
  return rigid(world, body).centre_pose().position;
}

/// Steps, and gives the deepest overlap and the worst residual met on the way.
struct Course {
  double deepest = 0.0;
  double residual = 0.0;
  int not_converged = 0;
};

inline Course run(World& world, double seconds, double h) {
  Course course;
  const int steps = static_cast<int>(std::lround(seconds / h));
  for (int i = 0; i < steps; ++i) {
    StepReport report;
    if (!world.step(h, report)) {
      ADD_FAILURE() << "step " << i << " failed";
      return course;
    }
    course.deepest = std::max(course.deepest, report.penetration);
    course.residual = std::max(course.residual, report.residual);
    course.not_converged += !report.converged;
  }
  return course;
}

/// Σ of the contact forces on a body [N], world frame.
inline Vec3 contact_force_on(const World& world, int body) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    const Contact& c = world.contacts()[i];
    const double sign = (c.body_a == body ? 1.0 : 0.0) - (c.body_b == body ? 1.0 : 0.0);
    Vec3 t1, t2;
    make_tangents(c.normal, t1, t2);
    const Vec3& f = world.contact_forces()[i];
    sum += sign * (f.x() * c.normal + f.y() * t1 + f.z() * t2);
  }
  return sum;
}

}  // namespace palpate::testing
