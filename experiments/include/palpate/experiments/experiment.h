#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/record/report.h"

namespace palpate {

/// A statement that an experiment puts to the test.
struct MeasuredClaim {
  enum class Relation { kAtMost, kAtLeast };
  std::string name;
  std::string paper;  ///< what the paper (or Palpate's own specification) says
  double measured = 0.0;
  double limit = 0.0;
  Relation relation = Relation::kAtMost;
  std::string unit;    ///< SI, or "" for a ratio or a count
  bool timed = false;  ///< depends on the machine and on what else it does

  /// NaN never holds.
  bool holds() const noexcept { return relation == Relation::kAtMost ? measured <= limit : measured >= limit; }
};

/// How a claim stands beside what is expected of it (experiments/expected.json).
enum class Standing : std::uint8_t {
  kAsExpected,  ///< it holds, or is known not to
  kWorse,       ///< it held, and does not any more
  kBetter,      ///< it did not hold, and does now
  kUnknown,     ///< nothing is expected of it
};
std::string_view standing_name(Standing standing) noexcept;

/// The claims of one experiment beside what is expected of them.
struct ExpectedComparison {
  struct Entry {
    Standing standing = Standing::kUnknown;
    std::string reason{};  ///< why it is known not to hold; empty if it holds
  };
  std::vector<Entry> claims;         ///< one for each, in their order
  std::vector<std::string> missing;  ///< claims that are expected and were not made

  /// A claim is worse or missing, or does not hold and nobody expected it. Times of the machine do not count.
  bool regressed(const std::vector<MeasuredClaim>& measured) const noexcept;
  /// Anything differs from what is expected, to the better too. Times of the machine do not count.
  bool changed(const std::vector<MeasuredClaim>& measured) const noexcept;
};

struct ExperimentOptions {
  std::function<void(std::string_view stage, double share)> progress{};
  const std::atomic<bool>* stop = nullptr;
  /// The quick form: the same claims and limits on shorter runs, fewer cases and coarser bodies, in seconds. What it
  /// finds is no result of the paper's experiment; it tells when something changes. Uses no data folder.
  bool quick = false;

  /// `whole`, or in the quick form `part`.
  template <typename T>
  T choose(T whole, T part) const {
    return quick ? part : whole;
  }
  bool stopped() const noexcept { return stop && stop->load(); }
};

struct ExperimentResult {
  std::vector<MeasuredClaim> claims;
  Report report;                   ///< without its claims; make_experiment_report() adds them
  std::vector<std::string> notes;  ///< what stood in for what was not there; make_experiment_report() adds them
};

/// A paper's experiment, or one of ours.
struct Experiment {
  std::string_view name;
  std::string_view description;  ///< one line, with the source
  ExperimentResult (*run)(const ExperimentOptions&);
  /// About how long it takes on one core [s]: those that take long are begun first.
  double cost = 10.0;
  /// What of the machine it wants while it runs.
  enum class Wants : std::uint8_t {
    kCores,    ///< what is free: some of its bodies are worth a second thread
    kOneCore,  ///< one, and leaves the others alone
    kQuiet,    ///< one for itself, for it measures computing times; on the others nothing that wants more than one
    kMachine,  ///< all: it measures computing times of more than one thread
  };
  Wants wants = Wants::kCores;
};

std::span<const Experiment> registered_experiments() noexcept;

/// Throws InputError that lists the known names and suggests the nearest.
const Experiment& find_experiment(std::string_view name);

/// An experiment that was run, and how its claims stand beside what is expected of them.
struct NamedResult {
  std::string name;
  std::vector<MeasuredClaim> claims;
  std::string report;  ///< file
  std::vector<std::string> notes{};
  ExpectedComparison expected{};
};

/// The experiment's report with its claims, what is known of them, and notes.
Report make_experiment_report(const Experiment& experiment, const ExperimentResult& result,
                              const ExpectedComparison& expected = {});

/// {"experiments":[{"name","claims":[{"name","paper","measured","limit","relation","unit","timed","holds","standing",
/// "reason"}],"missing":[…],"notes":[…]}]}
std::string make_experiments_json(const std::vector<NamedResult>& results);

/// A page (HTML): paper by paper, claim by claim, whether it holds and why not, with links to the reports beside it.
std::string make_experiments_index(const std::vector<NamedResult>& results, bool quick);

}  // namespace palpate
