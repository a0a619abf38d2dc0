#include "palpate/devices/mapping.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "palpate/core/error.h"
#include "palpate/core/fields.h"

namespace palpate {
namespace {

constexpr double kGravity = 9.81;  // [m/s²]
/// What a force of `free_force` is to a torque: its lever is a handle of 2 cm.
constexpr double kHandleLever = 0.02;    // [m]
constexpr double kButtonGripTime = 0.2;  // for a button to close the hand [s]

SafetySettings limits_of(const DeviceInfo& device) {
  SafetySettings s;
  s.max_force = std::min(device.max_force, 1000.0);
  s.max_torque = std::min(device.max_torque, 100.0);
  // The fast loop's stage has ramped and slowed the force already; here only the limits count.
  s.ramp_time = 0.0;
  return s;
}

Vec3 hold_weight(const void* context, const DeviceState&) noexcept {
  return {0.0, kGravity * *static_cast<const double*>(context), 0.0};
}

}  // namespace

void describe(Fields& f, DeviceMappingSettings& s) {
  const DeviceMappingSettings d;
  f.vector({.name = "offset", .doc = "where the device's origin is in the scene", .unit = "m"}, s.offset, d.offset);
  f.number({.name = "scale", .doc = "metres in the scene for one metre of the hand"}, s.scale, d.scale, {0.01, 100.0});
  f.vector({.name = "rotation", .doc = "the device's frame in the scene, a rotation vector", .unit = "rad"}, s.rotation,
           d.rotation);
  f.optional_number({.name = "force_scale", .doc = "newtons at the hand for one in the scene; default: 1/scale"},
                    s.force_scale, {0.0, 100.0});
  f.integer({.name = "clutch_button", .doc = "while it is down the hand moves and the tool stays; -1: none"},
            s.clutch_button, d.clutch_button, {-1.0, 31.0});
  f.number({.name = "drift", .doc = "the scene goes along with so much of the hand's motion at the workspace's rim"},
           s.drift, d.drift, {0.0, 0.5});
  f.integer({.name = "grip_button", .doc = "while it is down the hand closes, if the device has no grip; -1: none"},
            s.grip_button, d.grip_button, {-1.0, 31.0});
  f.number({.name = "handle_mass", .doc = "weight of the handle that the device does not carry", .unit = "kg"},
           s.handle_mass, d.handle_mass, {0.0, 2.0});
  f.number({.name = "free_force", .doc = "the force returns when less than this was asked …", .unit = "N"},
           s.free_force, d.free_force, {0.0, 100.0, true});
  f.number({.name = "free_time", .doc = "… for so long", .unit = "s"}, s.free_time, d.free_time, {0.0, 60.0});
  f.number({.name = "return_ramp", .doc = "from nothing to the whole force then", .unit = "s"}, s.return_ramp,
           d.return_ramp, {0.0, 60.0});
}

std::string_view name_of(DevicePhase phase) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"lost", "stopped", "waiting", "ready"};
  return kNames[as_size(phase)];
}

void validate(const DeviceMappingSettings& settings) {
  check_settings("device mapping", settings);
}

double force_scale(const DeviceMappingSettings& s) noexcept {
  return s.force_scale.value_or(1.0 / s.scale);
}

DeviceInfo map_info(const DeviceInfo& device, const DeviceMappingSettings& s) {
  DeviceInfo info = device;
  const double phi = force_scale(s);
  const Quat q = rotation_from_vector(s.rotation);
  if (device.workspace_min.allFinite() && device.workspace_max.allFinite()) {
    const Vec3 middle = 0.5 * (device.workspace_min + device.workspace_max);
    const Vec3 half = 0.5 * (device.workspace_max - device.workspace_min);
    const Vec3 reach = s.scale * (q.toRotationMatrix().cwiseAbs() * half);
    const Vec3 at = s.offset + s.scale * (q * middle);
    info.workspace_min = at - reach;
    info.workspace_max = at + reach;
  }
  // With no force at all any stiffness is allowed: infinities, which the division gives.
  info.max_force = device.max_force / phi;
  info.max_torque = device.max_torque > 0.0 ? device.max_torque * s.scale / phi : 0.0;
  info.max_stiffness = device.max_stiffness / (phi * s.scale);
  info.damping = phi > 0.0 ? device.damping / (phi * s.scale) : device.damping;
  return info;
}

std::optional<std::string> find_mapping_warning(const DeviceMappingSettings& s, const DeviceInfo& device,
                                                double stiffness) {
  const double phi = force_scale(s);
  const double felt = phi * s.scale * stiffness;
  if (!(felt > device.max_stiffness)) return std::nullopt;
  return fmt::format(
      "{:.0f} N/m in the scene are felt as {:.0f} N/m at the hand (scale {:.3g}, force scale {:.3g}), more than the "
      "{:.0f} N/m of {}: it may buzz. A force scale of {:.2g} is honest about what the device can do",
      stiffness, felt, s.scale, phi, device.max_stiffness, device.name, device.max_stiffness / (s.scale * stiffness));
}

MappedDevice::MappedDevice(std::unique_ptr<Device> device, const DeviceMappingSettings& settings, double dt)
    : device_(std::move(device)),
      settings_((validate(settings), settings)),
      dt_(dt),
      force_scale_(force_scale(settings)),
      q_(rotation_from_vector(settings.rotation)),
      info_(map_info(device_->info(), settings)),
      safety_(limits_of(device_->info()), dt),
      shut_(safety_),
      weight_(hold_weight),
      weight_context_(&settings_.handle_mass),
      offset_(settings.offset) {
  const DeviceInfo& own = device_->info();
  if (own.workspace_min.allFinite() && own.workspace_max.allFinite()) {
    centre_ = 0.5 * (own.workspace_min + own.workspace_max);
    radius_ = 0.5 * (own.workspace_max - own.workspace_min).minCoeff();
  }
}

void MappedDevice::set_weight(WeightHook hook, const void* context) noexcept {
  weight_ = hook;
  weight_context_ = context;
}

DeviceState MappedDevice::read(double time) noexcept {
  const double elapsed = std::clamp(time - out_.time, 0.0, 0.1);
  own_ = device_->read(time);
  const bool stopped = desk_ && desk_->reasons() != 0;
  if (!own_.present || stopped) {
    phase_ = own_.present ? DevicePhase::kStopped : DevicePhase::kLost;
    gate_ = free_for_ = 0.0;
  } else if (phase_ == DevicePhase::kLost || phase_ == DevicePhase::kStopped) {
    phase_ = DevicePhase::kWaiting;
  }
  if (own_.present) {
    drift_along(own_, elapsed);
    follow(own_);
    follow_grip(own_, elapsed);
  }
  out_.present = own_.present;
  out_.time = own_.time;
  return out_;
}

/// The tool follows the hand; with the clutch down the mapping follows the hand, and the tool stays.
void MappedDevice::follow(const DeviceState& own) noexcept {
  const bool clutch = settings_.clutch_button >= 0 && ((own.buttons >> settings_.clutch_button) & 1u) != 0;
  const Quat turned = q_ * own.pose.rotation * q_.conjugate();
  if (clutch && clutched_) {
    offset_ = out_.pose.position - settings_.scale * (q_ * own.pose.position);
    turn_ = (out_.pose.rotation * turned.conjugate()).normalized();
    out_.velocity = {};
  } else {
    out_.pose.position = offset_ + settings_.scale * (q_ * own.pose.position);
    out_.pose.rotation = (turn_ * turned).normalized();
    out_.velocity.linear = settings_.scale * (q_ * own.velocity.linear);
    out_.velocity.angular = turn_ * (q_ * own.velocity.angular);
  }
  if (clutch) gate_ = 0.0;
  clutched_ = clutch;
  out_.buttons = own.buttons;
}

void MappedDevice::follow_grip(const DeviceState& own, double elapsed) noexcept {
  if (settings_.grip_button < 0) {
    out_.grip = own.grip;
    out_.grip_rate = own.grip_rate;
    return;
  }
  const bool down = ((own.buttons >> settings_.grip_button) & 1u) != 0;
  const double before = out_.grip;
  out_.grip = std::clamp(before + (down ? 1.0 : -1.0) * elapsed / kButtonGripTime, 0.0, 1.0);
  out_.grip_rate = elapsed > 0.0 ? (out_.grip - before) / elapsed : 0.0;
}

void MappedDevice::drift_along(const DeviceState& own, double elapsed) noexcept {
  if (settings_.drift <= 0.0 || radius_ <= 0.0 || touching_ || clutched_) return;
  const Vec3 out = (own.pose.position - centre_) / radius_;
  const double share = settings_.drift * std::min(1.0, out.norm()) * own.velocity.linear.norm();
  if (out.norm() > 1e-6) offset_ += settings_.scale * elapsed * share * (q_ * out.normalized());
}

/// The share of the force that may pass, when the scene asks for `asked` [N].
double MappedDevice::open_gate(double asked) noexcept {
  touching_ = asked > settings_.free_force;
  if (phase_ == DevicePhase::kWaiting) {
    free_for_ = touching_ ? 0.0 : free_for_ + dt_;
    if (free_for_ > settings_.free_time) phase_ = DevicePhase::kReady;
  }
  if (phase_ != DevicePhase::kReady || clutched_) return 0.0;
  gate_ = settings_.return_ramp > 0.0 ? std::min(1.0, gate_ + dt_ / settings_.return_ramp) : 1.0;
  return gate_;
}

void MappedDevice::write(const SafeWrench& wrench) noexcept {
  const double asked = std::max(wrench.force().norm(), wrench.torque().norm() / (kHandleLever * settings_.scale));
  const double share = open_gate(asked);
  const Vec3 felt = force_scale_ * (q_.conjugate() * wrench.force());
  Wrench own;
  if (phase_ == DevicePhase::kLost || phase_ == DevicePhase::kStopped) {
    safety_ = shut_;
  } else {
    own.force = share * felt + weight_(weight_context_, own_);
    const Quat back = (turn_ * q_).conjugate();
    own.torque = share * force_scale_ / settings_.scale * (back * wrench.torque());
  }
  const SafeWrench sent = safety_.apply(own, 0.0);
  device_->write(sent);
  if (desk_) report(felt, sent, share);
}

void MappedDevice::report(const Vec3& asked, const SafeWrench& sent, double share) noexcept {
  DeviceReading r{};
  std::copy_n(own_.pose.position.data(), 3, r.position);
  std::copy_n(asked.data(), 3, r.asked);
  std::copy_n(sent.force().data(), 3, r.sent);
  r.grip = out_.grip;
  r.share = share;
  r.buttons = own_.buttons;
  r.phase = phase_;
  r.clutched = clutched_;
  desk_->write(r);
}

}  // namespace palpate
