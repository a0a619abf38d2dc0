#include <gtest/gtest.h>

#include <map>
#include <random>

#include "fake_protocol.h"
#include "palpate/devices/engine_side.h"
#include "palpate/devices/hand_side.h"
#include "palpate/haptics/passivity.h"
#include "palpate/haptics/simulated.h"

// A hand that presses against a stiff wall on the other side of a slow network, or turns against a stiff stop, in
// virtual time: the protocol's both ends and the passivity layer are the code that runs; only sockets and clocks are
// not.
namespace palpate::network_wall_test {
namespace {

constexpr double kDt = 1e-3;
constexpr double kWall = 2000.0;  // [N/m]; for y < 0
constexpr double kStop = 3.0;     // [N·m/rad]; for a turn about z below 0

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
  double swing = 0.0;        // of y in the last second, peak to peak [m]; of the turn about z [rad]
  double depth = 0.0;        // of the hand, in the last second, on average [m, rad]
  double wall_force = 0.0;   // likewise [N, N·m]
  double hand_force = 0.0;   // likewise [N, N·m]
  double peak_force = 0.0;   // at the motors [N, N·m]
};

/// Push: from 2 cm above the wall to 8 mm behind it within 0.3 s, and there for the rest of 6 s. Turn: from 0.5 rad
/// before the stop to 0.2 rad behind it.
enum class Press { kPush, kTurn };

double along(Press what, const Pose& pose) {
  return what == Press::kPush ? pose.position.y() : rotation_vector(pose.rotation).z();
}
double along(Press what, const Wrench& w) {
  return what == Press::kPush ? w.force.y() : w.torque.z();
}
Wrench push_back(Press what, double gap) {
  if (what == Press::kPush) return {Vec3(0.0, gap < 0.0 ? -kWall * gap : 0.0, 0.0), Vec3::Zero()};
  return {Vec3::Zero(), Vec3(0.0, 0.0, gap < 0.0 ? -kStop * gap : 0.0)};
}

SimulatedDevice make_presser(Press what) {
  SimulatedDeviceSettings device = simulated_device_preset("omega");
  device.encoder_resolution = 1e-5;
  KeyframePathSettings path;
  path.times = {0.0, 0.5, 0.8};
  if (what == Press::kPush) {
    path.positions = {Vec3(0, 0.02, 0), Vec3(0, 0.02, 0), Vec3(0, -0.008, 0)};
  } else {
    device.rotational_inertia = 5e-5;
    device.rotational_damping = 0.001;
    path.positions.assign(3, Vec3::Zero());
    for (const double turn : {0.5, 0.5, -0.2}) path.rotations.push_back(rotation_from_vector(Vec3(0, 0, turn)));
  }
  return SimulatedDevice(device, make_path(std::move(path)));
}

Outcome press(const Network& network, std::optional<WaveSettings> waves, unsigned seed, Press what = Press::kPush) {
  SimulatedDevice hand = make_presser(what);
  HandSideSettings settings;
  settings.description.max_force = 12.0;
  settings.description.max_torque = 0.4;
  settings.waves = waves;
  if (waves && what == Press::kTurn) settings.turn_waves = kTurnWaves;
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
      const SafeWrench sent = safety.apply(push_back(what, along(what, engine.pose().pose)), 0.0);
      down.send(engine.make_wrench(sent.wrench(), now), now);
      if (tick >= 5000) out.wall_force += 1e-3 * along(what, sent.wrench());
    }
    const DeviceState state = hand.read(kDt * tick);
    energy.observe(hand.true_pose());
    const HandPose pose{state.pose, state.velocity, 0, 0.0, 0.0, {}, {}};
    down.deliver(now, [&](const HandPacket& p) { hand_side.receive(p, now); });
    up.send(hand_side.make_packet(pose, now), now);
    const Wrench given = hand_side.wrench(pose, kDt, now);
    hand.write(testing::safe(given));
    energy.hold(given);
    out.peak_force = std::max(out.peak_force, what == Press::kPush ? given.force.norm() : given.torque.norm());
    if (tick >= 5000) {
      const double y = along(what, hand.true_pose());
      low = std::min(low, y);
      high = std::max(high, y);
      out.depth -= 1e-3 * y;
      out.hand_force += 1e-3 * along(what, given);
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

// The claims of the wall, for a stop of 3 N·m/rad that a light grip (0.5 N·m/rad) turns against.
TEST(NetworkStop, StiffStopTwentyMillisecondsAwayStandsStillAndGivesTheHandNothing) {
  double energy = 0.0, swing = 0.0, depth = 0.0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Outcome with = press({}, WaveSettings{}, seed, Press::kTurn);
    EXPECT_LT(with.peak_energy, 1e-3) << seed;
    EXPECT_LT(with.swing, 0.01) << seed;
    EXPECT_NEAR(with.hand_force, with.wall_force, 0.02 * with.wall_force) << seed;
    EXPECT_NEAR(with.hand_force, 0.5 * (0.2 - with.depth), 0.02 * with.hand_force) << seed;
    EXPECT_GT(with.hand_force, 0.02) << seed;
    EXPECT_LE(with.peak_force, 0.4 + 1e-9) << seed;
    energy = std::max(energy, with.peak_energy);
    swing = std::max(swing, with.swing);
    depth = std::max(depth, with.depth);
  }
  RecordProperty("largest_energy_mJ", std::to_string(1e3 * energy));
  RecordProperty("largest_swing_mrad", std::to_string(1e3 * swing));
  RecordProperty("largest_depth_mrad", std::to_string(1e3 * depth));
}

TEST(NetworkStop, WithoutTheLayerItSwings) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const Outcome without = press({}, std::nullopt, seed, Press::kTurn);
    EXPECT_GT(without.swing, 0.1) << seed;
    EXPECT_GT(without.peak_energy, 0.01) << seed;
  }
}

TEST(NetworkStop, EvenABadNetworkGivesTheHandNothing) {
  for (const Network& network : {Network{0.05, 0.01, 0.05}, Network{0.03, 0.1, 0.1}, Network{0.02, 0.0, 0.5}}) {
    const Outcome with = press(network, WaveSettings{}, 3, Press::kTurn);
    EXPECT_LT(with.peak_energy, 1e-3) << network.jitter;
  }
}

/// Both ends of a hand that turns, and the network between them.
struct TurningLine {
  HandSide hand{settings(), 7};
  EngineSide engine{std::nullopt};
  Pipe up, down;
  std::int64_t now = 1'000'000'000;

  TurningLine(const Network& network, unsigned seed) : up(network, seed), down(network, seed + 1) {}
  static HandSideSettings settings() {
    HandSideSettings s;
    s.description.max_force = 12.0;
    s.description.max_torque = 10.0;
    s.waves.emplace();
    s.turn_waves = kTurnWaves;
    return s;
  }
  /// The hand is there and turns so; the scene asks for `torque`. Returns what the hand is given.
  Vec3 tick(const Quat& rotation, const Vec3& angular, const Vec3& torque) {
    now += 1'000'000;
    up.deliver(now, [&](const HandPacket& p) {
      if (engine.receive(p, 99, now) == EngineSide::Heard::kHello) down.send(engine.answer(), now);
    });
    if (engine.has_session()) down.send(engine.make_wrench({Vec3::Zero(), torque}, now), now);
    down.deliver(now, [&](const HandPacket& p) { hand.receive(p, now); });
    const HandPose pose{{Vec3::Zero(), rotation}, {Vec3::Zero(), angular}, 0, 0.0, 0.0, {}, {}};
    up.send(hand.make_packet(pose, now), now);
    return hand.wrench(pose, kDt, now).torque;
  }
};

// However hand and scene turn and push, the line gives the two together no more than it got. The rotation at the
// scene's end counts as it really goes, with what is put right of it.
TEST(TurnWaves, HandAndSceneTogetherGetNoMoreThanTheyGave) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    TurningLine line({0.02, 0.01, 0.1}, seed);
    Quat q = Quat::Identity();
    Vec3 angular = Vec3::Zero(), torque = Vec3::Zero();
    double given = 0.0;  // to both [J]
    double most = 0.0, throughput = 0.0, farthest = 0.0;
    for (int tick = 0; tick < 5000; ++tick) {
      // Both wander about, slowly enough for the ticks.
      angular = 0.995 * angular + 0.05 * Vec3(normal(random), normal(random), normal(random));
      if (tick % 50 == 0) torque = 0.01 * Vec3(normal(random), normal(random), normal(random));
      const Quat before = line.engine.pose().pose.rotation;
      const bool there = line.engine.has_session();
      const Vec3 felt = line.tick(q, angular, torque);
      q = (rotation_from_vector(kDt * angular) * q).normalized();
      // What is put right beside what the line brings takes energy from the scene, never gives it any.
      if (there) {
        const Quat brought = rotation_from_vector(kDt * line.engine.pose().velocity.angular) * before;
        const Vec3 led = rotation_vector(line.engine.pose().pose.rotation * brought.conjugate());
        EXPECT_GE(led.dot(torque), -1e-14) << seed << " " << tick;
        farthest = std::max(farthest, led.norm());
      }
      const double to_hand = kDt * felt.dot(angular);
      const double to_scene =
          there ? -torque.dot(rotation_vector(line.engine.pose().pose.rotation * before.conjugate())) : 0.0;
      given += to_hand + to_scene;
      throughput += std::abs(to_hand) + std::abs(to_scene);
      most = std::max(most, given);
    }
    EXPECT_LT(most, 1e-5 * throughput) << seed;  // roundings of turns that are added as vectors
    EXPECT_GT(throughput, 1e-3) << seed;
    EXPECT_GT(farthest, 1e-6) << seed;  // something was put right
  }
}

// Turns about changing axes do not add up as vectors; without being put right the tool's rotation would go astray.
TEST(TurnWaves, RotationOfTheToolDoesNotGoAstray) {
  TurningLine line({0.02, 0.004, 0.05}, 3);
  Quat q = Quat::Identity();
  for (int tick = 0; tick < 20000; ++tick) {
    const double t = kDt * tick;
    // It begins at rest: a hand that moves when the line begins stays apart by what it moved on the way of the first
    // wave. The line rings between a hand that nothing moves and a tool that nothing holds; each way of 26 ms damps it
    // by a follower of 6 ms, to 1e-3 within three seconds.
    const Vec3 angular =
        t > 0.3 && t < 17.0 ? Vec3(3.0 * std::sin(7.0 * t), 3.0 * std::cos(7.0 * t), 0.5 * std::sin(t)) : Vec3::Zero();
    line.tick(q, angular, Vec3::Zero());
    q = (rotation_from_vector(kDt * angular) * q).normalized();
  }
  EXPECT_LT(rotation_vector(line.engine.pose().pose.rotation * q.conjugate()).norm(), 1e-3);
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
