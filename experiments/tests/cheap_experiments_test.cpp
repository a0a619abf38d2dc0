#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "palpate/experiments/experiment.h"

// The experiments that take a fraction of a second, whole: their claims hold, and what they report can be shown.
namespace palpate::cheap_experiments_test {
namespace {

const char* const kCheap[] = {"sine-static-halfspace", "wall-passivity", "zhuang-rotation"};

TEST(CheapExperiments, ClaimsHoldAndSayWhatWasClaimed) {
  for (const char* name : kCheap) {
    const ExperimentResult result = find_experiment(name).run({});
    ASSERT_FALSE(result.claims.empty()) << name;
    std::set<std::string> names;
    for (const MeasuredClaim& claim : result.claims) {
      EXPECT_TRUE(claim.holds()) << name << ": " << claim.name << " measured " << claim.measured;
      EXPECT_TRUE(std::isfinite(claim.measured)) << name << ": " << claim.name;
      EXPECT_TRUE(std::isfinite(claim.limit)) << name << ": " << claim.name;
      EXPECT_FALSE(claim.paper.empty()) << name << ": " << claim.name;
      EXPECT_TRUE(names.insert(claim.name).second) << name << ": " << claim.name << " twice";
    }
  }
}

TEST(CheapExperiments, TablesAndPlotsAreWhole) {
  for (const char* name : kCheap) {
    const Experiment& experiment = find_experiment(name);
    const Report report = make_experiment_report(experiment, experiment.run({}));
    EXPECT_FALSE(report.title.empty()) << name;
    EXPECT_FALSE(report.plots.empty() && report.tables.empty()) << name;
    for (const Table& table : report.tables) {
      for (const TableRow& row : table.rows)
        EXPECT_EQ(row.cells.size(), table.columns.size()) << name << ": " << table.title << ": " << row.name;
    }
    for (const Plot& plot : report.plots) {
      EXPECT_FALSE(plot.title.empty()) << name;
      EXPECT_FALSE(plot.series.empty()) << name << ": " << plot.title;
      for (const Series& series : plot.series) {
        EXPECT_EQ(series.x.size(), series.y.size()) << name << ": " << plot.title << ": " << series.name;
        EXPECT_FALSE(series.x.empty()) << name << ": " << plot.title << ": " << series.name;
      }
    }
    EXPECT_LT(make_report_html(report).size(), 8u << 20) << name;
  }
}

// In lockstep nothing depends on the machine; what is measured in seconds does, and is not claimed here.
TEST(CheapExperiments, MeasureTheSameEveryTime) {
  for (const char* name : kCheap) {
    const std::vector<MeasuredClaim> first = find_experiment(name).run({}).claims,
                                     again = find_experiment(name).run({}).claims;
    ASSERT_EQ(first.size(), again.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i].unit != "s") {
        EXPECT_EQ(first[i].measured, again[i].measured) << name << ": " << first[i].name;
      }
    }
  }
}

TEST(CheapExperiments, ProgressIsAShareOfTheWhole) {
  for (const char* name : {"sine-static-halfspace", "wall-passivity"}) {
    int calls = 0;
    ExperimentOptions options;
    options.progress = [&](std::string_view stage, double share) {
      EXPECT_FALSE(stage.empty());
      EXPECT_GE(share, 0.0);
      EXPECT_LE(share, 1.0);
      ++calls;
    };
    find_experiment(name).run(options);
    EXPECT_GT(calls, 0) << name;
  }
}

}  // namespace
}  // namespace palpate::cheap_experiments_test
