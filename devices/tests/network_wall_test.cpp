#include <gtest/gtest.h>

#include <map>
#include <random>

#include "fake_protocol.h"
#include "palpate/devices/engine_side.h"
#include "palpate/devices/hand_side.h"
#include "palpate/haptics/passivity.h"
#include "palpate/haptics/simulated.h"

// A hand that presses against a stiff wall on the other side of a slow network, in virtual time: the protocol's both
// ends and the passivity layer are the code that runs; only sockets and clocks are not.
namespace palpate::network_wall_test {
namespace {

constexpr double kDt = 1e-3;
constexpr double kWall = 2000.0;  // [N/m]; for y < 0

struct Network {
  double delay = 0.02;    // each way [s]
  double jitter = 0.004;  // up to so much more, so that datagrams overtake each other [s]
  double loss = 0.05;
};

/// One direction.
class Pipe {
 public:
  Pipe(const Network& network, unsigned seed) : network_(network), random_(seed) {}
  void send(HandPacket packet, std::int64_t now) {
    if (packet.empty() || std::uniform_real_distribution(0.0, 1.0)(random_) < network_.loss) return;
    const double late = network_.delay + std::uniform_real_distribution(0.0, network_.jitter)(random_);
    under_way_.emplace(now + static_cast<std::int64_t>(1e9 * late), std::move(packet));
  }
  template <typename Receive>
  void deliver(std::int64_t now, Receive receive) {
    while (!under_way_.empty() && under_way_.begin()->first <= now) {
      receive(under_way_.begin()->second);
      under_way_.erase(under_way_.begin());
    }
  }

 private:
  Network network_;
  std::mt19937 random_;
  std::multimap<std::int64_t, HandPacket> under_way_;
};

struct Outcome {
  double peak_energy = 0.0;  // given to the hand [J]
  double swing = 0.0;        // of y in the last second, peak to peak [m]
  double depth = 0.0;        // of the hand, in the last second, on average [m]
  double wall_force = 0.0;   // likewise [N]
  double hand_force = 0.0;   // likewise [N]
  double peak_force = 0.0;   // at the motors [N]
};

/// From 2 cm above the wall to 8 mm behind it within 0.3 s, and there for the rest of 6 s.
Outcome press(const Network& network, std::optional<WaveSettings> waves, unsigned seed) {
  SimulatedDeviceSettings device = simulated_device_preset("omega");
  device.encoder_resolution = 1e-5;
  KeyframePathSettings path;
  path.times = {0.0, 0.5, 0.8};
  path.positions = {Vec3(0, 0.02, 0), Vec3(0, 0.02, 0), Vec3(0, -0.008, 0)};
  SimulatedDevice hand(device, make_path(std::move(path)));
  HandSideSettings settings;
  settings.description.max_force = 12.0;
  settings.waves = waves;
  settings.key.emplace("a secret of sixteen bytes");
  HandSide hand_side(settings, 7);
  EngineSide engine(HandKey("a secret of sixteen bytes"));
  SafetySettings limits;
  limits.ramp_time = 0.0;
  SafetyStage safety(limits, kDt);
  Pipe up(network, seed), down(network, seed + 1000);
  EnergyObserver energy;
  Outcome out;
  double low = 1.0, high = -1.0;
  for (int tick = 0; tick < 6000; ++tick) {
    const std::int64_t now = 1'000'000'000 + static_cast<std::int64_t>(tick) * 1'000'000;
    up.deliver(now, [&](const HandPacket& p) {
      if (engine.receive(p, 99, now) == EngineSide::Heard::kHello) down.send(engine.answer(), now);
    });
    if (engine.has_session()) {
      const double gap = engine.pose().pose.position.y();
      const Wrench wall{Vec3(0.0, gap < 0.0 ? -kWall * gap : 0.0, 0.0), Vec3::Zero()};
      const SafeWrench sent = safety.apply(wall, 0.0);
      down.send(engine.make_wrench(sent.wrench(), now), now);
      if (tick >= 5000) out.wall_force += 1e-3 * sent.force().y();
    }
    const DeviceState state = hand.read(kDt * tick);
    energy.observe(hand.true_pose());
    const HandPose pose{state.pose, state.velocity, 0, 0.0, 0.0, {}};
    down.deliver(now, [&](const HandPacket& p) { hand_side.receive(p, now); });
    up.send(hand_side.make_packet(pose, now), now);
    const Wrench given = hand_side.wrench(pose, kDt, now);
    hand.write(testing::safe(given));
    energy.hold(given);
    out.peak_force = std::max(out.peak_force, given.force.norm());
    if (tick >= 5000) {
      const double y = hand.true_pose().position.y();
      low = std::min(low, y);
      high = std::max(high, y);
      out.depth -= 1e-3 * y;
      out.hand_force += 1e-3 * given.force.y();
    }
  }
  out.peak_energy = energy.peak();
  out.swing = high - low;
  return out;
}

// The figures are of one hand and one device; what must hold for any is that a static force arrives whole.
TEST(NetworkWall, StiffWallTwentyMillisecondsAwayStandsStillAndGivesTheHandNothing) {
  double energy = 0.0, swing = 0.0, depth = 0.0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Outcome with = press({}, WaveSettings{}, seed);
    EXPECT_LT(with.peak_energy, 1e-3) << seed;
    EXPECT_LT(with.swing, 5e-4) << seed;
    EXPECT_NEAR(with.hand_force, with.wall_force, 0.02 * with.wall_force) << seed;
    // The spring of the hand pulls it 8 mm deep with 300 N/m.
    EXPECT_NEAR(with.hand_force, 300.0 * (0.008 - with.depth), 0.02 * with.hand_force) << seed;
    EXPECT_GT(with.hand_force, 1.0) << seed;
    energy = std::max(energy, with.peak_energy);
    swing = std::max(swing, with.swing);
    depth = std::max(depth, with.depth);
  }
  RecordProperty("largest_energy_mJ", std::to_string(1e3 * energy));
  RecordProperty("largest_swing_mm", std::to_string(1e3 * swing));
  RecordProperty("largest_depth_mm", std::to_string(1e3 * depth));
}

TEST(NetworkWall, WithoutTheLayerItSwings) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const Outcome without = press({}, std::nullopt, seed);
    EXPECT_GT(without.swing, 0.05) << seed;
    EXPECT_GT(without.peak_energy, 1.0) << seed;
  }
}

TEST(NetworkWall, FiveToFiftyMillisecondsStandStill) {
  for (const double delay : {0.005, 0.01, 0.02, 0.035, 0.05}) {
    const Outcome with = press({delay, 0.2 * delay, 0.05}, WaveSettings{}, 5);
    EXPECT_LT(with.peak_energy, 1e-3) << delay;
    EXPECT_LT(with.swing, 1e-3) << delay;
  }
}

// Passive by its construction, whatever the network does: bursts, long gaps and half of all lost.
TEST(NetworkWall, EvenABadNetworkGivesTheHandNothing) {
  for (const Network& network : {Network{0.03, 0.1, 0.1}, Network{0.02, 0.0, 0.5}, Network{0.1, 0.05, 0.2}}) {
    const Outcome with = press(network, WaveSettings{}, 3);
    EXPECT_LT(with.peak_energy, 1e-3) << network.jitter;
    EXPECT_LT(with.peak_force, 12.0 + 1e-9);
  }
}

// Energy of what comes out never exceeds that of what went in, for any order of arrival.
TEST(Wave, InletGivesOutNoMoreThanArrived) {
  std::mt19937 random(4);
  WaveMessage sent;
  WaveInlet inlet;
  double given = 0.0;
  Vec3 followed = Vec3::Zero();
  for (int i = 0; i < 5000; ++i) {
    const Vec3 u = i < 4000 ? Vec3(std::normal_distribution(0.0, 1.0)(random), std::sin(0.01 * i), 0.3) : Vec3::Zero();
    sent.integral += kDt * u;
    sent.energy += 0.5 * kDt * u.squaredNorm();
    if (random() % 3 == 0) inlet.receive(sent);
    const Vec3 out = inlet.next(kDt, 0.006);
    given += 0.5 * kDt * out.squaredNorm();
    followed += kDt * out;
    EXPECT_LE(given, sent.energy * (1.0 + 1e-12));
  }
  EXPECT_LT((followed - sent.integral).norm(), 1e-9);  // and nothing is lost in the end
}

}  // namespace
}  // namespace palpate::network_wall_test
