#include <gtest/gtest.h>

#include <random>

#include "benches.h"
#include "palpate/core/error.h"
#include "palpate/devices/engine_side.h"

namespace palpate::network_hand_test {
namespace {

using testing::NetworkBench;
using testing::Touch;

TEST(NetworkHand, KeyLetsInOnlyThoseWhoHaveIt) {
  testing::TempFolder folder("hand_key");
  const std::string file = folder.write("hand.key", "0123456789abcdef0123456789abcdef\n").string();
  NetworkHandDoubleSettings s;
  s.key = "0123456789abcdef0123456789abcdef";
  NetworkBench right(Flaw::kNone, s, file);
  EXPECT_NO_THROW(Touch(right, 1.0).run(0.02));
  s.key = "0123456789abcdef0123456789abcdeX";
  NetworkBench wrong(Flaw::kNone, s, file);
  EXPECT_THROW(Touch(wrong, 0.2), InputError);
  NetworkBench none(Flaw::kNone, {}, file);
  EXPECT_THROW(Touch(none, 0.2), InputError);
}

TEST(NetworkHand, OutsideOfThisComputerAKeyIsNeeded) {
  EXPECT_THROW(open_device("network:0.0.0.0:10101"), InputError);
  EXPECT_THROW(open_device("network:127.0.0.1:10101,/nowhere/key"), InputError);
}

TEST(NetworkHand, FarHandWithoutWavesGetsNoForceAndWithWavesItDoes) {
  NetworkHandDoubleSettings far;
  far.network = {0.02, 0.004, 0.05};
  for (const bool waves : {false, true}) {
    far.waves.reset();
    if (waves) far.waves.emplace();
    NetworkBench bench(Flaw::kNone, far);
    Touch touch(bench);
    touch.wrench.force = Vec3(0.0, 1.0, 0.0);
    touch.run(1.0);
    EXPECT_EQ(touch.driver().loss(), waves ? Loss::kNone : Loss::kNotReady);
    const auto felt = [&](const DeviceState&) { return bench.hand.felt().force.norm() > 0.1; };
    EXPECT_EQ(touch.run_until(felt, waves ? 3.0 : 0.3), waves);
  }
}

TEST(NetworkHand, OldDatagramsAreNotTakenAndOldSessionsNotRevived) {
  EngineSide engine(std::nullopt);
  HandSideSettings s;
  s.description.max_force = 1.0;
  HandSide hand(s, 5);
  HandPose pose;
  const HandPacket hello = hand.make_packet(pose, 1);
  ASSERT_EQ(engine.receive(hello, 11, 1), EngineSide::Heard::kHello);
  const HandPacket welcome = engine.answer();
  hand.receive(welcome, 2);
  ASSERT_TRUE(hand.is_welcome());
  pose.pose.position.x() = 0.01;
  const HandPacket first = hand.make_packet(pose, 3);
  pose.pose.position.x() = 0.02;
  const HandPacket second = hand.make_packet(pose, 4);
  EXPECT_EQ(engine.receive(first, 12, 3), EngineSide::Heard::kHand);
  EXPECT_EQ(engine.receive(second, 12, 4), EngineSide::Heard::kPose);
  EXPECT_EQ(engine.receive(first, 12, 5), EngineSide::Heard::kNothing);
  EXPECT_EQ(engine.receive(second, 12, 5), EngineSide::Heard::kNothing);
  EXPECT_NEAR(engine.pose().pose.position.x(), 0.02, 1e-8);
  EXPECT_EQ(engine.receive(hello, 13, 6), EngineSide::Heard::kNothing);  // while the hand is heard
  // Half a second later the hello is answered, but the poses of before are of another session.
  EXPECT_EQ(engine.receive(hello, 14, 600'000'000), EngineSide::Heard::kHello);
  HandSide restarted(s, 6);
  restarted.receive(welcome, 7);
  EXPECT_FALSE(restarted.is_welcome());  // an old welcome answers an old hello
}

TEST(NetworkHand, HandOfAnotherVersionIsToldApart) {
  HandPacketHeader h;
  HandPacket hello = encode(h, HandHello{}, nullptr);
  EXPECT_EQ(protocol_version(hello), kHandProtocolVersion);
  hello[4] = std::byte{1};
  EXPECT_EQ(protocol_version(hello), 1);
  EXPECT_FALSE(check_packet(hello, nullptr).has_value());
  hello[0] = std::byte{0};
  EXPECT_EQ(protocol_version(hello), 0);
}

TEST(NetworkHand, GarbageAndCutDatagramsAreNothing) {
  std::mt19937 random(3);
  const HandKey key("0123456789abcdef");
  HandPacketHeader h;
  h.type = HandPacketType::kPose;
  const HandPacket good = encode(h, HandPose{}, &key);
  ASSERT_TRUE(check_packet(good, &key).has_value());
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(check_packet(std::span(good).first(size), &key).has_value());
  for (int i = 0; i < 20000; ++i) {
    HandPacket bad = good;
    bad[random() % bad.size()] ^= static_cast<std::byte>(1u << random() % 8);
    EXPECT_FALSE(check_packet(bad, &key).has_value());
  }
}

}  // namespace
}  // namespace palpate::network_hand_test
