#include "palpate/haptics/coupling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "palpate/core/error.h"

namespace palpate::coupling_test {
namespace {

TEST(VirtualCoupling, PullsTheDeviceTowardsTheTool_AndTheToolBack) {
  VirtualCouplingSettings s;
  s.stiffness = 500.0;
  s.damping = 2.0;
  s.rotational_stiffness = 0.3;
  s.rotational_damping = 0.01;
  CouplingEnd device;
  CouplingEnd tool;
  device.pose.position = Vec3(0.01, 0.0, 0.0);
  device.velocity.linear = Vec3(0.0, 0.1, 0.0);
  device.velocity.angular = Vec3(0.0, 0.0, 2.0);
  tool.pose.position = Vec3(0.03, 0.0, 0.0);
  tool.pose.rotation = rotation_from_vector(Vec3(0.4, 0.0, 0.0));
  const CouplingWrenches w = coupling_wrenches(s, device, tool);
  // k·0.02 m along x, −b·0.1 m/s along y; k_r·0.4 rad about x, −b_r·2 rad/s about z.
  EXPECT_LT((w.on_device.force - Vec3(10.0, -0.2, 0.0)).norm(), 1e-13);
  EXPECT_LT((w.on_device.torque - Vec3(0.12, 0.0, -0.02)).norm(), 1e-14);
  EXPECT_EQ(w.on_tool.force, Vec3(-w.on_device.force));
  EXPECT_EQ(w.on_tool.torque, Vec3(-w.on_device.torque));
}

TEST(VirtualCoupling, TorqueIsTheGradientOfItsEnergy) {
  VirtualCouplingSettings s;
  s.rotational_damping = 0.0;
  CouplingEnd device;
  CouplingEnd tool;
  device.pose.rotation = rotation_from_vector(Vec3(0.3, -0.2, 0.5));
  tool.pose.rotation = rotation_from_vector(Vec3(-0.4, 0.6, 0.1));
  const auto energy = [&](const Vec3& turn) {
    const Quat q = rotation_from_vector(turn) * device.pose.rotation;
    return 0.5 * s.rotational_stiffness * rotation_vector(tool.pose.rotation * q.conjugate()).squaredNorm();
  };
  const Wrench w = coupling_wrenches(s, device, tool).on_device;
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3 h = 1e-5 * Vec3::Unit(axis);
    // Central difference: truncation h² ~ 1e-10, rounding 1e-16/h ~ 1e-11.
    EXPECT_NEAR(w.torque[axis], -(energy(h) - energy(-h)) / 2e-5, 1e-9);
  }
}

TEST(VirtualCoupling, WithoutRotationalTerms_GivesNoTorque) {
  VirtualCouplingSettings s;
  s.rotational_stiffness = s.rotational_damping = 0.0;
  CouplingEnd device;
  CouplingEnd tool;
  tool.pose.rotation = rotation_from_vector(Vec3(1.0, 0.0, 0.0));
  tool.velocity.angular = Vec3(0.0, 3.0, 0.0);
  EXPECT_EQ(coupling_wrenches(s, device, tool).on_device.torque, Vec3(0.0, 0.0, 0.0));
}

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
