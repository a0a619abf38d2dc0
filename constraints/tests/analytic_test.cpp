#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "palpate/constraints/solver.h"

// Problems whose answer is known in closed form, asked of every solver.
namespace palpate::analytic_test {
namespace {

using Kind = ConstraintSide::Kind;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Answers are metres over compliances of order one, and solvers stop at 1e-12 m.
constexpr double kTolerance = 1e-11;

struct Maker {
  const char* name;
  std::unique_ptr<ConstraintSolver> (*make)();
};

class EverySolver : public ::testing::TestWithParam<Maker> {
 protected:
  SolveReport solve(bool pyramid = false) {
    const auto rows = as_size(problem_.rows());
    solver_->reserve(problem_.rows(), problem_.rows() * 2, problem_.light_bodies());
    lambda_.assign(rows, 0.0);
    delta_.assign(rows, 0.0);
    const SolveReport report = solver_->solve(problem_, {.tolerance = 1e-12, .pyramid = pyramid}, lambda_);
    problem_.compute_delta(lambda_, delta_);
    return report;
  }

  /// One contact between a dense body with compliance W and the world.
  SolveReport solve_one_contact(const Mat3& W, const Vec3& delta_free, double friction, bool pyramid = false) {
    problem_.clear();
    problem_.add_dense_body();
    problem_.add_constraint({.friction = friction, .a = {Kind::kDense, 0}});
    problem_.prepare_dense();
    problem_.dense_compliance(0) = W;
    for (int i = 0; i < 3; ++i) problem_.delta_free(i) = delta_free[i];
    return solve(pyramid);
  }

  Vec3 lambda3(int row = 0) const { return Eigen::Map<const Vec3>(lambda_.data() + row); }
  Vec3 delta3(int row = 0) const { return Eigen::Map<const Vec3>(delta_.data() + row); }

  ConstraintProblem problem_;
  std::unique_ptr<ConstraintSolver> solver_ = GetParam().make();
  std::vector<double> lambda_, delta_;
};

// W of a contact that is neither isotropic nor aligned with its tangents.
Mat3 skewed() {
  return (Mat3() << 2.0, 0.3, -0.2, 0.3, 1.5, 0.4, -0.2, 0.4, 1.0).finished();
}

TEST_P(EverySolver, OpenContactTakesNoForce) {
  EXPECT_TRUE(solve_one_contact(skewed(), {0.1, 2.0, -3.0}, 0.5).converged);
  EXPECT_EQ(lambda3(), Vec3::Zero());
}

TEST_P(EverySolver, PressedContactWithoutFrictionClosesItsGapAndSlidesFreely) {
  EXPECT_TRUE(solve_one_contact(skewed(), {-0.4, 1.0, 1.0}, 0.0).converged);
  EXPECT_NEAR(lambda3()[0], 0.2, kTolerance);  // 0.4 m over 2 m/N
  EXPECT_EQ(lambda3().tail<2>(), Eigen::Vector2d::Zero());
}

TEST_P(EverySolver, StickingContactDoesNotMove) {
  const Vec3 held(0.5, 0.1, -0.1);  // |λ_t| = 0.14 < 0.25
  EXPECT_TRUE(solve_one_contact(skewed(), -skewed() * held, 0.5).converged);
  EXPECT_LT(delta3().norm(), kTolerance);
  EXPECT_LT((lambda3() - held).norm(), kTolerance);
}

TEST_P(EverySolver, SlidingOpposesSlipOnTheConeInEveryDirection) {
  for (const double friction : {0.05, 0.3, 1.0}) {
    for (int k = 0; k < 16; ++k) {
      const double angle = k * M_PI / 8.0;
      const Vec3 free(-1.0, 5.0 * std::cos(angle), 5.0 * std::sin(angle));
      for (const Mat3& W : {Mat3(Mat3::Identity()), skewed()}) {
        EXPECT_TRUE(solve_one_contact(W, free, friction).converged);
        EXPECT_NEAR(delta3()[0], 0.0, kTolerance);
        const Eigen::Vector2d t = lambda3().tail<2>(), slip = delta3().tail<2>();
        EXPECT_GT(lambda3()[0], 0.0);
        EXPECT_GT(slip.norm(), 1.0);
        EXPECT_LT((t + friction * lambda3()[0] * slip.normalized()).norm(), kTolerance);
      }
      // Isotropic W: λ_n = 1, and the force turns with the direction exactly.
      EXPECT_TRUE(solve_one_contact(Mat3::Identity(), free, friction).converged);
      EXPECT_LT((lambda3() - Vec3(1.0, -friction * std::cos(angle), -friction * std::sin(angle))).norm(), kTolerance);
    }
  }
}

TEST_P(EverySolver, PyramidBoundsEachTangentByItself) {
  EXPECT_TRUE(solve_one_contact(Mat3::Identity(), {-1.0, 5.0, -0.1}, 0.3, true).converged);
  EXPECT_LT((lambda3() - Vec3(1.0, -0.3, 0.1)).norm(), kTolerance);
  EXPECT_TRUE(solve_one_contact(Mat3::Identity(), {-1.0, -5.0, 7.0}, 0.3, true).converged);
  EXPECT_LT((lambda3() - Vec3(1.0, 0.3, -0.3)).norm(), kTolerance);
}

// A particle without mass along its tangents' sum: the tangential block is singular.
TEST_P(EverySolver, SingularTangentBlockSlipsOnTheCone) {
  Mat3 W = Mat3::Zero();
  W(0, 0) = 1.0;
  W.bottomRightCorner<2, 2>() << 1.0, 1.0, 1.0, 1.0;
  EXPECT_TRUE(solve_one_contact(W, {-1.0, 3.0, 3.0}, 0.5).converged);
  EXPECT_LT((lambda3() - Vec3(1.0, -0.5 * M_SQRT1_2, -0.5 * M_SQRT1_2)).norm(), kTolerance);
  EXPECT_TRUE(solve_one_contact(W, {-1.0, 0.2, 0.2}, 0.5).converged);
  EXPECT_LT(delta3().norm(), kTolerance);
}

// Bodies whose motion is prescribed: no force helps, and the report says so.
TEST_P(EverySolver, ContactThatNoForceMovesIsLeftAloneAndReported) {
  SolveReport report = solve_one_contact(Mat3::Zero(), {-0.25, 1.0, 0.0}, 0.5);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.residual.metres, 0.25);
  EXPECT_LE(report.iterations, 2);
  EXPECT_EQ(lambda3(), Vec3::Zero());
  report = solve_one_contact(Mat3::Zero(), {0.25, 1.0, 0.0}, 0.5);
  EXPECT_TRUE(report.converged);
}

TEST_P(EverySolver, TwoContactsAtOnePlaceShareTheLoad) {
  problem_.clear();
  problem_.add_light_body();
  for (int i = 0; i < 2; ++i) {
    const int c = problem_.add_constraint({.friction = 0.5, .a = {Kind::kLight, 0}});
    const Constraint& added = problem_.constraints()[as_size(c)];
    for (int r = 0; r < 3; ++r) {
      problem_.light_J(added.a.first + r)[r] = 1.0;
      problem_.light_Y(added.a.first + r)[r] = 2.0;
    }
    problem_.delta_free(added.first_row) = -1.0;
    problem_.delta_free(added.first_row + 1) = 0.1;
  }
  EXPECT_TRUE(solve().converged);
  EXPECT_LT((lambda3(0) + lambda3(3) - Vec3(0.5, -0.05, 0.0)).norm(), kTolerance);
  EXPECT_LT(delta3(0).norm() + delta3(3).norm(), kTolerance);
}

// Particles in a row, each tied to the next and the first to the world by three rows; each is 1 N from equilibrium
// along x, so the tie before particle k carries what hangs behind it.
TEST_P(EverySolver, BilateralChainCarriesWhatHangsOnIt) {
  constexpr int kLinks = 5;
  problem_.clear();
  for (int k = 0; k < kLinks; ++k) problem_.add_light_body();
  for (int k = 0; k < kLinks; ++k) {
    const ConstraintSide before = k > 0 ? ConstraintSide{Kind::kLight, k - 1} : ConstraintSide{};
    const int c =
        problem_.add_constraint({.kind = ConstraintKind::kEquality, .rows = 3, .a = {Kind::kLight, k}, .b = before});
    const Constraint added = problem_.constraints()[as_size(c)];
    for (int r = 0; r < 3; ++r) {
      problem_.light_J(added.a.first + r)[r] = problem_.light_Y(added.a.first + r)[r] = 1.0;
      if (k > 0) problem_.light_J(added.b.first + r)[r] = problem_.light_Y(added.b.first + r)[r] = -1.0;
    }
    // Free motion of every particle by 1 m along x: relative motion is zero but at the world.
    problem_.delta_free(added.first_row) = k == 0 ? 1.0 : 0.0;
  }
  EXPECT_TRUE(solve().converged);
  for (int k = 0; k < kLinks; ++k) {
    EXPECT_LT((lambda3(3 * k) - Vec3(k - kLinks, 0.0, 0.0)).norm(), 100.0 * kTolerance);  // condition about 50
  }
}

// Six rows, two of them copies of others.
TEST_P(EverySolver, RedundantEqualityRowsAreMet) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  problem_.clear();
  problem_.add_light_body();
  problem_.add_constraint({.kind = ConstraintKind::kEquality, .rows = 6, .a = {Kind::kLight, 0}});
  for (int r = 0; r < 6; ++r) {
    Vec6 J;
    for (double& x : J) x = normal(random);
    problem_.light_J(r) = problem_.light_Y(r) = r < 4 ? J : problem_.light_J(r - 3);
    problem_.delta_free(r) = r < 4 ? normal(random) : problem_.delta_free(r - 3);
  }
  EXPECT_TRUE(solve().converged);
  for (const double d : delta_) EXPECT_NEAR(d, 0.0, kTolerance);
}

TEST_P(EverySolver, BoundedRowStopsAtEachBound) {
  struct Case {
    double free, lower, upper, lambda, delta;
  };
  // W = 2: unbounded, λ = −free/2.
  const Case cases[] = {{1.0, -2.0, 3.0, -0.5, 0.0},       {-1.0, -2.0, 3.0, 0.5, 0.0},
                        {10.0, -2.0, 3.0, -2.0, 6.0},      {-10.0, -2.0, 3.0, 3.0, -4.0},
                        {1.0, 0.0, kInfinity, 0.0, 1.0},   {-1.0, 0.0, kInfinity, 0.5, 0.0},
                        {-1.0, -kInfinity, 0.0, 0.0, -1.0}};
  for (const Case& c : cases) {
    problem_.clear();
    problem_.add_dense_body();
    problem_.add_constraint(
        {.kind = ConstraintKind::kBounded, .lower = c.lower, .upper = c.upper, .a = {Kind::kDense, 0}});
    problem_.prepare_dense();
    problem_.dense_compliance(0)(0, 0) = 2.0;
    problem_.delta_free(0) = c.free;
    EXPECT_TRUE(solve().converged);
    EXPECT_NEAR(lambda_[0], c.lambda, kTolerance);
    EXPECT_NEAR(delta_[0], c.delta, kTolerance);
  }
}

// A rigid body against a spring 1/C: the force is that of the two springs in series, and the spring yields C λ.
TEST_P(EverySolver, ComplianceOfARowIsASpring) {
  for (const ConstraintKind kind : {ConstraintKind::kContact, ConstraintKind::kEquality, ConstraintKind::kBounded}) {
    problem_.clear();
    problem_.add_dense_body();
    problem_.add_constraint({.kind = kind, .rows = 1, .upper = kInfinity, .a = {Kind::kDense, 0}});
    problem_.prepare_dense();
    problem_.dense_compliance(0)(0, 0) = 2.0;
    problem_.delta_free(0) = -1.0;
    problem_.compliance(0) = 3.0;
    EXPECT_TRUE(solve().converged);
    EXPECT_NEAR(lambda_[0], 1.0 / 5.0, kTolerance);
    EXPECT_NEAR(delta_[0], -3.0 * lambda_[0], kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, EverySolver,
                         ::testing::Values(Maker{"gauss_seidel", &make_gauss_seidel},
                                           Maker{"accelerated", &make_accelerated_solver},
                                           Maker{"direct", &make_direct_solver}, Maker{"tick", &make_tick_solver}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace palpate::analytic_test
