#pragma once

#include <string>
#include <vector>

#include "palpate/experiments/scene_run.h"
#include "palpate/record/report.h"

namespace palpate {

struct CompareOptions {
  std::vector<std::string> methods;  ///< besides `reference`; empty: all
  /// false: the hand of the `reference` run is replayed to all, so that forces are compared at the same positions.
  /// true: each method closes the loop with its own copy of a simulated hand, and stability can be compared.
  bool closed_loop = false;
  std::function<void(std::string_view method, double share)> progress;
  const std::atomic<bool>* stop = nullptr;
};

/// A method that cannot work on the scene, and why.
struct SkippedMethod {
  std::string name, reason;
};

/// All methods on one scene and one hand motion, beside the truth.
struct Comparison {
  SceneRun reference;
  std::vector<SceneRun> runs;
  std::vector<NamedMetrics> metrics;  ///< of the reference first, then of each run; of each, all tools
  std::vector<SkippedMethod> skipped;
  bool stopped = false;  ///< by request, before all were done
};

/// Runs in lockstep, so that nothing depends on the machine but the times.
Comparison compare_methods(const Scene& scene, World& world, const CompareOptions& options);

/// Those asked for, or all that can work on this world; the others go to `skipped` with the reason. The truth is none
/// of them. The world is reset. Throws InputError for an unknown name.
std::vector<std::string> choose_methods(const Scene& scene, World& world, const std::vector<std::string>& asked,
                                        std::vector<SkippedMethod>& skipped);

/// "scripted", or of several tools "left scripted, right simulated".
std::string describe_hands(const Scene& scene);
/// What was run, for the line below a title: hand, length, rates, version.
std::string describe_run(const Scene& scene);

/// Of every tool of a run against the same tool of the truth, appended to `out`; `reference` is null for the truth
/// itself.
void add_metrics(const SceneRun& run, const SceneRun* reference, const SignedDistance& distance,
                 std::vector<NamedMetrics>& out);

/// Tables and plots of a comparison; of several tools, for each its own.
Report make_comparison_report(const Scene& scene, const World& world, const Comparison& comparison);

/// The same, added to a report. `view` and the rest of `plots` but truth and surface go to all of them.
void add_comparison(Report& report, const World& world, const Comparison& comparison, const std::string& view = {},
                    const RunPlotOptions& plots = {});

/// The surface along the hand's way, for the path plot: the surface points nearest to the device, those within 50 mm.
std::vector<Vec3> trace_surface(const World& world, const std::vector<TickRow>& ticks);

}  // namespace palpate
