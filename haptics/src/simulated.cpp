#include "palpate/haptics/simulated.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "checks.h"

namespace palpate {
namespace {

constexpr double kLongestSubstep = 1e-3;             // [s]; the hand's target is linear within it
constexpr double kLongestFrictionSubstep = 1.25e-4;  // [s]
constexpr double kMostSubsteps = 64.0;
constexpr double kLongestStretch = 0.1;  // [s]; of a substep after a jump in time

using Mat4 = Eigen::Matrix4d;

/// e^N by scaling and squaring; Taylor to order 14 at norm 1/2 leaves 0.5^15/15! < 1e-16.
Mat4 exponential(const Mat4& N) noexcept {
  const double norm = N.cwiseAbs().rowwise().sum().maxCoeff();
  int squarings = 0;
  if (norm > 0.5) squarings = std::min(60, std::ilogb(norm) + 2);
  const Mat4 scaled = std::ldexp(1.0, -squarings) * N;
  Mat4 e = Mat4::Identity();
  for (int k = 14; k > 0; --k) e = Mat4::Identity() + (scaled * e).eval() / k;
  for (int k = 0; k < squarings; ++k) e = (e * e).eval();
  return e;
}

Vec3 saturated(const Vec3& v, double limit) noexcept {
  const double norm = v.norm();
  return norm > limit ? Vec3(v * (limit / norm)) : v;
}

double quantised(double x, double resolution) noexcept {
  return std::round(x / resolution) * resolution;
}

}  // namespace

void describe(Fields& f, HandImpedance& s) {
  const HandImpedance d;
  f.number({.name = "mass", .doc = "of the hand that goes with the handle", .unit = "kg"}, s.mass, d.mass,
           {0.0, 100.0});
  f.number({.name = "damping", .doc = "of the grip", .unit = "N·s/m"}, s.damping, d.damping, {0.0, 1e4});
  f.number({.name = "stiffness", .doc = "of the grip; 0: follows by damping alone", .unit = "N/m"}, s.stiffness,
           d.stiffness, {0.0, 1e6});
  f.number({.name = "rotational_inertia", .doc = "of the hand that goes with the handle", .unit = "kg·m²"},
           s.rotational_inertia, d.rotational_inertia, {0.0, 1.0});
  f.number({.name = "rotational_damping", .doc = "of the grip", .unit = "N·m·s/rad"}, s.rotational_damping,
           d.rotational_damping, {0.0, 100.0});
  f.number({.name = "rotational_stiffness", .doc = "of the grip", .unit = "N·m/rad"}, s.rotational_stiffness,
           d.rotational_stiffness, {0.0, 1e4});
}

void validate(const SimulatedDeviceSettings& s) {
  require_in("device.mass", s.mass, s.kMass, "kg");
  require_in("device.damping", s.damping, s.kDamping, "N·s/m");
  require_in("device.coulomb_friction", s.coulomb_friction, s.kCoulombFriction, "N");
  require_range("device.rotational_inertia", s.rotational_inertia, 0.0, 1.0, "kg·m²");
  require_range("device.rotational_damping", s.rotational_damping, 0.0, 100.0, "N·m·s/rad");
  require_in("device.max_force", s.max_force, kPositive, "N");
  require_positive("device.max_torque", s.max_torque, kInfinity, "N·m");
  require_positive("device.max_stiffness", s.max_stiffness, kInfinity, "N/m");
  require_range("device.workspace_radius", s.workspace_radius, 0.0, 10.0, "m");
  require_in("device.encoder_resolution", s.encoder_resolution, s.kEncoderResolution, "m");
  validate(s.velocity);
  check_member("hand", s.hand);
}

std::vector<std::string_view> simulated_device_presets() {
  return {"omega", "touch", "ideal"};
}

SimulatedDeviceSettings simulated_device_preset(std::string_view name) {
  SimulatedDeviceSettings s;
  s.name = fmt::format("simulated {}", name);
  if (name == "omega") {
    s.mass = 0.2;
    s.damping = 2.5;
    s.workspace_radius = 0.075;
    s.encoder_resolution = 1e-5;
  } else if (name == "touch") {
    s.mass = 0.045;
    s.damping = 0.25;
    s.coulomb_friction = 0.26;
    s.max_force = 3.3;
    s.max_stiffness = 500.0;
    s.workspace_radius = 0.08;
    s.encoder_resolution = 5.5e-5;
  } else if (name == "ideal") {
    s.damping = 5.0;
    s.rotational_inertia = 1e-4;
    s.rotational_damping = 0.002;
    s.max_force = s.max_torque = s.max_stiffness = kInfinity;
  } else {
    fail_input("simulated device preset {}: must be one of {}", quote_for_message(name),
               join_words(simulated_device_presets()));
  }
  return s;
}

void SimulatedDevice::Oscillator::prepare(double step) noexcept {
  if (step == propagator.step) return;
  // State (x, h·v, g, g1 − g0) over s = t/h in [0, 1] with g = h² p/M: free of units, so the norm stays small.
  Mat4 N = Mat4::Zero();
  N(0, 1) = 1.0;
  N(1, 0) = -stiffness * step * step / mass;
  N(1, 1) = -damping * step / mass;
  N(1, 2) = 1.0;
  N(2, 3) = 1.0;
  const Mat4 e = exponential(N);
  const double g = step * step / mass;
  propagator = {step,
                e(0, 0),
                e(0, 1) * step,
                (e(0, 2) - e(0, 3)) * g,
                e(0, 3) * g,
                e(1, 0) / step,
                e(1, 1),
                (e(1, 2) - e(1, 3)) * g / step,
                e(1, 3) * g / step};
}

void SimulatedDevice::Oscillator::advance(Vec3& x, Vec3& v, const Vec3& p0, const Vec3& p1) const noexcept {
  const Propagator& e = propagator;
  const Vec3 moved = e.xx * x + e.xv * v + e.x0 * p0 + e.x1 * p1;
  v = e.vx * x + e.vv * v + e.v0 * p0 + e.v1 * p1;
  x = moved;
}

SimulatedDevice::SimulatedDevice(const SimulatedDeviceSettings& settings, std::unique_ptr<HandPath> path)
    : settings_(settings), path_(std::move(path)), estimator_(settings.velocity) {
  validate(settings);
  if (!path_) fail_input("simulated device: has no hand path");
  const HandImpedance& hand = settings.hand;
  translation_ = {settings.mass + hand.mass, settings.damping + hand.damping, hand.stiffness, {}};
  rotation_ = {settings.rotational_inertia + hand.rotational_inertia,
               settings.rotational_damping + hand.rotational_damping,
               hand.rotational_stiffness,
               {}};
  const HandSample start = path_->at(0.0);
  pose_ = start.pose;
  velocity_ = start.velocity;

  info_.name = settings.name;
  info_.input_dof = 6;
  info_.output_dof = settings.rotational_inertia > 0.0 ? 6 : 3;
  if (settings.workspace_radius > 0.0) {
    info_.workspace_min = Vec3::Constant(-settings.workspace_radius);
    info_.workspace_max = Vec3::Constant(settings.workspace_radius);
  }
  info_.max_force = settings.max_force;
  info_.max_torque = settings.rotational_inertia > 0.0 ? settings.max_torque : 0.0;
  info_.max_stiffness = settings.max_stiffness;
  info_.damping = settings.damping;
}

void SimulatedDevice::write(const SafeWrench& wrench) noexcept {
  const Wrench limited{saturated(wrench.force(), settings_.max_force),
                       saturated(wrench.torque(), settings_.max_torque)};
  acting_ = settings_.delay_output ? pending_ : limited;
  pending_ = limited;
}

DeviceState SimulatedDevice::read(double time) noexcept {
  const double elapsed = time - time_;
  if (!(elapsed > 0.0) || !std::isfinite(elapsed)) return measure(0.0);
  const double longest = settings_.coulomb_friction > 0.0 ? kLongestFrictionSubstep : kLongestSubstep;
  // Rounding of a clock that ticks each millisecond must not cost a second substep.
  const double count = std::clamp(std::ceil(elapsed / longest - 1e-6), 1.0, kMostSubsteps);
  const double step = std::min(elapsed / count, kLongestStretch);
  const double begin = time - count * step;
  HandSample from = path_->at(begin);
  for (double i = 1.0; i <= count; i += 1.0) {
    const HandSample to = path_->at(begin + i * step);
    substep(step, from, to);
    from = to;
  }
  time_ = time;
  return measure(elapsed);
}

void SimulatedDevice::substep(double step, const HandSample& from, const HandSample& to) noexcept {
  const HandImpedance& hand = settings_.hand;
  translation_.prepare(step);
  translate(hand.stiffness * from.pose.position + hand.damping * from.velocity.linear,
            hand.stiffness * to.pose.position + hand.damping * to.velocity.linear);
  if (settings_.rotational_inertia > 0.0) {
    rotation_.prepare(step);
    rotate(from, to);
  } else {
    pose_.rotation = to.pose.rotation;
    velocity_.angular = to.velocity.angular;
  }
}

void SimulatedDevice::translate(const Vec3& pull0, const Vec3& pull1) noexcept {
  Vec3& x = pose_.position;
  Vec3& v = velocity_.linear;
  Vec3 force = acting_.force;
  const double friction = settings_.coulomb_friction;
  if (friction > 0.0) {
    const double speed = v.norm();
    if (speed > 0.0) {
      force -= friction / speed * v;
    } else {
      const Vec3 load = force + pull0 - translation_.stiffness * x;
      const double size = load.norm();
      if (size <= friction) return;  // sticks
      force -= friction / size * load;
    }
  }
  const Vec3 before = v;
  translation_.advance(x, v, force + pull0, force + pull1);
  // Friction stops a motion, it does not turn it round; the next substep decides whether it sticks.
  if (friction > 0.0 && v.dot(before) < 0.0) v.setZero();
}

void SimulatedDevice::rotate(const HandSample& from, const HandSample& to) noexcept {
  // Rotation vectors seen from where the handle is now: exact for a fixed axis.
  const HandImpedance& hand = settings_.hand;
  const Quat here = pose_.rotation.conjugate();
  const Vec3 ahead0 = rotation_vector(from.pose.rotation * here);
  const Vec3 ahead1 = rotation_vector(to.pose.rotation * here);
  Vec3 turn = Vec3::Zero();
  rotation_.advance(
      turn, velocity_.angular,
      acting_.torque + hand.rotational_stiffness * ahead0 + hand.rotational_damping * from.velocity.angular,
      acting_.torque + hand.rotational_stiffness * ahead1 + hand.rotational_damping * to.velocity.angular);
  pose_.rotation = (rotation_from_vector(turn) * pose_.rotation).normalized();
}

DeviceState SimulatedDevice::measure(double elapsed) noexcept {
  DeviceState s;
  s.time = time_;
  s.pose = pose_;
  s.velocity = velocity_;
  // Fingers close as the path says: the device gives no force against it.
  const HandSample wanted = path_->at(time_);
  s.grip = wanted.grip;
  s.grip_rate = wanted.grip_rate;
  if (settings_.encoder_resolution > 0.0) {
    for (double& x : s.pose.position) x = quantised(x, settings_.encoder_resolution);
    s.velocity.linear = estimator_.update(s.pose, elapsed).linear;
  }
  return s;
}

}  // namespace palpate
