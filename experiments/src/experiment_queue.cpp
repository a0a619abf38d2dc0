#include "palpate/experiments/experiment_queue.h"

#include <algorithm>
#include <numeric>

namespace palpate {
namespace {

using Wants = Experiment::Wants;

/// Those that a quiet one has to wait for first, those that may run beside it after it, and those that run alone last.
int rank_of(const Experiment& e) {
  switch (e.wants) {
    case Wants::kCores:
      return 0;
    case Wants::kQuiet:
      return 1;
    case Wants::kOneCore:
      return 2;
    case Wants::kMachine:
      break;
  }
  return 3;
}

}  // namespace

ExperimentQueue::ExperimentQueue(std::vector<const Experiment*> chosen)
    : chosen_(std::move(chosen)), order_(chosen_.size()), states_(chosen_.size(), State::kWaiting) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, [&](std::size_t i, std::size_t k) {
    const Experiment &a = *chosen_[i], &b = *chosen_[k];
    return rank_of(a) != rank_of(b) ? rank_of(a) < rank_of(b) : a.cost > b.cost;
  });
}

template <typename Predicate>
bool ExperimentQueue::any(State state, const Predicate& predicate) const {
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    if (states_[i] == state && predicate(*chosen_[i])) return true;
  }
  return false;
}

bool ExperimentQueue::may_begin(const Experiment& experiment) const {
  const auto runs = [&](Wants wants) {
    return any(State::kRunning, [wants](const Experiment& e) { return e.wants == wants; });
  };
  if (runs(Wants::kMachine)) return false;
  switch (experiment.wants) {
    case Wants::kCores:
      return !runs(Wants::kQuiet);
    case Wants::kQuiet:
      return !runs(Wants::kQuiet) && !runs(Wants::kCores);
    case Wants::kOneCore:
      return true;
    case Wants::kMachine:
      break;
  }
  return !any(State::kRunning, [](const Experiment&) { return true; });
}

std::optional<std::size_t> ExperimentQueue::choose() {
  if (ended_) return std::nullopt;
  for (const std::size_t i : order_) {
    if (states_[i] != State::kWaiting || !may_begin(*chosen_[i])) continue;
    states_[i] = State::kRunning;
    return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> ExperimentQueue::try_take() {
  const std::scoped_lock lock(mutex_);
  return choose();
}

std::optional<std::size_t> ExperimentQueue::take() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (const std::optional<std::size_t> i = choose()) return i;
    if (ended_ || !any(State::kWaiting, [](const Experiment&) { return true; })) return std::nullopt;
    changed_.wait(lock);
  }
}

void ExperimentQueue::finish(std::size_t place) {
  const std::scoped_lock lock(mutex_);
  states_[place] = State::kOver;
  changed_.notify_all();
}

void ExperimentQueue::end() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

}  // namespace palpate
