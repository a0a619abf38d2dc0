#include "palpate/devices/hand_side.h"

namespace palpate {
namespace {

constexpr std::int64_t kEngineSilence = 500'000'000;  // [ns]; then a new session is asked for

std::int64_t to_ns(double seconds) noexcept {
  return static_cast<std::int64_t>(1e9 * seconds);
}

}  // namespace

HandSide::HandSide(const HandSideSettings& settings, std::uint64_t number) : settings_(settings), number_(number) {
  if (settings.waves) waves_.emplace(*settings.waves);
  settings_.description.wave_impedance = settings.waves ? settings.waves->impedance : 0.0;
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
    if (waves_) waves_.emplace(*settings_.waves);  // a new line, with nothing on it
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
  if (!is_finite(received.wrench) || !received.wave.integral.allFinite() || !(received.wave.energy >= 0.0)) return;
  heard_ = header->sequence;
  heard_at_ = wrench_at_ = now_ns;
  wrench_ = received.wrench;
  if (waves_) waves_->receive(received.wave);
  has_wrench_ = true;
}

HandPacket HandSide::make_packet(const HandPose& pose, std::int64_t now_ns) {
  if (is_welcome() && now_ns - heard_at_ > kEngineSilence) forget_session();
  if (is_welcome()) {
    HandPose out = pose;
    if (waves_) out.wave = waves_->message();
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
  if (young) return {waves_->advance(pose.velocity.linear, settings_.description.max_force, dt), Vec3::Zero()};
  waves_->advance_idle(pose.velocity.linear, dt);
  return {};
}

}  // namespace palpate
