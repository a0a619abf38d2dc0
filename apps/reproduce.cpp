#include <mutex>
#include <thread>

#include "command.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/core/second_thread.h"
#include "palpate/experiments/expected.h"
#include "palpate/experiments/experiment_queue.h"
#include "text_file.h"

namespace palpate {
namespace {

struct ReproduceCommand {
  std::vector<std::string> names;
  std::string output = "reports";
  std::string write_expected;
  bool all = false;
  bool quick = false;
  bool exact = false;
  bool json = false;
};

void print_list() {
  for (const Experiment& e : registered_experiments()) fmt::print("{:<24} {}\n", e.name, e.description);
}

void print_claims(const Experiment& experiment, const NamedResult& result) {
  fmt::print("{}: {}\n", experiment.name, experiment.description);
  for (std::size_t i = 0; i < result.claims.size(); ++i) {
    const MeasuredClaim& c = result.claims[i];
    const ExpectedComparison::Entry& expected = result.expected.claims[i];
    const char* relation = c.relation == MeasuredClaim::Relation::kAtMost ? "at most" : "at least";
    fmt::print("  {} {}\n      paper: {}\n      measured {}, wanted {} {}\n", c.holds() ? "✓" : "✗", c.name, c.paper,
               format_quantity(c.measured, c.unit), relation, format_quantity(c.limit, c.unit));
    if (!c.holds() && !expected.reason.empty()) fmt::print("      known: {}\n", expected.reason);
    if (expected.standing != Standing::kAsExpected)
      fmt::print("      {}{}\n",
                 expected.standing == Standing::kWorse    ? "WORSE: it was expected to hold"
                 : expected.standing == Standing::kBetter ? "BETTER: it was expected not to hold"
                                                          : "nothing is expected of it yet",
                 depends_on_machine(c) ? " (a time of this machine)" : "");
  }
  for (const std::string& name : result.expected.missing)
    fmt::print("  ✗ MISSING: expected and not claimed: {}\n", name);
  for (const std::string& note : result.notes) fmt::print("  note   {}\n", note);
  fmt::print("  report {}\n", result.report);
}

/// Runs experiments, as many at a time as there are cores, in the order of ExperimentQueue. Writes the report of each
/// as soon as it is done. Results come in the order in which the experiments were chosen.
class Runner {
 public:
  Runner(const std::vector<const Experiment*>& chosen, const ReproduceCommand& options, const ExpectedClaims& expected)
      : chosen_(chosen), options_(options), expected_(expected), results_(chosen_.size()), queue_(chosen_) {
    for (const Experiment* e : chosen_) cost_ += e->cost;
  }

  /// Throws what an experiment threw, and InputError if it was stopped.
  std::vector<NamedResult> run() {
    const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, chosen_.size());
    std::vector<std::thread> workers;
    for (std::size_t t = 1; t < threads; ++t) workers.emplace_back([this] { work(); });
    work();
    for (std::thread& worker : workers) worker.join();
    if (failure_) std::rethrow_exception(failure_);
    if (stop_requested().load()) fail_input("stopped before all experiments were done");
    return std::move(results_);
  }

 private:
  void work() {
    while (const std::optional<std::size_t> i = queue_.take()) {
      run_one(*i);
      if (stop_requested().load() || failed_) queue_.end();
      queue_.finish(*i);
    }
  }

  void run_one(std::size_t i) {
    const Experiment& experiment = *chosen_[i];
    ExperimentOptions run;
    run.stop = &stop_requested();
    run.quick = options_.quick;
    run.progress = [&](std::string_view stage, double share) {
      const std::scoped_lock lock(mutex_);
      // Experiments tell the share of a stage. Of several, what is done tells more.
      const std::string what = fmt::format("{}: {}", experiment.name, stage);
      if (chosen_.size() == 1)
        progress_.show(what, share);
      else
        progress_.show(fmt::format("{} of {} done; {}", done_, chosen_.size(), what), done_cost_ / cost_);
    };
    const std::int64_t start = monotonic_ns(), work = work_ns();
    try {
      const ExperimentResult result = experiment.run(run);
      if (!stop_requested().load()) results_[i] = write(experiment, result);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
    }
    const std::scoped_lock lock(mutex_);
    done_cost_ += experiment.cost;
    ++done_;
    if (stop_requested().load() || failed_ || chosen_.size() == 1) return;
    progress_.tell(fmt::format("{:>2} of {}  {:<24} {:5.1f} s, of the processor {:5.1f} s", done_, chosen_.size(),
                               experiment.name, 1e-9 * static_cast<double>(monotonic_ns() - start),
                               1e-9 * static_cast<double>(work_ns() - work)));
  }

  NamedResult write(const Experiment& experiment, const ExperimentResult& result) const {
    NamedResult out{std::string(experiment.name), result.claims,
                    fmt::format("{}/{}.html", options_.output, experiment.name), result.notes,
                    expected_.compare(experiment.name, result.claims, result.notes, options_.quick)};
    Report report = make_experiment_report(experiment, result, out.expected);
    if (options_.quick) report.title += " (quick form)";
    make_parent_folder(out.report);  // -o's own folder may be new, its parent not
    write_report(report, out.report);
    return out;
  }

  const std::vector<const Experiment*>& chosen_;
  const ReproduceCommand& options_;
  const ExpectedClaims& expected_;
  std::vector<NamedResult> results_;
  ExperimentQueue queue_;
  double cost_ = 0.0, done_cost_ = 0.0;  ///< of all, and of those that are done
  std::size_t done_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
  Progress progress_;
};

/// What differs from what is expected, in a line each; returns the exit code.
int judge(const std::vector<NamedResult>& results, bool exact) {
  bool regressed = false, changed = false;
  std::size_t claims = 0, held = 0, differ = 0, times = 0;
  for (const NamedResult& r : results) {
    regressed = regressed || r.expected.regressed(r.claims);
    changed = changed || r.expected.changed(r.claims);
    claims += r.claims.size();
    for (std::size_t i = 0; i < r.claims.size(); ++i) {
      held += r.claims[i].holds() ? 1 : 0;
      if (r.expected.claims[i].standing != Standing::kAsExpected) ++(depends_on_machine(r.claims[i]) ? times : differ);
    }
    differ += r.expected.missing.size();
  }
  fmt::print(stderr, "{} claims: {} hold, {} do not; {}{}\n", claims, held, claims - held,
             differ == 0 ? "all as expected" : fmt::format("{} not as expected", differ),
             times == 0 ? "" : fmt::format(", beside {} times of this machine", times));
  return regressed || (exact && changed) ? kCheckFailed : kDone;
}

int reproduce_command(const ReproduceCommand& options) {
  if (options.names.empty() && !options.all) {
    print_list();
    return kDone;
  }
  require_folder_of(options.output);
  std::vector<const Experiment*> chosen;
  for (const std::string& name : options.names) chosen.push_back(&find_experiment(name));
  if (options.all) {
    chosen.clear();
    for (const Experiment& e : registered_experiments()) chosen.push_back(&e);
  }
  ExpectedClaims expected = options.write_expected.empty()
                                ? ExpectedClaims::load()
                                : ExpectedClaims::parse(read_text_file(options.write_expected));
  const std::vector<NamedResult> results = Runner(chosen, options, expected).run();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!options.write_expected.empty())
      expected.update(results[i].name, results[i].claims, results[i].notes, options.quick);
    if (!options.json) print_claims(*chosen[i], results[i]);
  }
  if (results.size() > 1) {
    const std::string index = options.output + "/index.html";
    write_text_file(index, make_experiments_index(results, options.quick));
    if (!options.json) fmt::print("index {}\n", index);
  }
  if (!options.write_expected.empty()) write_text_file(options.write_expected, expected.text());
  if (options.json) fmt::print("{}\n", make_experiments_json(results));
  return judge(results, options.exact);
}

}  // namespace

void add_reproduce(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReproduceCommand>();
  CLI::App* command =
      app.add_subcommand("reproduce", "a paper's experiment: its claim beside what was measured; plots");
  command->add_option("NAME", options->names, "experiments; none: list them");
  command->add_flag("--all", options->all, "every experiment, with an index page");
  command->add_flag("--quick", options->quick, "their quick forms: seconds each, to see whether anything changed");
  command->add_flag("--exact", options->exact, "exit with 1 too where a claim holds that was expected not to");
  command->add_option("-o,--output", options->output, "folder for the reports")->capture_default_str();
  command->add_option("--write-expected", options->write_expected,
                      "take over what was measured into this expected.json");
  command->add_flag("--json", options->json, "claims as JSON");
  command->footer(
      "Example: palpate reproduce sine-static-halfspace\n"
      "Exits with 0 where every claim stands as expected: holding, or known not to and why. Exits with 1 where one "
      "that\n"
      "was expected to hold does not.");
  command->callback([options, &action] { action = [options] { return reproduce_command(*options); }; });
}

}  // namespace palpate
