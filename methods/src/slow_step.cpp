#include "palpate/methods/slow_step.h"

#include <utility>

#include "palpate/core/error.h"

namespace palpate {

namespace {

/// Why these two cannot share a world, in plain words; empty if they can.
std::string refuse_sharing(const Method& a, const Method& b) {
  for (const Method* m : {&a, &b}) {
    if (m->sharing == Sharing::kAlone)
      return fmt::format("method {} moves the bodies of a world by its own law and cannot share it with another tool",
                         m->name);
  }
  for (const auto& [m, other] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
    if (m->sharing == Sharing::kTwin && m->name != other->name)
      return fmt::format(
          "methods {} and {} cannot share a world: {} has a twin of it in the tick, which all tools must be in", a.name,
          b.name, m->name);
  }
  if (a.sharing != b.sharing)
    return fmt::format("methods {} and {} cannot share a world: one steps it in the tick, the other in the slow loop",
                       a.name, b.name);
  return {};
}

}  // namespace

void check_sharing(std::span<const Method* const> methods) {
  for (const Method* m : methods) {
    for (const Method* other : methods) {
      if (m == other) continue;
      if (const std::string reason = refuse_sharing(*m, *other); !reason.empty()) fail_input("{}", reason);
    }
  }
}

/// Lets every half read.
class SlowStep::Reader final : public StepReader {
 public:
  Reader(std::span<SlowHalf* const> halves, std::span<std::byte* const> models) : halves_(halves), models_(models) {}

  void read_tick(const FreeTick& tick, StepReport& report) noexcept override {
    for_each([&](SlowHalf& half, std::byte* model) { half.read_tick_bytes(tick, model, report); });
  }
  bool solve(const StepProblem& problem, std::vector<double>& lambda) override {
    bool solved = false;
    for_each([&](SlowHalf& half, std::byte*) { solved = solved || half.solve(problem, lambda); });
    return solved;
  }
  void read_solved(const SolvedStep& step, StepReport& report) override {
    for_each([&](SlowHalf& half, std::byte* model) { half.read_solved_bytes(step, model, report); });
  }
  void read_advanced(const AdvancedStep& step, StepReport& report) override {
    for_each([&](SlowHalf& half, std::byte* model) { half.read_advanced_bytes(step, model, report); });
  }

 private:
  template <typename Do>
  void for_each(Do act) {
    for (std::size_t i = 0; i < halves_.size(); ++i) {
      if (halves_[i]) act(*halves_[i], models_[i]);
    }
  }
  std::span<SlowHalf* const> halves_;
  std::span<std::byte* const> models_;
};

SlowStep::SlowStep(World* world, double dt, double slow_period, std::vector<SlowHalf*> halves)
    : world_(world), dt_(dt), slow_period_(slow_period), halves_(std::move(halves)) {}

void SlowStep::run(std::span<const std::byte* const> feedbacks, std::span<std::byte* const> models,
                   StepReport& report) {
  absent_.clear();
  rows_.clear();
  StepRequest request{.h = slow_period_};
  const bool moves = world_ && !world_->is_static();
  bool step = moves, tick = false;
  for (std::size_t i = 0; i < halves_.size(); ++i) {
    if (!halves_[i]) continue;
    const StepWish wish = halves_[i]->begin_bytes(feedbacks[i], models[i], report);
    step = step && wish.step;
    tick = tick || wish.tick;
    if (wish.absent >= 0) absent_.push_back(wish.absent);
    if (wish.rows) rows_.push_back(wish.rows);
  }
  request.tick = tick ? dt_ : 0.0;
  request.absent = absent_;
  request.rows = rows_;
  Reader reader(halves_, models);
  bool done = true;
  if (step)
    done = run_step(*world_, request, report, &reader);
  else if (!moves)
    reader.read_tick(FreeTick(dt_), report);
  if (!done) report.converged = false;
  for (std::size_t i = 0; i < halves_.size(); ++i) {
    if (halves_[i]) halves_[i]->finish_bytes(done, models[i], report);
  }
}

}  // namespace palpate
