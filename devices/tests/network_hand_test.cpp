#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "conformance.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/devices/engine_side.h"
#include "palpate/doubles/network_hand_double.h"
#include "palpate/testing/temp_folder.h"

namespace palpate::network_hand_test {
namespace {

using testing::DeviceTraits;
using testing::DriverBench;
using testing::joined;
using testing::Touch;

/// A port that was free a moment ago.
std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

class NetworkBench final : public DriverBench {
 public:
  explicit NetworkBench(Flaw flaw = Flaw::kNone, NetworkHandDoubleSettings s = {}, std::string key_file = "")
      : DriverBench(flaw), settings_(s), key_file_(std::move(key_file)) {
    settings_.port = free_port();
    program = std::make_unique<NetworkHandDouble>(hand, settings_);
  }
  std::string name() const override {
    return fmt::format("network:127.0.0.1:{}{}", settings_.port, key_file_.empty() ? "" : "," + key_file_);
  }
  DeviceTraits traits() const override {
    DeviceTraits t;
    t.buttons = 3;
    t.grips = true;
    t.twists = !settings_.waves;
    return t;
  }
  void unplug() override { program->unplug(true); }
  void plug() override { program->unplug(false); }
  void inject(Fault fault, double seconds) override { program->inject(fault, seconds); }
  std::uint64_t faults_done() const override { return program->faults_done(); }

  std::unique_ptr<NetworkHandDouble> program;

 private:
  NetworkHandDoubleSettings settings_;
  std::string key_file_;
};

TEST(NetworkHand, Conforms) {
  NetworkBench bench;
  EXPECT_EQ(joined(testing::find_nonconformities(bench)), "");
}

TEST(NetworkHand, EveryFlawOfTheDoubleIsFound) {
  for (const Flaw flaw : {Flaw::kMirroredX, Flaw::kSwappedYZ, Flaw::kMillimetres, Flaw::kMirroredTurn,
                          Flaw::kMirroredSpeed, Flaw::kMirroredForce, Flaw::kSwappedForceXY, Flaw::kHalfForce,
                          Flaw::kSwappedButtons, Flaw::kStrongerThanTold}) {
    NetworkBench bench(flaw);
    // One in metres by a thousand is farther than any hand: then it is not even taken for one.
    try {
      EXPECT_FALSE(testing::find_nonconformities(bench, testing::HowFar::kUntilWrong).empty())
          << static_cast<int>(flaw);
    } catch (const InputError&) {
      EXPECT_EQ(flaw, Flaw::kMillimetres);
    }
  }
}

TEST(NetworkHand, AThousandFaultsNeitherCrashItNorPushTheHandTooHard) {
  NetworkBench bench;
  const testing::FaultResult result = testing::run_faults(bench, 1000, 2);
  EXPECT_EQ(joined(result.wrong), "");
  EXPECT_GT(result.connections, 50u);
}

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
