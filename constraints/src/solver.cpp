#include "palpate/constraints/solver.h"

#include <algorithm>
#include <cmath>

#include "anderson.h"
#include "deadline.h"
#include "island_solver.h"
#include "newton.h"
#include "sweeper.h"

namespace palpate {
namespace {

/// Sweeps that change nothing by more than this part of the tolerance will not reach it: the problem has no solution.
constexpr double kStuck = 1e-3;
/// A change this many times the least so far, or so many sweeps without a smaller one: mixing has lost its way. The
/// best is taken up again with plain sweeps, twice as many each time: in the end it is Gauss–Seidel.
constexpr double kRuined = 100.0;
constexpr int kPatience = 100;
/// Steps of Newton after which more sweeps help more than more steps: it converges in about ten or wanders.
constexpr int kNewtonSteps = 16;
/// Of the proximal kind, which follow.
constexpr int kProximalSteps = 100;
/// Larger problems are not given to Newton by the accelerated solver: its memory grows as n².
constexpr int kMostNewtonRows = 256;

/// Sweeps that come before Newton in any case: those find out who touches, and of several answers the nearest.
constexpr int kFirstSweeps = 10;

/// As how many iterations a step of Newton counts: it eliminates the rows that bear, a sweep visits all.
int compute_newton_cost(int rows, std::ptrdiff_t bearing) noexcept {
  const double m = static_cast<double>(bearing), n = rows;
  return std::max(1, static_cast<int>(m * m * m / (3.0 * n * n)));
}

std::ptrdiff_t count_bearing(std::span<const double> lambda) noexcept {
  return std::count_if(lambda.begin(), lambda.end(), [](double l) { return l != 0.0; });
}

/// What the solvers differ in.
struct Plan {
  std::string_view name;
  bool anderson;      ///< mix sweeps
  bool newton;        ///< try Newton when sweeps are slow
  bool newton_first;  ///< before any sweep, whatever the size and the price, and down to rounding
  int few_bearing;    ///< if so many rows of the first guess bear at most, Newton comes soon
};

constexpr Plan kGaussSeidel{"gauss_seidel", false, false, false, 0};
constexpr Plan kAccelerated{"accelerated", true, true, false, 0};
constexpr Plan kDirect{"direct", true, true, true, 0};
constexpr Plan kTick{"tick", true, true, false, 48};

class SweepSolver final : public ConstraintSolver {
 public:
  explicit SweepSolver(const Plan& plan) : plan_(plan) {}

  std::string_view name() const noexcept override { return plan_.name; }

  void reserve(int rows, int dense_rows, int light_bodies) override {
    sweeper_.reserve(rows, dense_rows, light_bodies);
    const std::size_t n = std::max(scratch_.size(), as_size(rows));
    scratch_.resize(n);
    best_.resize(n);
    if (plan_.anderson) anderson_.reserve(n, sweeper_.most_state());
    if (plan_.newton) newton_.reserve(plan_.newton_first ? rows : std::min(rows, kMostNewtonRows));
  }

  SolveReport solve(const ConstraintProblem& problem, const SolverSettings& settings,
                    std::span<double> lambda) noexcept override;

 private:
  /// One solve's progress.
  struct Progress {
    const ConstraintProblem& problem;
    const SolverSettings& settings;
    Deadline deadline;
    SolveReport report{};
    double target = 0.0;        ///< residual [m] at which to stop
    double look_below = 0.0;    ///< a change [m] this small is worth the price of the true residual
    double least_change = 0.0;  ///< of all sweeps
    int newton_at = 0;          ///< iterations after which to try Newton
    bool newton_started = false;
    int since_least = 0;        ///< sweeps
    int plain_left = 3;         ///< sweeps before mixing begins (again): the first find out who touches
    int plain_next = 4;         ///< after the next failure of mixing
    bool stuck = false;         ///< the last look found no change worth the name
    bool report_holds = false;  ///< report.residual is of the present λ
    bool done = false;
  };

  /// The true residual of the present λ; done if it is small enough, or not finite.
  void look(Progress& p) noexcept;
  void sweep(Progress& p) noexcept;
  void mix(Progress& p, double change) noexcept;
  void try_newton(Progress& p) noexcept;
  void finish(Progress& p, std::span<double> lambda) noexcept;
  Residual residual_of(const Progress& p, std::span<const double> lambda) noexcept {
    return compute_residual(p.problem, lambda, p.settings.pyramid, scratch_);
  }

  Plan plan_;
  Sweeper sweeper_;
  Anderson anderson_;
  NewtonSteps newton_;
  std::vector<double> scratch_, best_;
};

SolveReport SweepSolver::solve(const ConstraintProblem& problem, const SolverSettings& settings,
                               std::span<double> lambda) noexcept {
  Progress p{problem, settings, Deadline(settings.max_seconds)};
  if (!sweeper_.fits(problem)) {
    p.report.residual = {HUGE_VAL, HUGE_VAL};
    return p.report;
  }
  sweeper_.start(problem, settings.pyramid, lambda);
  if (plan_.anderson) anderson_.start(sweeper_.own_compliance());
  p.target = std::max(settings.tolerance, sweeper_.immovable());
  p.look_below = settings.tolerance;
  p.least_change = HUGE_VAL;
  const bool newton = plan_.newton && newton_.fits(problem);
  // A guess may be the answer, which sweeps need not keep where there is more than one.
  const std::ptrdiff_t bearing = count_bearing(lambda);
  if (bearing > 0) look(p);
  // As many sweeps first as one step with all rows costs: easy problems are done by then.
  const bool soon = bearing <= plan_.few_bearing && plan_.few_bearing > 0;
  p.newton_at = plan_.newton_first ? 0 : soon ? kFirstSweeps : std::max(kFirstSweeps, problem.rows() / 3);
  while (!p.done && p.report.iterations < settings.max_iterations) {
    if (newton && p.report.iterations >= p.newton_at) {
      try_newton(p);
    } else {
      sweep(p);
    }
    if (p.deadline.passed()) break;
  }
  finish(p, lambda);
  return p.report;
}

void SweepSolver::look(Progress& p) noexcept {
  p.report.residual = residual_of(p, sweeper_.lambda());
  p.report_holds = true;
  p.done = !(p.report.residual.metres > p.target) || !std::isfinite(p.report.residual.metres);
}

void SweepSolver::sweep(Progress& p) noexcept {
  if (plan_.anderson) anderson_.before(sweeper_.lambda());
  const double change = sweeper_.sweep();
  ++p.report.iterations;
  p.report_holds = false;
  if (!std::isfinite(change)) {
    p.done = true;
    return;
  }
  if (change <= p.look_below) {
    look(p);
    const bool stuck = change <= kStuck * p.settings.tolerance;
    p.done = p.done || (stuck && p.stuck);
    if (p.done) return;
    p.stuck = stuck;  // the next sweep starts from an exact state: if it changes as little, so will all
    p.look_below = stuck ? p.look_below : 0.5 * change;
    sweeper_.refresh();
    anderson_.restart();
  }
  if (plan_.anderson && p.report.iterations < p.settings.max_iterations) mix(p, change);
}

void SweepSolver::mix(Progress& p, double change) noexcept {
  const std::span<double> lambda = sweeper_.lambda();
  if (change < p.least_change) {
    p.least_change = change;
    p.since_least = 0;
    std::copy(lambda.begin(), lambda.end(), best_.begin());
  } else {
    ++p.since_least;
  }
  if (p.plain_left > 0) {
    --p.plain_left;
  } else if (change > kRuined * p.least_change || p.since_least > kPatience) {
    std::copy_n(best_.begin(), lambda.size(), lambda.begin());
    sweeper_.refresh();
    anderson_.restart();
    p.least_change = HUGE_VAL;
    p.plain_left = p.plain_next;
    p.plain_next *= 2;
  } else {
    anderson_.mix(sweeper_.state());
  }
}

void SweepSolver::try_newton(Progress& p) noexcept {
  const int cost = plan_.newton_first ? 1 : compute_newton_cost(p.problem.rows(), count_bearing(sweeper_.lambda()));
  // At most half of what is left: if it fails, sweeps still get their share.
  const int left = p.settings.max_iterations - p.report.iterations;
  const int most = plan_.newton_first ? left : left / 2 / cost;
  const int before = p.report.iterations;
  if (most > 0) {
    if (!p.newton_started) newton_.start(p.problem, p.settings.pyramid);
    p.newton_started = true;
    const std::span<double> lambda = sweeper_.lambda();
    NewtonSteps::Result result =
        newton_.run(lambda, p.target, plan_.newton_first, std::min(kNewtonSteps, most), p.deadline);
    int steps = result.steps;
    if (result.metres > p.target && steps < most) {
      result = newton_.run_proximal(lambda, p.target, std::min(kProximalSteps, most - steps), p.deadline);
      steps += result.steps;
      if (plan_.newton_first && result.metres <= p.target && steps < most) {
        steps += newton_.run(lambda, p.target, true, std::min(kNewtonSteps, most - steps), p.deadline).steps;
      }
    }
    p.report.iterations += std::max(1, cost * steps);
    sweeper_.refresh();
    anderson_.restart();
    p.least_change = HUGE_VAL;
    look(p);
  }
  // If it failed: twice as long a stretch of sweeps as it took, before the next attempt.
  p.newton_at = p.report.iterations + std::max(2 * (p.report.iterations - before), p.problem.rows());
}

void SweepSolver::finish(Progress& p, std::span<double> lambda) noexcept {
  const std::span<double> last = sweeper_.lambda();
  if (!p.report_holds) p.report.residual = residual_of(p, last);
  if (p.least_change < HUGE_VAL && !(p.report.residual.metres <= p.target)) {
    // Mixing may have been caught at a bad moment.
    const std::span<const double> best(best_.data(), last.size());
    const Residual residual = residual_of(p, best);
    if (residual.metres < p.report.residual.metres) {
      p.report.residual = residual;
      std::copy(best.begin(), best.end(), last.begin());
    }
  }
  const bool finite = std::all_of(last.begin(), last.end(), [](double l) { return std::isfinite(l); });
  if (finite) {
    std::copy(last.begin(), last.end(), lambda.begin());
  } else {
    std::fill(lambda.begin(), lambda.end(), 0.0);
  }
  p.report.converged = p.report.residual.metres <= p.settings.tolerance;
}

}  // namespace

std::unique_ptr<ConstraintSolver> make_gauss_seidel() {
  return std::make_unique<SweepSolver>(kGaussSeidel);
}

std::unique_ptr<ConstraintSolver> make_accelerated_solver() {
  return std::make_unique<IslandSolver>(std::make_unique<SweepSolver>(kAccelerated));
}

std::unique_ptr<ConstraintSolver> make_tick_solver() {
  return std::make_unique<IslandSolver>(std::make_unique<SweepSolver>(kTick));
}

std::unique_ptr<ConstraintSolver> make_direct_solver() {
  return std::make_unique<IslandSolver>(std::make_unique<SweepSolver>(kDirect));
}

}  // namespace palpate
