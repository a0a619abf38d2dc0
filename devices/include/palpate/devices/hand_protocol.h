#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "palpate/core/math.h"
#include "palpate/devices/wave.h"

// The network hand's protocol, version 2: docs/network-hand.md is the whole of it. Datagrams of fixed layout,
// little-endian, each whole in itself: the newest counts, and one that is lost is not missed.
namespace palpate {

inline constexpr std::uint8_t kHandProtocolVersion = 2;
/// No datagram is longer [bytes].
inline constexpr std::size_t kLongestHandPacket = 192;

enum class HandPacketType : std::uint8_t {
  kHello = 1,    ///< hand → engine: here I am, and this is what I can do
  kWelcome = 2,  ///< engine → hand: your session's number
  kPose = 3,     ///< hand → engine, every tick
  kWrench = 4,   ///< engine → hand, as often
  kBye = 5,      ///< either: it is over
};

struct HandPacketHeader {
  HandPacketType type = HandPacketType::kHello;
  std::uint64_t session = 0;   ///< hello: a number the hand made up; else the session that the engine gave
  std::uint32_t sequence = 0;  ///< counts up by one with each datagram of a sender
  std::uint32_t echo = 0;      ///< newest sequence received from the other side; 0: none
};

struct HandHello {
  std::string name;  ///< up to 31 bytes
  int input_dof = 3;
  int output_dof = 3;
  double max_force = 0.0;      ///< [N]
  double max_torque = 0.0;     ///< [N·m]
  double max_stiffness = 0.0;  ///< [N/m]; 0: not known
  Vec3 workspace_min = Vec3::Zero();
  Vec3 workspace_max = Vec3::Zero();  ///< equal to min: not known [m]
  /// The hand speaks in waves of this impedance [N·s/m], so that delay cannot make it swing; 0: it does not.
  double wave_impedance = 0.0;
  /// Torques travel as waves of this impedance [N·m·s/rad]; 0: with waves there are no torques.
  double turn_wave_impedance = 0.0;
};

struct HandWelcome {
  std::uint64_t hello = 0;  ///< the number in the hello that is answered
};

struct HandPose {
  Pose pose;
  Twist velocity;
  std::uint32_t buttons = 0;
  double grip = 0.0;
  double grip_rate = 0.0;
  WaveMessage wave{};       ///< u so far; zeros without waves
  WaveMessage turn_wave{};  ///< the same of torque and angular velocity
};

struct HandWrench {
  Wrench wrench;
  WaveMessage wave{};       ///< w so far; zeros without waves
  WaveMessage turn_wave{};  ///< the same of torque and angular velocity
};

/// A shared secret. Every datagram ends in 16 bytes of HMAC-SHA256 over all before them; without a key they are zeros.
class HandKey {
 public:
  /// At least 16 bytes. Throws InputError.
  explicit HandKey(std::string secret);
  /// The first line of a file. Throws InputError.
  static HandKey read(const std::string& path);
  using Tag = std::array<std::byte, 16>;
  Tag sign(std::span<const std::byte> bytes) const;

 private:
  std::string secret_;
};

using HandPacket = std::vector<std::byte>;

HandPacket encode(const HandPacketHeader& header, const HandHello& body, const HandKey* key);
HandPacket encode(const HandPacketHeader& header, const HandWelcome& body, const HandKey* key);
HandPacket encode(const HandPacketHeader& header, const HandPose& body, const HandKey* key);
HandPacket encode(const HandPacketHeader& header, const HandWrench& body, const HandKey* key);
HandPacket encode_bye(const HandPacketHeader& header, const HandKey* key);

/// The header of a datagram that is of this protocol, of the length that its type has and signed with the key; else
/// nothing.
std::optional<HandPacketHeader> check_packet(std::span<const std::byte> packet, const HandKey* key);

/// The version of a datagram of this protocol, whichever it is; 0: it is of none.
int protocol_version(std::span<const std::byte> packet) noexcept;

/// Of packets that check_packet() found good. Numbers may still be absurd.
HandHello decode_hello(std::span<const std::byte> packet);
HandWelcome decode_welcome(std::span<const std::byte> packet);
HandPose decode_pose(std::span<const std::byte> packet);
HandWrench decode_wrench(std::span<const std::byte> packet);

/// `a` was sent after `b`, across the wrap of the counter.
constexpr bool is_newer(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) > 0;
}

}  // namespace palpate
