#include "palpate/linear/block_cholesky.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <thread>

#include "palpate/core/error.h"
#include "palpate/testing/realtime_guard.h"
#include "random_systems.h"

namespace palpate {
namespace {

using reference::make_grid_laplacian;
using reference::make_random_rows;
using reference::make_random_system;
using reference::random_matrix;
using reference::System;

double norm(const Eigen::MatrixXd& m) {
  return m.cwiseAbs().maxCoeff();
}

/// Random patterns from one block to fronts of several strips and several column blocks, and grids.
std::vector<System> make_systems() {
  std::mt19937_64 random(1);
  std::vector<System> systems;
  for (const auto& [blocks, groups] :
       {std::pair(1, 1), {2, 1}, {3, 0}, {4, 9}, {5, 4}, {17, 12}, {40, 25}, {60, 200}, {120, 90}, {150, 2000}}) {
    systems.push_back(make_random_system(blocks, groups, random));
  }
  for (const auto& [x, y, z] : {std::tuple(30, 1, 1), {9, 8, 1}, {5, 5, 5}, {8, 7, 6}}) {
    systems.push_back(make_grid_laplacian(x, y, z, 0.05));
    auto cells = reference::make_grid_groups(x, y, z);
    systems.push_back(reference::make_system(x * y * z, std::move(cells), 0.05, random));
  }
  return systems;
}

TEST(BlockCholesky, SolvesAsTheDenseFactorDoes) {
  std::mt19937_64 random(2);
  for (const System& system : make_systems()) {
    const int n = system.pattern->scalars();
    const Eigen::MatrixXd dense = system.matrix.make_dense();
    const Eigen::LLT<Eigen::MatrixXd> expected(dense);
    BlockCholesky cholesky(system.pattern);
    ASSERT_TRUE(cholesky.factor(system.matrix));
    EXPECT_EQ(cholesky.failed_block(), -1);
    EXPECT_EQ(cholesky.shift(), 0.0);
    for (const int columns : {1, 2, 3, 11, 12, 13, 30}) {
      const Eigen::MatrixXd b = random_matrix(n, columns, random);
      Eigen::MatrixXd x = b;
      cholesky.solve(x);
      // Cholesky is backward stable: the residual is below c n ε |A| |x| with c about one (Higham 2002, thm 10.4).
      const double bound = 4 * n * 0x1p-53 * norm(dense) * n * norm(x);
      EXPECT_LT(norm(dense * x - b), bound) << "n " << n << ", " << columns << " columns";
      EXPECT_LT(norm(x - expected.solve(b)) / norm(x), 1e-9);
    }
  }
}

TEST(BlockCholesky, ComplianceIsThatOfTheDenseInverse) {
  std::mt19937_64 random(3);
  for (const System& system : make_systems()) {
    const int blocks = system.pattern->blocks();
    BlockCholesky cholesky(system.pattern, {.max_rows = 90});
    ASSERT_TRUE(cholesky.factor(system.matrix));
    const Eigen::MatrixXd inverse = system.matrix.make_dense().inverse();
    for (const int rows : {0, 1, 3, 12, 13, 90}) {
      for (const double h : {0.001, 0.02, 1.0}) {
        const BlockRows J = make_random_rows(rows, blocks, 4, random);
        const Eigen::MatrixXd dense = reference::make_dense(J, blocks);
        const Eigen::MatrixXd start = random_matrix(rows, rows, random), before = start + start.transpose();
        Eigen::MatrixXd W = before;
        ASSERT_TRUE(cholesky.add_compliance(J, h, W));
        if (rows == 0) continue;
        EXPECT_EQ(W, W.transpose()) << "exactly symmetric";
        const Eigen::MatrixXd expected = h * dense * inverse * dense.transpose();
        // Condition numbers are below 10⁵, so both inverses are good to 10⁵ · n · ε < 10⁻⁹; adding to `before`, of
        // size 2, costs another ε.
        EXPECT_LT(norm(W - before - expected), 1e-9 * norm(expected) + 4 * 0x1p-52) << blocks << " blocks";
      }
    }
  }
}

}  // namespace
}  // namespace palpate
