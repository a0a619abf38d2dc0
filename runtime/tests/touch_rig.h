#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/nonlinear_tets.h"
#include "palpate/geometry/shapes.h"
#include "palpate/haptics/scripted.h"
#include "palpate/methods/registry.h"
#include "palpate/runtime/run.h"

/// What every method can touch: a floor at y = 0, a hand that presses into it and slides, and what they give.
namespace palpate::testing {

inline TriangleMesh make_floor(double half) {
  return {{{-half, 0, -half}, {half, 0, -half}, {half, 0, half}, {-half, 0, half}}, {{0, 2, 1}, {0, 3, 2}}};
}

inline World make_floor_world(double friction) {
  World world;
  world.add({"floor", TriangleTree(make_floor(1.0)), friction});
  return world;
}

/// A tool in the hand over a small soft block whose top is the floor of the other tests; of nonlinear tets for a method
/// that moves those alone.
inline World make_block_world(const MethodInfo& method, const ToolSettings& tool, const Pose& start) {
  World world;
  const bool nonlinear = method.name == "interpolation";
  Material material{.young_modulus = 2e4, .poisson_ratio = 0.3, .density = 1000.0, .stiffness_damping = 0.01};
  if (nonlinear) material.stiffness_damping = 0.0;
  TetMesh mesh = make_tet_block(Vec3(0.16, 0.04, 0.08), {8, 2, 4});
  for (Vec3& p : mesh.vertices) p.y() -= 0.02;
  std::unique_ptr<FemBody> body;
  if (nonlinear)
    body = std::make_unique<NonlinearTets>(mesh, std::span(&material, 1));
  else
    body = std::make_unique<CorotationalTets>(mesh, std::span(&material, 1));
  for (int n = 0; n < body->node_count(); ++n) {
    if (mesh.vertices[as_size(n)].y() < -0.0399) body->prescribe(n, Vec3::Zero());
  }
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  shape.friction = 0.3;
  world.add({"block", std::move(body), shape});
  add_tool(world, tool, start);
  world.prepare();
  return world;
}

/// A point; a ball for a method that meets nodes and not faces.
inline ToolSettings make_tool_for(const MethodInfo& method) {
  ToolSettings tool;
  if (method.name == "interpolation") tool.kind = HeldPoint{.radius = 0.008};
  return tool;
}

/// The same floor as a plane, with the tool as a body of the world: for methods that ask for that.
inline World make_world_for(const MethodInfo& method, double friction, const DeviceState& start) {
  World world = make_floor_world(friction);
  if (method.refuse({world, ToolSettings{}}).empty()) return world;
  if (method.name == "interpolation") return make_block_world(method, make_tool_for(method), start.pose);
  World moving;
  ContactShape plane;
  plane.kind = ContactShape::Plane{};
  plane.friction = friction;
  moving.add({"floor", nullptr, plane});
  add_tool(moving, {}, start.pose);
  moving.prepare();
  return moving;
}

/// Presses 5 mm into the floor at y = 0 and slides along x.
inline std::unique_ptr<Device> make_pressing_hand(int strokes = 1) {
  PressAndSlidePathSettings s;
  s.start = Vec3(0, 0.01, 0);
  s.depth = 0.015;
  s.approach_time = 0.3;
  s.slide_distance = 0.05;
  s.strokes = strokes;
  return std::make_unique<ScriptedDevice>(make_path(s));
}

/// Says nothing sound before a time.
struct LateDevice : Device {
  LateDevice(std::unique_ptr<Device> device, double from) : inner(std::move(device)), since(from) {}
  std::unique_ptr<Device> inner;
  double since;
  const DeviceInfo& info() const noexcept override { return inner->info(); }
  DeviceState read(double time) noexcept override {
    DeviceState out = inner->read(time);
    if (time < since) out.pose.position.setConstant(std::numeric_limits<double>::quiet_NaN());
    return out;
  }
  void write(const SafeWrench& wrench) noexcept override { inner->write(wrench); }
};

struct Rows : RunSink {
  std::vector<TickRow> ticks;
  std::vector<StepRow> steps;
  void add(const TickRow& row) override { ticks.push_back(row); }
  void add(const StepRow& row) override { steps.push_back(row); }
};

inline RunSettings settings_for(double seconds) {
  RunSettings s;
  s.seconds = seconds;
  return s;
}

/// The force comes in at once: the tests of one law must not see the ramp.
inline HandGuards at_once() {
  HandGuards guards;
  guards.safety.ramp_time = 0.0;
  return guards;
}

}  // namespace palpate::testing
