#include "palpate/record/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "palpate/core/error.h"
#include "sample_report.h"
#include "sample_rows.h"

namespace palpate::report_test {
namespace {

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

nlohmann::json plot_data(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

TEST(Report, LoadsNothingFromElsewhere) {
  const std::string html = make_report_html(make_sample_report("sine", 500));
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);  // the browser refuses what slipped through
  for (const char* loader : {" src=", " href=", "url(", "@import", "fetch(", "XMLHttpRequest", "import("}) {
    EXPECT_EQ(html.find(loader), std::string::npos) << loader;
  }
  // Addresses appear in uPlot's own licence line only.
  EXPECT_EQ(count_of(html, "http://"), 0u);
  EXPECT_EQ(count_of(html, "https://"), 1u);
}

TEST(Report, TextFromFilesCannotBecomeMarkup) {
  const std::string evil = "</script><script>alert(1)</script><img onerror='x'>\"&<!--";
  const std::string calm_html = make_report_html(make_sample_report("sine", 50));
  Report report = make_sample_report(evil, 50);
  report.subtitle = evil;
  report.paragraphs = {evil};
  report.claims[0] = {evil, evil, evil, evil, true};
  report.tables[0].title = report.tables[0].note = report.tables[0].columns[0] = evil;
  report.tables[0].rows[0].name = report.tables[0].rows[0].cells[0].text = evil;
  report.plots[0].title = report.plots[0].note = report.plots[0].x_label = report.plots[0].y_unit = evil;
  report.plots[0].series[0].name = evil;
  const std::string html = make_report_html(report);
  for (const char* tag : {"<script", "</script", "<img", "<!--"}) {
    EXPECT_EQ(count_of(html, tag), count_of(calm_html, tag)) << tag;
  }
  EXPECT_EQ(plot_data(html).at("plots").at(0).at("series").at(0).at("name"), evil);
  EXPECT_NE(html.find("Comparison on &lt;/script&gt;"), std::string::npos);
}

TEST(Report, HoldsTextThatIsNotUtf8) {
  Report report = make_sample_report("sine", 50);
  report.plots[0].series[0].name = "\xff\xfe";
  EXPECT_NO_THROW(plot_data(make_report_html(report)));
}

TEST(Report, OfALongRunStaysAtAFewMegabytes) {
  const std::string html = make_report_html(make_sample_report("sine", 60000));
  EXPECT_LT(html.size(), 8u << 20);
  std::size_t points = 0;
  const nlohmann::json data = plot_data(html);
  for (const auto& plot : data.at("plots")) {
    for (const auto& series : plot.at("series")) points += series.at("y").size();
  }
  EXPECT_LE(points, 300000u);
  EXPECT_GT(points, 100000u);
}

TEST(Report, DataAreThoseGiven) {
  const Report report = make_sample_report("sine", 300);
  const auto data = plot_data(make_report_html(report));
  ASSERT_EQ(data.at("plots").size(), report.plots.size());
  for (std::size_t p = 0; p < report.plots.size(); ++p) {
    for (std::size_t s = 0; s < report.plots[p].series.size(); ++s) {
      const Series& series = report.plots[p].series[s];
      const auto& drawn = data["plots"][p]["series"][s];
      const auto& x = data["xs"][drawn["x"].get<std::size_t>()];
      ASSERT_EQ(drawn["y"].size(), series.y.size());
      ASSERT_EQ(x.size(), series.x.size());
      for (std::size_t i = 0; i < series.y.size(); ++i) {
        ASSERT_NEAR(drawn["y"][i].get<double>(), series.y[i], 5e-6 * std::abs(series.y[i]));  // six digits
        ASSERT_NEAR(x[i].get<double>(), series.x[i], 5e-8 * std::abs(series.x[i]));           // eight
      }
    }
  }
}

TEST(Report, SaysWhyItCannotWrite) {
  const TempPath path("report.html");
  const Report report = make_sample_report("sine", 50);
  write_report(report, path.str());
  EXPECT_EQ(read_bytes(path.str()), make_report_html(report));
  try {
    write_report(report, "/no/such/folder/report.html");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("/no/such/folder/report.html: cannot create"), std::string::npos);
  }
}

TEST(Decimate, KeepsEveryPeakEndAndGapInOrder) {
  Series series{"s", {}, {}, SeriesStyle::kReference};
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 50000; ++i) {
    series.x.push_back(1e-3 * i);
    series.y.push_back(normal(random));
  }
  series.y[12345] = 99.0;
  series.y[12346] = -99.0;
  series.y[30000] = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t limit : {8u, 100u, 2000u, 49999u}) {
    const Series thin = decimate(series, PlotKind::kTime, limit);
    EXPECT_LE(thin.x.size(), limit);
    EXPECT_EQ(thin.x.size(), thin.y.size());
    EXPECT_TRUE(std::ranges::is_sorted(thin.x));
    EXPECT_EQ(thin.x.front(), series.x.front());
    EXPECT_EQ(thin.x.back(), series.x.back());
    EXPECT_EQ(std::ranges::count(thin.y, 99.0), 1);
    EXPECT_EQ(std::ranges::count(thin.y, -99.0), 1);
    EXPECT_EQ(std::ranges::count_if(thin.y, [](double y) { return std::isnan(y); }), 1);
    EXPECT_EQ(thin.style, series.style);
  }
  EXPECT_EQ(decimate(series, PlotKind::kTime, 50000).x, series.x);  // nothing to do
}

TEST(Decimate, KeepsBothExtentsOfAPath) {
  Series circle{"c", {}, {}, SeriesStyle::kMethod};
  for (int i = 0; i < 36000; ++i) {
    circle.x.push_back(std::cos(i * std::numbers::pi / 18000));
    circle.y.push_back(std::sin(i * std::numbers::pi / 18000));
  }
  const Series thin = decimate(circle, PlotKind::kPath, 200);
  EXPECT_LE(thin.x.size(), 200u);
  EXPECT_EQ(*std::ranges::min_element(thin.x), -1.0);
  EXPECT_EQ(*std::ranges::max_element(thin.x), 1.0);
  EXPECT_EQ(*std::ranges::min_element(thin.y), -1.0);
  EXPECT_EQ(*std::ranges::max_element(thin.y), 1.0);
}

TEST(MetricsTables, HighlightTheBestMethodAndNeverTheTruth) {
  Metrics good, bad, truth;
  good.force_error_rms = 0.1;
  bad.force_error_rms = 0.2;
  truth.force_jump_max = 0.0;
  good.force_jump_max = bad.force_jump_max = 0.5;  // a draw
  good.force_delay = 0.001;
  bad.force_delay = 0.002;  // of a delay none is called best
  const std::vector<Table> tables = make_metrics_tables({{"t", truth, true}, {"a", bad, false}, {"b", good, false}});
  ASSERT_EQ(tables.size(), 1u);  // the other groups have no values
  const Table& table = tables[0];
  EXPECT_EQ(table.columns, (std::vector<std::string>{"Force error, RMS", "Delay", "Largest jump in a tick"}));
  EXPECT_TRUE(table.rows[0].muted);
  EXPECT_EQ(table.rows[0].cells[0].text, "–");
  EXPECT_EQ(table.rows[2].cells[0].text, "100 mN");
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      EXPECT_EQ(table.rows[row].cells[column].best, row == 2 && column == 0);
    }
  }
}

TEST(MetricsTables, OfEnergyTheNearestToTheTruthIsBestNotTheMostDissipative) {
  Metrics truth, near, dissipative, active;
  truth.energy_final = -0.10;
  near.energy_final = -0.12;
  dissipative.energy_final = -0.50;
  active.energy_final = 0.2;
  const std::vector<NamedMetrics> methods = {{"d", dissipative}, {"n", near}, {"a", active}};
  std::vector<NamedMetrics> all = methods;
  all.push_back({"t", truth, true});
  const Table table = make_metrics_tables(all).at(0);
  ASSERT_EQ(table.columns, std::vector<std::string>{"Energy given, final"});
  for (std::size_t row = 0; row < 4; ++row) EXPECT_EQ(table.rows[row].cells[0].best, row == 1) << row;
  // Without a truth nobody is near it.
  for (const TableRow& row : make_metrics_tables(methods).at(0).rows) EXPECT_FALSE(row.cells[0].best);
}

TEST(RunPlots, ShowThePathInThePlaneOfItsLargestExtents) {
  RunData run = make_sample_run("m", 100, 1, 0.0);
  for (TickRow& row : run.ticks) std::swap(row.tool.position.x(), row.tool.position.z());
  const std::vector<Plot> plots = make_run_plots({run}, {});
  const auto path = std::ranges::find(plots, PlotKind::kPath, &Plot::kind);
  ASSERT_NE(path, plots.end());
  EXPECT_EQ(path->x_label, "z");
  EXPECT_EQ(path->y_label, "y");
  const Series& series = path->series.back();
  EXPECT_EQ(series.x.back(), run.ticks.back().tool.position.z());
  EXPECT_EQ(series.y.back(), run.ticks.back().tool.position.y());
}

TEST(RunPlots, ErrorPlotHasTheLargestErrorOfTheMetrics) {
  const RunData reference = make_sample_run("reference", 400, 1, 0.0);
  const RunData run = make_sample_run("m", 400, 20, 1.0);
  RunPlotOptions options;
  options.reference = &reference;
  const std::vector<Plot> plots = make_run_plots({run}, options);
  const auto plot = std::ranges::find(plots, "Force error against reference", &Plot::title);
  ASSERT_NE(plot, plots.end());
  ASSERT_EQ(plot->series.size(), 2u);
  EXPECT_DOUBLE_EQ(*std::ranges::max_element(plot->series[1].y), compute_metrics(run, &reference).force_error_max);
  // The first is what a hand can just notice of the truth.
  EXPECT_EQ(plot->series[0].style, SeriesStyle::kLimit);
  for (std::size_t i = 0; i < reference.ticks.size(); ++i)
    ASSERT_DOUBLE_EQ(plot->series[0].y[i], kNoticeable * reference.ticks[i].sent.force.norm());
}

TEST(Report, ShowsTheFirstViewAndHidesTheOthers) {
  Report report;
  report.title = "two";
  report.views = {"one <hand>", "the other"};
  for (const std::string& view : report.views) {
    Table table;
    table.title = "of " + view;
    table.columns = {"c"};
    table.rows = {{"r", {{"1"}}}};
    table.view = view;
    report.tables.push_back(table);
  }
  const std::string html = make_report_html(report);
  EXPECT_NE(html.find("<section data-view=\"one &lt;hand&gt;\"><h2>"), std::string::npos);
  EXPECT_NE(html.find("<section data-view=\"the other\" hidden><h2>"), std::string::npos);
}

TEST(RunPlots, HistogramCountsEveryTick) {
  const RunData run = make_sample_run("m", 1234, 4, 1.0);
  const std::vector<Plot> plots = make_run_plots({run}, {});
  const auto plot = std::ranges::find(plots, PlotKind::kHistogram, &Plot::kind);
  ASSERT_NE(plot, plots.end());
  double sum = 0.0;
  for (const double y : plot->series.at(0).y) sum += y;
  EXPECT_EQ(sum, 1234.0);
}

TEST(RunPlots, OfNothingAreNone) {
  EXPECT_TRUE(make_run_plots({}, {}).empty());
  EXPECT_TRUE(make_run_plots({RunData{}}, {}).empty());
}

}  // namespace
}  // namespace palpate::report_test
