#pragma once

#include <atomic>
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
  std::string unit;  ///< SI, or "" for a ratio or a count

  /// NaN never holds.
  bool holds() const noexcept { return relation == Relation::kAtMost ? measured <= limit : measured >= limit; }
};

struct ExperimentOptions {
  std::function<void(std::string_view stage, double share)> progress;
  const std::atomic<bool>* stop = nullptr;
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
};

std::span<const Experiment> registered_experiments() noexcept;

/// Throws InputError that lists the known names and suggests the nearest.
const Experiment& find_experiment(std::string_view name);

/// The experiment's report with its claims and notes.
Report make_experiment_report(const Experiment& experiment, const ExperimentResult& result);

/// {"experiments":[{"name","claims":[{"name","paper","measured","limit","relation","unit","holds"}],"notes":[…]}]}
struct NamedResult {
  std::string name;
  std::vector<MeasuredClaim> claims;
  std::string report;  ///< file
  std::vector<std::string> notes{};
};
std::string make_experiments_json(const std::vector<NamedResult>& results);

}  // namespace palpate
