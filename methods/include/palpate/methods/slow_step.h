#pragma once

#include <span>
#include <vector>

#include "palpate/methods/method.h"

namespace palpate {

/// Throws InputError, with the reason, if these methods cannot share a world.
void check_sharing(std::span<const Method* const> methods);

/// One slow step of a world for all the methods that share it: their wishes, the step, their models.
///
/// Thread: the slow loop's. World and halves outlive it.
class SlowStep {
 public:
  /// `dt` is the fast loop's period [s]. Halves that are null take no part: their methods have none. Without a world
  /// nothing moves.
  SlowStep(World* world, double dt, double slow_period, std::vector<SlowHalf*> halves);

  /// `feedbacks` and `models` are those of the halves, in their order. A step that could not be done is no error: the
  /// report says that it did not converge, and the models are such that it is safe to go on with them.
  void run(std::span<const std::byte* const> feedbacks, std::span<std::byte* const> models, StepReport& report);
  /// For one half.
  void run(const std::byte* feedback, std::byte* model, StepReport& report) {
    run({&feedback, 1}, {&model, 1}, report);
  }

 private:
  class Reader;
  World* const world_;
  const double dt_, slow_period_;
  std::vector<SlowHalf*> halves_;
  std::vector<int> absent_;
  std::vector<const StepRows*> rows_;
};

}  // namespace palpate
