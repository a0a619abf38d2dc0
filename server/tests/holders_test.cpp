#include "../src/holders.h"

#include <gtest/gtest.h>

#include <set>

namespace palpate::holders_test {
namespace {

/// Lets time pass in steps of a tenth of a second, and tells which tools were freed.
class Passing {
 public:
  explicit Passing(Holders& holders) : holders_(holders) {}

  std::vector<std::size_t> until(double end) {
    std::vector<std::size_t> freed;
    for (; now < end; now += 0.1) {
      holders_.update(
          now, [&](std::uint64_t page) { return !gone.contains(page); }, [&](std::size_t t) { freed.push_back(t); });
    }
    return freed;
  }

  double now = 0.0;
  std::set<std::uint64_t> gone;

 private:
  Holders& holders_;
};

TEST(Holders, WhoComesFirstHasItUntilHeLetsGo) {
  Holders h;
  EXPECT_TRUE(h.hold(0, 1, 0.0));
  EXPECT_FALSE(h.hold(0, 2, 0.1));
  EXPECT_TRUE(h.hold(1, 2, 0.1)) << "another tool is free";
  EXPECT_FALSE(h.let_go(0, 2, 0.2)) << "it is not his";
  EXPECT_EQ(h[0].holder, 1u);
  EXPECT_TRUE(h.let_go(0, 1, 0.3));
  EXPECT_TRUE(h.hold(0, 2, 0.4));
}

// However long he holds it still: nobody wants it.
TEST(Holders, NobodyAsksNobodyLoses) {
  Holders h;
  h.hold(0, 1, 0.0);
  EXPECT_TRUE(Passing(h).until(100.0).empty());
  EXPECT_EQ(h[0].holder, 1u);
}

TEST(Holders, WhatIsGivenIsKeptForWhoAsked) {
  Holders h;
  h.hold(0, 1, 0.0);
  EXPECT_FALSE(h.give(0, 1, 0.1)) << "nobody asks";
  h.ask(0, 2, 0.2);
  h.ask(0, 3, 0.3);
  EXPECT_EQ(h[0].asker, 2u) << "who asked first";
  EXPECT_FALSE(h.give(0, 2, 0.4)) << "it is not his to give";
  EXPECT_TRUE(h.give(0, 1, 0.4));
  EXPECT_EQ(h[0].holder, 0u);
  EXPECT_EQ(h[0].reserved, 2u);
  EXPECT_FALSE(h.hold(0, 1, 0.5)) << "his mouse still moves";
  EXPECT_FALSE(h.hold(0, 3, 0.5));
  EXPECT_TRUE(h.hold(0, 2, 0.6));
}

TEST(Holders, WhatIsNotTakenIsFreeAgain) {
  Holders h;
  h.hold(0, 1, 0.0);
  h.ask(0, 2, 0.0);
  h.let_go(0, 1, 0.0);
  Passing passing(h);
  passing.until(Holders::kReserved - 0.3);
  EXPECT_FALSE(h.hold(0, 1, passing.now));
  passing.until(Holders::kReserved + 0.3);
  EXPECT_TRUE(h.hold(0, 1, passing.now));
}

TEST(Holders, SilenceGivesAndMotionOrAWordKeeps) {
  Holders silent, moving, speaking;
  for (Holders* h : {&silent, &moving, &speaking}) {
    h->hold(0, 1, 0.0);
    h->ask(0, 2, 1.0);
  }
  Passing in_silence(silent), in_motion(moving), in_words(speaking);
  EXPECT_TRUE(in_silence.until(1.0 + Holders::kSilence - 0.2).empty());
  EXPECT_EQ(in_silence.until(1.0 + Holders::kSilence + 0.2), std::vector<std::size_t>{0});
  EXPECT_EQ(silent[0].reserved, 2u);
  for (double t = 1.0; t < 20.0; t += 1.0) {
    EXPECT_TRUE(in_motion.until(t).empty());
    EXPECT_TRUE(moving.hold(0, 1, t));
  }
  EXPECT_TRUE(speaking.keep(0, 1, 2.0));
  EXPECT_FALSE(speaking.keep(0, 1, 2.0)) << "nobody asks any more";
  EXPECT_TRUE(in_words.until(20.0).empty());
}

TEST(Holders, WhoGoesAwayHoldsAndAsksNothing) {
  Holders h;
  h.hold(0, 1, 0.0);
  h.ask(0, 2, 0.0);
  Passing passing(h);
  passing.gone = {2};
  EXPECT_TRUE(passing.until(20.0).empty());
  EXPECT_EQ(h[0].asker, 0u);
  passing.gone = {1};
  EXPECT_EQ(passing.until(20.2), std::vector<std::size_t>{0});
  EXPECT_TRUE(h.hold(0, 3, 20.3));
}

TEST(Holders, AFreeToolIsReservedAtOnce) {
  Holders h;
  h.ask(0, 2, 0.0);
  EXPECT_EQ(h[0].reserved, 2u);
  EXPECT_EQ(h[0].asker, 0u);
  h.ask(0, 2, 0.1);
  EXPECT_EQ(h[0].asker, 0u) << "he may have it already";
  EXPECT_FALSE(h.hold(0, 1, 0.2));
  EXPECT_TRUE(h.hold(0, 2, 0.3));
  h.clear(0.4);
  EXPECT_TRUE(h.hold(0, 1, 0.5));
}

}  // namespace
}  // namespace palpate::holders_test
