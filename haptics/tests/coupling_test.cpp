#include "palpate/haptics/coupling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "palpate/core/error.h"

namespace palpate::coupling_test {
namespace {

TEST(MaxPassiveStiffness, SolvesColgateAndSchenkelForK) {
  const double b = 3.0, B = -1.0, T = 1e-3;
  const double K = max_passive_stiffness(b, B, T);
  EXPECT_NEAR(b, K * T / 2.0 + std::abs(B), 1e-15);
  EXPECT_EQ(K, 4000.0);
  EXPECT_EQ(max_passive_stiffness(1.0, 1.0, T), 0.0);
  EXPECT_EQ(max_passive_stiffness(1.0, 2.0, T), 0.0);
  EXPECT_EQ(max_passive_stiffness(std::numeric_limits<double>::infinity(), 1.0, T),
            std::numeric_limits<double>::infinity());
}

TEST(CouplingWarning, NamesWhichLimitIsPassed) {
  DeviceInfo device;
  device.name = "test device";
  device.damping = 1.0;
  VirtualCouplingSettings s;
  s.damping = 0.5;
  s.stiffness = 999.0;  // below 2 (1 − 0.5)/1 ms = 1000
  EXPECT_FALSE(find_coupling_warning(s, device, 1e-3).has_value());
  s.stiffness = 1001.0;
  EXPECT_NE(find_coupling_warning(s, device, 1e-3).value().find("1000 N/m stay passive"), std::string::npos);
  EXPECT_FALSE(find_coupling_warning(s, device, 0.5e-3).has_value());
  device.max_stiffness = 500.0;
  EXPECT_NE(find_coupling_warning(s, device, 1e-3).value().find("at most 500 N/m"), std::string::npos);
  device.max_stiffness = 5000.0;
  s.damping = 1.0;
  EXPECT_NE(find_coupling_warning(s, device, 1e-3).value().find("lower coupling.damping"), std::string::npos);
}

TEST(VirtualCoupling, NegativeStiffnessIsRefused) {
  VirtualCouplingSettings s;
  s.stiffness = -1.0;
  EXPECT_THROW(validate(s), InputError);
}

}  // namespace
}  // namespace palpate::coupling_test
