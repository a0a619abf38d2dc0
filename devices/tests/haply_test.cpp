#include <gtest/gtest.h>

#include "benches.h"
#include "fake_protocol.h"
#include "palpate/core/error.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::haply_test {
namespace {

using testing::HaplyBench;
using testing::Touch;
using testing::wait_for;

TEST(Haply, BothSpellingsOfTheForceAreFound) {
  for (const bool later : {false, true}) {
    HaplyServiceSettings s;
    s.knows_values = !later;
    s.knows_vector = later;
    HaplyBench bench(Flaw::kNone, s);
    Touch touch(bench);
    touch.wrench.force = Vec3(0.5, 0.0, 0.0);
    EXPECT_TRUE(touch.run_until([&](const DeviceState&) { return bench.hand.felt().force.x() > 0.4; }, 1.0)) << later;
  }
}

TEST(Haply, DeviceThatIsNotReadyOrBrakesIsLostAndComesBack) {
  HaplyBench bench;
  Touch touch(bench);
  touch.wrench.force = Vec3(1.0, 0.0, 0.0);
  touch.run(0.05);
  bench.service->set_ready(false);
  EXPECT_TRUE(touch.run_until([](const DeviceState& s) { return !s.present; }, 0.2));
  EXPECT_EQ(touch.driver().loss(), Loss::kNotReady);
  bench.service->set_ready(true);
  EXPECT_TRUE(touch.run_until([](const DeviceState& s) { return s.present; }, 0.5));
  bench.service->brake();
  EXPECT_TRUE(touch.run_until([](const DeviceState& s) { return !s.present; }, 0.2));
  EXPECT_EQ(touch.driver().loss(), Loss::kBraked);
  touch.run(0.03);
  EXPECT_EQ(bench.hand.felt().force.norm(), 0.0);
  EXPECT_TRUE(touch.run_until([](const DeviceState& s) { return s.present; }, 3.0));
}

TEST(Haply, ExchangesAtOneKilohertzAtLeast) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer is no measure of speed";
  HaplyBench bench;
  Touch touch(bench);
  const std::uint64_t before = touch.driver().samples();
  touch.run(1.0);  // a thousand ticks of a thread that the computer treats no better
  EXPECT_GT(touch.driver().samples() - before, 1000u);
  touch.driver().close();
  const Histogram& h = touch.driver().round_trips();
  RecordProperty("round_trip_p50_us", std::to_string(1e-3 * h.compute_percentile_ns(0.5)));
  RecordProperty("round_trip_p99_us", std::to_string(1e-3 * h.compute_percentile_ns(0.99)));
  RecordProperty("round_trip_max_us", std::to_string(1e-3 * static_cast<double>(h.max_ns())));
}

TEST(Haply, ProbeTellsWhatIsMissing) {
  const Driver& driver = find_driver("haply");
  DriverOptions nobody;
  nobody.where = "127.0.0.1:9";
  const DriverProbe none = driver.probe(nobody);
  EXPECT_FALSE(none.usable());
  EXPECT_NE(none.steps.back().advice.find("haply-inverse-service"), std::string::npos);
  HaplyBench bench;
  DriverOptions there;
  there.where = bench.service->address();
  const DriverProbe found = driver.probe(there);
  EXPECT_TRUE(found.usable());
  ASSERT_EQ(found.devices.size(), 1u);
  EXPECT_EQ(found.devices[0].info.name, "Haply Inverse3 049D");
  EXPECT_THROW(open_device("haply:127.0.0.1:seven"), InputError);
}

}  // namespace
}  // namespace palpate::haply_test
