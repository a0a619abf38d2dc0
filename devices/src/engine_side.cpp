#include "palpate/devices/engine_side.h"

#include <algorithm>
#include <cmath>

namespace palpate {
namespace {

/// A hand that is heard at least this often is not replaced by another [ns].
constexpr std::int64_t kHandAlive = 500'000'000;
/// Farther from its origin no hand reaches [m].
constexpr double kNetworkReach = 10.0;

/// What the waves of torques forget about how turns add up is put right with this time constant [s].
constexpr double kTurnCorrection = 0.1;

bool is_sound(const HandPose& p) noexcept {
  return p.pose.position.norm() < kNetworkReach && std::abs(p.pose.rotation.norm() - 1.0) < 0.1 &&
         p.velocity.linear.allFinite() && p.velocity.angular.allFinite() && p.grip >= 0.0 && p.grip <= 1.0 &&
         std::isfinite(p.grip_rate) && is_sound(p.wave) && is_sound(p.turn_wave);
}

bool is_impedance(double value, const Range& range) noexcept {
  return value == 0.0 || range.contains(value);
}

bool is_sound(const HandHello& h) noexcept {
  return h.max_force > 0.0 && h.max_force <= 1000.0 && h.max_torque >= 0.0 && h.max_torque <= 100.0 &&
         h.max_stiffness >= 0.0 && is_impedance(h.wave_impedance, kWaveImpedance) &&
         is_impedance(h.turn_wave_impedance, kTurnWaveImpedance) && h.workspace_min.allFinite() &&
         h.workspace_max.allFinite();
}

}  // namespace

EngineSide::Heard EngineSide::receive(std::span<const std::byte> packet, std::uint64_t random, std::int64_t now_ns) {
  const auto header = check_packet(packet, key());
  if (!header) return Heard::kNothing;
  switch (header->type) {
    case HandPacketType::kHello: {
      const HandHello hello = decode_hello(packet);
      if (!is_sound(hello) || (has_session() && now_ns - heard_at_ < kHandAlive)) return Heard::kNothing;
      // A hand that calls again before the welcome has reached it means the same session.
      if (offered_ == 0 || offered_number_ != header->session) offered_ = random | 1u;  // not 0, which means none
      offered_number_ = header->session;
      offered_to_ = hello;
      HandPacketHeader h;
      h.type = HandPacketType::kWelcome;
      h.session = offered_;
      h.sequence = ++sequence_;
      h.echo = header->sequence;
      answer_ = encode(h, HandWelcome{header->session}, key());
      return Heard::kHello;
    }
    case HandPacketType::kPose:
      return take_pose(*header, packet, now_ns);
    case HandPacketType::kBye:
      if (!has_session() || header->session != session_) return Heard::kNothing;
      end_session();
      return Heard::kBye;
    default:
      return Heard::kNothing;
  }
}

EngineSide::Heard EngineSide::take_pose(const HandPacketHeader& header, std::span<const std::byte> packet,
                                        std::int64_t now_ns) {
  const bool first = offered_ != 0 && header.session == offered_;
  if (!first && (!has_session() || header.session != session_)) {
    HandPacketHeader h;
    h.type = HandPacketType::kBye;
    h.session = header.session;
    h.sequence = ++sequence_;
    answer_ = encode_bye(h, key());
    return Heard::kLostHand;
  }
  if (!first && !is_newer(header.sequence, heard_)) return Heard::kNothing;
  HandPose pose = decode_pose(packet);
  if (!is_sound(pose)) return Heard::kNothing;
  pose.pose.rotation.normalize();
  if (first) {
    session_ = offered_;
    offered_ = 0;
    description_ = offered_to_;
    sent_at_.fill(0);
    begin_waves(pose, now_ns);
  }
  pose_ = pose;
  if (!first) apart_ -= rotation_vector(pose.pose.rotation * told_.conjugate());
  told_ = pose.pose.rotation;
  if (waves_) waves_->receive(pose.wave);
  if (turn_waves_) turn_waves_->receive(pose.turn_wave);
  show_waves();
  heard_ = header.sequence;
  heard_at_ = now_ns;
  // The hand may have seen nothing of this session yet, or something too old to remember.
  const std::uint32_t ago = sequence_ - header.echo;
  const std::int64_t sent = ago < sent_at_.size() ? sent_at_[header.echo % sent_at_.size()] : 0;
  round_trip_ = sent != 0 ? now_ns - sent : 0;
  return first ? Heard::kHand : Heard::kPose;
}

void EngineSide::begin_waves(const HandPose& pose, std::int64_t now_ns) {
  waves_.reset();
  turn_waves_.reset();
  at_ = pose.pose;
  moving_ = {};
  apart_.setZero();
  advanced_at_ = now_ns;
  if (description_.wave_impedance == 0.0) return;
  waves_.emplace(WaveSettings{.impedance = description_.wave_impedance}, kWaveImpedance);
  waves_->begin(pose.wave);
  if (description_.turn_wave_impedance == 0.0) return;
  turn_waves_.emplace(WaveSettings{.impedance = description_.turn_wave_impedance}, kTurnWaveImpedance);
  turn_waves_->begin(pose.turn_wave);
}

/// A position is the sum of velocities, so that what the line delivers late is made up for. A rotation is not: turns
/// about changing axes that are followed late and not as they came add up to another one. So beside the rotation the
/// sums of the turns at both ends are kept, whose difference is what the line means the two ends to be apart; and the
/// rotation is led to what the hand says of its own, turned by that difference. With τ the torque on the hand, leading
/// this end by φ takes the energy τ·φ from the scene: what of it would be negative is left out, because nobody sent
/// that energy.
void EngineSide::advance_waves(const Wrench& wrench, double dt) noexcept {
  moving_.linear = waves_->advance(wrench.force, dt);
  at_.position += dt * moving_.linear;
  if (!turn_waves_) return;
  moving_.angular = turn_waves_->advance(wrench.torque, dt);
  at_.rotation = (rotation_from_vector(dt * moving_.angular) * at_.rotation).normalized();
  apart_ += dt * moving_.angular;
  Vec3 astray = rotation_vector(rotation_from_vector(apart_) * told_ * at_.rotation.conjugate());
  const double work = astray.dot(wrench.torque), size = wrench.torque.squaredNorm();
  if (work < 0.0 && size > 0.0) astray -= work / size * wrench.torque;
  at_.rotation = (rotation_from_vector(std::min(1.0, dt / kTurnCorrection) * astray) * at_.rotation).normalized();
}

void EngineSide::show_waves() noexcept {
  if (!waves_) return;
  pose_.pose.position = at_.position;
  pose_.velocity.linear = moving_.linear;
  if (!turn_waves_) return;
  pose_.pose.rotation = at_.rotation;
  pose_.velocity.angular = moving_.angular;
}

HandPacket EngineSide::make_wrench(const Wrench& wrench, std::int64_t now_ns) {
  HandWrench body{wrench, {}, {}};
  if (waves_) {
    // A stall of this thread is not made up for in one step, which would be a blow.
    const double dt = std::clamp(1e-9 * static_cast<double>(now_ns - advanced_at_), 0.0, 0.005);
    advance_waves(wrench, dt);
    advanced_at_ = now_ns;
    show_waves();
    body.wave = waves_->message();
    if (turn_waves_)
      body.turn_wave = turn_waves_->message();
    else
      body.wrench.torque.setZero();
  }
  HandPacketHeader h;
  h.type = HandPacketType::kWrench;
  h.session = session_;
  h.sequence = ++sequence_;
  h.echo = heard_;
  sent_at_[h.sequence % sent_at_.size()] = now_ns;
  return encode(h, body, key());
}

HandPacket EngineSide::make_bye() {
  HandPacketHeader h;
  h.type = HandPacketType::kBye;
  h.session = session_;
  h.sequence = ++sequence_;
  return encode_bye(h, key());
}

}  // namespace palpate
