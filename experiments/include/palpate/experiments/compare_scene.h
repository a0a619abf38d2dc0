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
  // Before that alone; not available if it is nowhere chaotic.
  Metrics half_step_before{};                 ///< as half_step
  double shift_error_before = kNotAvailable;  ///< as shift_error, with the force's RMS there [%]
  double contact_before = kNotAvailable;      ///< how long the truth was in contact there [s]
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

/// A tool that the replayed hand drags behind it: bodies lie elsewhere than in the truth's run, the tool is stuck at
/// them, and the hand goes on. Its force is then the coupling's spring, which no hand that feels would stretch so far.
struct StrayTool {
  std::string method{}, tool{};  ///< tool: empty if there is only one
  double distance = 0.0;         ///< the farthest from where the truth's tool is at that time [m]
  double force = 0.0;            ///< what the coupling makes of that [N]
};
/// It strays if that is more than so many times the largest force of the truth.
inline constexpr double kStrayForce = 2.0;

/// All methods of a scene beside the truth, with the hands that make sense there.
struct SceneComparison {
  struct Part {
    ComparedHand hand = ComparedHand::kReplayed;
    Comparison comparison{};
    /// As comparison.metrics, of the ticks before the scene becomes chaotic alone (TruthError::chaotic_from). Tools for
    /// which it never does are left out.
    std::vector<NamedMetrics> before_chaos{};
  };
  std::vector<Part> hands{};        ///< the one that fits the scene first
  std::string lead{};               ///< a sentence on why it does
  std::vector<TruthError> truth{};  ///< of every tool; empty: not asked for
  std::vector<StrayTool> strays{};  ///< with the replayed hand
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

/// Whether any tool of a run of the truth ever touches: its force is above kContactForce.
bool is_in_contact(const SceneRun& truth) noexcept;

/// The method whose force is nearest to the truth's, RMS, from the start until any tool of the truth has been in
/// contact for so long; of several tools the errors are added. Of two hands the one counts in which the method does
/// worse, as a multiple of the best method's error there: a method that only one of them likes is none to take. Only of
/// runs that `may` be it, all if it is empty. Empty if there are none, or if the truth is never in contact: then all
/// forces are alike, and nothing tells the methods apart.
std::string find_nearest(const SceneComparison& comparison, double contact_seconds = kTrialContact,
                         const std::function<bool(const SceneRun&)>& may = {});

/// Runs in lockstep, `threads` at a time. Throws InputError.
SceneComparison compare_scene(const Scene& scene, const SceneCompareOptions& options);

/// Tables and plots, with a switch between the hands.
Report make_report(const Scene& scene, const World& world, const SceneComparison& comparison);

/// {"scene", "leading", "lead", "summary", "auto", "hand", "runs", "units", "closed_loop": {"runs"}, "truth_error",
/// "skipped"}: of "runs" see make_metrics_json(); they are those of the replayed hand where there are both. "summary"
/// are the sentences of describe_nearest(), describe_truth() and describe_strays().
std::string make_json(const Scene& scene, const SceneComparison& comparison);

/// Which methods are nearest to the truth with the hand that leads, a sentence for each tool: over the whole run, or,
/// where the scene becomes chaotic, until then. Where the nearest does not fit into a tick here, which of the others
/// does.
std::vector<std::string> describe_nearest(const SceneComparison& comparison);

/// The errors of every method of one tool with that hand, until the scene becomes chaotic or else over the whole run,
/// the nearest to the truth first; the truth is none of them.
std::vector<const NamedMetrics*> rank_methods(const SceneComparison::Part& part, const std::string& tool);

/// A sentence for every tool that strays.
std::vector<std::string> describe_strays(const SceneComparison& comparison);

/// Sentences on the truth: its own error, from when on it is chaotic, and what that does to the errors. One to three
/// for each tool.
std::vector<std::string> describe_truth(const SceneComparison& comparison);

}  // namespace palpate
