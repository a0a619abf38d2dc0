#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "palpate/methods/interpolation_settings.h"
#include "wanted_metrics.h"
#include "zhuang_runs.h"

// Zhuang & Canny 2000, sections 5.2 and 6: "the softer the object is, the longer delay the human operator can
// tolerate". What the delay does to the force of a hand that moves as it likes, and to the energy of one that feels.
namespace palpate {
namespace zhuang_delay {
namespace {

using namespace zhuang;
using Relation = MeasuredClaim::Relation;
using Display = InterpolationSettings::Display;
using Force = InterpolationSettings::Force;

constexpr double kStiffnesses[] = {5e3, 2e4, 8e4};         ///< E [Pa]
constexpr double kPeriods[] = {0.005, 0.01, 0.02, 0.033};  ///< ΔT [s]

/// Presses 2 ± 2 mm deep, once and a half a second.
SceneHand make_scripted() {
  SceneSinePath path;
  path.start = Vec3(0.002, 0.01, 0.001);
  path.amplitude = Vec3(0.0, 0.002, 0.0);
  path.frequency = 1.5;
  return {.kind = SceneScriptedHand{.path = path}};
}

/// Wants to be 3 mm inside, and yields.
SceneHand make_simulated() {
  SceneSimulatedHand hand;
  hand.path = SceneKeyframePath{.keyframes = {{.time = 0.0, .position = Vec3(0.002, 0.014, 0.001)},
                                              {.time = 0.6, .position = Vec3(0.002, 0.009, 0.001)}}};
  return {.kind = hand};
}

Scene make_scene(double young, const SceneHand& hand, const ExperimentOptions& options) {
  PressedBlock block;
  if (options.quick) block.cell = 0.015;
  block.young = young;
  block.hand = hand;
  return make_pressed_block(block);
}

RunData run(Scene scene, World& world, const ExperimentOptions& options, const std::string& name) {
  SceneRunOptions once;
  once.method = "interpolation";
  once.control.stop = options.stop;
  if (options.progress) options.progress(name, 0.0);
  RunData out = run_scene(scene, world, once).data;
  out.name = name;
  return out;
}

/// Everything in every tick: the truth of this integrator.
RunData run_truth(Scene scene, World& world, const ExperimentOptions& options) {
  set_slow_period(scene, scene.run.dt, 0.0);
  return run(scene, world, options, "every tick, no delay");
}

/// A block under the scripted hand, and its truth, which all runs on it share.
struct Block {
  Block(double young_modulus, const ExperimentOptions& options)
      : young(young_modulus),
        scene(make_scene(young, make_scripted(), options)),
        world(make_world(scene)),
        truth(run_truth(scene, world, options)) {}

  double young;  ///< [Pa]
  Scene scene;
  World world;
  RunData truth;
};

double compute_error(const RunData& data, const RunData& truth) {
  return compute_wanted_metrics(data, &truth).force_error_relative;
}

/// The same hand with a ball on a stiff coupling, everything stepped implicitly in every tick: how far the two truths
/// are apart, and their mean forces. Ours meets nodes, that one faces; and its coupling gives way by some percent.
struct Truths {
  double difference = 0.0;  ///< relative RMS [%]
  double ours = 0.0, faces = 0.0;
};
Truths compare_truths(double cell, const ExperimentOptions& options) {
  PressedBlock block;
  block.cell = cell;
  block.hand = make_scripted();
  block.seconds = 0.6;
  block.rows = 240;
  Scene scene = make_pressed_block(block);
  World world = make_world(scene);
  const RunData ours = run_truth(scene, world, options);
  scene.first().tool = {};
  scene.first().tool.kind = ScenePointTool{.radius = block.radius};
  scene.first().tool.coupling.stiffness = 5000.0;
  scene.first().tool.coupling.damping = 5.0;
  World other = make_world(scene);
  SceneRunOptions once;
  once.method = "reference";
  once.control.stop = options.stop;
  if (options.progress) options.progress("reference", 0.0);
  const RunData faces = run_scene(scene, other, once).data;
  Truths out;
  out.difference = compute_error(ours, faces);
  for (const TickRow& row : ours.ticks) out.ours += row.wanted.force.y() / static_cast<double>(ours.ticks.size());
  for (const TickRow& row : faces.ticks) out.faces += row.wanted.force.y() / static_cast<double>(faces.ticks.size());
  return out;
}

/// The paper's own lag, of one integration step of a few milliseconds, with its own contact scheme and with ours: the
/// force within what a hand can just tell, about a tenth.
void claim_paper_lag(std::vector<Block>& blocks, const ExperimentOptions& options, std::vector<MeasuredClaim>& claims) {
  constexpr double kLag = 0.004;
  for (Block& block : blocks) {
    for (const bool paper : {true, false}) {
      Scene scene = block.scene;
      set_slow_period(scene, kLag, 0.0);
      auto& settings = scene.methods.get<InterpolationSettings>("interpolation");
      if (paper) settings.contact = InterpolationSettings::Contact::kPaper;
      const std::string name = fmt::format("E = {:.0f} kPa, {} scheme, shown one step of 4 ms late", 1e-3 * block.young,
                                           paper ? "the paper's" : "inelastic");
      claims.push_back({name + ": force error", "\"a few milliseconds … within the tolerance of human perception\"",
                        compute_error(run(scene, block.world, options, name), block.truth), 10.0, Relation::kAtMost,
                        "%"});
    }
  }
}

struct Variant {
  const char* name;
  Display display = Display::kLinear;
  Force force = Force::kMean;
  bool predict = false;
  double latency = 1.0;  ///< slow periods
};
constexpr Variant kVariants[] = {
    {"interpolated (default)"},
    {"interpolated, force at the end", Display::kLinear, Force::kEnd},
    {"smooth", Display::kSmooth},
    {"interpolated, hand predicted", Display::kLinear, Force::kMean, true},
    {"force at the end, hand predicted", Display::kLinear, Force::kEnd, true},
    {"interpolated, computed in no time", Display::kLinear, Force::kMean, false, 0.0},
    {"extrapolated", Display::kExtrapolate, Force::kEnd},
    {"extrapolated, hand predicted", Display::kExtrapolate, Force::kEnd, true},
};

Table compare_variants(Block& block, const ExperimentOptions& options, std::vector<RunData>& runs, Plot& plot) {
  constexpr double kPeriod = 0.02;
  const RunData& truth = block.truth;
  Table table;
  table.title = fmt::format("E = {:.0f} kPa, slow loop at 50 Hz", 1e-3 * block.young);
  table.columns = {"force error", "largest jump in a tick", "delay"};
  plot.series.push_back({truth.name, {}, {}, SeriesStyle::kReference});
  const auto add_series = [](Series& to, const RunData& from) {
    for (const TickRow& row : from.ticks) {
      to.x.push_back(row.time);
      to.y.push_back(row.wanted.force.y());
    }
  };
  add_series(plot.series[0], truth);
  for (const Variant& v : kVariants) {
    if (options.stop && options.stop->load()) break;
    Scene scene = block.scene;
    set_slow_period(scene, kPeriod, v.latency * kPeriod);
    scene.methods.get<InterpolationSettings>("interpolation").display = v.display;
    scene.methods.get<InterpolationSettings>("interpolation").force = v.force;
    scene.methods.get<InterpolationSettings>("interpolation").predict = v.predict;
    RunData data = run(scene, block.world, options, v.name);
    const Metrics m = compute_wanted_metrics(data, &truth);
    // A state is shown whole when its model is as old as it gets; a prediction is of a slow step later.
    const double shown = v.display == Display::kExtrapolate ? v.latency * kPeriod : m.model_age_max + scene.run.dt;
    table.rows.push_back({v.name,
                          {{format_quantity(m.force_error_relative, "%")},
                           {format_quantity(m.force_jump_max, "N")},
                           {format_quantity(shown - (v.predict ? kPeriod : 0.0), "s")}}});
    if (&v == &kVariants[0] || v.display == Display::kExtrapolate || v.display == Display::kSmooth) {
      Series series;
      series.name = v.name;
      add_series(series, data);
      plot.series.push_back(std::move(series));
    }
    runs.push_back(std::move(data));
  }
  table.note =
      "Relative RMS error against the same integrator in every tick. Delay: from the hand's place to when the state "
      "that "
      "belongs to it is felt whole.";
  return table;
}

}  // namespace

static ExperimentResult reproduce_delay(const ExperimentOptions& options) {
  ExperimentResult out;
  Table errors, energies;
  errors.title = "Force error against delay and stiffness";
  energies.title = "Most energy ever given to a hand that yields, and unrest of the force while it holds";
  for (const double period : kPeriods) {
    errors.columns.push_back(fmt::format("{:.0f} ms", 2e3 * period));
    energies.columns.push_back(fmt::format("{:.0f} ms", 2e3 * period));
  }
  std::vector<Block> blocks;
  blocks.reserve(std::size(kStiffnesses));
  for (const double young : kStiffnesses) blocks.emplace_back(young, options);
  claim_paper_lag(blocks, options, out.claims);
  double softest = 0.0, stiffest = 0.0, least = 0.0, most = 0.0;
  for (Block& block : blocks) {
    const double young = block.young;
    const std::string name = fmt::format("E = {:.0f} kPa", 1e-3 * young);
    const Scene felt = make_scene(young, make_simulated(), options);
    TableRow error_row{name, {}}, energy_row{name, {}};
    for (const double period : kPeriods) {
      if (options.stop && options.stop->load()) break;
      Scene scene = block.scene;
      set_slow_period(scene, period, period);
      const double error = compute_error(run(scene, block.world, options, name), block.truth);
      error_row.cells.push_back({format_quantity(error, "%")});
      scene = felt;
      set_slow_period(scene, period, period);
      const RunData closed = run(scene, block.world, options, name + ", felt");
      const double energy = otaduy::compute_energy_peak(closed);
      const double unrest = closed.ticks.size() < 2
                                ? kNotAvailable
                                : compute_rms_above(otaduy::force_of(closed, 1, 1.0, 2.0), scene.run.dt, 3.0);
      energy_row.cells.push_back({fmt::format("{}, {}", format_quantity(energy, "J"), format_quantity(unrest, "N"))});
      if (young == kStiffnesses[0] && period == kPeriods[1]) least = error;
      if (young == kStiffnesses[0] && period == kPeriods[3]) softest = unrest, most = error;
      if (young == kStiffnesses[2] && period == kPeriods[3]) stiffest = unrest;
    }
    errors.rows.push_back(std::move(error_row));
    energies.rows.push_back(std::move(energy_row));
  }
  errors.note =
      "Delay across: two slow steps, one to compute and one to show. The hand presses 0 to 4 mm deep at 1.5 Hz.";
  energies.note = "The device and hand of preset omega want to be 3 mm inside; unrest: RMS above 3 Hz from 1 s to 2 s.";
  Plot plot;
  plot.title = "Force on a hand that presses at 1.5 Hz, E = 20 kPa, slow loop at 50 Hz";
  plot.x_label = "time";
  plot.x_unit = "s";
  plot.y_label = "force";
  plot.y_unit = "N";
  std::vector<RunData> runs;
  const Table variants = compare_variants(blocks[1], options, runs, plot);
  Table truths;
  truths.title = "Explicit on nodes beside World's implicit reference on faces";
  truths.columns = {"mean force, nodes", "mean force, faces", "difference"};
  for (const double cell : {0.0075, 0.005, 0.00375}) {
    if ((options.stop && options.stop->load()) || options.quick) break;
    const Truths t = compare_truths(cell, options);
    truths.rows.push_back(
        {fmt::format("cells of {:.3g} mm", 1e3 * cell),
         {{format_quantity(t.ours, "N")}, {format_quantity(t.faces, "N")}, {format_quantity(t.difference, "%")}}});
  }
  truths.note =
      "The same ball on a coupling of 5 kN/m, everything in every tick. A ball rests on a few nodes or on the face "
      "between "
      "them: how much that is depends on the cells.";
  out.report.paragraphs = {
      "A finger of 12 mm on a soft block of 1,280 tets, by the same integrator in every tick and at slow rates, one "
      "period late, shown over the next."};
  const std::vector<MeasuredClaim> delays = {
      {"softest: error at 66 ms of delay over that at 20 ms", "error grows with delay", most / least, 1.5,
       Relation::kAtLeast, ""},
      {"a hand that feels, 66 ms: unrest on the stiffest over that on the softest",
       "\"the softer the object is, the longer delay the human operator can tolerate\"", stiffest / softest, 2.0,
       Relation::kAtLeast, ""},
  };
  out.claims.insert(out.claims.end(), delays.begin(), delays.end());
  out.report.title = "What the delay costs";
  out.report.tables = {errors, energies, variants, truths};
  out.report.plots = {plot};
  return out;
}

}  // namespace zhuang_delay

ExperimentResult run_zhuang_delay(const ExperimentOptions& options) {
  return zhuang_delay::reproduce_delay(options);
}

}  // namespace palpate
