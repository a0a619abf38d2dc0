#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments.h"
#include "palpate/experiments/compare.h"
#include "palpate/scene/builtin.h"
#include "palpate/scene/shape.h"
#include "reduced_runs.h"
#include "stopwatch.h"

// All methods on all kinds of worlds, with a slow loop of 10 to 100 Hz that is one period late, and where Palpate's own
// method stands among them.
namespace palpate {
namespace embedded {
extern const std::string_view scene_ball_on_block, scene_block_across, scene_block_tap, scene_bricks, scene_free_soft,
    scene_jelly_point, scene_liver_stroke, scene_needle_tissue, scene_point_block, scene_push_brick;
}  // namespace embedded

namespace {

using namespace reduced_runs;
using Relation = MeasuredClaim::Relation;

struct FieldScene {
  const char* name;
  const std::string_view* text = nullptr;  ///< null: the built-in scene of that name
  bool quick = false;                      ///< is in the quick form, with a second of it
};
constexpr std::array kFieldScenes = {
    FieldScene{"ball-on-block", &embedded::scene_ball_on_block},
    FieldScene{"block-across", &embedded::scene_block_across},
    FieldScene{"block-tap", &embedded::scene_block_tap},
    FieldScene{"bricks", &embedded::scene_bricks, true},
    FieldScene{"free-soft", &embedded::scene_free_soft},
    FieldScene{"jelly-point", &embedded::scene_jelly_point},
    FieldScene{"liver-stroke", &embedded::scene_liver_stroke},
    FieldScene{"needle-tissue", &embedded::scene_needle_tissue},
    FieldScene{"organ-stroke"},
    FieldScene{"point-block", &embedded::scene_point_block, true},
    FieldScene{"polyp"},
    FieldScene{"push-brick", &embedded::scene_push_brick},
    // The papers' soft scenes that are not among those.
    FieldScene{"otaduy-block"},
    FieldScene{"cylinder-wire"},
};
constexpr double kFieldSeconds = 3.0;  // of each scene at most: all of them take minutes as it is
constexpr std::array kFieldRates = {10.0, 20.0, 30.0, 50.0, 100.0};  // of the slow loop [Hz]
constexpr const char* kFieldLiver = "liver-smooth.obj";

/// All methods at 10, 20 and 50 Hz; between and beyond these only our own and the plainest.
bool is_field_asked(const std::string& method, double rate) {
  return (rate != 30.0 && rate != 100.0) || method == "reduced" || method == "direct";
}

/// What all methods did on one scene.
struct FieldRow {
  std::string name;
  bool soft = false;
  double truth_jump = 0.0;                    ///< largest of the truth's force in a tick [N]
  std::vector<Cells> at{};                    ///< by rate, as in `rates`
  Stopwatch times{};                          ///< of `reduced` at 20 Hz
  double limits[2] = {kPerceived, kAtFifty};  ///< of its error at 20 and at 50 Hz [%]
};

class MethodField {
 public:
  explicit MethodField(const ExperimentOptions& options) : options_(options) {
    for (const double rate : kFieldRates) {
      if (!options.quick || rate == 20.0 || rate == 50.0) rates_.push_back(rate);
    }
  }

  void run(ExperimentResult& out) {
    for (const FieldScene& scene : kFieldScenes) {
      if (options_.stopped()) return;
      if (options_.quick && !scene.quick) continue;
      if (std::string_view(scene.name) == "liver-stroke" && !find_data(kFieldLiver)) {
        out.notes.push_back(fmt::format("{} is not there: without liver-stroke.", kFieldLiver));
        continue;
      }
      run_scene_of(scene);
    }
  }

  void add_claims(std::vector<MeasuredClaim>& claims) const;
  void add_report(Report& report) const;

 private:
  void run_scene_of(const FieldScene& field) {
    Scene scene = field.text ? parse_scene(std::string(*field.text), fmt::format("{}.json", field.name))
                             : load_builtin_scene(field.name);
    scene.run.seconds = std::min(scene.run.seconds, options_.choose(kFieldSeconds, 1.0));
    otaduy::Rig rig(scene, options_);
    FieldRow& row = rows_.emplace_back();
    row.name = field.name;
    row.soft = std::ranges::any_of(scene.bodies,
                                   [](const SceneBody& body) { return std::holds_alternative<SceneSoft>(body.kind); });
    row.truth_jump = make_cell(rig.truth(), rig.truth()).jump;
    std::vector<SkippedMethod> skipped;
    const std::vector<std::string> methods = choose_methods(scene, rig.world(), {}, skipped);
    for (const double rate : rates_) {
      Cells& cells = row.at.emplace_back();
      for (const std::string& method : methods) {
        if (rig.stopped()) return;
        if (!is_field_asked(method, rate)) continue;
        rig.watch = method == "reduced" && rate == 20.0 ? &row.times : nullptr;
        cells[method] =
            make_cell(rig.run(fmt::format("{}, {} Hz, {}", field.name, rate, method), method, rate), rig.truth());
      }
    }
    rig.watch = nullptr;
    row.limits[0] = choose_limit(find(row, 20.0).error, kPerceived, rig);
    row.limits[1] = choose_limit(find(row, 50.0).error, kAtFifty, rig);
  }

  std::size_t index_of(double rate) const { return as_size(std::ranges::find(rates_, rate) - rates_.begin()); }
  /// Of `reduced`; nothing if it does not work there.
  Cell find(const FieldRow& row, double rate) const {
    const Cells& cells = row.at[index_of(rate)];
    const auto at = cells.find("reduced");
    return at == cells.end() ? Cell{} : at->second;
  }
  std::vector<std::string> list_methods() const;
  Table make_map(double rate) const;
  Table make_own_table() const;
  Plot make_overview(bool worst) const;
  Plot make_plot_of(const FieldRow& row) const;

  const ExperimentOptions& options_;
  std::vector<double> rates_;
  std::vector<FieldRow> rows_;
};

void MethodField::add_claims(std::vector<MeasuredClaim>& claims) const {
  for (const FieldRow& row : rows_) {
    if (!row.soft) continue;
    claims.push_back({fmt::format("{}, 20 Hz: force error, limit: 7 %, or twice the truth's own", row.name),
                      "our own: what a hand can just notice", find(row, 20.0).error, row.limits[0], Relation::kAtMost,
                      "%"});
    claims.push_back({fmt::format("{}, 50 Hz: force error, limit: 3 %, or twice the truth's own", row.name), "our own",
                      find(row, 50.0).error, row.limits[1], Relation::kAtMost, "%"});
  }
  for (const FieldRow& row : rows_) {
    double ratio = 0.0, jump = 0.0;
    for (std::size_t r = 0; r < rates_.size(); ++r) {
      const Cell own = find(row, rates_[r]);
      ratio = std::max(ratio, own.error / find_best_other(row.at[r]));
      jump = std::max(jump, own.jump / row.truth_jump);
    }
    claims.push_back({fmt::format("{}, every rate: force error, of the best other method's", row.name), "our own",
                      ratio, 1.0, Relation::kAtMost, ""});
    claims.push_back({fmt::format("{}, every rate: largest jump of the force in a tick, of the truth's", row.name),
                      "our own", jump, 2.0, Relation::kAtMost, ""});
  }
}

/// `reduced` first, then in the order of the alphabet.
std::vector<std::string> MethodField::list_methods() const {
  std::vector<std::string> out = {"reduced"};
  for (const FieldRow& row : rows_) {
    for (const auto& [method, cell] : row.at.front()) {
      if (std::ranges::find(out, method) == out.end()) out.push_back(method);
    }
  }
  std::sort(out.begin() + 1, out.end());
  return out;
}

Table MethodField::make_map(double rate) const {
  Table table;
  table.title = fmt::format("Slow loop at {} Hz", rate);
  table.columns = list_methods();
  for (const FieldRow& row : rows_) {
    const Cells& cells = row.at[index_of(rate)];
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [method, cell] : cells) best = std::min(best, cell.error);
    TableRow& line = table.rows.emplace_back();
    line.name = row.name;
    for (const std::string& method : table.columns) {
      const auto at = cells.find(method);
      const double error = at == cells.end() ? kNotAvailable : at->second.error;
      line.cells.push_back(make_map_cell(error, error <= best));
    }
  }
  return table;
}

Table MethodField::make_own_table() const {
  Table table;
  table.title = "reduced, slow loop at 20 Hz";
  table.columns = {"Largest jump",         "Truth's",
                   "Energy given, peak",   "Tick p99, processor time",
                   "Tick p99, wall clock", "Step, processor time",
                   "Step, wall clock"};
  table.note = "Computing times are of this machine, and of whatever else it did; steps in the mean.";
  for (const FieldRow& row : rows_) {
    const Cell own = find(row, 20.0);
    const auto time = [](const Histogram& times, TimeOf which) {
      return TableCell{format_quantity(read_time(times, which), "s")};
    };
    table.rows.push_back({row.name,
                          {{format_quantity(own.jump, "N")},
                           {format_quantity(row.truth_jump, "N")},
                           {format_quantity(own.energy, "J")},
                           time(row.times.ticks.processor, TimeOf::kP99),
                           time(row.times.ticks.wall, TimeOf::kP99),
                           time(row.times.steps.processor, TimeOf::kMean),
                           time(row.times.steps.wall, TimeOf::kMean)}});
  }
  return table;
}

/// Over the scenes that a method can do: the worst of them, or the middle one.
Plot MethodField::make_overview(bool worst) const {
  Plot plot = make_error_plot(worst ? "The field: each method on its worst scene"
                                    : "The field: each method on its middle scene");
  plot.note = "Of the scenes that a method can do; they are not the same for all.";
  for (const std::string& method : list_methods()) {
    Series series{method, rates_, {}};
    for (std::size_t r = 0; r < rates_.size(); ++r) {
      std::vector<double> errors;
      for (const FieldRow& row : rows_) {
        const auto at = row.at[r].find(method);
        if (at != row.at[r].end() && !std::isnan(at->second.error)) errors.push_back(at->second.error);
      }
      std::ranges::sort(errors);
      series.y.push_back(errors.empty() ? kNotAvailable : worst ? errors.back() : errors[errors.size() / 2]);
    }
    plot.series.push_back(std::move(series));
  }
  add_noticeable(plot, rates_);
  return plot;
}

Plot MethodField::make_plot_of(const FieldRow& row) const {
  Plot plot = make_error_plot(row.name);
  for (const std::string& method : list_methods()) {
    if (!row.at.front().contains(method)) continue;
    Series series{method, rates_, {}};
    for (const Cells& cells : row.at)
      series.y.push_back(cells.contains(method) ? cells.at(method).error : kNotAvailable);
    plot.series.push_back(std::move(series));
  }
  add_noticeable(plot, rates_);
  return plot;
}

void MethodField::add_report(Report& report) const {
  report.title = "All methods on all kinds of worlds";
  report.paragraphs = {
      "Relative RMS error of the force that each method asks for, against everything at 1 kHz, with the hand of that "
      "run. The slow loop's models are one period late. Methods are as they are by themselves, without settings for a "
      "scene.",
      "A cell is pale where the error is below the 7 % that a hand can just notice, and full where it is as large as "
      "the force itself. The best of a row is marked."};
  report.plots = {make_overview(false), make_overview(true)};
  for (const double rate : rates_) report.tables.push_back(make_map(rate));
  report.tables.push_back(make_own_table());
  for (const FieldRow& row : rows_) report.plots.push_back(make_plot_of(row));
}

}  // namespace

ExperimentResult run_reduced_field(const ExperimentOptions& options) {
  ExperimentResult out;
  MethodField field(options);
  field.run(out);
  if (options.stopped()) return out;
  field.add_claims(out.claims);
  field.add_report(out.report);
  return out;
}

}  // namespace palpate
