#include "../src/row_compliance.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace palpate::row_compliance_test {
namespace {

/// Rows over the 3 × 3 columns of a few blocks: ten contacts and two single rows, which share blocks.
struct Case {
  static constexpr int kBlocks = 7, kRows = 32;
  std::mt19937 random{5};
  BlockRows J;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(kRows, 3 * kBlocks), A = Eigen::MatrixXd(3 * kBlocks, 3 * kBlocks);

  double number() { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); }
  void add_row(std::span<const int> blocks) {
    J.begin_row();
    for (const int b : blocks) {
      const Vec3 value(number(), number(), number());
      J.add(b, value);
      dense.row(J.rows() - 1).segment<3>(3 * b) += value.transpose();
    }
  }
  Case() {
    for (double& a : A.reshaped()) a = number();
    A = (A + A.transpose()).eval();
    for (int i = 0; i < 10; ++i) {
      const std::array<int, 3> blocks = {i % kBlocks, (i + 2) % kBlocks, (i + 3) % kBlocks};
      for (int r = 0; r < 3; ++r) add_row(blocks);
      if (i % 5 == 0) add_row(std::array{i % kBlocks});
    }
  }
  void fill(RowCompliance& rows) const {
    for (int i = 0; i < J.rows();) {
      const int count = RowCompliance::count_group(J, i);
      rows.begin_group(i, count);
      for (std::size_t n = 0; n < J.row(i).size(); ++n) {
        std::array<Vec3, 3> values;
        for (int r = 0; r < count; ++r) values[as_size(r)] = J.row(i + r)[n].value;
        rows.add(3 * J.row(i)[n].block, std::span(values).first(as_size(count)));
      }
      i += count;
    }
  }
};

// The product of dense matrices, in all rows and in those that are wanted: single rows of a contact too. Exactly
// symmetric, and added to what was there.
TEST(RowCompliance, IsTheDenseProductWhereItIsWanted) {
  const Case c;
  RowCompliance rows;
  rows.reserve(Case::kRows, c.J.entries(), 3 * Case::kBlocks);
  Eigen::MatrixXd whole = c.dense * c.A * c.dense.transpose(),
                  W = Eigen::MatrixXd::Constant(Case::kRows, Case::kRows, 2.0);
  rows.begin(Case::kRows);
  c.fill(rows);
  rows.add_to(c.A, W);
  EXPECT_EQ(W, W.transpose());
  EXPECT_LT((W.array() - 2.0 - whole.array()).matrix().norm(), 1e-14 * whole.norm());

  const std::vector<std::int32_t> wanted = {0, 1, 2, 3, 12, 31};
  W.setZero();
  rows.begin(Case::kRows, wanted);
  c.fill(rows);
  rows.add_to(c.A, W);
  for (int r = 0; r < Case::kRows; ++r) {
    for (int k = 0; k < Case::kRows; ++k) {
      if (!std::ranges::binary_search(wanted, r) && !std::ranges::binary_search(wanted, k)) whole(r, k) = 0.0;
    }
  }
  EXPECT_EQ(W, W.transpose());
  EXPECT_LT((W - whole).norm(), 1e-14 * whole.norm());
}

}  // namespace
}  // namespace palpate::row_compliance_test
