#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/record/metrics.h"

/// Reports: one HTML file that needs no network, for `compare` and `reproduce`. Tables and text are plain HTML; plots
/// can be zoomed and read out. Light and dark, for wide and narrow screens and for paper. Every text may hold anything
/// (scene names come from files): it is escaped here, so give plain text, not HTML.
namespace palpate {

/// What a curve stands for; decides how it is drawn. A method has the same colour and dash in all plots of a report,
/// found by its name.
enum class SeriesStyle : std::uint8_t {
  kMethod,     ///< a colour and a dash of its own
  kReference,  ///< the truth: neutral, thick
  kDevice,     ///< the hand: neutral, dotted
  kSurface,    ///< what is touched: neutral, filled-in look
  kLimit,      ///< a limit to read others by: neutral, thin, dashed
};

struct Series {
  std::string name;
  std::vector<double> x;  ///< SI; increasing in time and histogram plots
  std::vector<double> y;  ///< SI, as many as x; a value that is not finite leaves a gap
  SeriesStyle style = SeriesStyle::kMethod;
};

enum class PlotKind : std::uint8_t {
  kTime,       ///< against time; all of a page zoom together
  kPath,       ///< curves in a plane with equal scales
  kHistogram,  ///< counts (y) against bin edges (x), both axes logarithmic
  kSpectrum,   ///< density (y) against frequency (x), both axes logarithmic
  kLines,      ///< against anything else, both axes logarithmic; every point is marked
};

/// A moment in a time plot that one should see.
struct PlotMark {
  double x = 0.0;
  std::string label{};
};

struct Plot {
  std::string title;
  PlotKind kind = PlotKind::kTime;
  std::string x_label;
  std::string x_unit;  ///< SI; the page chooses the prefix
  std::string y_label;
  std::string y_unit;
  std::vector<Series> series;
  std::string note;         ///< one sentence below the plot, may be empty
  bool half_width = false;  ///< beside another one where there is room
  std::string view{};       ///< see Report::views
  std::vector<PlotMark> marks{};
};

struct TableCell {
  std::string text;
  bool best = false;  ///< highlighted
  /// In a table that is a map: from 0, good, to 1, bad, how the cell is coloured. NaN: not at all.
  double heat = std::numeric_limits<double>::quiet_NaN();
};

struct TableRow {
  std::string name;
  std::vector<TableCell> cells;  ///< as many as Table::columns
  bool muted = false;            ///< the truth: set apart from the methods
};

struct Table {
  std::string title;
  std::vector<std::string> columns;  ///< headings, without that of the names
  std::vector<TableRow> rows;
  std::string note;
  std::string view{};   ///< see Report::views
  bool narrow = false;  ///< as wide as what is in it, beside others where there is room
};

/// A paper's statement beside what was measured.
struct Claim {
  std::string name;
  std::string paper;     ///< what the paper says
  std::string measured;  ///< what this run gave
  std::string limit;     ///< what had to be met to say that it holds
  bool holds = false;
  std::string reason{};  ///< why it does not, where that is known
};

struct Report {
  std::string title;
  std::string subtitle;
  std::vector<std::string> paragraphs;
  std::vector<Claim> claims;
  std::vector<Table> tables;
  std::vector<Plot> plots;
  /// Ways to look at the same thing, one of them shown at a time, the first to begin with: tables and plots that belong
  /// to one of them say so, all others are always shown.
  std::vector<std::string> views{};
};

/// `text` as it stands in HTML.
std::string escape_html(std::string_view text);

/// A page with the reports' looks around `body` (HTML).
std::string make_page_html(std::string_view title, std::string_view body);

/// The page's text. Long series are thinned (see decimate) to share about 300,000 points, so a page stays at a few MB.
std::string make_report_html(const Report& report);

/// Writes the page to `path`; throws InputError if it cannot.
void write_report(const Report& report, const std::string& path);

/// At most `limit` (≥ 8) points of the series, in order: the series is cut into buckets of equal numbers of points and
/// each gives its lowest and its highest y (in a path also x), and one gap if it has any. So first and last point and
/// every peak that a pixel could show stay.
Series decimate(const Series& series, PlotKind kind, std::size_t limit);

/// Metrics of several runs as tables, one for each MetricGroup: a row for each run, the best value of each column
/// highlighted among the runs that are not the truth. Metrics that no run has are left out.
std::vector<Table> make_metrics_tables(const std::vector<NamedMetrics>& runs);

/// What the plots of a comparison need besides the runs.
struct RunPlotOptions {
  const RunData* reference = nullptr;  ///< drawn as the truth and subtracted for the error; may be null
  std::vector<Vec3> surface{};         ///< a polyline of what is touched, for the path plot; may be empty [m]
  const RunData* finer = nullptr;      ///< the truth with a finer step: its difference is the truth's own error
  std::vector<PlotMark> marks{};       ///< in all plots against time
};

/// The plots of a comparison, in order: force magnitude, components (those that ever exceed a hundredth of the peak),
/// error against the reference beside what a hand can just notice (kNoticeable), torque, proxy path in the plane of its
/// two largest extents, spectrum of the force, energy given to the hand, model age, tick-time histogram. Plots without
/// data are left out. `runs` does not hold the reference.
std::vector<Plot> make_run_plots(const std::vector<RunData>& runs, const RunPlotOptions& options);

}  // namespace palpate
