#include "palpate/experiments/advise.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "command.h"
#include "palpate/core/error.h"
#include "palpate/scene/builtin.h"
#include "palpate/scene/warnings.h"

namespace palpate {
namespace {

struct AdviseCommand {
  std::string scene;
  double contact = AdviceOptions{}.contact_seconds;
  bool json = false;
};

using Json = nlohmann::ordered_json;

/// In percent, or in newtons where the touch is too light for that.
std::string error_text(const Comparison& comparison, const NamedMetrics& like) {
  for (const NamedMetrics& m : comparison.metrics) {
    if (m.name != like.name || m.tool != like.tool) continue;
    return std::isnan(m.metrics.force_error_relative) ? format_quantity(m.metrics.force_error_rms, "N")
                                                      : format_quantity(m.metrics.force_error_relative, "%");
  }
  return "–";
}

/// Whether this machine holds a method at the scene's rates, and how fast its slow loop could be.
std::string holding_text(const Scene& scene, const Metrics& m) {
  if (!(m.tick_time_p99 < kLoad * scene.run.dt)) return "no: the tick is too long";
  if (std::isnan(m.step_time_p99)) return "yes";
  return fmt::format("{} {:.4g} Hz", m.step_time_p99 < kLoad * scene.run.slow_period ? "yes, up to" : "only",
                     1.0 / holding_period(m.step_time_p99, scene.run.dt));
}

void print_methods(const Scene& scene, const Advice& advice) {
  const auto& hands = advice.trial.hands;
  fmt::print("{:<24}", "method, off the truth by");
  for (const SceneComparison::Part& part : hands)
    fmt::print(" {:>13}", kComparedHandNames[static_cast<std::size_t>(part.hand)]);
  fmt::print(" {:>10} {:>10}  {}\n", "tick p99", "step p99", "holds on this machine");
  std::vector<NamedMetrics> nearest_first = advice.trial.leading().metrics;
  std::erase_if(nearest_first, [](const NamedMetrics& m) { return m.truth; });
  std::ranges::stable_sort(nearest_first, {}, [](const NamedMetrics& m) { return m.metrics.force_error_rms; });
  for (const NamedMetrics& m : nearest_first) {
    fmt::print("{:<24}", m.tool.empty() ? m.name : fmt::format("{}, {}", m.name, m.tool));
    for (const SceneComparison::Part& part : hands) fmt::print(" {:>13}", error_text(part.comparison, m));
    fmt::print(" {:>10} {:>10}  {}\n", format_quantity(m.metrics.tick_time_p99, "s"),
               format_quantity(m.metrics.step_time_p99, "s"), holding_text(scene, m.metrics));
  }
}

void print_text(const Scene& scene, const Advice& advice) {
  fmt::print("{}: {:.2g} s of it with every method that can work there, slow loop at {:.4g} Hz\n\n", scene.name,
             advice.seconds, 1.0 / scene.run.slow_period);
  print_methods(scene, advice);
  for (const SkippedMethod& s : advice.trial.leading().skipped) fmt::print("{:<24} cannot: {}\n", s.name, s.reason);
  for (const SceneRun& run : advice.trial.leading().runs) {
    const std::string warning = find_method_warning(scene, run.data.name);
    if (!warning.empty()) fmt::print("Beware of {}\n", warning);
  }
  const Metrics& truth = advice.trial.leading().metrics.front().metrics;
  fmt::print("\n");
  if (!advice.felt) {
    fmt::print("The hand touches nothing, so that no trial can tell which method is nearest to the truth.\n");
    if (!advice.holding.empty()) fmt::print("\"auto\" takes {}, by what is in the scene alone.\n", advice.holding);
    return;
  }
  if (advice.truth_fits)
    fmt::print(
        "Take \"method\": \"reference\" here: the truth itself takes {} a tick (99 %), and the tick has {}. There is\n"
        "nothing nearer to the truth, and no slow loop to be late.\n",
        format_quantity(truth.tick_time_p99, "s"), format_quantity(scene.run.dt, "s"));
  else
    fmt::print("The truth itself takes {} a tick (99 %), and the tick has {}: too slow on this machine.\n",
               format_quantity(truth.tick_time_p99, "s"), format_quantity(scene.run.dt, "s"));
  if (advice.nearest.empty()) return;
  if (advice.holding != advice.nearest)
    fmt::print("Nearest to it is {}, whose ticks are too long here.\n", advice.nearest);
  if (advice.holding.empty()) return;
  fmt::print("{} \"method\": \"{}\", the nearest to the truth of those that hold.\n",
             advice.truth_fits ? "On a slower machine, take" : "Take", advice.holding);
  if (advice.fastest < scene.run.slow_period)
    fmt::print(
        "A faster slow loop is the best cure: \"rates\": {{ \"slow_period\": {:.2g} }} ({:.4g} Hz instead of {:.4g}) "
        "holds\n"
        "here with {:.0f} % of the time to spare.\n",
        advice.fastest, 1.0 / advice.fastest, 1.0 / scene.run.slow_period, 100.0 * (1.0 - kLoad));
  else
    fmt::print("Its step is too long for {:.4g} Hz here; {:.4g} Hz would hold (\"slow_period\": {:.2g}).\n",
               1.0 / scene.run.slow_period, 1.0 / advice.fastest, advice.fastest);
}

void print_json(const Scene& scene, const Advice& advice) {
  Json methods = Json::array();
  for (const NamedMetrics& m : advice.trial.leading().metrics) {
    const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
    Json entry = {{"name", m.name}, {"truth", m.truth}};
    if (!m.tool.empty()) entry["tool"] = m.tool;
    entry.update({{"force_error_relative", number(m.metrics.force_error_relative)},
                  {"force_error_rms", number(m.metrics.force_error_rms)},
                  {"tick_time_p99", number(m.metrics.tick_time_p99)},
                  {"step_time_p99", number(m.metrics.step_time_p99)}});
    methods.push_back(std::move(entry));
  }
  Json skipped = Json::array();
  for (const SkippedMethod& s : advice.trial.leading().skipped)
    skipped.push_back({{"name", s.name}, {"reason", s.reason}});
  const Json out = {{"scene", scene.name},
                    {"seconds", advice.seconds},
                    {"leading", kComparedHandKeys[static_cast<std::size_t>(advice.trial.hands.front().hand)]},
                    {"felt", advice.felt},
                    {"nearest", advice.nearest},
                    {"holding", advice.holding},
                    {"truth_fits", advice.truth_fits},
                    {"take", advice.nearest.empty() && !advice.truth_fits ? "" : advice.choice(true)},
                    {"fastest_slow_period", std::isfinite(advice.fastest) ? Json(advice.fastest) : Json(nullptr)},
                    {"methods", std::move(methods)},
                    {"skipped", std::move(skipped)}};
  fmt::print("{}\n", out.dump(2));
}

int advise_command(const AdviseCommand& options) {
  const Scene scene = find_scene(options.scene);
  AdviceOptions advice_options;
  advice_options.contact_seconds = options.contact;
  advice_options.stop = &stop_requested();
  Advice advice;
  {
    Progress progress;
    advice_options.progress = progress.reporter();
    advice = advise(scene, advice_options);
  }
  if (stop_requested().load()) fail_input("stopped before anything could be said");
  options.json ? print_json(scene, advice) : print_text(scene, advice);
  return kDone;
}

}  // namespace

void add_advise(CLI::App& app, Action& action) {
  auto options = std::make_shared<AdviseCommand>();
  CLI::App* command = app.add_subcommand("advise", "which method to take on a scene, from a short trial of each");
  command->add_option("SCENE", options->scene, "scene file or built-in scene")->required();
  command
      ->add_option("--contact", options->contact,
                   "the trial ends after so many seconds of contact; default: 10. Less is quicker and may mislead")
      ->check(positive_number());
  command->add_flag("--json", options->json, "as JSON");
  command->footer("Example: palpate advise soft-block\n\"method\": \"auto\" in a scene takes what this says.");
  command->callback([options, &action] { action = [options] { return advise_command(*options); }; });
}

}  // namespace palpate
