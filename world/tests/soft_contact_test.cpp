#include <numbers>

#include "bricks.h"
#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/corotational_hexes.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/particle.h"
#include "palpate/geometry/tet_mesher.h"

// Soft bodies that touch.
namespace palpate::soft_contact_test {
namespace {

using namespace testing;

ContactShape surface_shape(double friction) {
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  shape.friction = friction;
  return shape;
}

int add_soft_block(World& world, const Vec3& size, const std::array<int, 3>& cells, const Material& material,
                   const Vec3& at, bool fix_bottom, double friction) {
  TetMesh mesh = make_tet_block(size, cells);
  for (Vec3& v : mesh.vertices) v += at;
  auto body = std::make_unique<CorotationalTets>(mesh, std::span(&material, 1));
  for (int n = 0; fix_bottom && n < body->node_count(); ++n) {
    if (body->rest_positions()[n].y() < at.y() - 0.499 * size.y()) body->prescribe(n, Vec3::Zero());
  }
  return world.add({"soft", std::move(body), surface_shape(friction)});
}

double lowest(const World& world, int body) {
  double y = 1e9;
  for (const Vec3& p : world.bodies()[as_size(body)].body->surface().positions) y = std::min(y, p.y());
  return y;
}

// A soft cylinder dropped on a plane comes to rest on it, never below it, and the plane carries its weight.
TEST(SoftCylinder, DroppedOnAPlaneRestsOnIt) {
  World world;
  add_plane(world, 0.5);
  TetMesh mesh = make_tets(TriangleTree(make_cylinder(0.04, 0.08, 32, 8)), 0.016);
  double mass = 1000.0 * compute_volume(mesh);
  const Quat lying = rotation_from_vector(Vec3(0.5 * std::numbers::pi, 0.0, 0.0));
  for (Vec3& v : mesh.vertices) v = lying * v + Vec3(0.0, 0.1, 0.0);
  const Material material{.young_modulus = 2e4, .poisson_ratio = 0.4, .density = 1000.0, .stiffness_damping = 0.01};
  const int cylinder =
      world.add({"cylinder", std::make_unique<CorotationalTets>(mesh, std::span(&material, 1)), surface_shape(0.5)});
  world.prepare();
  double below = 0.0;
  for (int i = 0; i < 400; ++i) {
    StepReport report;
    ASSERT_TRUE(world.step(0.01, report));
    below = std::min(below, lowest(world, cylinder));
  }
  EXPECT_GT(below, -1e-8);  // the solver's tolerance and its sum over nodes
  EXPECT_LT(world.compute_energy().kinetic, 1e-7);
  EXPECT_NEAR(world.compute_contact_force(cylinder).y(), mass * kGravity, 1e-3 * mass * kGravity);
}

/// Load per length of a cylinder pressed between two planes by `squeeze` in all: Johnson 1985, eq. 5.57, solved for P.
double hertz_load(double E, double R, double squeeze) {
  double P = E * squeeze;
  for (int i = 0; i < 200; ++i) {
    const double a = std::sqrt(4.0 * P * R / (std::numbers::pi * E));
    P = squeeze * std::numbers::pi * E / (4.0 * (std::log(4.0 * R / a) - 0.5));
  }
  return P;
}

// A slice of a cylinder without Poisson effect (so plane strain is plane stress) between two frictionless planes.
// Indentation is small (1 % of the radius); a finite mesh is too stiff by a part that goes with its cell.
TEST(SoftCylinder, PressedBetweenPlanesFollowsHertz) {
  const double R = 0.05, squeeze = 0.04 * R, E = 1e4;
  std::vector<double> error;
  for (const double cell : {0.015, 0.01, 0.005}) {
    WorldSettings settings;
    settings.gravity = Vec3::Zero();
    settings.solver.max_iterations = 5000;
    World world(settings);
    const double length = 2.0 * cell;
    const Material material{.young_modulus = E, .poisson_ratio = 0.0, .density = 1000.0, .mass_damping = 20.0};
    const TetMesh mesh = make_tets(TriangleTree(make_cylinder(R, length, 96, 2)), cell);
    FemSettings fem;
    fem.max_rows = 600;
    world.add({"cylinder",
               std::make_unique<CorotationalTets>(mesh, std::span(&material, 1), CorotationalTetSettings{.fem = fem}),
               surface_shape(0.0)});
    ContactShape plane;
    plane.kind = ContactShape::Plane{.normal = Vec3::UnitX(), .offset = -(R - 0.5 * squeeze)};
    const int left = world.add({"left", nullptr, plane});
    plane.kind = ContactShape::Plane{.normal = -Vec3::UnitX(), .offset = -(R - 0.5 * squeeze)};
    world.add({"right", nullptr, plane});
    world.prepare();
    run(world, 2.0, 0.02);
    const double P = world.compute_contact_force(left).norm() / length;
    error.push_back(P / hertz_load(E, R, squeeze) - 1.0);
  }
  EXPECT_LT(std::abs(error[2]), 0.03);
  EXPECT_LT(std::abs(error[2]), 0.5 * std::abs(error[0])) << error[0] << " " << error[1] << " " << error[2];
}

// Two soft blocks, one on the other, with meshes that do not match: action equals reaction, and the lower carries the
// upper. On average over a second: which edges of two flat faces cross changes from step to step, and the force with
// it.
TEST(SoftBlocks, OnEachOtherBalance) {
  World world;
  add_plane(world, 0.5);
  const Material material{.young_modulus = 5e4, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 5.0};
  const int lower = add_soft_block(world, Vec3(0.12, 0.06, 0.12), {4, 2, 4}, material, Vec3(0, 0.0301, 0), false, 0.5);
  const int upper =
      add_soft_block(world, Vec3(0.06, 0.06, 0.06), {3, 3, 3}, material, Vec3(0.007, 0.0905, 0.003), false, 0.5);
  world.prepare();
  Course course = run(world, 2.0, 0.01);
  const double m_lower = 1000.0 * 0.12 * 0.06 * 0.12, m_upper = 1000.0 * 0.06 * 0.06 * 0.06;
  double on_upper = 0.0, on_lower = 0.0, largest = 0.0;
  constexpr int kSteps = 100;
  for (int i = 0; i < kSteps; ++i) {
    course = run(world, 0.01, 0.01);
    const double f = world.compute_contact_force(upper).y();
    on_upper += f / kSteps;
    on_lower += world.compute_contact_force(lower).y() / kSteps;
    largest = std::max(largest, std::abs(f - m_upper * kGravity));
    EXPECT_LT(course.deepest, 2e-4);
  }
  EXPECT_NEAR(on_upper, m_upper * kGravity, 5e-3 * m_upper * kGravity);
  EXPECT_NEAR(on_lower, m_lower * kGravity, 5e-3 * m_lower * kGravity);
  EXPECT_LT(largest, 0.1 * m_upper * kGravity);
}

// A thin plate, 1 mm, at 10 m/s against a sheet of 1 mm and against a soft block: with steps of 10 ms it would pass
// either by a hundred times its thickness.
TEST(ThinFastPlate, DoesNotTunnel) {
  for (const bool soft : {false, true}) {
    for (const double turn : {0.0, 0.3, 1.2}) {
      WorldSettings settings;
      settings.gravity = Vec3::Zero();
      settings.contacts.alarm_distance = 0.001;
      World world(settings);
      if (soft) {
        const Material material{.young_modulus = 1e5, .poisson_ratio = 0.3, .density = 1000.0};
        add_soft_block(world, Vec3(0.2, 0.1, 0.2), {4, 2, 4}, material, Vec3(0.0, -0.05, 0.0), true, 0.3);
      } else {
        world.add(StaticSurface{"sheet", TriangleTree(make_box(Vec3(0.4, 0.001, 0.4), 6)), 0.3});
      }
      BrickOptions o;
      o.size = Vec3(0.05, 0.001, 0.05);
      o.pose.position = Vec3(0.003, 0.055, 0.002);
      o.pose.rotation = rotation_from_vector(Vec3(turn, 0.0, 0.4 * turn));
      o.velocity.linear = Vec3(0.5, -10.0, 0.2);
      const int plate = add_brick(world, o);
      world.prepare();
      run(world, 0.3, 0.01);
      EXPECT_GT(position_of(world, plate).y(), soft ? -0.04 : -0.001) << soft << " " << turn;
    }
  }
}

// A fast particle and a fast chain against the same thin sheet.
TEST(ThinSheet, StopsPointsAndChains) {
  WorldSettings settings;
  settings.gravity = Vec3::Zero();
  settings.contacts.alarm_distance = 0.001;
  World world(settings);
  world.add(StaticSurface{"sheet", TriangleTree(make_box(Vec3(0.4, 0.001, 0.4), 6)), 0.3});
  ContactShape point;
  point.kind = ContactShape::Point{0.0005};
  auto particle = std::make_unique<Particle>(0.001, Vec3(0.05, 0.05, 0.05));
  particle->set_velocities(std::vector<Vec3>{Vec3(0.0, -10.0, 0.0)});
  const int ball = world.add({"ball", std::move(particle), point});
  BeamChainSettings chain;
  std::vector<Vec3> points;
  for (int i = 0; i <= 5; ++i) points.emplace_back(-0.1 + 0.02 * i, 0.06, -0.05);
  chain.rest = make_chain_poses(points);
  chain.section = make_round_section(0.0005, 0.3);
  chain.material = {.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1000.0};
  auto body = std::make_unique<BeamChain>(chain);
  std::vector<Vec3> v(12, Vec3::Zero());
  for (std::size_t i = 0; i < 12; i += 2) v[i] = Vec3(0.0, -10.0, 0.0);
  body->set_velocities(v);
  ContactShape shape;
  shape.kind = ContactShape::Chain{};
  const int wire = world.add({"wire", std::move(body), shape});
  world.prepare();
  run(world, 0.2, 0.01);
  EXPECT_GT(world.bodies()[as_size(ball)].body->compute_point({}).y(), 0.0);
  const auto& c = dynamic_cast<const BeamChain&>(*world.bodies()[as_size(wire)].body);
  for (int n = 0; n < c.node_count(); ++n) EXPECT_GT(c.node_pose(n).position.y(), 0.0) << n;
}

}  // namespace
}  // namespace palpate::soft_contact_test
