#include "palpate/linear/block_cholesky.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <thread>

#include "palpate/core/error.h"
#include "palpate/testing/dense_algebra.h"
#include "palpate/testing/realtime_guard.h"
#include "random_systems.h"

namespace palpate::block_cholesky_test {
namespace {

using reference::make_grid_laplacian;
using reference::make_random_rows;
using reference::make_random_system;
using reference::random_matrix;
using reference::System;

double norm(const Eigen::MatrixXd& m) {
  return m.cwiseAbs().maxCoeff();
}

/// Both precisions: T is what the factor is stored in.
template <typename T>
class BlockCholeskyOf : public ::testing::Test {
 protected:
  static constexpr double kRounding = std::numeric_limits<T>::epsilon() / 2;
  /// Of results against those of a dense inverse. Condition numbers are below 10⁵, and n below 1100: 10⁵ n ε < 10⁻⁸.
  /// In single precision that bound says nothing; with the diagonal scaled to one they are below 170, and
  /// 170 ε = 10⁻⁵ (SinglePrecisionErrsByTheScaledCondition).
  static constexpr double kClose = std::is_same_v<T, double> ? 1e-9 : 1e-5;
};
using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(BlockCholeskyOf, Scalars);

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

TYPED_TEST(BlockCholeskyOf, SolvesAsTheDenseFactorDoes) {
  std::mt19937_64 random(2);
  for (const System& system : make_systems()) {
    const int n = system.pattern->scalars();
    const Eigen::MatrixXd dense = system.matrix.make_dense();
    const Eigen::MatrixXd inverse = testing::solve_definite(dense, Eigen::MatrixXd::Identity(n, n));
    BasicBlockCholesky<TypeParam> cholesky(system.pattern);
    ASSERT_TRUE(cholesky.factor(system.matrix));
    EXPECT_EQ(cholesky.failed_block(), -1);
    EXPECT_EQ(cholesky.shift(), 0.0);
    for (const int columns : {1, 2, 3, 11, 12, 13, 30}) {
      const Eigen::MatrixXd b = random_matrix(n, columns, random);
      Eigen::MatrixXd x = b;
      cholesky.solve(x);
      // Cholesky is backward stable: the residual is below c n ε |A| |x| with c about one (Higham 2002, thm 10.4).
      const double bound = 4 * n * TestFixture::kRounding * norm(dense) * n * norm(x);
      EXPECT_LT(norm(dense * x - b), bound) << "n " << n << ", " << columns << " columns";
      EXPECT_LT(norm(x - inverse * b) / norm(x), TestFixture::kClose);
    }
  }
}

TYPED_TEST(BlockCholeskyOf, TakesTheOrderOfAnother) {
  std::mt19937_64 random(15);
  const System system = make_grid_laplacian(6, 5, 4, 0.05);
  std::vector<std::uint8_t> left_out(120, 0);
  for (const bool leave : {false, true}) {
    for (int i = 0; i < 120; i += 7) left_out[as_size(i)] = leave ? 1 : 0;
    const BasicBlockCholesky<TypeParam> searched(system.pattern, {}, left_out);
    EXPECT_EQ(searched.order().size(), as_size(std::count(left_out.begin(), left_out.end(), 0)));
    BasicBlockCholesky<TypeParam> first = searched, second(system.pattern, {}, left_out, searched.order());
    ASSERT_TRUE(first.factor(system.matrix));
    ASSERT_TRUE(second.factor(system.matrix));
    Eigen::MatrixXd x = random_matrix(360, 1, random), y = x;
    first.solve(x);
    second.solve(y);
    EXPECT_LT(norm(x - y), TestFixture::kClose * norm(x));
  }
}

// The errors of Cholesky do not depend on how the rows are scaled (Demmel 1989, "On floating point errors in
// Cholesky"): what counts is the condition of A with a diagonal of ones. Systems whose blocks differ by six orders of
// magnitude.
TEST(BlockCholesky, SinglePrecisionErrsByTheScaledCondition) {
  std::mt19937_64 random(14);
  for (const double epsilon : {1.0, 1e-2, 1e-4}) {
    System system = make_grid_laplacian(6, 5, 4, epsilon);
    const auto scale_of = [](int block) { return std::pow(10.0, block % 4); };
    for (int j = 0; j < 120; ++j) {
      for (int at = system.pattern->column_begin(j); at < system.pattern->column_begin(j + 1); ++at)
        system.matrix.block(at) *= scale_of(j) * scale_of(system.pattern->row(at));
    }
    const Eigen::MatrixXd dense = system.matrix.make_dense();
    const Eigen::VectorXd root = dense.diagonal().cwiseSqrt().cwiseInverse();
    const Eigen::VectorXd eigenvalues =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(root.asDiagonal() * dense * root.asDiagonal()).eigenvalues();
    const double condition = eigenvalues.maxCoeff() / eigenvalues.minCoeff();
    BlockCholesky in_double(system.pattern, {.max_rows = 60});
    SingleBlockCholesky in_single(system.pattern, {.max_rows = 60});
    ASSERT_TRUE(in_double.factor(system.matrix));
    ASSERT_TRUE(in_single.factor(system.matrix));
    BlockRows J;
    for (int r = 0; r < 60; ++r) {
      J.begin_row();
      J.add(2 * r, scale_of(2 * r) * Vec3(random_matrix(3, 1, random)));
    }
    Eigen::MatrixXd W = Eigen::MatrixXd::Zero(60, 60), W_single = W;
    ASSERT_TRUE(in_double.add_compliance(J, 1.0, W));
    ASSERT_TRUE(in_single.add_compliance(J, 1.0, W_single));
    EXPECT_EQ(W_single, W_single.transpose());
    const double error = norm(W_single - W) / norm(W);
    EXPECT_LT(error, 0x1p-24 * condition) << "condition " << condition;
    EXPECT_GT(error, 1e-10) << "it was not single precision";
  }
}

// Every third block is no unknown: what A holds there, even nonsense, does not matter.
TYPED_TEST(BlockCholeskyOf, BlocksLeftOutAreAsIfTheyWereNotThere) {
  std::mt19937_64 random(12);
  for (System& system : make_systems()) {
    const int blocks = system.pattern->blocks();
    std::vector<std::uint8_t> left_out(as_size(blocks), 0);
    std::vector<Eigen::Index> kept;
    for (int i = 0; i < blocks; ++i) {
      left_out[i] = i % 3 == 1 ? 1 : 0;
      for (int k = 0; !left_out[i] && k < 3; ++k) kept.push_back(3 * i + k);
    }
    const Eigen::MatrixXd dense = system.matrix.make_dense()(kept, kept);
    const auto n = static_cast<Eigen::Index>(kept.size());
    const Eigen::MatrixXd inverse = testing::solve_definite(dense, Eigen::MatrixXd::Identity(n, n));
    for (int j = 0; j < blocks; ++j) {
      for (int at = system.pattern->column_begin(j); at < system.pattern->column_begin(j + 1); ++at) {
        if (left_out[j] || left_out[system.pattern->row(at)])
          system.matrix.block(at).setConstant(std::numeric_limits<double>::quiet_NaN());
      }
    }
    BasicBlockCholesky<TypeParam> cholesky(system.pattern, {.max_rows = 5}, left_out);
    ASSERT_TRUE(cholesky.factor(system.matrix));
    for (const int columns : {1, 12}) {
      const Eigen::MatrixXd b = random_matrix(3 * blocks, columns, random);
      Eigen::MatrixXd x = b, expected = Eigen::MatrixXd::Zero(3 * blocks, columns);
      cholesky.solve(x);
      expected(kept, Eigen::all) = inverse * b(kept, Eigen::all);
      EXPECT_LT(norm(x - expected), TestFixture::kClose * norm(expected));
      for (int i = 0; i < blocks; ++i) {
        EXPECT_TRUE(!left_out[i] || x.middleRows(3 * i, 3).isZero(0.0));
      }
    }
    BlockRows J;
    Eigen::MatrixXd J_dense = Eigen::MatrixXd::Zero(5, 3 * blocks);
    for (int r = 0; r < 5; ++r) {
      J.begin_row();
      const int block = 3 * (r * r % ((blocks + 2) / 3));
      const Vec3 value = random_matrix(3, 1, random);
      J.add(block, value);
      J_dense.block<1, 3>(r, 3 * block) = value.transpose();
    }
    const Eigen::MatrixXd J_kept = J_dense(Eigen::all, kept);
    Eigen::MatrixXd W = Eigen::MatrixXd::Zero(5, 5);
    ASSERT_TRUE(cholesky.add_compliance(J, 0.1, W));
    const Eigen::MatrixXd W_expected = 0.1 * J_kept * inverse * J_kept.transpose();
    EXPECT_LT(norm(W - W_expected), TestFixture::kClose * norm(W_expected));
  }
  const System one = make_random_system(2, 1, random);
  const std::vector<std::uint8_t> all(2, 1);
  EXPECT_THROW(BasicBlockCholesky<TypeParam>(one.pattern, {}, all), InputError);
}

TYPED_TEST(BlockCholeskyOf, ComplianceIsThatOfTheDenseInverse) {
  std::mt19937_64 random(3);
  for (const System& system : make_systems()) {
    const int blocks = system.pattern->blocks();
    BasicBlockCholesky<TypeParam> cholesky(system.pattern, {.max_rows = 90});
    ASSERT_TRUE(cholesky.factor(system.matrix));
    const Eigen::MatrixXd inverse =
        testing::solve_definite(system.matrix.make_dense(), Eigen::MatrixXd::Identity(3 * blocks, 3 * blocks));
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
        // Adding to `before`, of size 2, costs another ε.
        EXPECT_LT(norm(W - before - expected), TestFixture::kClose * norm(expected) + 4 * 0x1p-52)
            << blocks << " blocks";
      }
    }
  }
}

TYPED_TEST(BlockCholeskyOf, ComplianceOfOneHundredRandomBodiesIsPositiveSemidefinite) {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const int blocks = 1 + static_cast<int>(random() % 60);
    const System system = make_random_system(blocks, blocks, random);
    BasicBlockCholesky<TypeParam> cholesky(system.pattern, {.max_rows = 40});
    ASSERT_TRUE(cholesky.factor(system.matrix));
    const BlockRows J = make_random_rows(40, blocks, 3, random);
    Eigen::MatrixXd W = Eigen::MatrixXd::Zero(40, 40);
    ASSERT_TRUE(cholesky.add_compliance(J, 0.02, W));
    const Eigen::VectorXd eigenvalues = testing::compute_eigenvalues(W);
    // A Gram matrix of 40 vectors is semidefinite up to the rounding of its entries and of the eigenvalues.
    EXPECT_GE(eigenvalues.minCoeff(), -80 * TestFixture::kRounding * eigenvalues.maxCoeff());
  }
}

TYPED_TEST(BlockCholeskyOf, ComplianceOfTooManyRowsIsRefused) {
  std::mt19937_64 random(5);
  const System system = make_grid_laplacian(3, 3, 3, 0.1);
  BasicBlockCholesky<TypeParam> cholesky(system.pattern, {.max_rows = 12});
  ASSERT_TRUE(cholesky.factor(system.matrix));
  BlockRows J;
  for (int r = 0; r < 20; ++r) J.begin_row();
  for (int r = 0; r < 13; ++r) {
    J.begin_row();
    J.add(r, Vec3::UnitX());
    Eigen::MatrixXd W = Eigen::MatrixXd::Zero(J.rows(), J.rows());
    EXPECT_EQ(cholesky.add_compliance(J, 1.0, W), r < 12) << "empty rows do not count";
    EXPECT_EQ(W.isZero(0.0), r == 12);
  }
}

TYPED_TEST(BlockCholeskyOf, CorrectiveMotionIsTheSolutionForTheRowsTransposed) {
  std::mt19937_64 random(6);
  for (const System& system : make_systems()) {
    const int n = system.pattern->scalars();
    const Eigen::MatrixXd dense = system.matrix.make_dense();
    BasicBlockCholesky<TypeParam> cholesky(system.pattern);
    ASSERT_TRUE(cholesky.factor(system.matrix));
    const BlockRows J = make_random_rows(7, system.pattern->blocks(), 3, random);
    const Eigen::VectorXd lambda = random_matrix(7, 1, random);
    Eigen::VectorXd x = Eigen::VectorXd::Constant(n, 5.0);
    cholesky.solve_rows(J, lambda, x);
    const Eigen::VectorXd b = reference::make_dense(J, system.pattern->blocks()).transpose() * lambda;
    EXPECT_LE(norm(dense * x - b), 4.0 * n * n * TestFixture::kRounding * norm(dense) * norm(x));
  }
}

TYPED_TEST(BlockCholeskyOf, RowsOfAComplianceAreSolvedAsAnyRightHandSideIs) {
  std::mt19937_64 random(11);
  for (const System& system : make_systems()) {
    const int blocks = system.pattern->blocks();
    BasicBlockCholesky<TypeParam> cholesky(system.pattern, {.max_rows = 90});
    ASSERT_TRUE(cholesky.factor(system.matrix));
    auto scratch = cholesky.make_scratch();
    for (const int rows : {1, 13, 90}) {
      const BlockRows J = make_random_rows(rows, blocks, 4, random);
      Eigen::MatrixXd W = Eigen::MatrixXd::Zero(rows, rows);
      ASSERT_TRUE(cholesky.add_compliance(J, 1.0, W));
      std::vector<int> chosen;  // some of them, in another order than theirs
      for (int r = rows - 1; r >= 0; r -= 1 + r % 3) chosen.push_back(r);
      Eigen::MatrixXd expected = reference::make_dense(J, blocks).transpose()(Eigen::all, chosen);
      Eigen::MatrixXd x = Eigen::MatrixXd::Constant(expected.rows(), expected.cols(), 5.0);
      cholesky.solve(expected);
      cholesky.solve_rows_of_compliance(chosen, x, scratch);
      EXPECT_LE(norm(x - expected), TestFixture::kClose * norm(expected)) << blocks << " blocks, " << rows << " rows";
    }
  }
}

TYPED_TEST(BlockCholeskyOf, TwoThreadsSolveAtOnceWithScratchOfTheirOwn) {
  std::mt19937_64 random(12);
  const System system = make_grid_laplacian(8, 7, 6, 0.05);
  BasicBlockCholesky<TypeParam> cholesky(system.pattern);
  ASSERT_TRUE(cholesky.factor(system.matrix));
  const Eigen::MatrixXd b = random_matrix(system.pattern->scalars(), 40, random);
  Eigen::MatrixXd expected = b, here = b, beside = b;
  cholesky.solve(expected);
  auto scratch = cholesky.make_scratch();
  std::thread thread([&] { cholesky.solve(beside, scratch); });
  cholesky.solve(here);
  thread.join();
  EXPECT_EQ(here, expected);
  EXPECT_EQ(beside, expected);
}

TYPED_TEST(BlockCholeskyOf, SolvesColumnsOfALargerMatrixInPlace) {
  std::mt19937_64 random(7);
  const System system = make_grid_laplacian(4, 4, 4, 0.1);
  BasicBlockCholesky<TypeParam> cholesky(system.pattern);
  ASSERT_TRUE(cholesky.factor(system.matrix));
  Eigen::MatrixXd all = random_matrix(200, 9, random);
  const Eigen::MatrixXd before = all;
  cholesky.solve(all.block(3, 2, 192, 5));
  Eigen::MatrixXd expected = before;
  Eigen::MatrixXd part = before.block(3, 2, 192, 5);
  cholesky.solve(part);
  expected.block(3, 2, 192, 5) = part;
  EXPECT_EQ(all, expected);
}

TYPED_TEST(BlockCholeskyOf, ReportsThePivotThatIsNotPositive) {
  std::mt19937_64 random(8);
  for (const double bad : {-1.0, 0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const int block : {0, 5, 26}) {
      // Alone in its row and column, the bad pivot is bad in any order.
      BlockGroups none;
      BlockMatrix matrix(std::make_shared<const BlockPattern>(27, none));
      for (int i = 0; i < 27; ++i) matrix.diagonal(i).setIdentity();
      matrix.diagonal(block)(1, 1) = bad;
      BasicBlockCholesky<TypeParam> cholesky(matrix.shared_pattern());
      EXPECT_FALSE(cholesky.factor(matrix));
      EXPECT_EQ(cholesky.failed_block(), block);
      matrix.diagonal(block)(1, 1) = 1.0;
      EXPECT_TRUE(cholesky.factor(matrix)) << "a failure leaves nothing behind";
      EXPECT_EQ(cholesky.failed_block(), -1);
    }
  }
  System grid = make_grid_laplacian(6, 6, 6, 0.1);
  grid.matrix.diagonal(100) -= 100.0 * Mat3::Identity();
  BasicBlockCholesky<TypeParam> cholesky(grid.pattern);
  EXPECT_FALSE(cholesky.factor(grid.matrix));
  EXPECT_GE(cholesky.failed_block(), 0);
}

TEST(BlockCholesky, ShiftMakesAnIndefiniteMatrixDefinite) {
  System system = make_grid_laplacian(5, 5, 5, 0.0);
  for (int i = 0; i < 125; ++i) system.matrix.diagonal(i) -= 1e-6 * Mat3::Identity();
  BlockCholesky cholesky(system.pattern, {.shift_retries = 8});
  ASSERT_TRUE(cholesky.factor(system.matrix));
  // The lowest eigenvalue is −10⁻⁶ by construction; shifts grow tenfold, so the one taken is at most ten times more.
  EXPECT_GT(cholesky.shift(), 1e-6);
  EXPECT_LE(cholesky.shift(), 1e-5 * 1.001);
  Eigen::MatrixXd dense = system.matrix.make_dense();
  dense.diagonal().array() += cholesky.shift();
  Eigen::VectorXd x = Eigen::VectorXd::Ones(375);
  cholesky.solve(x);
  EXPECT_LT(norm(dense * x - Eigen::VectorXd::Ones(375)), 4 * 375 * 375 * 0x1p-53 * norm(dense) * norm(x));
}

/// Solution and compliance after factoring, to compare bits.
template <typename T>
Eigen::MatrixXd compute_bits(BasicBlockCholesky<T>& cholesky, const BlockMatrix& matrix, const BlockRows& J) {
  EXPECT_TRUE(cholesky.factor(matrix));
  Eigen::MatrixXd x = Eigen::MatrixXd::Ones(matrix.pattern().scalars(), 14);
  cholesky.solve(x);
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(J.rows(), J.rows());
  EXPECT_TRUE(cholesky.add_compliance(J, 0.02, W));
  Eigen::MatrixXd both(x.rows() + W.rows(), std::max(x.cols(), W.cols()));
  both.setZero();
  both.topLeftCorner(x.rows(), x.cols()) = x;
  both.bottomLeftCorner(W.rows(), W.cols()) = W;
  return both;
}

TYPED_TEST(BlockCholeskyOf, GivesTheSameBitsEveryTimeAndInAnotherObject) {
  std::mt19937_64 random(9);
  const System first = make_grid_laplacian(7, 6, 5, 0.05);
  BlockMatrix second = first.matrix;
  reference::fill_random(second, first.groups, 0.1, random);
  const BlockRows J = make_random_rows(30, 210, 3, random);
  BasicBlockCholesky<TypeParam> cholesky(first.pattern, {.max_rows = 30});
  const Eigen::MatrixXd expected = compute_bits(cholesky, first.matrix, J);
  compute_bits(cholesky, second, J);
  EXPECT_EQ(compute_bits(cholesky, first.matrix, J), expected);
  BasicBlockCholesky<TypeParam> copy = cholesky, fresh(first.pattern, {.max_rows = 30});
  compute_bits(cholesky, second, J);
  EXPECT_EQ(compute_bits(copy, first.matrix, J), expected);
  EXPECT_EQ(compute_bits(fresh, first.matrix, J), expected);
}

// However small the pieces, and whatever was factored before.
TYPED_TEST(BlockCholeskyOf, FactoredInPiecesHasTheBitsOfFactoredAtOnce) {
  std::mt19937_64 random(12);
  for (const System& system : make_systems()) {
    BasicBlockCholesky<TypeParam> whole(system.pattern), pieces(system.pattern);
    ASSERT_TRUE(whole.factor(system.matrix));
    const Eigen::MatrixXd b = random_matrix(system.pattern->scalars(), 3, random);
    Eigen::MatrixXd x = b;
    whole.solve(x);
    for (const int parts : {1, 3, 7}) {
      using Progress = typename BasicBlockCholesky<TypeParam>::Progress;
      Progress progress = Progress::kUnderWay;
      int calls = 0;
      while (progress == Progress::kUnderWay) {
        progress = pieces.factor_some(system.matrix, whole.floating_point_operations() / parts);
        ++calls;
      }
      ASSERT_EQ(progress, Progress::kDone);
      EXPECT_LE(calls, parts + 1);
      Eigen::MatrixXd y = b;
      pieces.solve(y);
      EXPECT_EQ(x, y);
    }
  }
}

TYPED_TEST(BlockCholeskyOf, TwoThreadsGiveTheBitsOfOne) {
  std::mt19937_64 random(10);
  const System first = make_grid_laplacian(8, 8, 8, 0.05);
  BlockMatrix second = first.matrix;
  reference::fill_random(second, first.groups, 0.1, random);
  const BlockRows J = make_random_rows(30, 512, 3, random);
  const BlockMatrix* matrices[2] = {&first.matrix, &second};
  BasicBlockCholesky<TypeParam> cholesky(first.pattern, {.max_rows = 30});
  Eigen::MatrixXd expected[2], found[2];
  for (int t = 0; t < 2; ++t) expected[t] = compute_bits(cholesky, *matrices[t], J);
  std::thread threads[2];
  for (int t = 0; t < 2; ++t) {
    threads[t] = std::thread([&, t, own = cholesky]() mutable {
      for (int round = 0; round < 10; ++round) found[t] = compute_bits(own, *matrices[t], J);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 2; ++t) EXPECT_EQ(found[t], expected[t]);
}

TYPED_TEST(BlockCholeskyOf, AllocatesNothingAfterSetUp) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  std::mt19937_64 random(11);
  const System system = make_grid_laplacian(10, 10, 10, 0.05);
  BasicBlockCholesky<TypeParam> cholesky(system.pattern, {.max_rows = 80, .shift_retries = 2});
  const BlockRows J = make_random_rows(80, 1000, 3, random);
  const Eigen::VectorXd lambda = random_matrix(80, 1, random);
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(80, 80), x = random_matrix(3000, 30, random);
  Eigen::VectorXd v(3000);
  const testing::RealtimeGuard guard;
  cholesky.factor(system.matrix);
  cholesky.solve(x);
  v.setOnes();
  cholesky.solve(v);
  cholesky.add_compliance(J, 0.02, W);
  cholesky.solve_rows(J, lambda, v);
  EXPECT_EQ(guard.violations().total(), 0);
}

TYPED_TEST(BlockCholeskyOf, SystemWithoutBlocksIsSolvedByNothing) {
  BlockMatrix matrix(std::make_shared<const BlockPattern>(0, BlockGroups{}));
  BasicBlockCholesky<TypeParam> cholesky(matrix.shared_pattern(), {.max_rows = 3});
  EXPECT_TRUE(cholesky.factor(matrix));
  Eigen::MatrixXd x(0, 4), W = Eigen::MatrixXd::Zero(3, 3);
  cholesky.solve(x);
  BlockRows J;
  for (int r = 0; r < 3; ++r) J.begin_row();
  EXPECT_TRUE(cholesky.add_compliance(J, 1.0, W));
  EXPECT_TRUE(W.isZero(0.0));
}

TEST(BlockCholesky, RefusesSettingsOutOfRange) {
  const System system = make_grid_laplacian(2, 2, 2, 0.1);
  EXPECT_THROW(BlockCholesky(system.pattern, {.order_trials = 0}), InputError);
  EXPECT_THROW(BlockCholesky(system.pattern, {.max_rows = -1}), InputError);
  EXPECT_THROW(BlockCholesky(system.pattern, {.shift_retries = 21}), InputError);
  EXPECT_THROW(BlockCholesky(system.pattern, {.first_shift = std::nan("")}), InputError);
}

}  // namespace
}  // namespace palpate::block_cholesky_test
