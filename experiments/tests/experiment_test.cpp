#include "palpate/experiments/experiment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "../src/experiments.h"
#include "palpate/core/error.h"

namespace palpate::experiment_test {
namespace {

using Relation = MeasuredClaim::Relation;

MeasuredClaim make_claim(double measured, double limit, Relation relation, const std::string& unit = "N") {
  return {"name", "paper", measured, limit, relation, unit};
}

TEST(ExperimentList, NamesAreUniqueWordsThatAFileCanHave) {
  std::set<std::string_view> names;
  for (const Experiment& e : registered_experiments()) {
    EXPECT_TRUE(names.insert(e.name).second) << e.name;
    EXPECT_EQ(e.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos) << e.name;
    EXPECT_FALSE(e.description.empty()) << e.name;
    EXPECT_EQ(e.description.find('\n'), std::string_view::npos) << e.name << ": one line";
    EXPECT_NE(e.run, nullptr) << e.name;
  }
}

TEST(ExperimentList, EachIsFoundByItsName) {
  for (const Experiment& e : registered_experiments()) EXPECT_EQ(&find_experiment(e.name), &e);
}

TEST(ExperimentList, UnknownNameIsAnsweredWithAllThatThereAre) {
  try {
    find_experiment("");
    FAIL();
  } catch (const InputError& error) {
    for (const Experiment& e : registered_experiments())
      EXPECT_NE(std::string(error.what()).find(e.name), std::string::npos) << e.name;
  }
}

TEST(MeasuredClaims, HoldAtTheLimitItself) {
  EXPECT_TRUE(make_claim(1.0, 1.0, Relation::kAtMost).holds());
  EXPECT_TRUE(make_claim(1.0, 1.0, Relation::kAtLeast).holds());
  EXPECT_FALSE(make_claim(std::nextafter(1.0, 2.0), 1.0, Relation::kAtMost).holds());
  EXPECT_FALSE(make_claim(std::nextafter(1.0, 0.0), 1.0, Relation::kAtLeast).holds());
}

TEST(MeasuredClaims, InfinityIsAMeasureAndNotANumberIsNone) {
  EXPECT_FALSE(make_claim(INFINITY, 1.0, Relation::kAtMost).holds());
  EXPECT_TRUE(make_claim(INFINITY, 1.0, Relation::kAtLeast).holds());
  for (const Relation relation : {Relation::kAtMost, Relation::kAtLeast}) {
    EXPECT_FALSE(make_claim(NAN, 1.0, relation).holds());
    EXPECT_FALSE(make_claim(1.0, NAN, relation).holds());
  }
}

TEST(ExperimentReport, ShowsMeasureRelationAndLimitWithTheirUnits) {
  ExperimentResult result;
  result.claims = {make_claim(0.00123, 0.01, Relation::kAtMost), make_claim(0.5, 2.0, Relation::kAtLeast, "m"),
                   make_claim(3.0, 2.0, Relation::kAtLeast, "")};
  const Report report = make_experiment_report(registered_experiments().front(), result);
  ASSERT_EQ(report.claims.size(), 3u);
  EXPECT_EQ(report.claims[0].measured, "1.23 mN");
  EXPECT_EQ(report.claims[0].limit, "≤ 10.0 mN");
  EXPECT_TRUE(report.claims[0].holds);
  EXPECT_EQ(report.claims[1].measured, "500 mm");
  EXPECT_EQ(report.claims[1].limit, "≥ 2.00 m");
  EXPECT_FALSE(report.claims[1].holds);
  EXPECT_EQ(report.claims[2].measured, "3");
  EXPECT_EQ(report.claims[2].limit, "≥ 2");
}

TEST(ExperimentReport, IsTitledByTheExperimentUnlessItSaysOtherwise) {
  const Experiment& experiment = registered_experiments().front();
  ExperimentResult result;
  EXPECT_EQ(make_experiment_report(experiment, result).title, experiment.name);
  EXPECT_EQ(make_experiment_report(experiment, result).subtitle, experiment.description);
  result.report.title = "Own";
  result.report.subtitle = "own";
  EXPECT_EQ(make_experiment_report(experiment, result).title, "Own");
  EXPECT_EQ(make_experiment_report(experiment, result).subtitle, "own");
}

TEST(ExperimentReport, NotesFollowTheParagraphs) {
  ExperimentResult result;
  result.report.paragraphs = {"first"};
  result.notes = {"second", "third"};
  EXPECT_EQ(make_experiment_report(registered_experiments().front(), result).paragraphs,
            (std::vector<std::string>{"first", "second", "third"}));
}

TEST(ExperimentsJson, NumbersComeBackAndThoseThatAreNoneAreNull) {
  const double third = 1.0 / 3.0;
  const auto json = nlohmann::json::parse(
      make_experiments_json({{"a", {make_claim(third, 1e-11, Relation::kAtMost)}, "a.html"},
                             {"b", {make_claim(NAN, 1.0, Relation::kAtLeast)}, "b.html", {"note"}}}));
  const auto& a = json["experiments"][0];
  EXPECT_EQ(a["claims"][0]["measured"].get<double>(), third);
  EXPECT_EQ(a["claims"][0]["limit"].get<double>(), 1e-11);
  EXPECT_EQ(a["claims"][0]["relation"], "at most");
  EXPECT_EQ(a["claims"][0]["holds"], false);
  EXPECT_EQ(a["report"], "a.html");
  EXPECT_TRUE(a["notes"].empty());
  const auto& b = json["experiments"][1];
  EXPECT_TRUE(b["claims"][0]["measured"].is_null());
  EXPECT_EQ(b["claims"][0]["relation"], "at least");
  EXPECT_EQ(b["claims"][0]["holds"], false);
  EXPECT_EQ(b["notes"][0], "note");
}

TEST(ExperimentsJson, OfNoneIsAnEmptyList) {
  const auto json = nlohmann::json::parse(make_experiments_json({}));
  EXPECT_TRUE(json["experiments"].is_array());
  EXPECT_TRUE(json["experiments"].empty());
}

TEST(StandIn, SaysWhichFileIsMissingAndWhyAndWhatStandsIn) {
  const char* was = std::getenv("PALPATE_DATA");
  const std::string before = was ? was : "";
  unsetenv("PALPATE_DATA");
  EXPECT_EQ(describe_stand_in("m.obj", "torus"),
            "m.obj is not there (PALPATE_DATA is not set): Palpate's own torus stands in.");
  setenv("PALPATE_DATA", "/nowhere", 1);
  EXPECT_EQ(describe_stand_in("m.obj", "torus"),
            "m.obj is not there (in the folder that PALPATE_DATA names): Palpate's own torus stands in.");
  was ? setenv("PALPATE_DATA", before.c_str(), 1) : unsetenv("PALPATE_DATA");
}

}  // namespace
}  // namespace palpate::experiment_test
