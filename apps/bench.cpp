#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/methods/registry.h"
#include "palpate/scene/builtin.h"

namespace palpate {
namespace {

struct BenchCommand {
  std::vector<std::string> scenes;
  double seconds = 2.0;
  bool json = false;
};

struct BenchRow {
  std::string scene;
  std::string method;
  RunSummary summary;
  double dt;
  double slow_period;
};

double p(const Histogram& h, double share) {
  return 1e-9 * h.compute_percentile_ns(share);
}

void print_text(const std::vector<BenchRow>& rows) {
  fmt::print("{:<14} {:<12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>10}\n", "scene", "method", "tick p50",
             "tick p99", "tick max", "step p50", "step p99", "misses", "late p99");
  for (const BenchRow& row : rows) {
    const RunSummary& s = row.summary;
    const auto show = [](double seconds) { return seconds > 0.0 ? format_quantity(seconds, "s") : std::string("–"); };
    fmt::print("{:<14} {:<12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>10}\n", row.scene, row.method,
               show(p(s.tick_times, 0.5)), show(p(s.tick_times, 0.99)), show(p(s.tick_times, 1.0)),
               show(p(s.step_times, 0.5)), show(p(s.step_times, 0.99)), s.tick_misses, show(p(s.tick_delays, 0.99)));
  }
  fmt::print("Times are computing times; late is how long after its moment a tick began, misses are ticks skipped.\n");
}

void print_json(const std::vector<BenchRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const BenchRow& row : rows) {
    const RunSummary& s = row.summary;
    list.push_back({{"scene", row.scene},
                    {"method", row.method},
                    {"dt", row.dt},
                    {"slow_period", row.slow_period},
                    {"tick_p50", p(s.tick_times, 0.5)},
                    {"tick_p99", p(s.tick_times, 0.99)},
                    {"tick_max", p(s.tick_times, 1.0)},
                    {"step_p50", p(s.step_times, 0.5)},
                    {"step_p99", p(s.step_times, 0.99)},
                    {"step_max", p(s.step_times, 1.0)},
                    {"tick_misses", s.tick_misses},
                    {"delay_p99", p(s.tick_delays, 0.99)},
                    {"notes", s.notes}});
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"runs", list}}.dump(2));
}

int bench_command(const BenchCommand& options) {
  std::vector<std::string> scenes = options.scenes;
  if (scenes.empty()) {
    for (const BuiltinScene& scene : builtin_scenes()) scenes.emplace_back(scene.name);
  }
  std::vector<BenchRow> rows;
  Progress progress;
  for (const std::string& name : scenes) {
    Scene scene = find_scene(name);
    scene.run.seconds = options.seconds;
    World world = make_world(scene);
    for (const MethodInfo& method : registered_methods()) {
      if (!refuse_method(scene, method.name, world).empty()) continue;
      SceneRunOptions once;
      once.method = method.name;
      once.lockstep = false;
      once.keep_rows = false;
      once.control.stop = &stop_requested();
      once.control.progress = [&](double t) {
        progress.show(fmt::format("{} {}", scene.name, method.name), t / scene.run.seconds);
      };
      rows.push_back({scene.name, std::string(method.name), run_scene(scene, world, once).summary, scene.run.dt,
                      scene.run.slow_period});
      if (stop_requested().load()) break;
    }
    if (stop_requested().load()) break;
  }
  options.json ? print_json(rows) : print_text(rows);
  if (!options.json && !rows.empty()) {
    for (const std::string& note : rows.front().summary.notes) fmt::print("note: {}\n", note);
  }
  return kDone;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto options = std::make_shared<BenchCommand>();
  CLI::App* command = app.add_subcommand("bench", "time both loops on this machine, in real time");
  command->add_option("SCENE", options->scenes, "scene files or built-in scenes; default: all built-in ones");
  command->add_option("-s,--seconds", options->seconds, "of each run")->check(positive_number())->capture_default_str();
  command->add_flag("--json", options->json, "as JSON");
  command->footer("Example: palpate bench organ --seconds 1");
  command->callback([options, &action] { action = [options] { return bench_command(*options); }; });
}

}  // namespace palpate
