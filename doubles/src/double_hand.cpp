#include "palpate/doubles/double_hand.h"

#include <algorithm>
#include <utility>

#include "palpate/core/clock.h"

namespace palpate {

SafetySettings transparent_safety() {
  SafetySettings s;
  s.max_force = 1000.0;
  s.max_torque = 100.0;
  s.max_force_rate = 1e7;
  s.max_torque_rate = 1e6;
  s.ramp_time = 0.0;
  return s;
}

/// A simulated device takes only what a safety stage has made; this one is as good as transparent.
struct DoubleHand::Simulation {
  Simulation(const SimulatedDeviceSettings& settings, std::unique_ptr<HandPath> path)
      : device(settings, std::move(path)), start_ns(monotonic_ns()), motor(transparent_safety(), 1e-3) {}

  SimulatedDevice device;
  std::int64_t start_ns;
  SafetyStage motor;
};

DoubleHand::DoubleHand(Flaw flaw) : flaw_(flaw) {}

DoubleHand::DoubleHand(const SimulatedDeviceSettings& device, std::unique_ptr<HandPath> path)
    : flaw_(Flaw::kNone), simulation_(std::make_unique<Simulation>(device, std::move(path))) {}

DoubleHand::~DoubleHand() = default;

void DoubleHand::place(const Pose& pose, const Twist& velocity) {
  const std::lock_guard lock(mutex_);
  truth_.pose = pose;
  truth_.velocity = velocity;
  placed_at_ = monotonic_ns();
}

void DoubleHand::press(std::uint32_t buttons) {
  const std::lock_guard lock(mutex_);
  truth_.buttons = buttons;
}

void DoubleHand::close(double grip) {
  const std::lock_guard lock(mutex_);
  truth_.grip = grip;
}

HandleTruth DoubleHand::now() {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ns = monotonic_ns();
  HandleTruth t = truth_;
  if (simulation_) {
    simulation_->device.write(simulation_->motor.apply(now_ns < pushed_until_ ? pushed_ : Wrench{}, 0.0));
    const DeviceState s = simulation_->device.read(1e-9 * static_cast<double>(now_ns - simulation_->start_ns));
    t.pose = s.pose;
    t.velocity = s.velocity;
    t.grip = s.grip;
  } else {
    const double dt = 1e-9 * static_cast<double>(now_ns - placed_at_);
    t.pose.position += dt * t.velocity.linear;
    t.pose.rotation = (rotation_from_vector(dt * t.velocity.angular) * t.pose.rotation).normalized();
  }
  switch (flaw_) {
    case Flaw::kMirroredX:
      t.pose.position.x() *= -1.0;
      t.velocity.linear.x() *= -1.0;
      break;
    case Flaw::kSwappedYZ:
      std::swap(t.pose.position.y(), t.pose.position.z());
      std::swap(t.velocity.linear.y(), t.velocity.linear.z());
      break;
    case Flaw::kMillimetres:
      t.pose.position *= 1000.0;
      break;
    case Flaw::kMirroredTurn:
      t.pose.rotation = t.pose.rotation.conjugate();
      break;
    case Flaw::kMirroredSpeed:
      t.velocity.linear *= -1.0;
      break;
    case Flaw::kSwappedButtons:
      t.buttons = ((t.buttons & 1u) << 1) | ((t.buttons >> 1) & 1u);
      break;
    default:
      break;
  }
  return t;
}

Wrench DoubleHand::with_flaw(Wrench w) const noexcept {
  switch (flaw_) {
    case Flaw::kMirroredForce:
      w.force *= -1.0;
      break;
    case Flaw::kSwappedForceXY:
      std::swap(w.force.x(), w.force.y());
      break;
    case Flaw::kHalfForce:
      w.force *= 0.5;
      break;
    case Flaw::kStrongerThanTold:
      w.force *= 1.2;
      break;
    default:
      break;
  }
  return w;
}

void DoubleHand::push(const Wrench& wrench, double hold) {
  const std::lock_guard lock(mutex_);
  const Wrench given = with_flaw(wrench);
  pushes_ += given.force.norm() > 0.0 && given.force != pushed_.force;
  pushed_ = given;
  pushed_until_ = monotonic_ns() + static_cast<std::int64_t>(1e9 * hold);
  peak_ = std::max(peak_, pushed_.force.norm());
}

void DoubleHand::let_go() {
  const std::lock_guard lock(mutex_);
  pushed_ = {};
  pushed_until_ = 0;
}

Wrench DoubleHand::felt() {
  const std::lock_guard lock(mutex_);
  return monotonic_ns() < pushed_until_ ? pushed_ : Wrench{};
}

double DoubleHand::take_peak() {
  const std::lock_guard lock(mutex_);
  return std::exchange(peak_, 0.0);
}

std::uint64_t DoubleHand::pushes() const {
  const std::lock_guard lock(mutex_);
  return pushes_;
}

}  // namespace palpate
