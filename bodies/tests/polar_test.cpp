#include "palpate/bodies/polar.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace palpate::polar_test {
namespace {

Mat3 random_matrix(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> uniform(-size, size);
  Mat3 m;
  for (double& x : m.reshaped()) x = uniform(random);
  return m;
}

TEST(Polar, IsAProperRotationThatSymmetrisesAnyMatrix) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const Mat3 F = random_matrix(random, std::pow(10.0, trial % 13 - 6));
    const Mat3 R = compute_rotation(F), S = R.transpose() * F;
    EXPECT_LT((R.transpose() * R - Mat3::Identity()).norm(), 1e-14);
    EXPECT_GT(R.determinant(), 0.0);
    EXPECT_LT((S - S.transpose()).norm(), 1e-14 * F.norm() * 10.0);
  }
}

// Of all rotations the polar one is nearest: the signed singular values that it leaves sum to the most.
TEST(Polar, AgreesWithTheSignedSingularValues) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const Mat3 F = random_matrix(random, 1.0);
    const Eigen::JacobiSVD<Mat3> svd(F);
    Vec3 sigma = svd.singularValues();
    if (F.determinant() < 0.0) sigma[2] = -sigma[2];
    EXPECT_NEAR((compute_rotation(F).transpose() * F).trace(), sigma.sum(), 1e-13);
    const SignedSvd signed_svd = compute_signed_svd(F);
    EXPECT_LT((signed_svd.U * signed_svd.sigma.asDiagonal() * signed_svd.V.transpose() - F).norm(), 1e-13);
    EXPECT_NEAR(signed_svd.U.determinant(), 1.0, 1e-13);
    EXPECT_NEAR(signed_svd.V.determinant(), 1.0, 1e-13);
    EXPECT_NEAR(signed_svd.sigma[0], sigma[2], 1e-13);
  }
}

TEST(Polar, DegenerateMatricesGiveSomeRotation) {
  const Mat3 degenerate[] = {Mat3::Zero(),
                             Mat3(-Mat3::Identity()),
                             Mat3(Vec3(1.0, 2.0, 3.0) * Vec3(-1.0, 0.5, 2.0).transpose()),
                             Mat3(Vec3(1.0, 1.0, 0.0).asDiagonal()),
                             Mat3(Vec3(1.0, 1.0, -1.0).asDiagonal()),
                             Mat3(1e-300 * Mat3::Identity()),
                             Mat3(1e200 * Mat3::Identity())};
  for (const Mat3& F : degenerate) {
    const Mat3 R = compute_rotation(F);
    ASSERT_TRUE(R.allFinite());
    EXPECT_LT((R.transpose() * R - Mat3::Identity()).norm(), 1e-14);
    EXPECT_GT(R.determinant(), 0.0);
  }
}

TEST(Polar, IsContinuousWhereAnElementTurnsInsideOut) {
  const Mat3 before = compute_rotation(Vec3(1.0, 0.9, 1e-9).asDiagonal());
  const Mat3 after = compute_rotation(Vec3(1.0, 0.9, -1e-9).asDiagonal());
  EXPECT_LT((before - after).norm(), 1e-8);
}

}  // namespace
}  // namespace palpate::polar_test
