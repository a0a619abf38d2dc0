#include "palpate/constraints/problem.h"

#include <gtest/gtest.h>

#include <random>

#include "palpate/constraints/solver.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::problem_test {
namespace {

using Kind = ConstraintSide::Kind;

Vec6 random_vec6(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Vec6 v;
  for (double& x : v) x = normal(random);
  return v;
}

/// Dense bodies 0, 1, light bodies 0, 1; every pairing of sides, a dense and a light body that touch themselves, and
/// each kind of constraint.
void fill_mixed(ConstraintProblem& p, std::mt19937& random) {
  std::normal_distribution<double> normal;
  p.clear();
  for (int i = 0; i < 2; ++i) p.add_dense_body(), p.add_light_body();
  const ConstraintSide world{}, d0{Kind::kDense, 0}, d1{Kind::kDense, 1}, l0{Kind::kLight, 0}, l1{Kind::kLight, 1};
  const std::pair<ConstraintSide, ConstraintSide> pairs[] = {{d0, world}, {d0, d1}, {d1, l0}, {l0, l1},
                                                             {world, l1}, {d1, d1}, {l0, l0}, {l1, d0}};
  for (const auto& [a, b] : pairs) {
    p.add_constraint({.kind = ConstraintKind::kContact, .friction = 0.3, .a = a, .b = b});
    p.add_constraint({.kind = ConstraintKind::kEquality, .rows = 2, .a = b, .b = a});
    p.add_constraint({.kind = ConstraintKind::kBounded, .lower = -1.0, .upper = 2.0, .a = a, .b = b});
  }
  p.prepare_dense();
  for (int k = 0; k < 2; ++k) {
    const Eigen::MatrixXd J = Eigen::MatrixXd::NullaryExpr(p.dense_rows(k), 9, [&] { return normal(random); });
    p.dense_compliance(k) = J * J.transpose();
  }
  const Vec6 inverse[2] = {random_vec6(random).cwiseAbs(), random_vec6(random).cwiseAbs()};
  for (const Constraint& c : p.constraints()) {
    for (int i = 0; i < c.rows; ++i) {
      p.delta_free(c.first_row + i) = normal(random);
      for (const ConstraintSide& side : {c.a, c.b}) {
        if (side.kind != Kind::kLight) continue;
        p.light_J(side.first + i) = random_vec6(random);
        p.light_Y(side.first + i) = inverse[side.body].cwiseProduct(p.light_J(side.first + i));
      }
    }
  }
}

/// W = J A⁻¹ Jᵀ put together from each body's full Jacobian over the problem's rows.
Eigen::MatrixXd handmade(const ConstraintProblem& p) {
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(p.rows(), p.rows());
  for (int k = 0; k < p.dense_bodies(); ++k) {
    Eigen::MatrixXd S =
        Eigen::MatrixXd::Zero(p.rows(), p.dense_rows(k));  // which row of the problem is which of the body
    for (int i = 0; i < p.dense_rows(k); ++i) S(p.dense_row_map(k)[as_size(i)], i) = 1.0;
    W += S * Eigen::MatrixXd(p.dense_compliance(k)) * S.transpose();
  }
  for (int k = 0; k < p.light_bodies(); ++k) {
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(p.rows(), 6), Y = Eigen::MatrixXd::Zero(6, p.rows());
    for (const Constraint& c : p.constraints()) {
      for (const ConstraintSide& side : {c.a, c.b}) {
        for (int i = 0; side.kind == Kind::kLight && side.body == k && i < c.rows; ++i) {
          J.row(c.first_row + i) += p.light_J(side.first + i).transpose();
          Y.col(c.first_row + i) += p.light_Y(side.first + i);
        }
      }
    }
    W += J * Y;
  }
  return W;
}

TEST(ConstraintProblem, RowsAreNumberedInOrderAndEachBodyHasItsOwn) {
  std::mt19937 random(1);
  ConstraintProblem p;
  fill_mixed(p, random);
  int row = 0;
  for (const Constraint& c : p.constraints()) {
    EXPECT_EQ(c.first_row, row);
    row += c.rows;
    for (const ConstraintSide& side : {c.a, c.b}) {
      for (int i = 0; side.kind == Kind::kDense && i < c.rows; ++i) {
        EXPECT_EQ(p.dense_row_map(side.body)[as_size(side.first + i)], c.first_row + i);
      }
    }
  }
  EXPECT_EQ(p.rows(), row);
}

TEST(ConstraintProblem, AssembledMatrixIsTheSumOfTheBodies) {
  std::mt19937 random(2);
  ConstraintProblem p;
  fill_mixed(p, random);
  Eigen::MatrixXd W(p.rows(), p.rows());
  p.assemble_dense(W);
  const Eigen::MatrixXd expected = handmade(p);
  EXPECT_LT((W - expected).norm(), 1e-14 * expected.norm());  // sums of at most 24 terms
}

TEST(ConstraintProblem, ColumnsAndOwnCompliancesAreThoseOfTheMatrix) {
  std::mt19937 random(2);
  ConstraintProblem p;
  fill_mixed(p, random);
  p.add_constraint({.a = {Kind::kLight, 0}, .b = {Kind::kLight, 0}});  // of a body with itself
  for (int i = p.constraints().back().a.first; i < p.constraints().back().b.first + 3; ++i) {
    p.light_J(i).setRandom();
    p.light_Y(i).setRandom();
  }
  Eigen::MatrixXd W(p.rows(), p.rows()), columns = Eigen::MatrixXd::Zero(p.rows(), p.rows());
  p.assemble_dense(W);
  for (int j = 0; j < p.rows(); ++j) {
    p.add_column(j, {columns.col(j).data(), as_size(p.rows())});
    EXPECT_NEAR(p.compute_own_compliance(j), W(j, j), 1e-14 * W.norm()) << j;
  }
  EXPECT_LT((columns - W).norm(), 1e-14 * W.norm());
}

TEST(ConstraintProblem, DeltaIsFreePlusComplianceTimesForce) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  ConstraintProblem p;
  fill_mixed(p, random);
  Eigen::VectorXd lambda(p.rows()), delta(p.rows());
  for (double& l : lambda) l = normal(random);
  p.compute_delta({lambda.data(), as_size(p.rows())}, {delta.data(), as_size(p.rows())});
  const Eigen::VectorXd expected =
      Eigen::Map<const Eigen::VectorXd>(p.delta_free().data(), p.rows()) + handmade(p) * lambda;
  EXPECT_LT((delta - expected).norm(), 1e-14 * handmade(p).norm() * lambda.norm());
}

// A body's rows lie one after the other or have others' between them: the same sums, bit for bit.
TEST(ConstraintProblem, DeltaOfABodyDoesNotDependOnOthersRowsBetweenItsOwn) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  constexpr int kContacts = 7;
  ConstraintProblem together, apart;
  for (ConstraintProblem* p : {&together, &apart}) {
    p->add_dense_body();
    for (int i = 0; i < kContacts; ++i) {
      p->add_constraint({.a = {Kind::kDense, 0}});
      if (p == &apart && i == 2) p->add_constraint({});
    }
    p->prepare_dense();
  }
  std::vector<double> lambda(as_size(together.rows()), 0.0);
  for (int r = 0; r < together.rows(); ++r) {
    lambda[as_size(r)] = r == 4 ? 0.0 : normal(random);
    together.delta_free(r) = apart.delta_free(apart.dense_row_map(0)[as_size(r)]) = normal(random);
    for (int c = 0; c < together.rows(); ++c)
      together.dense_compliance(0)(r, c) = apart.dense_compliance(0)(r, c) = normal(random);
  }
  std::vector<double> spread(as_size(apart.rows()), 0.0), delta(lambda.size()), spread_delta(spread.size());
  for (int r = 0; r < together.rows(); ++r) spread[as_size(apart.dense_row_map(0)[as_size(r)])] = lambda[as_size(r)];
  together.compute_delta(lambda, delta);
  apart.compute_delta(spread, spread_delta);
  for (int r = 0; r < together.rows(); ++r) {
    EXPECT_EQ(delta[as_size(r)], spread_delta[as_size(apart.dense_row_map(0)[as_size(r)])]) << r;
    EXPECT_NE(delta[as_size(r)], together.delta_free()[as_size(r)]) << r;
  }
}

// Its rows are then twice among the body's; with others' rows between them they are as many as from first to last.
TEST(ConstraintProblem, DeltaOfABodyThatTouchesItselfHasBothSides) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  ConstraintProblem p;
  p.add_dense_body();
  p.add_constraint({.a = {Kind::kDense, 0}, .b = {Kind::kDense, 0}});
  p.add_constraint({});
  p.add_constraint({.a = {Kind::kDense, 0}});
  p.prepare_dense();
  for (int r = 0; r < p.dense_rows(0); ++r) {
    for (int c = 0; c < p.dense_rows(0); ++c) p.dense_compliance(0)(r, c) = normal(random);
  }
  Eigen::VectorXd lambda(p.rows()), delta(p.rows());
  for (double& l : lambda) l = normal(random);
  p.compute_delta({lambda.data(), as_size(p.rows())}, {delta.data(), as_size(p.rows())});
  Eigen::MatrixXd W(p.rows(), p.rows());
  p.assemble_dense(W);
  EXPECT_LT((delta - W * lambda).norm(), 1e-14 * W.norm() * lambda.norm());
}

TEST(ConstraintProblem, FillingAgainAsLargeAllocatesNothing) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "the sanitizer owns malloc: nothing is counted";
  ConstraintProblem p;
  const auto fill = [&p](int contacts) {
    p.clear();
    p.add_dense_body();
    p.add_light_body();
    for (int i = 0; i < contacts; ++i) p.add_constraint({.a = {Kind::kDense, 0}, .b = {Kind::kLight, 0}});
    p.prepare_dense();
  };
  fill(40);
  {
    const testing::RealtimeGuard guard;
    for (const int contacts : {40, 0, 10, 40}) fill(contacts);
    EXPECT_EQ(guard.violations().total(), 0);
  }
  ConstraintProblem fresh;
  fresh.reserve(120, 1, 120, 1);
  std::swap(p, fresh);
  const testing::RealtimeGuard guard;
  fill(40);
  EXPECT_EQ(guard.violations().total(), 0);
}

TEST(ConstraintProblem, ASmallerFillShowsNothingOfALargerOne) {
  std::mt19937 random(4);
  ConstraintProblem p;
  fill_mixed(p, random);
  p.clear();
  p.add_dense_body();
  p.add_light_body();
  p.add_constraint({.a = {Kind::kDense, 0}, .b = {Kind::kLight, 0}});
  p.prepare_dense();
  EXPECT_EQ(p.rows(), 3);
  EXPECT_EQ(p.dense_rows(0), 3);
  EXPECT_TRUE(Eigen::MatrixXd(p.dense_compliance(0)).isZero(0.0));
  EXPECT_TRUE(p.light_J(p.constraints()[0].b.first).isZero(0.0));
  for (const double d : p.delta_free()) EXPECT_EQ(d, 0.0);
}

}  // namespace
}  // namespace palpate::problem_test
