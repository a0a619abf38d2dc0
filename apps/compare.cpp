#include "palpate/experiments/compare.h"

#include "command.h"
#include "palpate/core/error.h"
#include "palpate/scene/builtin.h"
#include "text_file.h"

namespace palpate {
namespace {

struct CompareCommand {
  std::string scene;
  std::vector<std::string> methods;
  double seconds = 0.0;
  bool closed_loop = false;
  std::string output;
  bool json = false;
};

/// The metrics that most people look at first.
void print_text(const Comparison& comparison) {
  fmt::print("{:<12} {:>12} {:>10} {:>12} {:>12} {:>12} {:>10} {:>10}\n", "method", "force error", "relative",
             "largest jump", "off surface", "energy given", "tick p99", "step p99");
  for (const NamedMetrics& run : comparison.metrics) {
    const Metrics& m = run.metrics;
    const std::string name = run.tool.empty() ? run.name : fmt::format("{}, {}", run.name, run.tool);
    fmt::print("{:<12} {:>12} {:>10} {:>12} {:>12} {:>12} {:>10} {:>10}\n", name,
               format_quantity(m.force_error_rms, "N"), format_quantity(m.force_error_relative, "%"),
               format_quantity(m.force_jump_max, "N"), format_quantity(m.proxy_distance_max, "m"),
               format_quantity(m.energy_max, "J"), format_quantity(m.tick_time_p99, "s"),
               format_quantity(m.step_time_p99, "s"));
  }
  for (const SkippedMethod& s : comparison.skipped) fmt::print("{:<12} left out: {}\n", s.name, s.reason);
}

int compare_command(const CompareCommand& options) {
  Scene scene = find_scene(options.scene);
  if (options.seconds > 0.0) scene.run.seconds = options.seconds;
  World world = make_world(scene);
  CompareOptions compare;
  compare.methods = options.methods;
  compare.closed_loop = options.closed_loop;
  compare.stop = &stop_requested();
  Comparison comparison;
  {
    Progress progress;
    compare.progress = [&](std::string_view method, double share) { progress.show(method, share); };
    comparison = compare_methods(scene, world, compare);
  }
  const std::string page = options.output.empty() ? make_free_path("reports", scene.name, ".html") : options.output;
  make_parent_folder(page);
  write_report(make_comparison_report(scene, world, comparison), page);
  const std::string data = page.substr(0, page.rfind(".html")) + ".json";
  const std::string json = make_metrics_json(comparison.metrics);
  write_text_file(data, json);
  if (options.json) {
    fmt::print("{}\n", json);
  } else {
    print_text(comparison);
    fmt::print("report {}\ndata   {}\n", page, data);
  }
  return comparison.stopped ? kCheckFailed : kDone;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareCommand>();
  CLI::App* command =
      app.add_subcommand("compare", "all methods on the same hand motion, against the truth; one report");
  command->add_option("SCENE", options->scene, "scene file or built-in scene")->required();
  command->add_option("-m,--methods", options->methods, "methods; default: all")->delimiter(',');
  command->add_option("-s,--seconds", options->seconds, "length of the run; default: the scene's")
      ->check(CLI::PositiveNumber);
  command->add_flag("--closed-loop", options->closed_loop,
                    "each method moves its own simulated hand; default: all get the hand of the reference run");
  command->add_option("-o,--output", options->output, "report to write; default: reports/SCENE-NNN.html");
  command->add_flag("--json", options->json, "metrics as JSON on standard output (always written beside the report)");
  command->footer("Example: palpate compare sine-static --methods halfspace,direct");
  command->callback([options, &action] { action = [options] { return compare_command(*options); }; });
}

}  // namespace palpate
