#include <thread>

#include "disturbed.h"
#include "palpate/core/error.h"

// Two time steps of one linearisation: at once, in two threads, the second in single precision.
namespace palpate::time_steps_test {
namespace {

using namespace testing;

class TimeSteps : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(All, TimeSteps, kAllModels, name_of);

TEST_P(TimeSteps, TwoTimeStepsAtOnce_GiveTheBitsOfEachAlone) {
  BlockOptions o = damped();
  o.cells = {8, 6, 6};  // many enough for two threads
  auto together = make_block(GetParam(), o), alone = make_block(GetParam(), o);
  disturb(*together);
  disturb(*alone);
  const double steps[] = {kSlow, kFast};
  ASSERT_TRUE(together->linearise(steps));
  for (int which = 0; which < 2; ++which) {
    ASSERT_TRUE(alone->linearise(std::span(steps + which, 1)));
    std::vector<Vec3> expected(as_size(alone->node_count())), found = expected;
    alone->compute_free_motion(0, expected);
    together->compute_free_motion(which, found);
    EXPECT_EQ(found, expected) << which;
  }
  // What the two have left behind is not taken for the next one's.
  ASSERT_TRUE(together->linearise(std::span(&kFast, 1)));
  std::vector<Vec3> expected(as_size(alone->node_count())), found = expected;
  alone->compute_free_motion(0, expected);
  together->compute_free_motion(0, found);
  EXPECT_EQ(found, expected);
}

TEST_P(TimeSteps, TwoThreadsForTwoTimeStepsGiveTheBitsOfOne) {
  BlockOptions o = damped();
  o.cells = {8, 6, 6};
  auto body = make_block(GetParam(), o);
  ASSERT_TRUE(body->allows_two_threads());
  disturb(*body);
  const double steps[] = {kSlow, kFast};
  const BlockRows J = make_rows(*body, 60);
  const std::vector<double> lambda(60, 0.01);
  struct Answer {
    bool good = false;
    Eigen::MatrixXd W = Eigen::MatrixXd::Zero(60, 60);
    std::vector<Vec3> free, correction;
  };
  const auto compute = [&](int which, Answer& answer) {
    answer.good = body->factor(which);
    answer.free.resize(as_size(body->node_count()));
    body->compute_free_motion(which, answer.free);
    body->add_compliance(which, J, answer.W);
    answer.correction.resize(as_size(body->node_count()));
    body->compute_correction(which, J, lambda, answer.correction);
  };
  Answer one[2], two[2];
  ASSERT_TRUE(body->begin_linearise(steps));
  for (int which = 0; which < 2; ++which) compute(which, one[which]);
  ASSERT_TRUE(body->begin_linearise(steps));
  std::thread second(compute, 1, std::ref(two[1]));
  compute(0, two[0]);
  second.join();
  for (int which = 0; which < 2; ++which) {
    EXPECT_EQ(two[which].W, one[which].W);
    EXPECT_EQ(two[which].correction, one[which].correction);
    EXPECT_EQ(two[which].free, one[which].free);
    EXPECT_TRUE(one[which].good && two[which].good);
    EXPECT_GT(one[which].W.norm(), 0.0);
  }
}

// In single precision as in double, up to the error allowed; the first time step is not touched.
TEST_P(TimeSteps, SinglePrecisionOfTheSecondTimeStepStaysWithinItsError) {
  BlockOptions o = damped();
  o.cells = {6, 5, 4};
  auto exact = make_block(GetParam(), o);
  o.fem.single_precision_error = 1e-3;
  auto single = make_block(GetParam(), o);
  const double steps[] = {kSlow, kFast};
  for (const bool leave_out : {false, true}) {
    for (FemBody* body : {exact.get(), single.get()}) {
      disturb(*body);
      if (leave_out) body->leave_out_prescribed();
      ASSERT_TRUE(body->linearise(steps));
    }
    EXPECT_FALSE(exact->is_single_precision(1));
    EXPECT_FALSE(single->is_single_precision(0));
    ASSERT_TRUE(single->is_single_precision(1));
    const BlockRows J = make_rows(*exact, 60);
    const std::vector<double> lambda(60, 0.01);
    for (int which = 0; which < 2; ++which) {
      const double most = which == 0 ? 0.0 : 1e-3, least = which == 0 ? 0.0 : 1e-12;
      const auto compare = [&](const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, const char* what) {
        const double error = (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
        EXPECT_LE(error, most) << what;
        EXPECT_GE(error, least) << what << ": it was not single precision";
      };
      Eigen::MatrixXd W = Eigen::MatrixXd::Zero(60, 60), W_exact = W;
      ASSERT_TRUE(single->add_compliance(which, J, W));
      ASSERT_TRUE(exact->add_compliance(which, J, W_exact));
      compare(W, W_exact, "compliance");
      std::vector<Vec3> dv(as_size(exact->node_count())), dv_exact = dv;
      single->compute_free_motion(which, dv);
      exact->compute_free_motion(which, dv_exact);
      compare(flat(dv), flat(dv_exact), "free motion");
      single->compute_correction(which, J, lambda, dv);
      exact->compute_correction(which, J, lambda, dv_exact);
      compare(flat(dv), flat(dv_exact), "correction");
    }
  }
}

// What is too stiff for single precision is factored in double, to the bit.
TEST_P(TimeSteps, SinglePrecisionIsNotTakenWhereItMightErrMore) {
  BlockOptions o = damped();
  o.material.young_modulus = 2e8;
  auto exact = make_block(GetParam(), o);
  o.fem.single_precision_error = 1e-3;
  auto single = make_block(GetParam(), o);
  const double steps[] = {kSlow, kFast};
  for (FemBody* body : {exact.get(), single.get()}) {
    body->set_velocities(random_vectors(body->node_count(), 0.2, 2));
    ASSERT_TRUE(body->linearise(steps));
    EXPECT_FALSE(body->is_single_precision(1));
  }
  std::vector<Vec3> dv(as_size(exact->node_count())), dv_exact = dv;
  single->compute_free_motion(1, dv);
  exact->compute_free_motion(1, dv_exact);
  EXPECT_EQ(dv, dv_exact);
  o.fem.single_precision_error = 0.2;
  EXPECT_THROW(make_block(GetParam(), o), InputError);
}

}  // namespace
}  // namespace palpate::time_steps_test
