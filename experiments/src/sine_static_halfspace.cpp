#include <algorithm>

#include "experiments.h"
#include "palpate/experiments/compare.h"
#include "palpate/scene/builtin.h"
#include "wanted_metrics.h"

namespace palpate {

// Knott & Kuhlen 2015, section 5.1, first test case: a sine surface of 5 mm amplitude and 25 mm wavelength, swept by a
// hand on the same sine 1 mm below it. Fig. 5, top left, shows the classic model's proxy leaving the surface and
// snapping back; the paper gives no numbers, so the limits here say what "leaves" and "snaps" must mean at least.
ExperimentResult run_sine_static_halfspace(const ExperimentOptions& options) {
  const Scene scene = load_builtin_scene("sine-static");
  World world = make_world(scene);
  CompareOptions compare;
  compare.methods = {"halfspace", "direct"};
  compare.progress = options.progress;
  compare.stop = options.stop;
  const Comparison comparison = compare_methods(scene, world, compare);
  const Metrics& truth = comparison.metrics[0].metrics;
  const Metrics& halfspace = comparison.metrics[1].metrics;

  const Metrics truth_asked = compute_wanted_metrics(comparison.reference.data, nullptr);
  const Metrics asked = compute_wanted_metrics(comparison.runs[0].data, &comparison.reference.data);
  constexpr double kIndentation = 0.001;
  ExperimentResult out;
  using Relation = MeasuredClaim::Relation;
  out.claims = {
      {"proxy of halfspace leaves the surface", "\"the proxy trajectory regularly moves away from the surface\"",
       halfspace.proxy_distance_max, 0.5 * kIndentation, Relation::kAtLeast, "m"},
      {"proxy of reference stays on it", "the truth", truth.proxy_distance_max, 0.01 * kIndentation, Relation::kAtMost,
       "m"},
      {"force of halfspace jumps when a model arrives",
       "\"the proxy snaps back when an updated constraint set arrives\"",
       asked.force_jump_max / truth_asked.force_jump_max, 5.0, Relation::kAtLeast, ""},
      {"force of halfspace is wrong", "\"the according haptic forces increase unnaturally\"",
       asked.force_error_relative, 25.0, Relation::kAtLeast, "%"},
  };
  out.report = make_comparison_report(scene, world, comparison);
  return out;
}

}  // namespace palpate
