#include "palpate/linear/block_matrix.h"

#include <gtest/gtest.h>

#include "palpate/core/error.h"
#include "palpate/linear/block_rows.h"
#include "palpate/testing/realtime_guard.h"
#include "random_systems.h"

namespace palpate::block_matrix_test {
namespace {

using reference::make_random_groups;
using reference::random_mat3;
using reference::random_matrix;
using reference::System;

/// Sum of at most n products of numbers below `size`: rounding error below n ε size, twice for both sides.
double sum_tolerance(int n, double size) {
  return 2 * n * 0x1p-52 * size;
}

TEST(BlockPattern, HoldsTheDiagonalAndThePairsOfEachGroup) {
  BlockGroups groups;
  groups.add(std::vector<int>{4, 1, -1});
  groups.add(std::vector<int>{1, 2});
  const BlockPattern pattern(6, groups);
  EXPECT_EQ(pattern.blocks(), 6);
  EXPECT_EQ(pattern.scalars(), 18);
  EXPECT_EQ(pattern.stored(), 8);
  EXPECT_EQ(pattern.groups(), 2);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      const bool coupled = i == j || (i == 4 && j == 1) || (i == 2 && j == 1);
      EXPECT_EQ(pattern.find(i, j) >= 0, coupled) << i << " " << j;
    }
    EXPECT_EQ(pattern.find(i, i), pattern.column_begin(i)) << "diagonal first";
  }
  // Pairs (0,0) (1,0) (1,1) (2,0) (2,1) (2,2): block 4 comes before block 1, so the pair (1, 0) is stored transposed.
  const auto slots = pattern.slots(0);
  ASSERT_EQ(slots.size(), 6u);
  EXPECT_EQ(slots[1].index, pattern.find(4, 1));
  EXPECT_TRUE(slots[1].transposed);
  EXPECT_FALSE(slots[0].transposed);
  for (int pair = 3; pair < 6; ++pair) EXPECT_EQ(slots[pair].index, -1) << "fixed";
}

TEST(BlockPattern, RefusesGroupsThatNameNoBlockOrOneTwice) {
  BlockGroups outside, twice, fixed;
  outside.add(std::vector<int>{0, 3});
  twice.add(std::vector<int>{1, 1});
  fixed.add(std::vector<int>{-1, -1, 0});
  EXPECT_THROW(BlockPattern(3, outside), InputError);
  EXPECT_THROW(BlockPattern(3, twice), InputError);
  EXPECT_NO_THROW(BlockPattern(3, fixed));
}

TEST(BlockMatrix, ManyColumnsAreMultipliedAsTheDenseMatrixDoes) {
  std::mt19937_64 random(5);
  for (const int columns : {1, 7, 8, 19}) {
    const System system = reference::make_random_system(30, 40, random);
    const int n = system.pattern->scalars();
    const Eigen::MatrixXd X = random_matrix(n, columns, random), dense = system.matrix.make_dense();
    Eigen::MatrixXd Y(n, columns);
    system.matrix.multiply_columns(X, Y);
    EXPECT_LE((Y - dense * X).cwiseAbs().maxCoeff(), sum_tolerance(n, dense.cwiseAbs().maxCoeff())) << columns;
  }
}

TEST(BlockMatrix, AssemblesTheSumOfElementMatrices) {
  std::mt19937_64 random(1);
  const int n = 20;
  const BlockGroups groups = make_random_groups(n, 30, random);
  BlockMatrix matrix(std::make_shared<const BlockPattern>(n, groups));
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(3 * n, 3 * n);
  for (int e = 0; e < groups.size(); ++e) {
    const int size = groups.begin[e + 1] - groups.begin[e];
    const Eigen::MatrixXd half = random_matrix(3 * size, 3 * size, random), k = half + half.transpose();
    int pair = 0;
    for (int a = 0; a < size; ++a) {
      for (int b = 0; b < size; ++b) {
        const int i = groups.blocks[groups.begin[e] + a], j = groups.blocks[groups.begin[e] + b];
        if (i >= 0 && j >= 0) expected.block<3, 3>(3 * i, 3 * j) += k.block<3, 3>(3 * a, 3 * b);
        if (b <= a) matrix.add(matrix.pattern().slots(e)[pair++], k.block<3, 3>(3 * a, 3 * b));
      }
    }
  }
  // The same numbers are added in the same order.
  EXPECT_EQ(matrix.make_dense(), expected);
}

TEST(BlockMatrix, MultipliesAsTheDenseMatrixDoes) {
  std::mt19937_64 random(2);
  const System system = reference::make_random_system(50, 100, random);
  const Eigen::MatrixXd dense = system.matrix.make_dense();
  const Eigen::VectorXd x = random_matrix(150, 1, random);
  Eigen::VectorXd y(150);
  system.matrix.multiply(x, y);
  const Eigen::VectorXd expected = dense * x;
  EXPECT_LT((y - expected).cwiseAbs().maxCoeff(), sum_tolerance(150, dense.cwiseAbs().maxCoeff()));
}

TEST(BlockMatrix, SystemsOfSeveralStepsComeFromOnePass) {
  std::mt19937_64 random(3);
  System mass = reference::make_random_system(12, 10, random);
  BlockMatrix stiffness(mass.pattern);
  reference::fill_random(stiffness, mass.groups, 0.0, random);
  for (const double h : {0.001, 0.02}) {
    BlockMatrix a = mass.matrix;
    a.scale(1 / h);
    a.add_scaled(h, stiffness);
    const Eigen::MatrixXd expected = mass.matrix.make_dense() / h + h * stiffness.make_dense();
    // Division against multiplication by the rounded reciprocal: one more rounding.
    EXPECT_LT((a.make_dense() - expected).cwiseAbs().maxCoeff(), 2 * 0x1p-52 * expected.cwiseAbs().maxCoeff());
    a.set_zero();
    EXPECT_EQ(a.make_dense(), Eigen::MatrixXd::Zero(36, 36));
  }
}

TEST(BlockRows, MultipliesAsTheDenseMatrixDoes) {
  std::mt19937_64 random(5);
  const BlockRows J = reference::make_random_rows(20, 9, 5, random);
  const Eigen::MatrixXd dense = reference::make_dense(J, 9);
  Eigen::VectorXd x = random_matrix(27, 1, random), y = random_matrix(20, 1, random);
  const Eigen::VectorXd expected_y = y + 0.5 * dense * x;
  J.add_product(0.5, x, y);
  EXPECT_LT((y - expected_y).cwiseAbs().maxCoeff(), sum_tolerance(20, 3.0));
  const Eigen::VectorXd expected_x = x - 2.0 * dense.transpose() * y;
  J.add_transposed_product(-2.0, y, x);
  EXPECT_LT((x - expected_x).cwiseAbs().maxCoeff(), sum_tolerance(40, 20.0));
}

TEST(BlockRows, RefillsWithoutAllocating) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  BlockRows J;
  J.reserve(30, 90);
  const testing::RealtimeGuard guard;
  for (int round = 0; round < 3; ++round) {
    J.clear();
    for (int r = 0; r < 30; ++r) {
      J.begin_row();
      for (int e = 0; e < 3; ++e) J.add(e, Vec3::UnitX());
    }
  }
  EXPECT_EQ(guard.violations().total(), 0);
  EXPECT_EQ(J.rows(), 30);
  EXPECT_EQ(J.entries(), 90);
}

}  // namespace
}  // namespace palpate::block_matrix_test
