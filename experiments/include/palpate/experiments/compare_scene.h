#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/experiments/compare.h"

namespace palpate {

/// Who moves the hand of a method that is compared with the truth (decision 5).
enum class ComparedHand : std::uint8_t {
  kReplayed,    ///< the hand of the truth's run, to all: forces at the same positions
  kClosedLoop,  ///< each method its own simulated hand, as a person would feel it
};
inline constexpr std::array<std::string_view, 2> kComparedHandKeys = {"replayed", "closed_loop"};
inline constexpr std::array<std::string_view, 2> kComparedHandNames = {"replayed hand", "closed loop"};

/// One sentence on what a comparison with that hand means.
std::string_view explain(ComparedHand hand) noexcept;

struct SceneCompareOptions {
  std::vector<std::string> methods{};   ///< besides `reference`; empty: all
  std::vector<std::string> without{};   ///< not these, of all
  std::optional<ComparedHand> hand{};   ///< only this one; none: both, where they differ
  bool truth_error = true;              ///< runs the truth twice more, see TruthError
  int threads = 2;                      ///< runs at a time; what comes out does not depend on it, but for the times
  const SceneRun* reference = nullptr;  ///< the truth of this scene, if it was run already
  std::function<void(std::string_view what, double share)> progress{};  ///< from any thread, one at a time
  const std::atomic<bool>* stop = nullptr;
};

/// Of how far the truth itself can be trusted for one tool.
struct TruthError {
  Metrics half_step;                    ///< of the truth at half the time step against the truth, with the same hand
  RunData finer;                        ///< that run, at the ticks of the truth
  double shift_error = kNotAvailable;   ///< RMS change of the force by a hand kHandShift beside, over its RMS [%]
  double chaotic_from = kNotAvailable;  ///< from then on it is more than what the shift explains [s]; none: nowhere
};

/// How far beside its way the hand goes to see whether the truth is a chaotic one [m].
inline constexpr double kHandShift = 1e-4;
/// A truth is chaotic where that changes the force over kShiftWindow [s] by more than this share of its RMS in contact,
/// and by more than twice what the coupling's own spring makes of the shift.
inline constexpr double kShiftLimit = 0.05;
inline constexpr double kShiftWindow = 0.1;

/// From when on two runs of one tool are apart as kShiftLimit says, and by how much they are in all [%].
/// `stiffness`: of the coupling [N/m].
struct ShiftResult {
  double error = kNotAvailable, from = kNotAvailable;
};
ShiftResult compare_shifted(const RunData& truth, const RunData& shifted, double stiffness);

/// All methods of a scene beside the truth, with the hands that make sense there.
struct SceneComparison {
  struct Part {
    ComparedHand hand = ComparedHand::kReplayed;
    Comparison comparison{};
  };
  std::vector<Part> hands{};        ///< the one that fits the scene first
  std::string lead{};               ///< a sentence on why it does
  std::vector<TruthError> truth{};  ///< of every tool; empty: not asked for
  std::string chosen{};             ///< what "method": "auto" takes on this scene
  bool stopped = false;

  const Comparison& leading() const { return hands.front().comparison; }
  /// That with this hand; null if there is none.
  const Comparison* find(ComparedHand hand) const noexcept;
};

/// Whether a hand of the scene feels (is simulated), and whether bodies can go away from where they are.
bool feels(const Scene& scene) noexcept;
bool bodies_move_away(const Scene& scene) noexcept;
/// The hand whose comparison fits the scene: the closed loop if both are so.
ComparedHand fitting_hand(const Scene& scene) noexcept;

/// A trial ends when the truth has been in contact for so long [s]: most scenes are shorter, and tried whole. Two
/// seconds were not enough: what a scene shows later may be another matter (docs/choosing-a-method.md).
inline constexpr double kTrialContact = 10.0;

/// The method whose force is nearest to the truth's, RMS, from the start until any tool of the truth has been in
/// contact for so long; of several tools the errors are added. Of two hands the one counts in which the method does
/// worse, as a multiple of the best method's error there: a method that only one of them likes is none to take. Only of
/// runs that `may` be it, all if it is empty. Empty if there are none.
std::string find_nearest(const SceneComparison& comparison, double contact_seconds = kTrialContact,
                         const std::function<bool(const SceneRun&)>& may = {});

/// Runs in lockstep, `threads` at a time. Throws InputError.
SceneComparison compare_scene(const Scene& scene, const SceneCompareOptions& options);

/// Tables and plots, with a switch between the hands.
Report make_report(const Scene& scene, const World& world, const SceneComparison& comparison);

/// {"scene", "leading", "lead", "auto", "hand", "runs", "units", "closed_loop": {"runs"}, "truth_error", "skipped"}: of
/// "runs" see make_metrics_json(); they are those of the replayed hand where there are both.
std::string make_json(const Scene& scene, const SceneComparison& comparison);

/// Sentences on the truth: its own error, and from when on it is chaotic. One or two for each tool.
std::vector<std::string> describe_truth(const SceneComparison& comparison);

}  // namespace palpate
