#include "palpate/experiments/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "palpate/core/version.h"
#include "palpate/haptics/replay.h"
#include "palpate/methods/registry.h"
#include "palpate/record/replay_hand.h"

namespace palpate {
namespace {

/// Tables and plots of one tool, with its name in front of their titles if there are others.
void add_tool(Report& report, const World& world, const Comparison& comparison, std::size_t tool,
              const std::string& view, RunPlotOptions options) {
  const RunData& truth = *comparison.reference.all().at(tool);
  const auto title = [&](const std::string& text) { return truth.tool.empty() ? text : truth.tool + ": " + text; };
  std::vector<NamedMetrics> metrics;
  for (const NamedMetrics& m : comparison.metrics) {
    if (m.tool == truth.tool) metrics.push_back(m);
  }
  for (Table& table : make_metrics_tables(metrics)) {
    table.title = title(table.title);
    table.view = view;
    report.tables.push_back(std::move(table));
  }
  std::vector<RunData> runs;
  for (const SceneRun& run : comparison.runs) runs.push_back(*run.all().at(tool));
  options.reference = &truth;
  options.surface = trace_surface(world, truth.ticks);
  for (Plot& plot : make_run_plots(runs, options)) {
    plot.title = title(plot.title);
    plot.view = view;
    report.plots.push_back(std::move(plot));
  }
}

}  // namespace

std::string describe_hands(const Scene& scene) {
  if (scene.tools.size() == 1) return std::string(kind_name(scene.first().hand));
  std::vector<std::string> hands;
  for (const HeldTool& held : scene.tools) hands.push_back(fmt::format("{} {}", held.name, kind_name(held.hand)));
  return fmt::format("{}", fmt::join(hands, ", "));
}

std::vector<std::string> choose_methods(const Scene& scene, World& world, const std::vector<std::string>& asked,
                                        std::vector<SkippedMethod>& skipped) {
  std::vector<std::string> methods;
  for (const MethodInfo& info : registered_methods()) {
    if (info.name == "reference" || !asked.empty()) continue;
    const std::string reason = refuse_method(scene, info.name, world);
    if (reason.empty())
      methods.emplace_back(info.name);
    else
      skipped.push_back({std::string(info.name), reason});
  }
  for (const std::string& name : asked) {
    find_method(name);
    if (name != "reference") methods.push_back(name);
  }
  return methods;
}

void add_metrics(const SceneRun& run, const SceneRun* reference, const SignedDistance& distance,
                 std::vector<NamedMetrics>& out) {
  const std::vector<const RunData*> tools = run.all();
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const RunData* truth = reference ? reference->all().at(i) : nullptr;
    out.push_back({tools[i]->name, compute_metrics(*tools[i], truth, distance), truth == nullptr, tools[i]->tool});
  }
}

Comparison compare_methods(const Scene& scene, World& world, const CompareOptions& options) {
  Comparison out;
  const std::vector<std::string> methods = choose_methods(scene, world, options.methods, out.skipped);
  const auto run = [&](const std::string& method, const std::vector<Device*>& devices) {
    SceneRunOptions once;
    once.method = method;
    once.control.stop = options.stop;
    if (options.progress) {
      once.control.progress = [&](double t) { options.progress(method, t / scene.run.seconds); };
    }
    SceneRun result = run_scene(scene, world, once, devices);
    out.stopped = out.stopped || result.summary.stopped;
    return result;
  };
  out.reference = run("reference", {});
  const SignedDistance distance = make_surface_distance(world);
  add_metrics(out.reference, nullptr, distance, out.metrics);
  for (const std::string& method : methods) {
    if (out.stopped) break;
    std::vector<std::unique_ptr<ReplayDevice>> replays;
    std::vector<Device*> devices;
    for (const RunData* truth : out.reference.all()) {
      replays.push_back(std::make_unique<ReplayDevice>(device_track(truth->ticks)));
      if (!options.closed_loop) devices.push_back(replays.back().get());
    }
    out.runs.push_back(run(method, devices));
    add_metrics(out.runs.back(), &out.reference, distance, out.metrics);
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

std::string describe_run(const Scene& scene) {
  return fmt::format("{} hand, {} s, fast {:.4g} Hz, slow {:.4g} Hz, latency {:.3g} ms, Palpate {}",
                     describe_hands(scene), scene.run.seconds, 1.0 / scene.run.dt, 1.0 / scene.run.slow_period,
                     1e3 * scene.run.latency, kVersion);
}

Report make_comparison_report(const Scene& scene, const World& world, const Comparison& comparison) {
  Report report;
  report.title = fmt::format("{}: methods compared", scene.name);
  report.subtitle = describe_run(scene);
  if (!scene.description.empty()) report.paragraphs.push_back(scene.description);
  for (const SkippedMethod& s : comparison.skipped)
    report.paragraphs.push_back(fmt::format("Left out: {} ({}).", s.name, s.reason));
  add_comparison(report, world, comparison);
  return report;
}

void add_comparison(Report& report, const World& world, const Comparison& comparison, const std::string& view,
                    const RunPlotOptions& plots) {
  for (std::size_t i = 0; i < comparison.reference.all().size(); ++i)
    add_tool(report, world, comparison, i, view, plots);
}

}  // namespace palpate
