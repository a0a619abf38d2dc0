#include <fmt/format.h>

#include <algorithm>

#include "experiments.h"
#include "otaduy_runs.h"
#include "palpate/scene/builtin.h"
#include "wanted_metrics.h"

// Otaduy & Gross 2007, Fig. 2: a liver, and a polyp bent far, with friction and hands that feel. The paper shows
// pictures and gives no numbers; what is claimed here is that the force follows the truth better than what the slow
// loop alone gives, and better than the paper's own baseline at its best.
namespace palpate {
namespace embedded {
extern const std::string_view scene_liver_stroke;
}  // namespace embedded

namespace {

using namespace otaduy;
using Relation = MeasuredClaim::Relation;

constexpr double kRate = 20.0;  ///< of the slow loop [Hz]

ExperimentResult compare_on(Scene scene, const ExperimentOptions& options) {
  Rig rig(with_held_contacts(std::move(scene)), options);
  const RunData& truth = rig.truth();
  std::vector<RunData> runs;
  runs.push_back(rig.run("jacobian", "jacobian", kRate));
  runs.push_back(rig.run("jacobian, paper's form", "jacobian", kRate, &choose_paper_form));
  runs.push_back(rig.run("jacobian, paper's form, filtered", "jacobian", kRate, &choose_filtered_form));
  runs.push_back(rig.run_best_double(kRate));
  runs.push_back(rig.run_best_direct(kRate));
  runs.push_back(rig.run("compliance", "compliance", kRate));
  Scene felt = rig.scene();
  set_slow_rate(felt, kRate);
  const RunData closed = rig.run_closed("jacobian, its own hand", "jacobian", felt);
  std::vector<Metrics> metrics;
  for (const RunData& run : runs) metrics.push_back(compute_wanted_metrics(run, &truth));
  const Metrics &ours = metrics[0], &filtered = metrics[2], &doubled = metrics[3], &direct = metrics[4];
  ExperimentResult out;
  out.claims = {
      {"the truth, 1 ms against 0.5 ms", "–", rig.measure_truth(), 5.0, Relation::kAtMost, "%"},
      {"force error of jacobian, limit: direct's", "transparent rendering", ours.force_error_relative,
       direct.force_error_relative, Relation::kAtMost, "%"},
      {"torque error of jacobian, limit: direct's", "transparent rendering", compare_torques(runs[0], truth),
       compare_torques(runs[4], truth), Relation::kAtMost, "%"},
      {"force error of jacobian, of the best double_coupling's", "transparent rendering",
       ours.force_error_rms / doubled.force_error_rms, 0.5, Relation::kAtMost, ""},
      {"force error of the paper's form with its filter, of the best double_coupling's", "transparent rendering",
       filtered.force_error_rms / doubled.force_error_rms, 1.0, Relation::kAtMost, ""},
      {"largest jump of jacobian's force in a tick, of direct's", "no steps at the slow rate",
       ours.force_jump_max / direct.force_jump_max, 0.5, Relation::kAtMost, ""},
      {"in a hand of its own: most energy ever given to it", "stable", compute_energy_peak(closed), 1e-4,
       Relation::kAtMost, "J"},
  };
  out.report.tables = {
      make_error_table(fmt::format("Slow loop at {:.0f} Hz", kRate), truth, runs, 0, 0.0, rig.scene().run.seconds)};
  out.report.tables.back().note += " double_coupling with the best of six second couplings.";
  for (const int axis : {0, 1}) {
    std::vector<const RunData*> all = {&truth};
    for (const RunData& run : runs) all.push_back(&run);
    out.report.plots.push_back(make_component_plot(axis == 0 ? "Force along x" : "Force along y", all, axis));
  }
  return out;
}

/// The quick form has larger elements and ends early.
Scene shorten(Scene scene, const ExperimentOptions& options, double cell, double seconds) {
  if (!options.quick) return scene;
  for (SceneBody& body : scene.bodies) {
    if (auto* soft = std::get_if<SceneSoft>(&body.kind)) soft->cell = cell;
  }
  scene.run.seconds = seconds;
  return scene;
}

}  // namespace

ExperimentResult run_otaduy_liver(const ExperimentOptions& options) {
  const std::string file = "liver-smooth.obj";
  const bool real = !options.quick && find_data(file).has_value();
  Scene scene = real ? parse_scene(std::string(embedded::scene_liver_stroke), "liver-stroke.json")
                     : load_builtin_scene("organ-stroke");
  ExperimentResult out = compare_on(shorten(std::move(scene), options, 0.04, 1.4), options);
  out.report.title = "A soft liver under a rod";
  if (real)
    out.report.paragraphs = {"The liver of the data folder (SOFA's), filled with tetrahedra, with its weight."};
  else if (!options.quick)
    out.notes = {describe_stand_in(file, "organ")};
  return out;
}

ExperimentResult run_otaduy_polyp(const ExperimentOptions& options) {
  ExperimentResult out = compare_on(shorten(load_builtin_scene("polyp"), options, 0.006, 1.2), options);
  out.report.title = "A thin polyp bent far";
  out.report.paragraphs = {
      "A soft stalk in a cavity between two walls, bent to the side by a rod across it with friction and let go, after "
      "the hysteroscopy of Otaduy & Gross 2007, Fig. 2, in a hand that feels."};
  return out;
}

ExperimentResult run_otaduy_polyp_rod(const ExperimentOptions& options) {
  ExperimentResult out = compare_on(shorten(load_builtin_scene("otaduy-polyp-rod"), options, 0.006, 1.2), options);
  out.report.title = "A thin polyp bent far by a thin rod";
  out.report.paragraphs = {
      "The polyp as it was first built: a rod of 3 mm and 20 g held upright, whose end bends the stalk, with friction, "
      "in a hand that feels."};
  return out;
}

}  // namespace palpate
