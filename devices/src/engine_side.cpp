#include "palpate/devices/engine_side.h"

#include <algorithm>
#include <cmath>

namespace palpate {
namespace {

/// A hand that is heard at least this often is not replaced by another [ns].
constexpr std::int64_t kHandAlive = 500'000'000;
/// Farther from its origin no hand reaches [m].
constexpr double kNetworkReach = 10.0;

bool is_sound(const HandPose& p) noexcept {
  return p.pose.position.norm() < kNetworkReach && std::abs(p.pose.rotation.norm() - 1.0) < 0.1 &&
         p.velocity.linear.allFinite() && p.velocity.angular.allFinite() && p.grip >= 0.0 && p.grip <= 1.0 &&
         std::isfinite(p.grip_rate) && p.wave.integral.allFinite() && p.wave.energy >= 0.0 && p.wave.energy < 1e12;
}

bool is_sound(const HandHello& h) noexcept {
  return h.max_force > 0.0 && h.max_force <= 1000.0 && h.max_torque >= 0.0 && h.max_torque <= 100.0 &&
         h.max_stiffness >= 0.0 &&
         (h.wave_impedance == 0.0 || (h.wave_impedance >= 0.1 && h.wave_impedance <= 1000.0)) &&
         h.workspace_min.allFinite() && h.workspace_max.allFinite();
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
    waves_.reset();
    if (description_.wave_impedance > 0.0) {
      waves_.emplace(WaveSettings{.impedance = description_.wave_impedance});
      waves_->begin(pose.pose.position, pose.wave);
      advanced_at_ = now_ns;
    }
  }
  pose_ = pose;
  if (waves_) {
    waves_->receive(pose.wave);
    show_waves();
  }
  heard_ = header.sequence;
  heard_at_ = now_ns;
  // The hand may have seen nothing of this session yet, or something too old to remember.
  const std::uint32_t ago = sequence_ - header.echo;
  const std::int64_t sent = ago < sent_at_.size() ? sent_at_[header.echo % sent_at_.size()] : 0;
  round_trip_ = sent != 0 ? now_ns - sent : 0;
  return first ? Heard::kHand : Heard::kPose;
}

void EngineSide::show_waves() noexcept {
  pose_.pose.position = waves_->position();
  pose_.velocity.linear = waves_->velocity();
}

HandPacket EngineSide::make_wrench(const Wrench& wrench, std::int64_t now_ns) {
  HandWrench body{wrench, {}};
  if (waves_) {
    // A stall of this thread is not made up for in one step, which would be a blow.
    const double dt = std::clamp(1e-9 * static_cast<double>(now_ns - advanced_at_), 0.0, 0.005);
    waves_->advance(wrench.force, dt);
    advanced_at_ = now_ns;
    show_waves();
    body.wave = waves_->message();
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
