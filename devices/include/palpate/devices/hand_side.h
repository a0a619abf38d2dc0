#pragma once

#include <optional>

#include "palpate/devices/hand_protocol.h"

namespace palpate {

struct HandSideSettings {
  HandHello description;
  std::optional<HandKey> key;
  /// Set: force and velocity travel as waves. Needed as soon as a round trip takes more than a few milliseconds.
  std::optional<WaveSettings> waves;
  /// With waves: torques travel too, by this line; without it none come.
  std::optional<WaveSettings> turn_waves;
  /// A wrench older than this is no longer given [s].
  double wrench_valid_for = 0.025;
  /// Between two hellos [s].
  double hello_period = 0.1;
};

/// What a program does that is a hand on the network: everything but the socket and the motors.
///
/// Each tick: receive() every datagram that came, then send what make_packet() gives, then put wrench() into the
/// motors. Thread: one. Times are of any clock that never goes back [ns].
class HandSide {
 public:
  /// `number`: made up anew by each program start, so that nobody can answer with an old welcome.
  HandSide(const HandSideSettings& settings, std::uint64_t number);

  void receive(std::span<const std::byte> packet, std::int64_t now_ns);
  /// A pose once the engine has welcomed us, a hello now and then before; empty: nothing to send.
  HandPacket make_packet(const HandPose& pose, std::int64_t now_ns);
  /// What the motors may do for the next `dt` seconds. Zero as long as there is no young wrench. Once a tick.
  Wrench wrench(const HandPose& pose, double dt, std::int64_t now_ns) noexcept;
  HandPacket make_bye();

  bool is_welcome() const noexcept { return session_ != 0; }
  /// The engine has not been heard for half a second: begin again with a hello.
  void forget_session() noexcept { session_ = 0; }

 private:
  const HandKey* key() const noexcept { return settings_.key ? &*settings_.key : nullptr; }
  void make_lines();
  HandPacketHeader next_header(HandPacketType type) noexcept;

  HandSideSettings settings_;
  std::optional<WaveHandEnd> waves_, turn_waves_;
  std::uint64_t number_;
  std::uint64_t session_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint32_t heard_ = 0;  ///< newest sequence of the engine's
  std::int64_t heard_at_ = 0;
  std::int64_t hello_at_ = 0;
  Wrench wrench_;
  std::int64_t wrench_at_ = 0;
  bool has_wrench_ = false;
};

}  // namespace palpate
