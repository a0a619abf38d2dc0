#include "command.h"
#include "palpate/core/error.h"
#include "palpate/experiments/experiment.h"

namespace palpate {
namespace {

struct ReproduceCommand {
  std::vector<std::string> names;
  std::string output = "reports";
  bool all = false;
  bool json = false;
};

void print_list() {
  for (const Experiment& e : registered_experiments()) fmt::print("{:<24} {}\n", e.name, e.description);
}

void print_claims(const Experiment& experiment, const NamedResult& result) {
  fmt::print("{}: {}\n", experiment.name, experiment.description);
  for (const MeasuredClaim& c : result.claims) {
    const char* relation = c.relation == MeasuredClaim::Relation::kAtMost ? "at most" : "at least";
    fmt::print("  {} {}\n      paper: {}\n      measured {}, wanted {} {}\n", c.holds() ? "✓" : "✗", c.name, c.paper,
               format_quantity(c.measured, c.unit), relation, format_quantity(c.limit, c.unit));
  }
  for (const std::string& note : result.notes) fmt::print("  note   {}\n", note);
  fmt::print("  report {}\n", result.report);
}

int reproduce_command(const ReproduceCommand& options) {
  if (options.names.empty() && !options.all) {
    print_list();
    return kDone;
  }
  std::vector<const Experiment*> chosen;
  for (const std::string& name : options.names) chosen.push_back(&find_experiment(name));
  if (options.all) {
    chosen.clear();
    for (const Experiment& e : registered_experiments()) chosen.push_back(&e);
  }
  std::vector<NamedResult> results;
  bool all_hold = true;
  for (const Experiment* experiment : chosen) {
    ExperimentOptions run;
    run.stop = &stop_requested();
    ExperimentResult result;
    {
      Progress progress;
      run.progress = [&](std::string_view stage, double share) {
        progress.show(fmt::format("{}: {}", experiment->name, stage), share);
      };
      result = experiment->run(run);
    }
    if (stop_requested().load()) fail_input("stopped before {} was done", experiment->name);
    const std::string page = fmt::format("{}/{}.html", options.output, experiment->name);
    make_parent_folder(page);
    write_report(make_experiment_report(*experiment, result), page);
    results.push_back({std::string(experiment->name), result.claims, page, result.notes});
    for (const MeasuredClaim& claim : result.claims) all_hold = all_hold && claim.holds();
    if (!options.json) print_claims(*experiment, results.back());
  }
  if (options.json) fmt::print("{}\n", make_experiments_json(results));
  return all_hold ? kDone : kCheckFailed;
}

}  // namespace

void add_reproduce(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReproduceCommand>();
  CLI::App* command =
      app.add_subcommand("reproduce", "a paper's experiment: its claim beside what was measured; plots");
  command->add_option("NAME", options->names, "experiments; none: list them");
  command->add_flag("--all", options->all, "every experiment");
  command->add_option("-o,--output", options->output, "folder for the reports")->capture_default_str();
  command->add_flag("--json", options->json, "claims as JSON");
  command->footer("Example: palpate reproduce sine-static-halfspace\nExits with 1 where a claim does not hold.");
  command->callback([options, &action] { action = [options] { return reproduce_command(*options); }; });
}

}  // namespace palpate
