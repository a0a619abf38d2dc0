#pragma once

#include "palpate/bodies/fem_body.h"
#include "palpate/experiments/experiment.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/haptics/hand_path.h"
#include "palpate/methods/compliance_feedback.h"
#include "stopwatch.h"

// What the experiments after Dervaux et al. 2013 share.
namespace palpate::dervaux {

/// The built-in scene of the cylinder on the wire, with a cylinder of this E [Pa].
Scene load_cylinder_wire(double young_modulus);

/// What to do with the world after a slow step (of `reference`, which has none: after a tick).
using Watch = std::function<void(double time, World& world, const StepReport& report)>;
/// What the fast loop had when a slow step of `compliance` began; called after that step, before its Watch.
using WatchFast = std::function<void(double time, World& world, const compliance::Feedback& fast)>;

/// How to run a scene while looking into its world.
struct WatchedRun {
  std::string method;
  std::string name;  ///< of the data, and of the stage in messages
  Watch watch{};     ///< may be empty
  bool keep_rows = true;
  std::function<void(const TickRow&)> on_tick{};  ///< may be empty
  WatchFast watch_fast{};                         ///< may be empty
  BothTimes* ticks = nullptr;                     ///< where the times of the ticks go, if anywhere
  BothTimes* steps = nullptr;                     ///< and those of the slow steps
};

/// In lockstep, with the hand on `path`.
SceneRun run_watched(const Scene& scene, World& world, const KeyframePathSettings& path, const WatchedRun& run,
                     const ExperimentOptions& options);

/// The scene's hand, which feels nothing, as keyframes 10 ms apart.
KeyframePathSettings sample_hand(const Scene& scene);

/// The first soft body of a world, and its mass [kg].
const FemBody& cylinder_of(const World& world);
double mass_of(const FemBody& body);

/// Repeatable numbers in [0, 1).
class Numbers {
 public:
  double next() noexcept {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  double between(double a, double b) noexcept { return a + (b - a) * next(); }

 private:
  std::uint64_t state_ = 2013;
};

/// A time plot of one value of each run's ticks.
Plot make_tick_plot(const std::string& title, const std::string& y_label, const std::string& y_unit,
                    const std::vector<const RunData*>& runs, const std::function<double(const TickRow&)>& value);

}  // namespace palpate::dervaux
