#include <algorithm>
#include <chrono>
#include <cmath>

#include "palpate/constraints/solver.h"
#include "sweeper.h"

namespace palpate {
namespace {

/// Sweeps that change nothing by more than this part of the tolerance will not reach it: the problem has no solution.
constexpr double kStuck = 1e-3;

class GaussSeidel final : public ConstraintSolver {
 public:
  std::string_view name() const noexcept override { return "gauss_seidel"; }

  void reserve(int rows, int dense_rows, int light_bodies) override {
    sweeper_.reserve(rows, dense_rows, light_bodies);
    scratch_.resize(std::max(scratch_.size(), static_cast<std::size_t>(rows)));
  }

  SolveReport solve(const ConstraintProblem& problem, const SolverSettings& settings,
                    std::span<double> lambda) noexcept override {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    SolveReport report;
    if (!sweeper_.fits(problem)) {
      report.residual = {HUGE_VAL, HUGE_VAL};
      return report;
    }
    sweeper_.start(problem, settings.pyramid, lambda);
    const double target = std::max(settings.tolerance, sweeper_.immovable());
    double look_below = settings.tolerance;
    int looked_at = -1;
    while (report.iterations < settings.max_iterations) {
      const double change = sweeper_.sweep();
      ++report.iterations;
      if (!std::isfinite(change)) break;
      if (change <= look_below) {
        report.residual = compute_residual(problem, sweeper_.lambda(), settings.pyramid, scratch_);
        looked_at = report.iterations;
        if (!(report.residual.metres > target) || change <= kStuck * settings.tolerance) break;
        if (!std::isfinite(report.residual.metres)) break;
        look_below = 0.5 * change;
        sweeper_.refresh();
      }
      if (settings.max_seconds > 0.0 &&
          std::chrono::duration<double>(Clock::now() - begin).count() >= settings.max_seconds) {
        break;
      }
    }
    std::copy(sweeper_.lambda().begin(), sweeper_.lambda().end(), lambda.begin());
    if (looked_at != report.iterations) {
      report.residual = compute_residual(problem, lambda, settings.pyramid, scratch_);
    }
    report.converged = report.residual.metres <= settings.tolerance;
    return report;
  }

 private:
  Sweeper sweeper_;
  std::vector<double> scratch_;
};

}  // namespace

std::unique_ptr<ConstraintSolver> make_gauss_seidel() {
  return std::make_unique<GaussSeidel>();
}

}  // namespace palpate
