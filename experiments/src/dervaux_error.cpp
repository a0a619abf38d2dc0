#include <fmt/format.h>

#include <array>

#include "dervaux_run.h"
#include "experiments.h"
#include "palpate/methods/compliance_settings.h"
#include "wanted_metrics.h"

// Where the scheme is good and where not. The paper gives no error figure; it argues that a soft body "has a low
// dynamics" and may be taken as it was. How true that is depends on how far the body moves within a slow period.
namespace palpate {
namespace {

constexpr std::array kRates = {10.0, 20.0, 50.0, 100.0};  // [Hz]
constexpr std::array kStiffness = {1e3, 1e4, 1e5, 1e6};   // E of the cylinder [Pa]
constexpr std::size_t kPaperRate = 2;                     // the paper's slow loop runs at 50 Hz
constexpr std::array<const char*, 4> kMethods = {"lookahead 2", "default (lookahead 1)", "held (the paper)", "direct"};
constexpr std::array kLookahead = {2.0, 1.0, 0.0, 0.0};

/// A body that goes with the wire, and one that stays where it is and gives way.
struct Setting {
  std::string name;
  Scene (*make)(double young_modulus);
  KeyframePathSettings hand;
  /// error[method][stiffness][rate], in percent of the reference's RMS force; of cells that were left out none
  std::array<std::array<std::array<double, kRates.size()>, kStiffness.size()>, kMethods.size()> error{};
};

/// Pull, lift, shake, let hang.
KeyframePathSettings make_dragging_hand() {
  KeyframePathSettings path;
  const auto add = [&](double t, double x, double y, double z) {
    path.times.push_back(t);
    path.positions.emplace_back(x, y, z);
  };
  add(0.0, 0.0, 0.16, 0.0);
  add(0.4, 0.0, 0.16, 0.0);
  add(1.0, 0.08, 0.13, 0.0);
  add(2.0, 0.12, 0.12, 0.03);
  add(2.8, 0.1, 0.2, 0.0);
  for (int i = 0; i < 12; ++i) add(3.2 + 0.2 * i, 0.1 + (i % 2 ? 0.01 : -0.01), 0.2 + 0.005 * (i % 3), 0.005 * (i % 4));
  add(6.0, 0.1, 0.2, 0.0);
  return path;
}

Scene make_cylinder_scene(double young_modulus) {
  Scene scene = dervaux::load_cylinder_wire(young_modulus);
  find_body<SceneSoft>(scene, "cylinder").cell = 0.015;
  return scene;
}

/// A needle presses 6 mm and strokes ±15 mm, there and back in a second.
KeyframePathSettings make_stroking_hand() {
  KeyframePathSettings path;
  path.times = {0.0, 0.8};
  path.positions = {Vec3(-0.015, 0.063, 0.002), Vec3(-0.015, 0.054, 0.002)};
  for (int i = 1; i <= 8; ++i) {
    path.times.push_back(0.8 + 0.5 * i);
    path.positions.emplace_back(i % 2 ? 0.015 : -0.015, 0.054 + 0.001 * (i % 3), 0.002 + 0.002 * (i % 4));
  }
  path.times.push_back(5.3);
  path.positions.emplace_back(-0.015, 0.07, 0.002);
  return path;
}

Scene make_needle(double young_modulus) {
  Scene scene;
  scene.name = "needle";
  scene.first().method = "compliance";
  scene.first().tool.kind =
      SceneChainTool{.length = 0.06,
                     .beams = 5,
                     .radius = 0.002,
                     .material = {.young_modulus = 1e9, .poisson_ratio = 0.3, .density = 3000.0, .mass_damping = 2.0}};
  scene.first().tool.coupling = {
      .stiffness = 500.0, .damping = 1.0, .rotational_stiffness = 0.5, .rotational_damping = 0.001};
  SceneSoft block;
  block.shape = SceneShape{.kind = BoxShape{.size = Vec3(0.1, 0.04, 0.06)}};
  block.cell = 0.0134;
  block.material = {
      .young_modulus = young_modulus, .poisson_ratio = 0.4, .density = 1000.0, .stiffness_damping = 0.005};
  block.fixed = {{.min = Vec3(-1.0, -1.0, -1.0), .max = Vec3(1.0, -0.0399, 1.0)}};
  scene.bodies = {{.name = "block", .kind = block, .position = Vec3(0.0, -0.02, 0.0), .friction = 0.2}};
  const Vec3 start(-0.015, 0.063, 0.002);
  scene.first().hand.kind = SceneScriptedHand{
      .path = SceneKeyframePath{.keyframes = {{.time = 0.0, .position = start}, {.time = 1.0, .position = start}}}};
  return scene;
}

/// The quick form has the paper's rate, one stiffness and less time.
bool is_asked(std::size_t stiffness, std::size_t rate, const ExperimentOptions& options) {
  return !options.quick || (rate == kPaperRate && stiffness == 2);
}

void measure(Setting& setting, const ExperimentOptions& options) {
  for (auto& of_method : setting.error) {
    for (auto& of_stiffness : of_method) of_stiffness.fill(kNotAvailable);
  }
  for (std::size_t s = 0; s < kStiffness.size(); ++s) {
    if (!is_asked(s, kPaperRate, options)) continue;
    Scene scene = setting.make(kStiffness[s]);
    scene.run.seconds = options.choose(setting.hand.times.back(), 2.0);
    World world = make_world(scene);
    const std::string what = fmt::format("{}, E = {:.0e} Pa", setting.name, kStiffness[s]);
    const RunData truth =
        dervaux::run_watched(scene, world, setting.hand, {"reference", what + ", reference"}, options).data;
    for (std::size_t r = 0; r < kRates.size(); ++r) {
      if (!is_asked(s, r, options)) continue;
      scene.run.slow_period = scene.run.latency = 1.0 / kRates[r];
      scene.first().guards.safety.stale_after = 1.0;
      for (std::size_t m = 0; m < kMethods.size(); ++m) {
        auto& compliance = scene.methods.get<ComplianceSettings>("compliance");
        compliance.lookahead = kLookahead[m];
        compliance.contacts = ComplianceSettings::Contacts::kHeld;  // the paper's
        const std::string name = fmt::format("{}, {} Hz, {}", what, kRates[r], kMethods[m]);
        const RunData run =
            dervaux::run_watched(scene, world, setting.hand, {m == 3 ? "direct" : "compliance", name}, options).data;
        setting.error[m][s][r] = compute_wanted_metrics(run, &truth).force_error_relative;
      }
    }
  }
}

void report_on(const Setting& setting, Report& report) {
  for (std::size_t m = 0; m < kMethods.size(); ++m) {
    Table table;
    table.title = fmt::format("{}: relative force error of {}", setting.name, kMethods[m]);
    Plot plot;
    plot.title = fmt::format("{}: {}", setting.name, kMethods[m]);
    plot.x_label = "slow rate";
    plot.x_unit = "Hz";
    plot.y_label = "relative force error";
    plot.y_unit = "%";
    plot.half_width = true;
    for (const double rate : kRates) table.columns.push_back(fmt::format("{} Hz", rate));
    for (std::size_t s = 0; s < kStiffness.size(); ++s) {
      TableRow row;
      row.name = fmt::format("E = {:.0e} Pa", kStiffness[s]);
      Series series;
      series.name = row.name;
      for (std::size_t r = 0; r < kRates.size(); ++r) {
        bool best = true;
        for (std::size_t o = 0; o < kMethods.size(); ++o)
          best = best && setting.error[m][s][r] <= setting.error[o][s][r];
        row.cells.push_back({fmt::format("{:.3g} %", setting.error[m][s][r]), best});
        series.x.push_back(kRates[r]);
        series.y.push_back(setting.error[m][s][r]);
      }
      table.rows.push_back(std::move(row));
      plot.series.push_back(std::move(series));
    }
    report.tables.push_back(std::move(table));
    report.plots.push_back(std::move(plot));
  }
}

}  // namespace

ExperimentResult run_dervaux_error(const ExperimentOptions& options) {
  Setting dragged{"cylinder on a wire", &make_cylinder_scene, make_dragging_hand()};
  Setting stroked{"needle on a fixed block", &make_needle, make_stroking_hand()};
  measure(dragged, options);
  measure(stroked, options);

  ExperimentResult out;
  using Relation = MeasuredClaim::Relation;
  // At the paper's rate, over all stiffnesses: its own form and the default, whatever comes out.
  for (const Setting* setting : {&stroked, &dragged}) {
    for (std::size_t k = 0; k < kStiffness.size(); ++k) {
      for (const std::size_t m : {std::size_t{2}, std::size_t{1}}) {
        if (!is_asked(k, kPaperRate, options)) continue;
        out.claims.push_back({fmt::format("{}, {}, E = {:.0f} kPa, 50 Hz: force error, limit: direct's", setting->name,
                                          kMethods[m], 1e-3 * kStiffness[k]),
                              "no figure given", setting->error[m][k][kPaperRate], setting->error[3][k][kPaperRate],
                              Relation::kAtMost, "%"});
      }
    }
  }
  out.report.title = "Force error over slow rate and stiffness";
  out.report.paragraphs = {
      "Relative RMS error of the force in the hand against everything at 1 kHz with the same hand. A cylinder that is "
      "dragged, lifted and shaken on a wire moves as a whole: what counts is how far it goes in a slow period, not how "
      "soft it is. A block that is fixed below and stroked by a needle gives way: softness counts.",
      "Green: the best of the four. direct holds the force of a world at the slow rate."};
  report_on(dragged, out.report);
  report_on(stroked, out.report);
  return out;
}

}  // namespace palpate
