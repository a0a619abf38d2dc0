#include "palpate/devices/hand_side.h"

namespace palpate {
namespace {

constexpr std::int64_t kEngineSilence = 500'000'000;  // [ns]; then a new session is asked for

std::int64_t to_ns(double seconds) noexcept {
  return static_cast<std::int64_t>(1e9 * seconds);
}

}  // namespace

HandSide::HandSide(const HandSideSettings& settings, std::uint64_t number) : settings_(settings), number_(number) {
  if (!settings_.waves) settings_.turn_waves.reset();
  make_lines();
  settings_.description.wave_impedance = settings.waves ? settings.waves->impedance : 0.0;
  settings_.description.turn_wave_impedance = settings_.turn_waves ? settings_.turn_waves->impedance : 0.0;
}

/// New ones, with nothing on them.
void HandSide::make_lines() {
  if (settings_.waves) waves_.emplace(*settings_.waves, kWaveImpedance);
  if (settings_.turn_waves) turn_waves_.emplace(*settings_.turn_waves, kTurnWaveImpedance);
}

HandPacketHeader HandSide::next_header(HandPacketType type) noexcept {
  HandPacketHeader h;
  h.type = type;
  h.session = type == HandPacketType::kHello ? number_ : session_;
  h.sequence = ++sequence_;
  h.echo = heard_;
  return h;
}

void HandSide::receive(std::span<const std::byte> packet, std::int64_t now_ns) {
  const auto header = check_packet(packet, key());
  if (!header) return;
  if (header->type == HandPacketType::kWelcome) {
    if (is_welcome() || decode_welcome(packet).hello != number_ || header->session == 0) return;
    session_ = header->session;
    heard_ = header->sequence;
    heard_at_ = now_ns;
    has_wrench_ = false;
    make_lines();
    return;
  }
  if (!is_welcome() || header->session != session_) return;
  if (header->type == HandPacketType::kBye) {
    has_wrench_ = false;
    session_ = 0;
    return;
  }
  if (header->type != HandPacketType::kWrench || !is_newer(header->sequence, heard_)) return;
  const HandWrench received = decode_wrench(packet);
  if (!is_finite(received.wrench) || !is_sound(received.wave) || !is_sound(received.turn_wave)) return;
  heard_ = header->sequence;
  heard_at_ = wrench_at_ = now_ns;
  wrench_ = received.wrench;
  if (waves_) waves_->receive(received.wave);
  if (turn_waves_) turn_waves_->receive(received.turn_wave);
  has_wrench_ = true;
}

HandPacket HandSide::make_packet(const HandPose& pose, std::int64_t now_ns) {
  if (is_welcome() && now_ns - heard_at_ > kEngineSilence) forget_session();
  if (is_welcome()) {
    HandPose out = pose;
    if (waves_) out.wave = waves_->message();
    if (turn_waves_) out.turn_wave = turn_waves_->message();
    return encode(next_header(HandPacketType::kPose), out, key());
  }
  if (hello_at_ != 0 && now_ns - hello_at_ < to_ns(settings_.hello_period)) return {};
  hello_at_ = now_ns;
  return encode(next_header(HandPacketType::kHello), settings_.description, key());
}

HandPacket HandSide::make_bye() {
  return encode_bye(next_header(HandPacketType::kBye), key());
}

Wrench HandSide::wrench(const HandPose& pose, double dt, std::int64_t now_ns) noexcept {
  const bool young = is_welcome() && has_wrench_ && now_ns - wrench_at_ <= to_ns(settings_.wrench_valid_for);
  if (!waves_) return young ? wrench_ : Wrench{};
  Wrench out;
  if (young) {
    out.force = waves_->advance(pose.velocity.linear, settings_.description.max_force, dt);
    if (turn_waves_) out.torque = turn_waves_->advance(pose.velocity.angular, settings_.description.max_torque, dt);
  } else {
    waves_->advance_idle(pose.velocity.linear, dt);
    if (turn_waves_) turn_waves_->advance_idle(pose.velocity.angular, dt);
  }
  return out;
}

}  // namespace palpate
