#include "palpate/core/latest_value.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "palpate/runtime/delay_line.h"
#include "palpate/runtime/row_ring.h"

namespace palpate::handover_test {
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

// 512 bytes of one number: a torn message would mix two, an old one would go backwards. The writer goes on until the
// reader has had some, so that both run side by side however the machine shares its time.
TEST(LatestValue, IsNeverTornAndNeverOlderUnderTwoThreads) {
  using Message = std::array<std::uint64_t, 64>;
  LatestValue<Message> value;
  constexpr std::uint64_t kMessages = 200000, kReceived = 100;
  std::atomic<std::uint64_t> received = 0, end = 0;
  std::thread writer([&] {
    Message m;
    std::uint64_t i = 0;
    while (i < kMessages || received < kReceived) {
      m.fill(++i);
      value.write(m);
    }
    end = i;
  });
  std::uint64_t last = 0;
  long bad = 0;
  Message m{};
  while (end == 0 || last < end) {
    if (!value.read(m)) continue;
    ++received;
    for (const std::uint64_t word : m) bad += word != m[0];
    bad += m[0] <= last;
    last = m[0];
  }
  writer.join();
  EXPECT_EQ(bad, 0);
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

void send(DelayLine& line, std::uint64_t value, std::int64_t due, bool fits = true) {
  std::memcpy(line.write_slot(), &value, sizeof value);
  EXPECT_EQ(line.publish(due), fits);
}

std::uint64_t receive(DelayLine& line, std::int64_t now) {
  line.refresh(now);
  std::uint64_t value = 0;
  std::memcpy(&value, line.read_slot(), sizeof value);
  return value;
}

TEST(DelayLine, GivesEachMessageWhenItIsDueAndLosesTheNewestWhenFull) {
  DelayLine line(sizeof(std::uint64_t), 8, 3);
  EXPECT_EQ(receive(line, 1000), 0u);
  send(line, 1, 10);
  send(line, 2, 20);
  send(line, 3, 30);
  EXPECT_EQ(receive(line, 9), 0u);
  EXPECT_EQ(receive(line, 10), 1u);
  EXPECT_EQ(receive(line, 35), 3u);  // the newest that is due
  for (std::uint64_t i = 4; i < 7; ++i) send(line, i, 40);
  send(line, 7, 40, false);
  EXPECT_EQ(receive(line, 40), 6u);
  send(line, 8, 50);
  EXPECT_EQ(receive(line, 50), 8u);
}

TEST(DelayLine, IsNeverTornUnderTwoThreads) {
  using Message = std::array<std::uint64_t, 64>;
  DelayLine line(sizeof(Message), 64, 4);
  constexpr std::uint64_t kMessages = 20000;
  std::thread writer([&] {
    Message m;
    for (std::uint64_t i = 1; i <= kMessages;) {
      m.fill(i);
      std::memcpy(line.write_slot(), &m, sizeof m);
      if (line.publish(0)) ++i;
    }
  });
  std::uint64_t last = 0;
  long bad = 0;
  while (last < kMessages) {
    line.refresh(0);
    Message m;
    std::memcpy(&m, line.read_slot(), sizeof m);
    for (const std::uint64_t word : m) bad += word != m[0];
    bad += m[0] < last;
    last = m[0];
  }
  writer.join();
  EXPECT_EQ(bad, 0);
}

}  // namespace
}  // namespace palpate::handover_test
