#include <algorithm>
#include <cmath>

#include "command.h"
#include "palpate/core/error.h"
#include "palpate/experiments/compare_scene.h"
#include "palpate/experiments/sweep.h"
#include "palpate/scene/builtin.h"
#include "text_file.h"

namespace palpate {
namespace {

struct CompareCommand {
  std::string scene;
  std::vector<std::string> methods, without;
  double seconds = 0.0;
  bool closed_loop = false;
  bool replayed = false;
  bool no_truth_error = false;
  SweepOptions sweep;
  int threads = 2;
  std::string output;
  bool json = false;
};

/// Puts a column of text of that many characters, which fmt would count as bytes.
std::string column(const std::string& text, std::size_t width) {
  std::size_t length = 0;
  for (const char c : text) length += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return std::string(width > length ? width - length : 0, ' ') + text;
}

const Metrics* find_metrics(const std::vector<NamedMetrics>& metrics, const NamedMetrics& like) {
  for (const NamedMetrics& m : metrics) {
    if (m.name == like.name && m.tool == like.tool) return &m.metrics;
  }
  return nullptr;
}

void print_row(const std::string& name, const std::vector<std::string>& cells) {
  fmt::print("{:<24}", name);
  for (const std::string& cell : cells) fmt::print("{}", column(cell, 13));
  fmt::print("\n");
}

/// The metrics that most people look at first; of both hands side by side, the leading one's first. `like` has the
/// method's and the tool's name.
void print_method(const SceneComparison& comparison, const NamedMetrics& like, bool chaotic) {
  std::vector<std::string> cells;
  for (const SceneComparison::Part& part : comparison.hands) {
    const Metrics* m = find_metrics(part.comparison.metrics, like);
    const Metrics* early = find_metrics(part.before_chaos, like);
    cells.push_back(format_quantity(m ? m->force_error_relative : kNotAvailable, "%"));
    if (chaotic)
      cells.push_back(format_quantity(early ? early->force_error_relative : kNotAvailable, "%"));
    else
      cells.push_back(format_quantity(m ? m->force_error_rms : kNotAvailable, "N"));
  }
  const Metrics& m = *find_metrics(comparison.leading().metrics, like);
  for (const auto& [value, unit] : {std::pair{m.noticeable_share, "%"},
                                    {m.direction_error, "°"},
                                    {m.force_delay, "s"},
                                    {m.force_jump_max, "N"},
                                    {m.tick_time_p99, "s"},
                                    {m.step_time_p99, "s"}})
    cells.push_back(format_quantity(value, unit));
  const std::string name = like.tool.empty() ? like.name : fmt::format("{}, {}", like.name, like.tool);
  print_row(like.name == comparison.chosen ? name + " (auto)" : name, cells);
}

/// All methods, the nearest to the truth first.
void print_text(const SceneComparison& comparison) {
  std::vector<std::string> head;
  const bool chaotic = !comparison.hands.front().before_chaos.empty();
  for (const SceneComparison::Part& part : comparison.hands) {
    head.emplace_back(part.hand == ComparedHand::kReplayed ? "replayed" : "closed loop");
    head.emplace_back(chaotic ? "before chaos" : "RMS");
  }
  for (const char* name : {"noticed", "direction", "delay", "largest jump", "tick p99", "step p99"})
    head.emplace_back(name);
  print_row("force error, hand:", head);
  for (const RunData* tool : comparison.leading().reference.all()) {
    print_method(comparison, {.name = tool->name, .metrics = {}, .tool = tool->tool}, chaotic);
    for (const NamedMetrics* m : rank_methods(comparison.hands.front(), tool->tool))
      print_method(comparison, *m, chaotic);
  }
  for (const SkippedMethod& s : comparison.leading().skipped) fmt::print("{:<24} left out: {}\n", s.name, s.reason);
  fmt::print("\n");
  for (const std::string& sentence : describe_nearest(comparison)) fmt::print("{}\n", sentence);
  fmt::print("{}\n", comparison.lead);
  for (const std::string& sentence : describe_truth(comparison)) fmt::print("{}\n", sentence);
  for (const std::string& sentence : describe_strays(comparison)) fmt::print("{}\n", sentence);
}

/// Both files of a report; returns the page's name. The data's name is not that of a scene: `-o table.html` must not
/// write over the table.json that was compared.
std::string write_files(const CompareCommand& options, const Scene& scene, const Report& report,
                        const std::string& json) {
  const std::string page = options.output.empty() ? make_free_path("reports", scene.name, ".html") : options.output;
  write_report(report, page);
  write_text_file(page.substr(0, page.rfind(".html")) + ".metrics.json", json);
  return page;
}

void print_sweep(const Sweep& sweep) {
  fmt::print("force error of each method, the nearest to the truth first, {}\n",
             sweep.hand == ComparedHand::kReplayed ? "with the truth's hand replayed"
                                                   : "in the closed loop, each with a hand that feels it");
  for (const SweepPoint& p : sweep.points) {
    std::vector<std::string> parts;
    if (!std::isnan(p.rate)) parts.push_back(fmt::format("{:.4g} Hz", p.rate));
    if (!std::isnan(p.stiffness)) parts.push_back(format_quantity(p.stiffness, "Pa"));
    if (!std::isnan(p.friction)) parts.push_back(fmt::format("µ {:.3g}", p.friction));
    fmt::print("{}", column(fmt::format("{}", fmt::join(parts, ", ")), 28));
    std::vector<const NamedMetrics*> ranked;
    for (const NamedMetrics& m : p.metrics) {
      if (!m.truth) ranked.push_back(&m);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const NamedMetrics* a, const NamedMetrics* b) {
      return a->metrics.force_error_rms < b->metrics.force_error_rms;
    });
    for (const NamedMetrics* m : ranked) {
      const double error = m->metrics.force_error_relative;
      fmt::print("  {} {}", m->name,
                 std::isnan(error) ? format_quantity(m->metrics.force_error_rms, "N") : fmt::format("{:.1f} %", error));
    }
    fmt::print("\n");
  }
}

int sweep_command(const CompareCommand& options, const Scene& scene, const SceneCompareOptions& compare) {
  SweepOptions settings = options.sweep;
  settings.methods = compare.methods;
  settings.without = compare.without;
  settings.hand = compare.hand;
  settings.threads = compare.threads;
  settings.stop = compare.stop;
  Sweep sweep;
  {
    Progress progress;
    settings.progress = progress.reporter();
    sweep = sweep_scene(scene, settings);
  }
  const std::string json = make_json(scene, sweep);
  const std::string page = write_files(options, scene, make_report(scene, sweep), json);
  if (options.json) {
    fmt::print("{}\n", json);
  } else {
    print_sweep(sweep);
    fmt::print("report {}\n", page);
  }
  return sweep.stopped ? kCheckFailed : kDone;
}

int compare_command(const CompareCommand& options) {
  require_folder_of(options.output);
  Scene scene = find_scene(options.scene);
  if (options.seconds > 0.0) scene.run.seconds = options.seconds;
  SceneCompareOptions compare;
  compare.methods = options.methods;
  compare.without = options.without;
  if (options.closed_loop) compare.hand = ComparedHand::kClosedLoop;
  if (options.replayed) compare.hand = ComparedHand::kReplayed;
  compare.truth_error = !options.no_truth_error;
  compare.threads = options.threads;
  compare.stop = &stop_requested();
  if (options.sweep.any()) return sweep_command(options, scene, compare);
  SceneComparison comparison;
  {
    Progress progress;
    compare.progress = progress.reporter();
    comparison = compare_scene(scene, compare);
  }
  const std::string json = make_json(scene, comparison);
  const std::string page = write_files(options, scene, make_report(scene, make_world(scene), comparison), json);
  if (options.json) {
    fmt::print("{}\n", json);
  } else {
    print_text(comparison);
    fmt::print("report {}\n", page);
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
  command->add_option("--without", options->without, "all methods but these")->delimiter(',')->excludes("--methods");
  command->add_option("-s,--seconds", options->seconds, "length of the run; default: the scene's")
      ->check(positive_number());
  CLI::Option* closed = command->add_flag("--closed-loop", options->closed_loop,
                                          "only with each method moving its own simulated hand; default: both");
  command->add_flag("--replayed", options->replayed, "only with the hand of the truth's run for all; default: both")
      ->excludes(closed);
  command->add_flag("--no-truth-error", options->no_truth_error,
                    "not the truth at half the time step nor with the hand beside: two of the longest runs less");
  command->add_option("--threads", options->threads, "runs at a time; default: 2")->check(CLI::Range(1, 64));
  command->add_option("--rates", options->sweep.rates, "go through these rates of the slow loop [Hz]: 10,20,50,100")
      ->delimiter(',')
      ->check(positive_number());
  command
      ->add_option("--stiffness", options->sweep.stiffness, "go through these Young's moduli of all soft bodies [Pa]")
      ->delimiter(',')
      ->check(positive_number());
  command->add_option("--friction", options->sweep.friction, "go through these coefficients of friction of all bodies")
      ->delimiter(',')
      ->check(non_negative_number());
  command->add_option("-o,--output", options->output, "report to write; default: reports/SCENE-NNN.html");
  command->add_flag("--json", options->json,
                    "metrics as JSON on standard output (always written beside the report, as NAME.metrics.json)");
  command->footer(
      "Example: palpate compare sine-static --methods halfspace,direct\n"
      "Example: palpate compare soft-block --rates 10,20,50,100 --stiffness 1e3,1e4,1e5\n"
      "In --json, \"runs\" are those of the replayed hand where there are both, \"closed_loop\" the others, and "
      "\"leading\"\n"
      "says which of them fits the scene.");
  command->callback([options, &action] { action = [options] { return compare_command(*options); }; });
}

}  // namespace palpate
