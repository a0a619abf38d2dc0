#pragma once

#include <memory>
#include <optional>

#include "palpate/core/latest_value.h"
#include "palpate/haptics/device.h"

namespace palpate {

/// The scene's own hand until a person takes the tool; then it follows where that person points, and gives the tool
/// back when let go.
///
/// A pointer jumps: the mouse gives sixty positions a second, a finger starts anywhere. Between it and the device's
/// pose is a critically damped spring, exact for any time between two samples, which runs at most kMaxLead behind:
///
///   ẍ = −ω² (x − x_t) − 2ω ẋ
///
/// so velocity is continuous and no faster than ω kMaxLead / e, and the force has no jumps that the pointer made.
/// Threads: hold(), let_go() from the viewer's; read() and write() from the fast loop's, wait-free; replace() between
/// two runs, as is begin().
class GuidedHand final : public Device {
 public:
  static constexpr double kFrequency = 35.0;  ///< ω [rad/s]
  static constexpr double kMaxLead = 0.05;    ///< the pointer counts as no further ahead than this [m]
  static constexpr double kMaxTurn = 0.5;     ///< … and this [rad]

  explicit GuidedHand(std::unique_ptr<Device> own);

  /// Takes the tool towards `target`, world frame. `grip` is 0 open to 1 closed; none: as the scene's own hand has it.
  void hold(const Pose& target, std::optional<double> grip = {}) noexcept;
  void let_go() noexcept;  ///< gives the tool back to the scene's own hand

  /// Between two runs: the time `now` of the run to come is `time` of the scene's hand [s].
  void begin(double time, double now = 0.0) noexcept;
  /// Another hand of the scene's takes over at the time `now` of the next run, from its beginning; gently from where
  /// the last one ended.
  void replace(std::unique_ptr<Device> own, double now = 0.0);

  const DeviceInfo& info() const noexcept override { return own_->info(); }
  DeviceState read(double time) noexcept override;
  void write(const SafeWrench& wrench) noexcept override;

 private:
  struct Target {
    double position[3];
    double rotation[4];  ///< w, x, y, z
    double grip;         ///< negative: the scene's hand's
    bool held;
  };
  void follow(const Pose& target, const Twist& velocity, double dt) noexcept;
  void follow_grip(double target, double rate, double dt) noexcept;

  std::unique_ptr<Device> own_;
  LatestValue<Target> message_;
  Target target_{};
  bool own_hand_ = true;  ///< nothing between the scene's hand and the device
  bool started_ = false;
  double begin_ = 0.0;  ///< by which the scene's hand's time is ahead of the run's
  double last_time_ = 0.0;
  Pose pose_;
  Twist velocity_;
  double grip_ = 0.0;
  double grip_rate_ = 0.0;  ///< [1/s]
};

}  // namespace palpate
