#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/experiments/compare_scene.h"

namespace palpate {

/// A method that can work on a scene, or why it cannot.
struct Suggestion {
  std::string method;
  std::string reason;     ///< in plain words: why it comes where it comes
  std::string refused{};  ///< why it cannot be had; empty if it can
};

/// All methods but the truth, the likely best first and those that cannot work last, by what is in the scene alone:
/// nothing is run, and the same scene gives the same order everywhere. The world is reset. advise() measures.
std::vector<Suggestion> suggest_methods(const Scene& scene, World& world);

struct AdviceOptions {
  double contact_seconds = kTrialContact;  ///< the trial ends when the truth has been in contact for so long
  int threads = 2;
  std::function<void(std::string_view what, double share)> progress{};
  const std::atomic<bool>* stop = nullptr;
};

/// A share of a period that its work may take (99 % of the time): the rest is for what else the machine does.
inline constexpr double kLoad = 0.7;

/// What a trial run of a scene says about the methods.
struct Advice {
  SceneComparison trial{};  ///< every method that can work, against the truth, with both hands where they differ
  double seconds = 0.0;     ///< of the scene, that were run
  /// The truth was in contact. If not, the trial says nothing about errors: `nearest` and `holding` are then the first
  /// of suggest_methods(), and whether the truth fits into a tick is not known either.
  bool felt = true;
  std::string holding{};           ///< the nearest of those whose ticks this machine holds (99 % below kLoad of a tick)
  std::string nearest{};           ///< find_nearest() of it; empty: none can work
  bool truth_fits = false;         ///< the truth itself takes less than kLoad of a tick here: better than all methods
  double fastest = kNotAvailable;  ///< slow period at which it holds the steps of `holding`, likewise [s]

  /// What "method": "auto" takes: in real time the truth where it fits, else the nearest method that holds. In virtual
  /// time always the nearest method, which is the same on every machine. Throws InputError if there is none.
  const std::string& choice(bool realtime) const;
};

/// Runs the beginning of the scene with every method and the truth, in lockstep. Throws InputError.
Advice advise(const Scene& scene, const AdviceOptions& options = {});

/// The slow period at which a machine holds steps of that length [s].
double holding_period(double step_time, double dt) noexcept;

/// The slow period at which this machine holds the scene's own methods: from a trial of them in lockstep, which ends as
/// advise()'s does. It depends on the machine, so it is for real time. Throws InputError.
double measure_period(const Scene& scene, const AdviceOptions& options = {});

/// What settle_auto() has taken.
struct AutoChoice {
  std::string method{};
  std::string warning{};  ///< a sentence where the trial could not tell which is the best; empty if it could
};

/// Puts what advise() chooses in the place of "auto" wherever a tool of the scene has that; nothing if none had.
std::optional<AutoChoice> settle_auto(Scene& scene, bool realtime, const AdviceOptions& options = {});

}  // namespace palpate
