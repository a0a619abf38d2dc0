#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "palpate/experiments/compare_scene.h"

namespace palpate {

/// Which settings of a scene are gone through; an empty list leaves what the scene says.
struct SweepOptions {
  std::vector<double> rates{};                    ///< of the slow loop [Hz]
  std::vector<double> stiffness{};                ///< Young's modulus of all soft bodies [Pa]
  std::vector<double> friction{};                 ///< of all bodies
  std::vector<std::string> methods{}, without{};  ///< as in SceneCompareOptions
  std::optional<ComparedHand> hand{};             ///< none: the one that fits the scene
  int threads = 2;
  std::function<void(std::string_view what, double share)> progress{};
  const std::atomic<bool>* stop = nullptr;

  bool any() const noexcept { return !rates.empty() || !stiffness.empty() || !friction.empty(); }
};

/// All methods at one setting. What was not gone through is not available.
struct SweepPoint {
  double rate = kNotAvailable, stiffness = kNotAvailable, friction = kNotAvailable;
  std::vector<NamedMetrics> metrics{};
};

struct Sweep {
  ComparedHand hand = ComparedHand::kReplayed;
  std::vector<SweepPoint> points{};  ///< friction slowest, rate fastest
  std::vector<SkippedMethod> skipped{};
  bool stopped = false;
};

/// The truth does not depend on the slow rate and is run once for each stiffness and friction. Throws InputError for
/// values that the scene cannot have, and for a stiffness where nothing is soft.
Sweep sweep_scene(const Scene& scene, const SweepOptions& options);

/// A map of the error for each method, and lines of all methods.
Report make_report(const Scene& scene, const Sweep& sweep);

/// {"scene", "hand", "points": [{"rate", "stiffness", "friction", "runs"}], "skipped"}; of "runs" see
/// make_metrics_json().
std::string make_json(const Scene& scene, const Sweep& sweep);

}  // namespace palpate
