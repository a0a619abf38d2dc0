#include "knott_grounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "palpate/geometry/shapes.h"

namespace palpate {
namespace {

TriangleMesh make_random_shape(int number, Random& random) {
  const double size = random.uniform(0.03, 0.06);
  switch (number % 10) {
    case 0:
      return make_noisy_sphere(size, static_cast<int>(random.uniform(300, 3000)), 0.15 * size, 100 + number);
    case 1:
      return make_box(Vec3(size, random.uniform(0.2, 2.0) * size, random.uniform(0.2, 2.0) * size), 1 + number % 5);
    case 2:
      return make_torus(size, random.uniform(0.2, 0.6) * size, 40, 24);
    case 3:
      return make_cylinder(0.5 * size, size, 24, 3);
    case 4:
      return make_organ(2.5 * size, 32);
    case 5:
      return make_figure(3.0 * size, 48);
    case 6:
      return make_box(Vec3(2.0 * size, 0.002, 2.0 * size), 4);  // a plate of 2 mm
    case 7:
      return make_capsule(0.3 * size, size, 20);
    case 8:
      return make_noisy_sphere(size, static_cast<int>(random.uniform(4000, 12000)), 0.01 * size, 100 + number);
    default:
      return make_sphere(size, 12);
  }
}

}  // namespace

SceneKeyframePath make_random_walk(const BoundingBox& box, double seconds, Random& random) {
  SceneKeyframePath path;
  const Vec3 half = 0.6 * box.size() + Vec3::Constant(0.01);
  double time = 0.0;
  Vec3 at = box.center() + Vec3(0.0, half.y() + 0.02, 0.0);
  path.keyframes.push_back({.time = time, .position = at});
  while (time < seconds + 1.0) {
    // Near the surface, mostly: short ways; now and then right through.
    const bool far = random.uniform(0.0, 1.0) < 0.2;
    Vec3 next;
    for (int k = 0; k < 3; ++k) {
      const double anywhere = box.center()[k] + random.uniform(-half[k], half[k]);
      next[k] =
          far ? anywhere
              : std::clamp(at[k] + random.uniform(-0.01, 0.01), box.center()[k] - half[k], box.center()[k] + half[k]);
    }
    time += std::max(0.02, (next - at).norm() / random.uniform(0.02, 0.5));
    path.keyframes.push_back({.time = time, .position = next});
    at = next;
  }
  return path;
}

Ground make_static_ground(int number, Random& random) {
  TriangleMesh mesh = make_random_shape(number, random);
  Ground out{fmt::format("{}, {} triangles", number + 1, mesh.triangles.size()), compute_bounding_box(mesh.vertices),
             make_knott_scene(fmt::format("shape {}", number), "", 1.0)};
  const double friction = random.uniform(0.0, 0.6);
  out.extras.add_bodies = [mesh, friction](World& world) { world.add({"shape", TriangleTree(mesh), friction}); };
  return out;
}

Ground make_moving_ground(int number, Random& random) {
  Ground out;
  out.scene = make_knott_scene(fmt::format("moving {}", number), "", 1.0);
  SceneBody body{.name = "body", .friction = random.uniform(0.0, 0.6)};
  SceneJoint joint{.a = "body"};
  const auto soften = [&](const SceneShape& shape, double young, double held) {
    SceneSoft soft{.shape = shape, .cell = 0.01};
    soft.material.young_modulus = young;
    soft.fixed = {{Vec3::Constant(-1.0), Vec3(1.0, held, 1.0)}};
    body.kind = soft;
    joint.a.clear();
  };
  SceneShape shape;
  switch (number) {
    case 0:
      out.name = "box on a hinge";
      shape.kind = BoxShape{.size = Vec3(0.06, 0.04, 0.04)};
      joint.kind = HingeJoint{{.damping = 1e-4}};
      joint.axis = Vec3::UnitZ();
      break;
    case 1:
      out.name = "soft block, 20 kPa";
      shape.kind = BoxShape{.size = Vec3(0.06, 0.04, 0.06)};
      soften(shape, 2e4, -0.015);
      break;
    case 2:
      out.name = "capsule on a ball joint";
      shape.kind = CapsuleShape{.radius = 0.015, .length = 0.06};
      joint.kind = BallJoint{};
      joint.position = Vec3(0.0, 0.03, 0.0);
      out.scene.world.gravity = Vec3(0.0, -9.81, 0.0);
      break;
    case 3:
      out.name = "torus on a slider with a spring";
      shape.kind = TorusShape{.major_radius = 0.04, .minor_radius = 0.015, .around = 40, .around_tube = 24};
      joint.kind = SliderJoint{{.stiffness = 200.0, .damping = 1.0}};
      break;
    case 4:
      out.name = "box whose centre stays in a box";
      shape.kind = BoxShape{.size = Vec3(0.05, 0.03, 0.04)};
      joint.kind = BoxJoint{Vec3::Constant(-0.02), Vec3::Constant(0.02)};
      break;
    case 5:
      out.name = "soft ball, 20 kPa";
      shape.kind = SphereShape{.radius = 0.03};
      soften(shape, 2e4, -0.02);
      break;
    default:
      out.name = "soft organ, 5 kPa";
      shape.kind = OrganShape{.size = 0.12};
      soften(shape, 5e3, -0.02);
      break;
  }
  if (!joint.a.empty()) {
    body.kind = SceneRigid{.shape = shape, .damping = 1.0};
    out.scene.joints = {joint};
  }
  out.scene.bodies = {body};
  out.box = compute_bounding_box(make_surface(shape, "").vertices);
  return out;
}

}  // namespace palpate
