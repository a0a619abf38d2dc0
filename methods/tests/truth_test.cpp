#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/geometry/tet_mesher.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/registry.h"

// The truth against statics: `reference` with every shape of tool on every kind of ground, pressed, slid, rolled and
// pushing, beside what a sheet of paper says. All errors of this project are errors against it.
namespace palpate::truth_test {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kGravity = 9.81;
constexpr double kFriction = 0.3;
constexpr double kStiffness = 500.0;  ///< of the coupling [N/m]
constexpr double kDepth = 0.004;  ///< of the hand below where the tool first touches [m]: 2 N on what does not yield
constexpr double kStep = 0.001;   ///< [s]
constexpr double kSpeed = 0.02;   ///< of the hand [m/s]

enum class Shape { kBall, kCapsule, kCylinder, kBox, kTorus, kChain, kSoftBall };
enum class Ground { kPlane, kStatic, kSlab, kSoft };

/// A tool, and what statics must know of it. Its handle is the origin, its lowest part on the y axis or around it.
struct Tool {
  ToolSettings settings;
  double below = 0.0;       ///< from the handle down to the lowest point [m]
  double side = 0.0;        ///< from the handle to the farthest point along x, for pushing [m]
  double weight = 0.0;      ///< that the hand bears where nothing else does [N]
  double compliance = 0.0;  ///< of the tool itself under a load from below [m/N]; NaN: no closed form
  double sag = 0.0;         ///< by which its own weight shortens it [m]
};

Tool make_rigid_tool(TriangleMesh surface, bool convex) {
  Tool t;
  for (const Vec3& v : surface.vertices) {
    t.below = std::max(t.below, -v.y());
    t.side = std::max(t.side, v.x());
  }
  t.settings.kind = HeldRigid{.mass = 0.05, .surface = std::move(surface), .convex = convex};
  return t;
}

Tool make_needle() {
  Tool t;
  auto& s = t.settings.kind.emplace<HeldChain>();
  s.radius = 0.002;
  s.length = 0.06;
  s.beams = 6;
  // Stiff enough to stay straight: 0.6 N at its tip bends it by 0.07 mm, Euler's load is above 1 kN.
  s.material = {.young_modulus = 5e10, .poisson_ratio = 0.3, .density = 1500.0, .stiffness_damping = 1e-4};
  const double area = kPi * s.radius * s.radius;
  t.below = t.side = s.length + s.radius;
  t.weight = s.material.density * area * s.length * kGravity;
  t.compliance = s.length / (s.material.young_modulus * area);
  t.sag = 0.5 * t.weight * t.compliance;  // at height x above the tip, of what hangs above, the weight below is borne
  return t;
}

Tool make_soft_ball() {
  Tool t;
  auto& s = t.settings.kind.emplace<HeldSoft>();
  s.material = {.young_modulus = 2e5, .poisson_ratio = 0.4, .density = 1000.0, .stiffness_damping = 0.005};
  s.volume = make_tets(TriangleTree(make_sphere(0.015, 6)), 0.006);
  s.hold_radius = 0.014;  // most of it, or it rolls under the hand instead of sliding
  for (const Vec3& v : s.volume.vertices) {
    t.below = std::max(t.below, -v.y());
    t.side = std::max(t.side, v.x());
  }
  t.weight = s.material.density * compute_volume(s.volume) * kGravity;
  t.compliance = std::numeric_limits<double>::quiet_NaN();
  return t;
}

Tool make_shape(Shape shape) {
  switch (shape) {
    case Shape::kBall:
      return make_rigid_tool(make_sphere(0.015, 8), true);
    case Shape::kCapsule:
      return make_rigid_tool(make_capsule(0.006, 0.05, 32), true);
    case Shape::kCylinder:
      return make_rigid_tool(make_cylinder(0.012, 0.04, 32, 1), true);
    case Shape::kBox:
      return make_rigid_tool(make_box(Vec3(0.02, 0.03, 0.02), 1), true);
    case Shape::kTorus:
      return make_rigid_tool(make_torus(0.015, 0.006, 24, 16), false);
    case Shape::kChain:
      return make_needle();
    case Shape::kSoftBall:
      break;
  }
  return make_soft_ball();
}

/// The ground's top is at y = 0.
void add_ground(World& world, Ground ground) {
  ContactShape shape;
  shape.friction = kFriction;
  shape.kind = ContactShape::Plane{};
  if (ground == Ground::kPlane) world.add({"plane", nullptr, shape});
  if (ground == Ground::kStatic) {
    TriangleMesh box = make_box(Vec3(0.2, 0.04, 0.2), 9);
    for (Vec3& v : box.vertices) v.y() -= 0.02;
    world.add(StaticSurface{"box", TriangleTree(box), kFriction});
  }
  if (ground == Ground::kSlab) {
    shape.kind = ContactShape::Plane{.offset = -0.02};
    world.add({"floor", nullptr, shape});
    RigidBodySettings s;
    s.surface = make_box(Vec3(0.2, 0.02, 0.2), 1);
    s.mass = compute_mass_properties(s.surface, 2000.0);
    s.pose.position.y() = -0.01;
    shape.kind = ContactShape::Box{.size = Vec3(0.2, 0.02, 0.2)};
    world.add({"slab", std::make_unique<RigidBody>(s), shape});
  }
  if (ground == Ground::kSoft) {
    // So stiff that 2 N leave a trace of a tenth of a millimetre: its mesh must not be felt.
    const Material material{.young_modulus = 2e6, .poisson_ratio = 0.3, .density = 1000.0, .stiffness_damping = 0.002};
    TetMesh mesh = make_tet_block(Vec3(0.12, 0.03, 0.12), {8, 2, 8});
    for (Vec3& v : mesh.vertices) v.y() -= 0.015;
    auto body = std::make_unique<CorotationalTets>(mesh, std::span(&material, 1));
    for (int n = 0; n < body->node_count(); ++n) {
      if (body->rest_positions()[as_size(n)].y() < -0.0299) body->prescribe(n, Vec3::Zero());
    }
    shape.kind = ContactShape::Surface{};
    world.add({"soft", std::move(body), shape});
  }
}

/// Mean and largest deviation from it.
struct Range {
  Vec3 mean = Vec3::Zero();
  Vec3 ripple = Vec3::Zero();
};

/// A tool in a hand that goes where it is told, everything at 1 kHz.
class Truth {
 public:
  Truth(World world, Tool tool, const Pose& start) : world_(std::move(world)), tool_(std::move(tool)) {
    ToolSettings& s = tool_.settings;
    if (s.coupling.stiffness != kStiffness) {
      s.coupling = {.stiffness = kStiffness, .damping = 5.0, .rotational_stiffness = 5.0, .rotational_damping = 0.02};
    }
    device_.pose = start;
    add_tool(world_, s, start);
    world_.prepare();
    method_.emplace(make_method("reference", {world_, s, kStep, kStep, device_}));
  }

  /// Moves the hand by `way` in `seconds`; what it feels in the last `part` of that time.
  Range move(const Vec3& way, double seconds, double part) {
    const int ticks = static_cast<int>(std::lround(seconds / kStep));
    const int first = static_cast<int>(std::lround((1.0 - part) * ticks));
    std::vector<Vec3> felt;
    device_.velocity.linear = way / seconds;
    for (int i = 0; i < ticks; ++i) {
      device_.pose.position += way / ticks;
      const TickResult result = method_->tick(device_);
      if (i >= first) felt.push_back(result.wrench.force);
    }
    Range out;
    for (const Vec3& f : felt) out.mean += f / static_cast<double>(felt.size());
    for (const Vec3& f : felt) out.ripple = out.ripple.cwiseMax((f - out.mean).cwiseAbs());
    return out;
  }
  Range rest(double seconds) { return move(Vec3::Zero(), seconds, 0.25); }
  const Tool& tool() const { return tool_; }

 private:
  World world_;
  Tool tool_;
  DeviceState device_;
  std::optional<HandDriven> method_;
};

class EveryToolOnEveryGround : public ::testing::TestWithParam<std::tuple<Shape, Ground>> {};

// Press: the coupling's spring, the tool and the ground are springs in series; what does not yield leaves k·d.
// Slide: Coulomb's force and nothing else, as smooth as the motion, whatever the meshes on both sides.
TEST_P(EveryToolOnEveryGround, PressAndSlideAsStaticsSay) {
  const auto [shape, ground] = GetParam();
  World world;
  add_ground(world, ground);
  const Tool tool = make_shape(shape);
  Pose start;
  start.position = Vec3(0.0013, tool.below + 0.0005, 0.0021);
  Truth truth(std::move(world), tool, start);
  truth.move(Vec3(0.0, -0.0005 - kDepth, 0.0), 0.25, 1.0);
  const Range pressed = truth.rest(0.4);
  const double load = pressed.mean.y() + tool.weight;
  const bool closed = ground != Ground::kSoft && !std::isnan(tool.compliance);
  if (closed) {
    // F = k (d − s), s = F c + sag: shortened by the load at the tip less half the weight, in which sag is counted.
    const double expected =
        kStiffness * (kDepth - tool.compliance * tool.weight + tool.sag) / (1.0 + kStiffness * tool.compliance);
    EXPECT_NEAR(pressed.mean.y(), expected, 0.01 * expected);
  } else {
    EXPECT_GT(load, 0.8);
    EXPECT_LT(load, kStiffness * kDepth + tool.weight);
  }
  EXPECT_LT(pressed.ripple.norm(), 1e-4 * load);
  EXPECT_LT(std::hypot(pressed.mean.x(), pressed.mean.z()), 0.05 * load);  // friction may hold a little

  const Range slid = truth.move(Vec3(0.016, 0.0, 0.0), 0.016 / kSpeed, 0.5);
  const double normal = slid.mean.y() + tool.weight;
  EXPECT_NEAR(-slid.mean.x(), kFriction * normal, 0.01 * kFriction * normal);
  EXPECT_NEAR(slid.mean.z(), 0.0, 0.01 * normal);
  EXPECT_LT(slid.ripple.x(), 0.01 * normal);
  EXPECT_LT(slid.ripple.y(), 0.01 * normal);
  EXPECT_LT(slid.ripple.z(), 0.01 * normal);
}

std::string name_of(Shape shape) {
  constexpr const char* kNames[] = {"Ball", "Capsule", "Cylinder", "Box", "Torus", "Chain", "SoftBall"};
  return kNames[static_cast<int>(shape)];
}

std::string case_name(const ::testing::TestParamInfo<EveryToolOnEveryGround::ParamType>& info) {
  constexpr const char* kGrounds[] = {"OnPlane", "OnStaticMesh", "OnSlab", "OnSoftBlock"};
  return name_of(std::get<0>(info.param)) + kGrounds[static_cast<int>(std::get<1>(info.param))];
}

const auto kShapes = ::testing::Values(Shape::kBall, Shape::kCapsule, Shape::kCylinder, Shape::kBox, Shape::kTorus,
                                       Shape::kChain, Shape::kSoftBall);

INSTANTIATE_TEST_SUITE_P(All, EveryToolOnEveryGround,
                         ::testing::Combine(kShapes, ::testing::Values(Ground::kPlane, Ground::kStatic, Ground::kSlab,
                                                                       Ground::kSoft)),
                         case_name);

class EveryTool : public ::testing::TestWithParam<Shape> {};

// A brick pushed over a table at constant speed costs μ m g, and a tool without friction feels nothing else.
TEST_P(EveryTool, PushesABrickAgainstItsFriction) {
  World world;
  ContactShape plane;
  plane.kind = ContactShape::Plane{};
  plane.friction = 0.4;
  world.add({"table", nullptr, plane});
  const Vec3 size(0.04, 0.04, 0.06);
  RigidBodySettings s;
  s.surface = make_box(size, 1);
  s.mass = compute_mass_properties(s.surface, 700.0);
  s.pose.position = Vec3(0.0, 0.02, 0.0);
  ContactShape box;
  box.kind = ContactShape::Box{.size = size};
  box.friction = 0.4;
  world.add({"brick", std::make_unique<RigidBody>(s), box});
  Tool tool = make_shape(GetParam());
  tool.settings.friction = 0.0;
  Pose start;
  // The hand holds it in the middle of the brick's side; long ones lie across the way, the needle points along it.
  if (GetParam() == Shape::kCapsule || GetParam() == Shape::kCylinder || GetParam() == Shape::kBox)
    start.rotation = rotation_from_vector(Vec3(0.5 * kPi, 0.0, 0.0));
  if (GetParam() == Shape::kChain) start.rotation = rotation_from_vector(Vec3(0.0, 0.0, 0.5 * kPi));
  start.position = Vec3(-0.02 - tool.side - 0.0005, 0.018, 0.0);
  Truth truth(std::move(world), tool, start);
  truth.move(Vec3(0.01, 0.0, 0.0), 0.5, 1.0);
  const Range pushed = truth.move(Vec3(0.02, 0.0, 0.0), 1.0, 0.9);
  const double expected = 0.4 * s.mass.mass * kGravity;
  EXPECT_NEAR(-pushed.mean.x(), expected, 0.01 * expected);
  EXPECT_NEAR(pushed.mean.y(), -tool.weight, 0.01 * expected);
  EXPECT_LT(pushed.ripple.norm(), 0.01 * expected);
}

INSTANTIATE_TEST_SUITE_P(All, EveryTool, kShapes, [](const auto& one) { return name_of(one.param); });

// A wheel of n sides that is drawn by its hub under a load N rolls over its corners: the hub is highest over a corner,
// the force is at most N tan(π/n) there, forth and back, and nothing on average.
TEST(Roll, OfAPrismCostsNothingOnAverageAndItsCornersAtMost) {
  constexpr int kSides = 48;
  for (const Ground ground : {Ground::kPlane, Ground::kStatic, Ground::kSlab}) {
    World world;
    add_ground(world, ground);
    Tool tool = make_rigid_tool(make_cylinder(0.015, 0.03, kSides, 1), true);
    for (Vec3& v : tool.settings.as<HeldRigid>()->surface.vertices) v = Vec3(v.x(), -v.z(), v.y());  // lies along z
    const double radius = 0.015 * std::cos(kPi / kSides);  // of the flat sides
    tool.settings.coupling = {
        .stiffness = kStiffness, .damping = 2.0, .rotational_stiffness = 0.0, .rotational_damping = 0.0};
    Pose start;
    start.position = Vec3(0.0, 0.015 + 0.0005, 0.0);
    Truth truth(std::move(world), tool, start);
    truth.move(Vec3(0.0, -0.0005 - kDepth, 0.0), 0.25, 1.0);
    truth.rest(0.3);
    const double side = 2.0 * radius * std::tan(kPi / kSides);
    constexpr double kSlow = 0.004;  // [m/s]; the coupling's damper and the tool's mass must not be felt
    truth.move(Vec3(2.0 * side, 0.0, 0.0), 2.0 * side / kSlow, 1.0);
    const Range rolled = truth.move(Vec3(4.0 * side, 0.0, 0.0), 4.0 * side / kSlow, 1.0);
    const double load = kStiffness * kDepth;
    EXPECT_NEAR(rolled.mean.x(), 0.0, 0.01 * load) << static_cast<int>(ground);
    EXPECT_NEAR(rolled.mean.y(), load, 0.01 * load) << static_cast<int>(ground);
    EXPECT_LT(rolled.ripple.x(), load * std::tan(kPi / kSides) + 0.01 * load) << static_cast<int>(ground);
  }
}

}  // namespace
}  // namespace palpate::truth_test
