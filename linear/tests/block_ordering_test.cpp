#include "palpate/linear/block_ordering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "palpate/linear/block_cholesky.h"
#include "random_systems.h"

namespace palpate::block_ordering_test {
namespace {

bool is_permutation(std::vector<int> order, int n) {
  std::sort(order.begin(), order.end());
  for (int i = 0; i < n; ++i) {
    if (order[i] != i) return false;
  }
  return static_cast<int>(order.size()) == n;
}

TEST(BlockOrdering, IsAPermutationForEveryPattern) {
  std::mt19937_64 random(1);
  for (const int n : {0, 1, 2, 3, 10, 100}) {
    for (const int groups : {0, n / 2, 3 * n}) {
      const BlockPattern pattern(n, reference::make_random_groups(n, groups, random));
      EXPECT_TRUE(is_permutation(make_minimum_degree(pattern), n)) << n;
      for (int seed = 0; seed < 3; ++seed) {
        EXPECT_TRUE(is_permutation(make_nested_dissection(pattern, seed), n)) << n;
      }
    }
  }
}

TEST(BlockOrdering, IsTheSameEveryTimeInEveryThread) {
  const BlockPattern pattern(1000, reference::make_grid_groups(10, 10, 10));
  const std::vector<int> expected = make_nested_dissection(pattern, 3);
  std::vector<int> found[2];
  std::thread threads[2];
  for (int t = 0; t < 2; ++t) {
    threads[t] = std::thread([&, t] {
      for (int round = 0; round < 5; ++round) found[t] = make_nested_dissection(pattern, 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found[0], expected);
  EXPECT_EQ(found[1], expected);
}

// Nested dissection of an m × m × m grid needs O(m⁶) operations (George 1973), a banded elimination O(m⁷): doubling m
// costs 64 times as much, against 128. The bound lies between; lower-order terms pull the ratio down, not up.
TEST(BlockOrdering, OperationsOnACubeGrowWithTheSquareOfItsNodes) {
  const auto operations = [](int m) {
    const auto pattern = std::make_shared<const BlockPattern>(m * m * m, reference::make_grid_groups(m, m, m));
    return BlockCholesky(pattern).floating_point_operations();
  };
  EXPECT_LT(operations(16) / operations(8), 90.0);
}

// A chain is a tree: elimination fills nothing in, so operations grow with its length.
TEST(BlockOrdering, OperationsOnAChainGrowWithItsLength) {
  const auto operations = [](int n) {
    const reference::System chain = reference::make_grid_laplacian(n, 1, 1, 1.0);
    return BlockCholesky(chain.pattern).floating_point_operations();
  };
  EXPECT_NEAR(operations(800) / operations(400), 2.0, 0.1);
}

}  // namespace
}  // namespace palpate::block_ordering_test
