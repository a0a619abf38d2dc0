#pragma once

#include <gtest/gtest-spi.h>

#include <iostream>

namespace palpate::testing {

/// For what is expected of loops that run by the clock: where the machine stands still for a tenth of a second, ticks
/// are missed and forces fade, as they should, and such a run says nothing of the code. Calls `body` until nothing in
/// it fails, four times at most; the last call's failures are the test's. What is wrong in every run fails.
template <typename Body>
void expect_by_the_clock(const Body& body) {
  using Reporter = ::testing::ScopedFakeTestPartResultReporter;
  constexpr int kTries = 4;
  for (int i = 1; i < kTries; ++i) {
    ::testing::TestPartResultArray failures;
    {
      const Reporter reporter(Reporter::INTERCEPT_ALL_THREADS, &failures);
      body();
    }
    if (failures.size() == 0) return;
    std::cout << "try " << i << " of " << kTries << ": " << failures.GetTestPartResult(0) << "\n";
  }
  body();
}

}  // namespace palpate::testing
