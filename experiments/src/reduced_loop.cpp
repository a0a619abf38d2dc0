#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments.h"
#include "otaduy_runs.h"
#include "wanted_metrics.h"

// A hand that feels, on a stiff coupling: whatever the slow loop's lateness makes of the force goes round, and a method
// that answers late shakes the hand.
namespace palpate {
namespace embedded {
extern const std::string_view scene_ball_on_block, scene_block_across, scene_block_tap;
}  // namespace embedded

namespace {

using Relation = MeasuredClaim::Relation;

struct LoopScene {
  const char* name;
  const std::string_view* text;
};
constexpr std::array kLoopScenes = {LoopScene{"block-across", &embedded::scene_block_across},
                                    LoopScene{"block-tap", &embedded::scene_block_tap},
                                    LoopScene{"ball-on-block", &embedded::scene_ball_on_block}};
constexpr std::array kLoopMethods = {"reference", "reduced", "direct", "double_coupling"};
constexpr double kLoopStiffness = 2000.0;  // of the coupling [N/m]
constexpr double kLoopRate = 20.0;         // of the slow loop [Hz]
constexpr double kLoopEnergy = 1e-3;       // that a hand may be given [J]

struct LoopRun {
  RunData data;
  double energy = 0.0;  ///< most that the hand was ever given [J]
  double high = 0.0;    ///< RMS of the force above 100 Hz [N]
};

void add_loop_claims(const std::string& scene, const std::array<LoopRun, kLoopMethods.size()>& runs,
                     std::vector<MeasuredClaim>& claims) {
  const auto& [truth, own, direct, doubled] = runs;
  claims.push_back({fmt::format("{}: most energy that reduced ever gives to the hand", scene), "our own: stable",
                    own.energy, kLoopEnergy, Relation::kAtMost, "J"});
  // The safety stage lets the force in over the first half second: what is touched then gives back more than it took,
  // in the truth too.
  claims.push_back({fmt::format("{}: the same, beyond what the truth gives", scene), "our own: stable",
                    own.energy - truth.energy, kLoopEnergy, Relation::kAtMost, "J"});
  claims.push_back({fmt::format("{}: force of reduced above 100 Hz, of the truth's", scene), "our own: stable",
                    own.high / truth.high, 2.0, Relation::kAtMost, ""});
  claims.push_back({fmt::format("{}: direct gives more, or it is too easy", scene), "our own: not stable",
                    direct.energy, kLoopEnergy, Relation::kAtLeast, "J"});
  claims.push_back({fmt::format("{}: double_coupling gives more, or it is too easy", scene), "our own: not stable",
                    doubled.energy, kLoopEnergy, Relation::kAtLeast, "J"});
}

void add_loop_report(const std::string& scene, const std::array<LoopRun, kLoopMethods.size()>& runs, Report& report) {
  Table table;
  table.title = scene;
  table.columns = {"Energy given, peak", "Force above 100 Hz", "Largest force"};
  Plot force = otaduy::make_component_plot(fmt::format("{}: vertical force on the hand", scene),
                                           {&runs[0].data, &runs[1].data, &runs[2].data, &runs[3].data}, 1);
  for (const LoopRun& run : runs) {
    const Metrics metrics = compute_wanted_metrics(run.data, nullptr);
    table.rows.push_back({run.data.name,
                          {{format_quantity(run.energy, "J")},
                           {format_quantity(run.high, "N")},
                           {format_quantity(metrics.force_peak, "N")}},
                          run.data.name == "reference"});
  }
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(force));
}

}  // namespace

ExperimentResult run_reduced_loop(const ExperimentOptions& options) {
  ExperimentResult out;
  out.report.title = "A hand that feels, on a stiff coupling";
  out.report.paragraphs = {
      "The hand is simulated (an omega's mass and damping, held in a grip) and feels what each method gives it. The "
      "coupling has 2,000 N/m, the slow loop 20 Hz and is one period late."};
  for (const LoopScene& s : kLoopScenes) {
    if (options.quick && &s != &kLoopScenes[1]) continue;
    Scene scene = parse_scene(std::string(*s.text), fmt::format("{}.json", s.name));
    scene.first().tool.coupling.stiffness = kLoopStiffness;
    otaduy::set_slow_rate(scene, kLoopRate);
    if (options.quick) scene.run.seconds = 1.0;
    std::array<LoopRun, kLoopMethods.size()> runs;
    for (std::size_t m = 0; m < kLoopMethods.size(); ++m) {
      if (options.stopped()) return out;
      SceneRunOptions once;
      once.method = kLoopMethods[m];
      once.control.stop = options.stop;
      if (options.progress)
        once.control.progress = [&](double t) {
          options.progress(fmt::format("{}, {}", s.name, kLoopMethods[m]), t / scene.run.seconds);
        };
      World world = make_world(scene);
      runs[m].data = run_scene(scene, world, once).data;
      runs[m].energy = otaduy::compute_energy_peak(runs[m].data);
      runs[m].high = compute_wanted_metrics(runs[m].data, nullptr).force_rms_high;
    }
    add_loop_claims(s.name, runs, out.claims);
    add_loop_report(s.name, runs, out.report);
  }
  return out;
}

}  // namespace palpate
