#pragma once

#include <optional>

#include "palpate/bodies/corotational_tets.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/registry.h"

// What the tests of methods with a world in the fast loop share.
namespace palpate::live_rig {

inline constexpr double kTick = 0.001;

inline std::unique_ptr<CorotationalTets> make_block(bool held, double young_modulus, int cells,
                                                    const CorotationalTetSettings& settings = {}) {
  const Material material{
      .young_modulus = young_modulus, .poisson_ratio = 0.35, .density = 1000.0, .stiffness_damping = 0.005};
  TetMesh mesh = make_tet_block(Vec3(0.06, 0.04, 0.06), {cells, cells, cells});
  for (Vec3& v : mesh.vertices) v.y() += 0.02;
  auto body = std::make_unique<CorotationalTets>(mesh, std::span(&material, 1), settings);
  for (int i = 0; held && i < body->node_count(); ++i) {
    if (body->positions()[as_size(i)].y() < 1e-9) body->prescribe(i, Vec3::Zero());
  }
  return body;
}

inline ContactShape make_surface(double friction = 0.4) {
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  shape.friction = friction;
  return shape;
}

/// A block of 6 × 4 × 6 cm whose lower side is at y = 0, held there or free.
inline FemBody& add_block(World& world, bool held, double young_modulus, int cells) {
  auto body = make_block(held, young_modulus, cells);
  FemBody& out = *body;
  world.add({"block", std::move(body), make_surface()});
  return out;
}

inline ToolSettings make_rod() {
  ToolSettings tool;
  tool.kind = HeldRigid{.mass = 0.03, .surface = make_cylinder(0.01, 0.03, 12, 2)};
  tool.coupling = {.stiffness = 300.0, .damping = 0.5, .rotational_stiffness = 0.2, .rotational_damping = 1e-3};
  return tool;
}

inline DeviceState hand_at(const Vec3& position, const Vec3& velocity = Vec3::Zero()) {
  DeviceState out;
  out.pose.position = position;
  out.velocity.linear = velocity;
  return out;
}

/// A world, a tool and a method, with models that arrive a slow period after their step began, or at once.
class Rig {
 public:
  explicit Rig(const WorldSettings& of_world = {}) : world(of_world) {}

  void begin(std::string_view method, const ToolSettings& tool, const DeviceState& start, int ticks_a_step,
             bool latency = true) {
    ticks_a_step_ = ticks_a_step;
    latency_ = latency;
    method_.emplace(make_method(method, {world, tool, kTick, kTick * ticks_a_step, start, settings}));
  }

  TickResult tick(DeviceState device) {
    device.time = kTick * static_cast<double>(ticks_);
    if (method_->has_slow_half() && ticks_ % ticks_a_step_ == 0) {
      if (method_->under_way() > 0) method_->deliver();
      method_->begin_step(report, device.time);
      if (!latency_) method_->deliver();
    }
    ++ticks_;
    return method_->tick(device);
  }

  /// The newest model.
  ModelView show() const {
    ModelView view;
    method_->show(view);
    return view;
  }

  World world;
  MethodSettings settings;
  StepReport report;  ///< of the last slow step

 private:
  std::optional<HandDriven> method_;
  int ticks_a_step_ = 1, ticks_ = 0;
  bool latency_ = true;
};

}  // namespace palpate::live_rig
