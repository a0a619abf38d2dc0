#include "palpate/devices/driver_device.h"

#include <gtest/gtest.h>

#include "fake_protocol.h"
#include "palpate/core/error.h"
#include "palpate/devices/driver.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::driver_device_test {
namespace {

using testing::FakeProtocol;
using testing::FakeWire;
using testing::push_x;
using testing::wait_for;

constexpr std::int64_t kMs = 1'000'000;

HandleSample sample_at(std::int64_t ns) {
  HandleSample s;
  s.at_ns = ns;
  return s;
}

TEST(DeviceExchange, WrenchPassesWhileItsConnectionStandsAndItIsYoung) {
  DeviceExchange exchange({});
  HandleSample s;
  exchange.connect();
  exchange.publish(sample_at(0));
  ASSERT_TRUE(exchange.take(s, 1 * kMs));
  exchange.give(push_x(2.0), 1 * kMs);
  EXPECT_EQ(exchange.wrench_to_send(2 * kMs).force.x(), 2.0);
  EXPECT_EQ(exchange.wrench_to_send(21 * kMs).force.x(), 2.0);
  EXPECT_EQ(exchange.wrench_to_send(22 * kMs).force.x(), 0.0);
}

TEST(DeviceExchange, WrenchOfBeforeALossIsNeverSentAgain) {
  DeviceExchange exchange({});
  HandleSample s;
  exchange.connect();
  exchange.publish(sample_at(0));
  ASSERT_TRUE(exchange.take(s, 0));
  exchange.give(push_x(2.0), 0);
  exchange.disconnect(Loss::kClosed);
  EXPECT_EQ(exchange.wrench_to_send(1).force.x(), 0.0);
  exchange.connect();
  EXPECT_EQ(exchange.wrench_to_send(2).force.x(), 0.0);
  exchange.publish(sample_at(2));
  EXPECT_EQ(exchange.wrench_to_send(3).force.x(), 0.0);
  // What the fast loop computed from a sample of before the loss does not count either, though it is given after it.
  exchange.give(push_x(3.0), 3);
  EXPECT_EQ(exchange.wrench_to_send(4).force.x(), 0.0);
  ASSERT_TRUE(exchange.take(s, 5));
  exchange.give(push_x(4.0), 5);
  EXPECT_EQ(exchange.wrench_to_send(6).force.x(), 4.0);
}

TEST(DeviceExchange, StaleSampleIsALossOnBothSides) {
  DeviceExchange exchange({});
  HandleSample s;
  exchange.connect();
  exchange.publish(sample_at(0));
  EXPECT_TRUE(exchange.take(s, 30 * kMs));
  EXPECT_FALSE(exchange.take(s, 31 * kMs));
  exchange.give(push_x(2.0), 31 * kMs);
  EXPECT_EQ(exchange.wrench_to_send(31 * kMs).force.x(), 0.0);
}

TEST(DeviceExchange, SampleOfAnEndedConnectionIsNotTaken) {
  DeviceExchange exchange({});
  HandleSample s;
  exchange.connect();
  exchange.publish(sample_at(0));
  exchange.disconnect(Loss::kSilent);
  EXPECT_FALSE(exchange.take(s, 0));
  exchange.connect();
  EXPECT_FALSE(exchange.take(s, 0));
  exchange.publish(sample_at(1));
  EXPECT_TRUE(exchange.take(s, 1));
}

TEST(DeviceExchange, BadSettingsAreRefusedByName) {
  ExchangeSettings s;
  s.stale_after = 2.0;
  try {
    DeviceExchange exchange(s);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("stale_after = 2"), std::string::npos) << e.what();
  }
}

TEST(DriverDevice, OpeningNamesWhatTheDriverSaidWhenNobodyAnswers) {
  FakeWire wire;
  wire.plugged = false;
  DriverDeviceSettings settings;
  settings.open_timeout = 0.05;
  try {
    DriverDevice device(std::make_unique<FakeProtocol>(wire), settings);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "the device does not answer: the cable is out");
  }
}

TEST(DriverDevice, LosesTheForceWithTheCableAndComesBackByItself) {
  FakeWire wire;
  DriverDeviceSettings settings;
  settings.retry_pause = 0.005;
  DriverDevice device(std::make_unique<FakeProtocol>(wire), settings);
  double t = 0.0;
  const auto tick = [&](double force) {
    const DeviceState s = device.read(t += 1e-3);
    device.write(push_x(force));
    return s;
  };
  EXPECT_TRUE(wait_for([&] { return tick(2.0).present && wire.force == 2.0; }));
  wire.plugged = false;
  EXPECT_TRUE(wait_for([&] { return !tick(2.0).present; }));
  EXPECT_EQ(wire.force, 0.0);
  EXPECT_EQ(device.loss(), Loss::kClosed);
  // From here on the fast loop is silent: what it wrote before must not come back with the device.
  wire.plugged = true;
  EXPECT_TRUE(wait_for([&] { return device.connections() == 2; }));
  for (int i = 0; i < 20; ++i) {
    sleep_until_ns(monotonic_ns() + kMs);
    EXPECT_EQ(wire.force, 0.0);
  }
  EXPECT_TRUE(wait_for([&] { return tick(1.0).present && wire.force == 1.0; }));
}

TEST(DriverDevice, FastLoopThatStandsStillLetsGoOfTheHand) {
  FakeWire wire;
  DriverDevice device(std::make_unique<FakeProtocol>(wire), {});
  EXPECT_TRUE(wait_for([&] {
    device.read(0.0);
    device.write(push_x(2.0));
    return wire.force == 2.0;
  }));
  EXPECT_TRUE(wait_for([&] { return wire.force == 0.0; }, 0.2));
}

TEST(DriverDevice, TimesOfSamplesNeverGoBackAndNeverComeFromAfterNow) {
  FakeWire wire;
  DriverDevice device(std::make_unique<FakeProtocol>(wire), {});
  double last = 0.0;
  for (int tick = 0; tick < 200; ++tick) {
    const double now = 1e-3 * tick;
    const DeviceState s = device.read(now);
    EXPECT_GE(s.time, last);
    EXPECT_LE(s.time, now);
    last = s.time;
    if (tick % 7 == 0) sleep_until_ns(monotonic_ns() + 2 * kMs);
  }
}

TEST(DriverDevice, TickAllocatesLocksAndWaitsForNothing) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "the sanitizer owns malloc: nothing is counted";
  FakeWire wire;
  DriverDevice device(std::make_unique<FakeProtocol>(wire), {});
  const SafeWrench wrench = push_x(1.0);
  const testing::RealtimeGuard guard;
  for (int tick = 0; tick < 1000; ++tick) {
    if (tick == 500) wire.plugged = false;
    device.read(1e-3 * tick);
    device.write(wrench);
  }
  EXPECT_EQ(guard.violations().total(), 0);
}

TEST(Drivers, UnknownNameIsAnsweredWithThoseThatThereAre) {
  EXPECT_THROW(find_driver("hapley"), InputError);
  EXPECT_EQ(split_device_name("haply:127.0.0.1:10001").name, "haply");
  EXPECT_EQ(split_device_name("haply:127.0.0.1:10001").where, "127.0.0.1:10001");
  EXPECT_EQ(split_device_name("haply").where, "");
}

}  // namespace
}  // namespace palpate::driver_device_test
