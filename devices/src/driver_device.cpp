#include "palpate/devices/driver_device.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>

#include "palpate/core/clock.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

/// Makers tell a stiffness and no damping. That stiffness is passive at 1 kHz with a damping of K·T/2 at least: this
/// half tick is taken, as in the presets of simulated devices [s].
constexpr double kLeastDampingTime = 0.5e-3;

}  // namespace

void DriverSeat::describe(const DeviceInfo& info) {
  const std::lock_guard lock(mutex_);
  if (described_) return;
  info_ = info;
  if (info_.damping == 0.0) info_.damping = kLeastDampingTime * info_.max_stiffness;
  described_ = true;
}

void DriverSeat::note(std::string text) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(text);
}

void DriverSeat::pause(double seconds) const {
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(1e9 * seconds);
  while (!stop_wanted() && monotonic_ns() < end) sleep_until_ns(std::min(end, monotonic_ns() + 5'000'000));
}

DriverDevice::DriverDevice(std::unique_ptr<DriverProtocol> protocol, const DriverDeviceSettings& settings)
    : settings_(settings), protocol_(std::move(protocol)), seat_(settings.exchange) {
  if (!protocol_) fail_input("device: has no driver");
  thread_ = std::thread([this] { serve(); });
  // Without the permission it runs all the same; `palpate doctor` tells.
  const sched_param parameter{settings.priority};
  if (settings.priority > 0) pthread_setschedparam(thread_.native_handle(), SCHED_FIFO, &parameter);
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(1e9 * settings.open_timeout);
  while (seat_.exchange_.samples() == 0 && monotonic_ns() < end) sleep_until_ns(monotonic_ns() + 1'000'000);
  if (seat_.exchange_.samples() == 0) {
    const std::string why = last_note();
    close();
    fail_input("the device does not answer{}{}", why.empty() ? "" : ": ", why);
  }
  const std::lock_guard lock(seat_.mutex_);
  info_ = seat_.info_;
}

DriverDevice::~DriverDevice() {
  close();
}

void DriverDevice::close() {
  seat_.stop_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

std::string DriverDevice::last_note() const {
  const std::lock_guard lock(seat_.mutex_);
  return seat_.note_;
}

void DriverDevice::serve() {
  while (!seat_.stop_wanted()) {
    Loss why = Loss::kNotConnected;
    try {
      why = protocol_->run(seat_);
    } catch (const std::exception& e) {
      seat_.note(e.what());
    }
    seat_.exchange_.disconnect(why);
    seat_.pause(settings_.retry_pause);
  }
}

DeviceState DriverDevice::read(double time) noexcept {
  DeviceState state;
  const std::int64_t now = monotonic_ns();
  state.present = seat_.exchange_.take(sample_, now);
  // A sample is as old as the time since it came. Its time must not go back when a tick came late, and starts anew with
  // a run.
  if (time < last_read_) last_time_ = 0.0;
  last_read_ = time;
  const double age = 1e-9 * static_cast<double>(std::max<std::int64_t>(now - sample_.at_ns, 0));
  state.time = std::min(std::max(last_time_, time - age), time);
  last_time_ = state.time;
  state.pose = sample_.pose;
  state.velocity = sample_.velocity;
  state.buttons = sample_.buttons;
  state.grip = sample_.grip;
  state.grip_rate = sample_.grip_rate;
  return state;
}

void DriverDevice::write(const SafeWrench& wrench) noexcept {
  seat_.exchange_.give(wrench, monotonic_ns());
}

}  // namespace palpate
