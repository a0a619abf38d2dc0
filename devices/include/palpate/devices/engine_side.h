#pragma once

#include <array>
#include <optional>

#include "palpate/devices/hand_protocol.h"

namespace palpate {

/// The engine's end of a network hand: everything but the socket.
///
/// One hand at a time. A hello gets a welcome with a new session's number, and the session counts once a pose comes in
/// under it: an old hello that somebody sends again leads nowhere. While a hand is heard, another is not welcomed.
/// Thread: one. Times are of the monotonic clock [ns].
class EngineSide {
 public:
  explicit EngineSide(std::optional<HandKey> key) : key_(std::move(key)) {}

  enum class Heard {
    kNothing,   ///< not for us, not signed, old, or absurd
    kHello,     ///< answer() is to be sent to where it came from
    kLostHand,  ///< a hand of a session that is over; likewise, so that it begins anew
    kHand,      ///< the first pose of a session: description() and pose() are new
    kPose,      ///< pose() is new
    kBye,       ///< the hand has gone
  };
  /// `random`: a number nobody can guess, for a session that this datagram may begin.
  Heard receive(std::span<const std::byte> packet, std::uint64_t random, std::int64_t now_ns);
  const HandPacket& answer() const noexcept { return answer_; }
  const HandHello& description() const noexcept { return description_; }
  const HandPose& pose() const noexcept { return pose_; }
  /// The hand speaks in waves; in torques, too.
  bool has_waves() const noexcept { return waves_.has_value(); }
  bool has_turn_waves() const noexcept { return turn_waves_.has_value(); }

  /// Once a tick: what the scene wants to put into the hand from now on. The packet is to be sent to the hand of the
  /// session. With waves, pose() moves along with them.
  HandPacket make_wrench(const Wrench& wrench, std::int64_t now_ns);
  HandPacket make_bye();

  bool has_session() const noexcept { return session_ != 0; }
  /// When the last pose came [ns].
  std::int64_t heard_at() const noexcept { return heard_at_; }
  /// Of the pose heard last: since the wrench was sent that it had seen [ns]; 0: not known.
  std::int64_t round_trip() const noexcept { return round_trip_; }
  void end_session() noexcept { session_ = 0; }

 private:
  const HandKey* key() const noexcept { return key_ ? &*key_ : nullptr; }
  void begin_waves(const HandPose& pose, std::int64_t now_ns);
  void advance_waves(const Wrench& wrench, double dt) noexcept;
  void show_waves() noexcept;
  Heard take_pose(const HandPacketHeader& header, std::span<const std::byte> packet, std::int64_t now_ns);

  std::optional<HandKey> key_;
  std::uint64_t session_ = 0;
  std::uint64_t offered_ = 0;         ///< in the last welcome, until a pose comes under it
  std::uint64_t offered_number_ = 0;  ///< of the hello that it answered
  HandHello offered_to_;
  HandPacket answer_;
  HandHello description_;
  HandPose pose_;
  std::optional<WaveEngineEnd> waves_, turn_waves_;
  Pose at_;                       ///< with waves: where they have brought the tool
  Twist moving_;                  ///< and how it moves
  Quat told_ = Quat::Identity();  ///< the hand's own rotation, as it said last
  Vec3 apart_ = Vec3::Zero();     ///< all turns of this end less all that the hand told of [rad]
  std::int64_t advanced_at_ = 0;  ///< [ns]
  std::uint32_t sequence_ = 0;
  std::uint32_t heard_ = 0;
  std::int64_t heard_at_ = 0;
  std::int64_t round_trip_ = 0;
  std::array<std::int64_t, 1024> sent_at_{};
};

}  // namespace palpate
