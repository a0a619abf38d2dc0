#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "palpate/core/latest_value.h"
#include "palpate/haptics/device.h"

namespace palpate {

class Fields;

/// How the space of a device lies in a scene, and what of the scene's forces reaches the hand.
///
/// With R the rotation, s the scale, o the offset and φ the force scale:
///   x_scene = o + s R x_device          f_device = φ Rᵀ f_scene
/// A spring of stiffness k in the scene is felt as φ s k. Unless φ is given it is 1/s, so that k is felt as k.
struct DeviceMappingSettings {
  Vec3 offset = Vec3::Zero();         ///< where the device's origin is in the scene [m]
  double scale = 1.0;                 ///< metres in the scene for one metre of the hand
  Vec3 rotation = Vec3::Zero();       ///< the device's frame in the scene, as a rotation vector [rad]
  std::optional<double> force_scale;  ///< newtons at the hand for one newton in the scene; none: 1/scale
  /// While this button is down the hand moves and the tool stays, as one lifts a mouse; −1: none.
  int clutch_button = -1;
  /// How much of the hand's motion the scene goes along with at the rim of the workspace, 0 to 0.5 (Conti & Khatib
  /// 2005): the hand then comes back to the middle without noticing. Only while nothing is touched.
  double drift = 0.0;
  /// While this button is down the hand closes, for devices that have no grip; −1: none.
  int grip_button = -1;
  /// Weight of the handle that the device does not carry itself [kg].
  double handle_mass = 0.0;
  /// After a loss (and at the start) the force comes back when the scene has asked for less than this [N] …
  double free_force = 0.1;
  /// … for so long [s]: the hand is then where nothing is touched. Longer than the safety stage's ramp, within which
  /// a touch shows itself.
  double free_time = 0.6;
  /// From nothing to the whole force then, and after the clutch [s].
  double return_ramp = 0.3;
  bool operator==(const DeviceMappingSettings&) const = default;
};

void describe(Fields& fields, DeviceMappingSettings& settings);
/// Throws InputError naming the field, its value and the allowed range.
void validate(const DeviceMappingSettings& settings);

/// φ: as given, or 1/scale.
double force_scale(const DeviceMappingSettings& settings) noexcept;

/// What `device` is when seen through the mapping: workspace, force, stiffness and damping in the scene's measure.
DeviceInfo map_info(const DeviceInfo& device, const DeviceMappingSettings& settings);

/// One sentence when a spring of `stiffness` [N/m] in the scene, as it is felt through the mapping, is stiffer than the
/// device's maker allows, with the force scale that would do; nothing when all is well.
std::optional<std::string> find_mapping_warning(const DeviceMappingSettings& settings, const DeviceInfo& device,
                                                double stiffness);

/// A force that holds the handle's own weight [N], in the device's world frame (y up). `state` is the device's own.
/// Runs in the fast loop: wait-free.
using WeightHook = Vec3 (*)(const void* context, const DeviceState& state) noexcept;

/// What a mapped device is about.
enum class DevicePhase : int {
  kLost,     ///< the device is not present; zero is written
  kStopped,  ///< somebody has stopped it; zero is written
  kWaiting,  ///< it is there, but the scene may push at once. Only its weight is held, until the scene has asked for
             ///< next to nothing for a while: the hand is where nothing is touched
  kReady,    ///< the force is in, or comes in by a ramp
};
/// One plain word.
std::string_view name_of(DevicePhase phase) noexcept;

/// What a device did in its last tick, in its own measure and in the world's axes.
struct DeviceReading {
  double position[3];  ///< of the handle [m]
  double asked[3];     ///< the scene's force as it would be felt, without limits [N]
  double sent[3];      ///< the force that the motors were told to give [N]
  double grip;         ///< 0 open, 1 closed
  double share;        ///< of the scene's force that is let through, 0 to 1
  std::uint32_t buttons;
  DevicePhase phase;
  bool clutched;
};

/// What people see of a device while it runs, and can do to it. It outlives the devices that are attached to it, one
/// after the other. Threads: stop(), resume() and reasons() any; the reading is written by the fast loop and read by
/// one other thread.
class DeviceDesk {
 public:
  /// Why a device is stopped; one does not undo another.
  enum Reason : unsigned {
    kByHand = 1,   ///< a person wished it
    kByPause = 2,  ///< the world stands still or is slow, and a force from it would be no force of a thing
  };
  /// No force from the next tick on, at once and without a ramp.
  void stop(Reason why) noexcept { reasons_.fetch_or(why, std::memory_order_relaxed); }
  /// The force comes back as after a loss: when the hand is where nothing is touched, by a ramp.
  void resume(Reason why) noexcept { reasons_.fetch_and(~static_cast<unsigned>(why), std::memory_order_relaxed); }
  unsigned reasons() const noexcept { return reasons_.load(std::memory_order_relaxed); }

  void write(const DeviceReading& reading) noexcept { reading_.write(reading); }
  /// True if there is a newer one than at the last call.
  bool read(DeviceReading& reading) noexcept { return reading_.read(reading); }

 private:
  std::atomic<unsigned> reasons_{0};
  LatestValue<DeviceReading> reading_;
};

/// A device in a scene: moved, turned and scaled, with clutch and drift, and with care after a loss.
///
/// What it writes to the device has passed a second safety stage, with the device's own limits in its own measure:
/// whatever the mapping makes of a force, the device gets no more than it can give.
///
/// Thread: the fast loop's alone; wait-free: no allocation, lock, loop or exception.
class MappedDevice final : public Device {
 public:
  /// `dt`: tick period [s]. Throws InputError.
  MappedDevice(std::unique_ptr<Device> device, const DeviceMappingSettings& settings, double dt);
  MappedDevice(const MappedDevice&) = delete;
  MappedDevice& operator=(const MappedDevice&) = delete;

  const DeviceInfo& info() const noexcept override { return info_; }
  DeviceState read(double time) noexcept override;
  void write(const SafeWrench& wrench) noexcept override;

  /// Before the first tick: replaces the constant weight of `handle_mass`. The context outlives the device.
  void set_weight(WeightHook hook, const void* context) noexcept;
  /// Before the first tick: whom it obeys and reports to. The desk outlives the device.
  void attach(DeviceDesk& desk) noexcept { desk_ = &desk; }
  DevicePhase phase() const noexcept { return phase_; }
  Device& device() noexcept { return *device_; }

 private:
  void follow(const DeviceState& own) noexcept;
  void follow_grip(const DeviceState& own, double elapsed) noexcept;
  void drift_along(const DeviceState& own, double elapsed) noexcept;
  void report(const Vec3& asked, const SafeWrench& sent, double share) noexcept;
  double open_gate(double asked) noexcept;

  std::unique_ptr<Device> device_;
  DeviceMappingSettings settings_;
  double dt_;
  double force_scale_;
  Quat q_;  ///< R
  Vec3 centre_ = Vec3::Zero();
  double radius_ = 0.0;  ///< of the workspace [m]; 0: unlimited
  DeviceInfo info_;
  SafetyStage safety_;
  const SafetyStage shut_;  ///< the same as new: what it makes of nothing is zero at once
  WeightHook weight_;
  const void* weight_context_;

  DeviceDesk* desk_ = nullptr;
  DevicePhase phase_ = DevicePhase::kLost;
  DeviceState own_;  ///< the device's newest
  DeviceState out_;  ///< in the scene
  Vec3 offset_;      ///< o, as clutch and drift have moved it
  Quat turn_ = Quat::Identity();
  bool clutched_ = false;
  bool touching_ = false;
  double free_for_ = 0.0;  ///< [s]
  double gate_ = 0.0;      ///< share of the force that is let through
};

}  // namespace palpate
