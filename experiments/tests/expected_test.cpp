#include "palpate/experiments/expected.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "palpate/core/error.h"

// What is expected of the experiments' claims, and how a change is told.
namespace palpate::expected_test {
namespace {

using Relation = MeasuredClaim::Relation;

MeasuredClaim claim(const std::string& name, bool holds, bool timed = false) {
  return {name, "paper", holds ? 0.0 : 2.0, 1.0, Relation::kAtMost, "", timed};
}

const char* const kText = R"({ "full": { "x": { "good": true, "bad": "because" },
                                         "x, stand-in": { "good": "not on this mesh" } },
                               "quick": { "x": { "good": true } } })";

TEST(Expected, ClaimStandsAsExpectedOrNot) {
  const ExpectedClaims expected = ExpectedClaims::parse(kText);
  const std::vector<MeasuredClaim> same = {claim("good", true), claim("bad", false)};
  const ExpectedComparison as_is = expected.compare("x", same, {}, false);
  EXPECT_EQ(as_is.claims[0].standing, Standing::kAsExpected);
  EXPECT_EQ(as_is.claims[1].standing, Standing::kAsExpected);
  EXPECT_EQ(as_is.claims[1].reason, "because");
  EXPECT_FALSE(as_is.changed(same));
  EXPECT_FALSE(as_is.regressed(same));
}

TEST(Expected, WorseIsARegressionAndBetterAChange) {
  const ExpectedClaims expected = ExpectedClaims::parse(kText);
  const std::vector<MeasuredClaim> worse = {claim("good", false), claim("bad", false)};
  EXPECT_EQ(expected.compare("x", worse, {}, false).claims[0].standing, Standing::kWorse);
  EXPECT_TRUE(expected.compare("x", worse, {}, false).regressed(worse));
  const std::vector<MeasuredClaim> better = {claim("good", true), claim("bad", true)};
  EXPECT_EQ(expected.compare("x", better, {}, false).claims[1].standing, Standing::kBetter);
  EXPECT_FALSE(expected.compare("x", better, {}, false).regressed(better));
  EXPECT_TRUE(expected.compare("x", better, {}, false).changed(better));
}

TEST(Expected, ClaimThatIsNoLongerMadeIsMissed) {
  const ExpectedClaims expected = ExpectedClaims::parse(kText);
  const std::vector<MeasuredClaim> fewer = {claim("good", true)};
  const ExpectedComparison c = expected.compare("x", fewer, {}, false);
  EXPECT_EQ(c.missing, std::vector<std::string>{"bad"});
  EXPECT_TRUE(c.regressed(fewer));
}

TEST(Expected, NewClaimIsAChangeAndARegressionIfItDoesNotHold) {
  const ExpectedClaims expected = ExpectedClaims::parse(kText);
  for (const bool holds : {true, false}) {
    const std::vector<MeasuredClaim> more = {claim("good", true), claim("bad", false), claim("new", holds)};
    const ExpectedComparison c = expected.compare("x", more, {}, false);
    EXPECT_EQ(c.claims[2].standing, Standing::kUnknown);
    EXPECT_TRUE(c.changed(more));
    EXPECT_EQ(c.regressed(more), !holds);
  }
}

TEST(Expected, TimesOfTheMachineChangeNothing) {
  const ExpectedClaims expected = ExpectedClaims::parse(kText);
  const std::vector<MeasuredClaim> slow = {claim("good", false, true), claim("bad", false)};
  const ExpectedComparison c = expected.compare("x", slow, {}, false);
  EXPECT_EQ(c.claims[0].standing, Standing::kWorse);
  EXPECT_FALSE(c.regressed(slow));
  EXPECT_FALSE(c.changed(slow));
}

// A time that was not measured is no time of the machine: a claim that finds nothing to time must not pass unseen.
TEST(Expected, ATimeThatWasNotMeasuredIsARegression) {
  ExpectedClaims expected = ExpectedClaims::parse(kText);
  std::vector<MeasuredClaim> none = {claim("good", false, true), claim("bad", false)};
  none[0].measured = std::numeric_limits<double>::quiet_NaN();
  const ExpectedComparison c = expected.compare("x", none, {}, false);
  EXPECT_TRUE(c.regressed(none));
  EXPECT_TRUE(c.changed(none));
  expected.update("x", none, {}, false);
  EXPECT_FALSE(expected.compare("x", none, {}, false).changed(none)) << "from then on it is known";
}

TEST(Expected, StandInAndQuickFormAreExpectedByThemselves) {
  const ExpectedClaims expected = ExpectedClaims::parse(kText);
  const std::vector<MeasuredClaim> bad = {claim("good", false)};
  EXPECT_FALSE(expected.compare("x", bad, {"stood in"}, false).changed(bad));
  EXPECT_TRUE(expected.compare("x", bad, {}, true).regressed(bad));
}

TEST(Expected, UpdateTakesOverWhatWasMeasuredAndKeepsReasons) {
  ExpectedClaims expected = ExpectedClaims::parse(kText);
  const std::vector<MeasuredClaim> now = {claim("good", true), claim("bad", false), claim("slow", false, true)};
  expected.update("x", now, {}, false);
  const ExpectedComparison c = ExpectedClaims::parse(expected.text()).compare("x", now, {}, false);
  EXPECT_EQ(c.claims[1].reason, "because");
  EXPECT_EQ(c.claims[2].standing, Standing::kWorse) << "a slow machine is no reason";
  EXPECT_TRUE(c.missing.empty());
}

TEST(Expected, FileThatIsWrongIsRefusedWithItsPlace) {
  for (const char* text : {"[", "[]", R"({"slow": {}})", R"({"full": {"x": []}})", R"({"full": {"x": {"c": false}}})"})
    EXPECT_THROW(ExpectedClaims::parse(text), InputError) << text;
  try {
    ExpectedClaims::parse(R"({"full": {"x": {"c": false}}})");
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("full.x.\"c\""), std::string::npos) << error.what();
  }
}

TEST(Index, ShowsEveryClaimWithVerdictReasonAndLink) {
  NamedResult result{"susa-cube", {claim("holds <b>", true), claim("fails", false)}, "reports/susa-cube.html", {}, {}};
  result.expected.claims = {{Standing::kAsExpected, ""}, {Standing::kAsExpected, "because"}};
  result.expected.missing = {"gone"};
  const std::string html = make_experiments_index({result}, false);
  for (const char* text : {"href=\"susa-cube.html\"", "holds &lt;b&gt;", "✓ holds", "✗ does not hold", "because",
                           "gone", "Susa, Sato", "1 of 2 claims hold"})
    EXPECT_NE(html.find(text), std::string::npos) << text;
  EXPECT_EQ(html.find("Knott"), std::string::npos) << "papers without experiments are left out";
}

// A page of hundreds of claims begins with a table: every experiment once, under its paper, linked to its place.
TEST(Index, BeginsWithWhatWasFoundWhere) {
  NamedResult cube{"susa-cube", {claim("a", true), claim("b", false), claim("c", false)}, "susa-cube.html", {}, {}};
  cube.expected.claims.assign(3, {Standing::kAsExpected, ""});
  NamedResult bend{"zhuang-bend", {claim("a", true)}, "zhuang-bend.html", {}, {}};
  bend.expected.claims.assign(1, {Standing::kUnknown, ""});
  const std::string html = make_experiments_index({cube, bend}, false);
  const std::string contents = html.substr(0, html.find("<h2>"));
  const auto count = [&](const std::string& text) {
    int found = 0;
    for (std::size_t at = contents.find(text); at != std::string::npos; at = contents.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("href=\"#susa-cube\""), 1);
  EXPECT_EQ(count("href=\"#zhuang-bend\""), 1);
  EXPECT_NE(contents.find("<td>1</td><td class=\"fails\">2</td><td>yes</td>"), std::string::npos) << contents;
  EXPECT_NE(contents.find("<td>1</td><td class=\"\">–</td><td>no</td>"), std::string::npos) << contents;
  EXPECT_LT(contents.find("Zhuang"), contents.find("Susa")) << "in the order of the papers below";
  for (const char* id : {"id=\"susa-cube\"", "id=\"zhuang-bend\""}) EXPECT_NE(html.find(id), std::string::npos) << id;
}

TEST(Index, TellsTimesOfTheMachineFromOtherClaimsThatDoNotHold) {
  NamedResult result{
      "sine-static-halfspace", {claim("a", false), claim("tick", false)}, "sine-static-halfspace.html", {}, {}};
  result.claims[1].timed = true;
  result.expected.claims.assign(2, {Standing::kAsExpected, ""});
  const std::string html = make_experiments_index({result}, false);
  EXPECT_NE(html.find("2 claims: 0 hold, 2 do not (1 of them a time of this machine); all as expected."),
            std::string::npos);
  EXPECT_NE(html.find("Knott"), std::string::npos) << "whose experiment it is, whatever its name";
  result.claims[1].timed = false;
  EXPECT_EQ(make_experiments_index({result}, false).find("of this machine"), std::string::npos);
}

// The quick form of every experiment, so that no claim rots unseen. Where one changes, in either direction, look why,
// and only then write it down: palpate reproduce --quick NAME --write-expected experiments/expected.json
class QuickForm : public ::testing::TestWithParam<std::size_t> {};

TEST_P(QuickForm, StandsAsExpected) {
  const Experiment& experiment = registered_experiments()[GetParam()];
  ExperimentOptions options;
  options.quick = true;
  const ExperimentResult result = experiment.run(options);
  ASSERT_FALSE(result.claims.empty());
  EXPECT_TRUE(result.notes.empty()) << "quick forms need no data folder";
  const ExpectedComparison expected =
      ExpectedClaims::load().compare(experiment.name, result.claims, result.notes, true);
  std::set<std::string> names;
  for (std::size_t i = 0; i < result.claims.size(); ++i) {
    const MeasuredClaim& c = result.claims[i];
    EXPECT_TRUE(names.insert(c.name).second) << c.name << " twice";
    if (c.timed) continue;
    EXPECT_EQ(expected.claims[i].standing, Standing::kAsExpected)
        << c.name << ": " << standing_name(expected.claims[i].standing) << "; measured " << c.measured << ", limit "
        << c.limit;
  }
  EXPECT_EQ(expected.missing, std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(All, QuickForm, ::testing::Range<std::size_t>(0, registered_experiments().size()),
                         [](const auto& chosen) {
                           std::string name(registered_experiments()[chosen.param].name);
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace palpate::expected_test
