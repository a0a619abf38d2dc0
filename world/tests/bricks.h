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
  shape.kind = ContactShape::Plane{.normal = normal.normalized()};
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
  if (o.touches) shape.kind = ContactShape::Box{.size = o.size};
  shape.friction = o.friction;
  return world.add({"brick", std::make_unique<RigidBody>(s), shape});
}

inline const RigidBody& rigid(const World& world, int body) {
  return dynamic_cast<const RigidBody&>(*world.bodies()[as_size(body)].body);
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

}  // namespace palpate::testing
