#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace palpate {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// The parts of a slow step, in order.
enum class Stage : std::uint8_t { kFree, kDetect, kCompliance, kSolve, kCorrect, kModel };
inline constexpr std::size_t kStageCount = 6;
inline constexpr std::array<std::string_view, kStageCount> kStageNames = {"free",  "detect",  "compliance",
                                                                          "solve", "correct", "model"};

/// What one slow step did and how long each part took. Filled in the slow thread, by run_step() but for the model.
struct StepReport {
  std::array<double, kStageCount> stage_time;  ///< computing time by stage [s]; kNotMeasured: the stage did not run
  double residual = 0.0;                       ///< of the contact solve [m]
  double residual_force = 0.0;                 ///< the same in newtons [N]
  double penetration = 0.0;                    ///< deepest overlap of bodies at the start of the step [m]
  std::int32_t iterations = 0;                 ///< of the contact solve
  std::int32_t contacts = 0;                   ///< contacts of the step that push
  bool converged = true;                       ///< the contact solve reached its tolerance
  bool overflow = false;                       ///< there were more contacts than room

  StepReport() noexcept { stage_time.fill(kNotMeasured); }
};

/// Adds the time until its end of life to one stage of a report.
class StageTimer {
 public:
  StageTimer(StepReport& report, Stage stage) noexcept;
  ~StageTimer();
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  double& total_;
  std::int64_t start_ns_;
};

}  // namespace palpate
