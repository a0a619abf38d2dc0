#include "palpate/experiments/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "palpate/core/version.h"
#include "palpate/haptics/replay.h"
#include "palpate/methods/registry.h"
#include "palpate/record/replay_hand.h"

namespace palpate {
namespace {

/// Those asked for, or all that can work on this world; the others go to `skipped` with the reason.
std::vector<std::string> chosen_methods(const Scene& scene, const World& world, const CompareOptions& options,
                                        std::vector<SkippedMethod>& skipped) {
  std::vector<std::string> methods;
  const ToolSettings tool = make_tool_settings(scene);
  for (const MethodInfo& info : registered_methods()) {
    if (info.name == "reference" || !options.methods.empty()) continue;
    const std::string reason = info.refuse(world, tool);
    if (reason.empty())
      methods.emplace_back(info.name);
    else
      skipped.push_back({std::string(info.name), reason});
  }
  for (const std::string& name : options.methods) {
    find_method(name);
    if (name != "reference") methods.push_back(name);
  }
  return methods;
}

}  // namespace

Comparison compare_methods(const Scene& scene, World& world, const CompareOptions& options) {
  Comparison out;
  const std::vector<std::string> methods = chosen_methods(scene, world, options, out.skipped);
  const auto run = [&](const std::string& method, Device* device) {
    SceneRunOptions once;
    once.method = method;
    once.control.stop = options.stop;
    if (options.progress) {
      once.control.progress = [&](double t) { options.progress(method, t / scene.run.seconds); };
    }
    SceneRun result = run_scene(scene, world, once, device);
    out.stopped = out.stopped || result.summary.stopped;
    return result;
  };
  out.reference = run("reference", nullptr);
  const SignedDistance distance = make_surface_distance(world);
  out.metrics.push_back({"reference", compute_metrics(out.reference.data, nullptr, distance), true});
  for (const std::string& method : methods) {
    if (out.stopped) break;
    ReplayDevice replay(device_track(out.reference.data.ticks));
    out.runs.push_back(run(method, options.closed_loop ? nullptr : &replay));
    const RunData& data = out.runs.back().data;
    out.metrics.push_back({method, compute_metrics(data, &out.reference.data, distance)});
  }
  return out;
}

std::vector<Vec3> trace_surface(const World& world, const std::vector<TickRow>& ticks) {
  constexpr std::size_t kPoints = 2000;
  std::vector<Vec3> line;
  const std::size_t stride = std::max<std::size_t>(1, ticks.size() / kPoints);
  for (std::size_t i = 0; i < ticks.size(); i += stride) {
    WorldClosest nearest;
    if (world.find_closest(ticks[i].device.position, 0.05, nearest)) line.push_back(nearest.closest.point);
  }
  return line;
}

Report make_comparison_report(const Scene& scene, const World& world, const Comparison& comparison) {
  Report report;
  report.title = fmt::format("{}: methods compared", scene.name);
  report.subtitle = fmt::format("{} hand, {} s, fast {:.4g} Hz, slow {:.4g} Hz, latency {:.3g} ms, Palpate {}",
                                kind_name(scene.hand), scene.run.seconds, 1.0 / scene.run.dt,
                                1.0 / scene.run.slow_period, 1e3 * scene.run.latency, kVersion);
  if (!scene.description.empty()) report.paragraphs.push_back(scene.description);
  for (const SkippedMethod& s : comparison.skipped)
    report.paragraphs.push_back(fmt::format("Left out: {} ({}).", s.name, s.reason));
  report.tables = make_metrics_tables(comparison.metrics);
  std::vector<RunData> runs;
  for (const SceneRun& run : comparison.runs) runs.push_back(run.data);
  RunPlotOptions options;
  options.reference = &comparison.reference.data;
  options.surface = trace_surface(world, comparison.reference.data.ticks);
  report.plots = make_run_plots(runs, options);
  return report;
}

}  // namespace palpate
