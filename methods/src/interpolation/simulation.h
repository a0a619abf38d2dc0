#pragma once

#include <vector>

#include "interpolation/node_collision.h"
#include "palpate/bodies/explicit_tets.h"
#include "palpate/methods/interpolation_settings.h"
#include "palpate/methods/method.h"

namespace palpate::interpolation {

/// What the fingers felt in a slow step.
struct Felt {
  std::array<Vec3, kMaxFingers> force, torque;  ///< by InterpolationSettings::Force [N], about the origin [N·m]
  std::int32_t contacts = 0, steps = 0;
  double penetration = 0.0;  ///< deepest at the end [m]
  bool finite = true;
  bool behind = false;  ///< max_steps were not enough
};

/// The soft bodies of a world, integrated explicitly among fingers and surfaces. Thread: slow loop.
class Simulation {
 public:
  Simulation(const MethodContext& context, std::vector<Finger> fingers);

  /// Integrates over `seconds` while the fingers go from where they are to where the hand `target` has them, each by
  /// one screw motion. The bodies' own state (Body) is neither read nor written.
  Felt advance(const DeviceState& target, double seconds);

  /// State, loads and boundary conditions from the world's bodies, where they are not as write_bodies() left them.
  void read_bodies();
  void write_bodies() const;
  /// Back to what the world's bodies are, at rest: after a step that went wrong.
  void stop_bodies();

  std::span<const Proxy> fingers() const noexcept { return {proxies_.data(), finger_shapes_.size()}; }

  /// One finger goes further than the hand takes it, by this [m]; −1: none. For test steps.
  void displace(int finger, const Vec3& by) noexcept {
    displaced_ = finger;
    displacement_ = by;
  }
  /// A contact's force on a node from the beginning of the next step [N].
  struct Held {
    int node, proxy;
    Vec3 force;
  };
  /// What advance() changes; restoring it repeats the same bits.
  struct State {
    std::vector<ExplicitTets::State> tets;
    std::vector<std::vector<Held>> held;
    std::vector<Proxy> proxies;
  };
  void save(State& out) const;
  void restore(const State& state);

 private:
  struct Soft {
    NonlinearTets* body;
    ExplicitTets tets;
    std::vector<int> nodes;  ///< of the surface
    double friction;
    double lightest;  ///< of those nodes [kg]
    std::vector<Held> held;
    std::vector<Clearance> clearances;  ///< of each of those nodes, to each proxy
  };
  struct Motion {
    Pose from;
    Twist velocity;
  };
  double compute_step_limit() const noexcept;
  void aim_fingers(const DeviceState& target, double seconds) noexcept;
  void move_fingers(double time) noexcept;
  void collide_body(Soft& soft, double dt, Felt& felt) noexcept;
  void add_impulse(int proxy, const Vec3& at, const Vec3& impulse, Felt& felt) const noexcept;
  void add_end_forces(Felt& felt) const noexcept;

  const InterpolationSettings settings_;
  std::vector<Finger> finger_shapes_;
  std::vector<Proxy> proxies_;  ///< fingers first
  std::vector<Motion> motions_;
  std::vector<Soft> softs_;
  int displaced_ = -1;
  Vec3 displacement_ = Vec3::Zero();
};

/// Why not with this world and tool; empty if so.
std::string refuse_simulation(const World& world, const ToolSettings& tool);

}  // namespace palpate::interpolation
