#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "palpate/core/math.h"
#include "palpate/haptics/safety.h"

namespace palpate {

/// What a device says at one instant. World frame, SI: x to the right, y up, z towards the user, metres, radians.
/// Drivers turn their own frame and units into these.
struct DeviceState {
  double time = 0.0;          ///< of this sample, since the start of the run [s]
  Pose pose;                  ///< of the handle
  Twist velocity;             ///< of the handle; estimated by VelocityEstimator where the device gives none
  std::uint32_t buttons = 0;  ///< bit i: button i is down
  double grip = 0.0;          ///< how far a hand with fingers is closed: 0 open, 1 closed; 0 of a device without
  double grip_rate = 0.0;     ///< its rate [1/s]
  /// False while the device is lost (cable, service, brake): then nothing else here counts, and no force reaches a
  /// hand.
  bool present = true;
};

/// What a device is and can do; fixed after it is opened.
struct DeviceInfo {
  std::string name;
  int input_dof = 3;   ///< 3: position, 6: position and orientation
  int output_dof = 3;  ///< 3: force, 6: force and torque
  Vec3 workspace_min = Vec3::Constant(-std::numeric_limits<double>::infinity());  ///< reachable box [m]
  Vec3 workspace_max = Vec3::Constant(std::numeric_limits<double>::infinity());
  double max_force = std::numeric_limits<double>::infinity();      ///< largest force it can give [N]
  double max_torque = std::numeric_limits<double>::infinity();     ///< [N·m]
  double max_stiffness = std::numeric_limits<double>::infinity();  ///< the maker's figure [N/m]
  double damping = 0.0;  ///< physical damping felt at the handle [N·s/m]; what sampled-data passivity needs
};

/// Something a person (or a model of one) holds. Opened by its constructor, which may throw.
///
/// Thread: after construction all calls come from the fast loop, read() then write() once a tick. Neither may
/// allocate, lock, throw or block.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const noexcept = 0;

  /// The state at time `time` [s] since the start of the run; times never decrease.
  virtual DeviceState read(double time) noexcept = 0;

  /// Puts a wrench into the hand, held until the next call. Only the safety stage can make a SafeWrench.
  virtual void write(const SafeWrench& wrench) noexcept = 0;
};

}  // namespace palpate
