#include "palpate/runtime/latest_value.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "palpate/runtime/row_ring.h"

namespace palpate::latest_value_test {
namespace {

TEST(LatestValue, ReaderGetsTheNewestAndEachOnce) {
  LatestValue<int> value;
  int x = -1;
  EXPECT_FALSE(value.read(x));
  value.write(1);
  value.write(2);
  EXPECT_TRUE(value.read(x));
  EXPECT_EQ(x, 2);
  EXPECT_FALSE(value.read(x));
}

TEST(LatestBytes, StartsAsZerosAndIsAligned) {
  LatestBytes bytes(100, 128);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.write_slot()) % 128, 0u);
    for (int k = 0; k < 100; ++k) EXPECT_EQ(bytes.read_slot()[k], std::byte{0});
    bytes.publish();
    bytes.refresh();
  }
}

// 512 bytes of one number: a torn message would mix two, an old one would go backwards.
TEST(LatestValue, IsNeverTornAndNeverOlderUnderTwoThreads) {
  using Message = std::array<std::uint64_t, 64>;
  LatestValue<Message> value;
  constexpr std::uint64_t kMessages = 200000;
  std::thread writer([&] {
    Message m;
    for (std::uint64_t i = 1; i <= kMessages; ++i) {
      m.fill(i);
      value.write(m);
    }
  });
  std::uint64_t last = 0;
  long received = 0, bad = 0;
  Message m{};
  while (last < kMessages) {
    if (!value.read(m)) continue;
    ++received;
    for (const std::uint64_t word : m) bad += word != m[0];
    bad += m[0] <= last;
    last = m[0];
  }
  writer.join();
  EXPECT_EQ(bad, 0);
  EXPECT_GT(received, 1);
}

TEST(RowRing, KeepsOrderAndRefusesWhenFull) {
  RowRing<int> ring(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ring.push(i));
  EXPECT_FALSE(ring.push(3));
  int x = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(ring.pop(x));
    EXPECT_EQ(x, i);
  }
  EXPECT_FALSE(ring.pop(x));
}

TEST(RowRing, LosesNothingBetweenTwoThreads) {
  RowRing<int> ring(64);
  constexpr int kRows = 200000;
  std::thread writer([&] {
    for (int i = 0; i < kRows;) i += ring.push(i);
  });
  int expected = 0, x = 0;
  while (expected < kRows) {
    if (!ring.pop(x)) continue;
    ASSERT_EQ(x, expected);
    ++expected;
  }
  writer.join();
}

}  // namespace
}  // namespace palpate::latest_value_test
