#include "palpate/linear/conjugate_gradient.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "palpate/core/error.h"
#include "palpate/testing/realtime_guard.h"
#include "random_systems.h"

namespace palpate::conjugate_gradient_test {
namespace {

using reference::make_grid_laplacian;
using reference::random_matrix;
using reference::System;

constexpr Preconditioner kBoth[] = {Preconditioner::kBlockJacobi, Preconditioner::kIncompleteCholesky};

TEST(ConjugateGradient, SolvesAsTheDenseFactorDoes) {
  std::mt19937_64 random(1);
  std::vector<System> systems;
  systems.push_back(reference::make_random_system(1, 1, random));
  systems.push_back(reference::make_random_system(40, 60, random));
  systems.push_back(make_grid_laplacian(6, 5, 4, 0.05));
  for (const System& system : systems) {
    const Eigen::MatrixXd dense = system.matrix.make_dense();
    const Eigen::VectorXd b = random_matrix(system.pattern->scalars(), 1, random);
    for (const Preconditioner preconditioner : kBoth) {
      ConjugateGradient solver(system.pattern, {.preconditioner = preconditioner, .tolerance = 1e-10});
      ASSERT_TRUE(solver.prepare(system.matrix));
      Eigen::VectorXd x = Eigen::VectorXd::Zero(b.size());
      const ConjugateGradientResult result = solver.solve(system.matrix, b, x);
      EXPECT_TRUE(result.converged);
      // The residual of the recurrence drifts from the true one by rounding only, about ε · condition < 10⁻¹⁰.
      EXPECT_LT((b - dense * x).norm(), 2e-10 * b.norm());
      EXPECT_LE(result.residual, 1e-10);
    }
  }
}

// In exact arithmetic the method ends after as many steps as the preconditioned matrix has different eigenvalues, at
// most n; on small well-conditioned systems rounding adds none.
TEST(ConjugateGradient, EndsAfterAtMostAsManyStepsAsUnknowns) {
  std::mt19937_64 random(2);
  for (const int blocks : {1, 2, 5, 8}) {
    const System system =
        reference::make_system(blocks, reference::make_random_groups(blocks, 2 * blocks, random), 2.0, random);
    const Eigen::VectorXd b = random_matrix(3 * blocks, 1, random);
    for (const Preconditioner preconditioner : kBoth) {
      ConjugateGradient solver(system.pattern, {.preconditioner = preconditioner, .tolerance = 1e-9});
      ASSERT_TRUE(solver.prepare(system.matrix));
      Eigen::VectorXd x = Eigen::VectorXd::Zero(b.size());
      const ConjugateGradientResult result = solver.solve(system.matrix, b, x);
      EXPECT_TRUE(result.converged);
      EXPECT_LE(result.iterations, 3 * blocks);
    }
  }
}

// On a pattern without fill the incomplete factor is complete, and one step ends it: a chain, eliminated end to end.
TEST(ConjugateGradient, IncompleteFactorOfAChainIsExact) {
  std::mt19937_64 random(3);
  const System chain = make_grid_laplacian(50, 1, 1, 0.1);
  const Eigen::VectorXd b = random_matrix(150, 1, random);
  ConjugateGradient solver(chain.pattern, {.tolerance = 1e-10});
  ASSERT_TRUE(solver.prepare(chain.matrix));
  Eigen::VectorXd x = Eigen::VectorXd::Zero(150);
  EXPECT_EQ(solver.solve(chain.matrix, b, x).iterations, 1);
}

TEST(ConjugateGradient, IncompleteCholeskyNeedsFewerStepsThanJacobi) {
  std::mt19937_64 random(4);
  const System system = make_grid_laplacian(12, 12, 12, 1e-3);
  const Eigen::VectorXd b = random_matrix(system.pattern->scalars(), 1, random);
  int iterations[2];
  for (int i = 0; i < 2; ++i) {
    ConjugateGradient solver(system.pattern, {.preconditioner = kBoth[i]});
    ASSERT_TRUE(solver.prepare(system.matrix));
    Eigen::VectorXd x = Eigen::VectorXd::Zero(b.size());
    const ConjugateGradientResult result = solver.solve(system.matrix, b, x);
    EXPECT_TRUE(result.converged);
    iterations[i] = result.iterations;
  }
  // Both conditions grow alike with the grid; the incomplete factor divides it by a constant, so that about half the
  // steps do (Meijerink & van der Vorst 1977, tables).
  EXPECT_LT(iterations[1], 0.7 * iterations[0]);
}

TEST(ConjugateGradient, WarmStartSavesSteps) {
  std::mt19937_64 random(5);
  const System system = make_grid_laplacian(8, 8, 8, 0.01);
  const Eigen::VectorXd b = random_matrix(system.pattern->scalars(), 1, random);
  ConjugateGradient solver(system.pattern);
  ASSERT_TRUE(solver.prepare(system.matrix));
  Eigen::VectorXd x = Eigen::VectorXd::Zero(b.size());
  const int cold = solver.solve(system.matrix, b, x).iterations;
  EXPECT_EQ(solver.solve(system.matrix, b, x).iterations, 0) << "from the solution";
  x *= 1.001;
  EXPECT_LT(solver.solve(system.matrix, b, x).iterations, cold) << "from near it";
}

TEST(ConjugateGradient, SaysWhenItDidNotConverge) {
  std::mt19937_64 random(6);
  System system = make_grid_laplacian(8, 8, 8, 0.001);
  const Eigen::VectorXd b = random_matrix(system.pattern->scalars(), 1, random);
  ConjugateGradient solver(system.pattern, {.max_iterations = 3});
  ASSERT_TRUE(solver.prepare(system.matrix));
  Eigen::VectorXd x = Eigen::VectorXd::Zero(b.size());
  const ConjugateGradientResult result = solver.solve(system.matrix, b, x);
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.iterations, 3);
  EXPECT_GT(result.residual, 1e-8);

  system.matrix.diagonal(7)(1, 1) = -1.0;
  EXPECT_FALSE(solver.prepare(system.matrix));
  system.matrix.diagonal(7)(1, 1) = std::nan("");
  EXPECT_FALSE(solver.prepare(system.matrix));
}

TEST(ConjugateGradient, AllocatesNothingWhileSolving) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  std::mt19937_64 random(7);
  const System system = make_grid_laplacian(5, 5, 5, 0.01);
  const Eigen::VectorXd b = random_matrix(system.pattern->scalars(), 1, random);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(b.size());
  for (const Preconditioner preconditioner : kBoth) {
    ConjugateGradient solver(system.pattern, {.preconditioner = preconditioner});
    const testing::RealtimeGuard guard;
    solver.prepare(system.matrix);
    solver.solve(system.matrix, b, x);
    EXPECT_EQ(guard.violations().total(), 0);
  }
}

TEST(ConjugateGradient, RefusesSettingsOutOfRange) {
  const System system = make_grid_laplacian(2, 2, 2, 0.1);
  EXPECT_THROW(ConjugateGradient(system.pattern, {.tolerance = 0.0}), InputError);
  EXPECT_THROW(ConjugateGradient(system.pattern, {.tolerance = std::nan("")}), InputError);
  EXPECT_THROW(ConjugateGradient(system.pattern, {.max_iterations = 0}), InputError);
}

}  // namespace
}  // namespace palpate::conjugate_gradient_test
