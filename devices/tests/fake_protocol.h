#pragma once

#include <atomic>
#include <mutex>

#include "palpate/core/clock.h"
#include "palpate/devices/driver_device.h"
#include "palpate/doubles/double_hand.h"
#include "palpate/haptics/safety.h"

/// A device without a wire, for tests of what all drivers share.
namespace palpate::testing {

/// What test and protocol share. The device sits still at x = 0.01 m and answers at 2 kHz while `plugged`.
struct FakeWire {
  std::atomic<bool> plugged{true};
  std::atomic<bool> frozen{false};  ///< answers no more, though the connection stands
  std::atomic<std::uint32_t> buttons{0};
  std::atomic<double> position{0.01};
  std::atomic<double> force{0.0};  ///< x, as last sent to the device
  std::atomic<int> runs{0};
};

class FakeProtocol final : public DriverProtocol {
 public:
  explicit FakeProtocol(FakeWire& wire) : wire_(wire) {}

  Loss run(DriverSeat& seat) override {
    ++wire_.runs;
    if (!wire_.plugged) {
      seat.note("the cable is out");
      return Loss::kNotConnected;
    }
    DeviceInfo info;
    info.name = "fake";
    info.max_force = 5.0;
    info.max_torque = 0.0;
    info.max_stiffness = 1000.0;
    info.workspace_min = Vec3::Constant(-0.1);
    info.workspace_max = Vec3::Constant(0.1);
    seat.describe(info);
    seat.exchange().connect();
    while (!seat.stop_wanted()) {
      if (!wire_.plugged) {
        wire_.force = 0.0;  // the motors of a device without a cable are off
        return Loss::kClosed;
      }
      const std::int64_t now = monotonic_ns();
      wire_.force = seat.exchange().wrench_to_send(now).force.x();
      if (!wire_.frozen) {
        HandleSample sample;
        sample.at_ns = now;
        sample.pose.position.x() = wire_.position;
        sample.buttons = wire_.buttons;
        seat.exchange().publish(sample);
      }
      sleep_until_ns(now + 500'000);
    }
    wire_.force = 0.0;
    return Loss::kNone;
  }

 private:
  FakeWire& wire_;
};

/// A wrench as the safety stage passes it, unchanged.
inline SafeWrench safe(const Wrench& w) {
  return SafetyStage(transparent_safety(), 1e-3).apply(w, 0.0);
}

inline SafeWrench push_x(double force) {
  return safe({Vec3(force, 0.0, 0.0), Vec3::Zero()});
}

/// True as soon as `condition` is, false if it is not within `seconds`.
template <typename Condition>
bool wait_for(Condition condition, double seconds = 2.0) {
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(1e9 * seconds);
  while (!condition()) {
    if (monotonic_ns() > end) return false;
    sleep_until_ns(monotonic_ns() + 200'000);
  }
  return true;
}

}  // namespace palpate::testing
