#include "palpate/world/step.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "step_data.h"

// The stages of a step and their order, which stands here and nowhere else. It is that of docs/design.md, "Mechanics
// shared by all".
namespace palpate {

FreeMotionResults::FreeMotionResults(StepData& data) noexcept : data_(&data), number_(data.number) {}

StepData& FreeMotionResults::data() const noexcept {
  assert(number_ == data_->number);
  return *data_;
}

double FreeMotionResults::h() const noexcept {
  return data().h;
}
std::span<const Vec3> FreeMotionResults::free_change(int body) const noexcept {
  return data().moving[as_size(body)].free;
}
std::span<const Contact> ContactResults::contacts() const noexcept {
  return data().contacts;
}
std::span<const Vec3> ContactResults::strains() const noexcept {
  return data().strains;
}
const FindReport& ContactResults::found() const noexcept {
  return data().found;
}
const ConstraintProblem& ProblemResults::problem() const noexcept {
  return data().problem;
}
ConstraintRange ProblemResults::constraints_of_joint(std::size_t joint) const noexcept {
  return data().joint_constraints[joint];
}
ConstraintRange ProblemResults::further_constraints() const noexcept {
  return data().further_constraints;
}
int ProblemResults::first_contact() const noexcept {
  return data().first_contact;
}
const ConstraintSide& ProblemResults::side(int body) const noexcept {
  return data().moving[as_size(body)].side;
}
const BlockRows& ProblemResults::rows(int body) const noexcept {
  return data().moving[as_size(body)].rows;
}
bool ProblemResults::compute_problem(int which, int without, ConstraintProblem& out) const {
  return data().compute_problem(which, without, out);
}
std::span<const double> SolveResults::lambda() const noexcept {
  return data().lambda;
}
std::span<const Vec3> SolveResults::contact_forces() const noexcept {
  return data().contact_forces;
}
std::span<const Vec3> SolveResults::change(int body) const noexcept {
  return data().moving[as_size(body)].change;
}
std::span<const Vec3> FreeTick::change(int body) const noexcept {
  return data_->moving[as_size(body)].tick_free;
}

// The stages.

FoundContacts FreeMotion::find_contacts(StepReport& report) && {
  const StageTimer timer(report, Stage::kDetect);
  data().find_contacts();
  return FoundContacts(data());
}

FoundContacts FreeMotion::keep_contacts(std::span<const Contact> contacts) && {
  data().keep_contacts(contacts);
  return FoundContacts(data());
}

std::optional<StepProblem> FoundContacts::assemble(StepReport& report) && {
  const StageTimer timer(report, Stage::kCompliance);
  if (!data().assemble()) return std::nullopt;
  return StepProblem(data());
}

SolverSettings StepProblem::solver_settings() const noexcept {
  return data().solver_settings();
}

SolvedStep StepProblem::solve(const SolverSettings& settings, StepReport& report) && {
  {
    const StageTimer timer(report, Stage::kSolve);
    const SolveReport solved = data().solve(settings);
    report.residual = solved.residual.metres;
    report.residual_force = solved.residual.newtons;
    report.converged = solved.converged;
    report.iterations += solved.iterations;
  }
  const StageTimer timer(report, Stage::kCorrect);
  data().compute_changes();
  return SolvedStep(data());
}

SolvedStep StepProblem::take(std::span<const double> lambda, StepReport& report) && {
  const StageTimer timer(report, Stage::kCorrect);
  data().take(lambda);
  data().compute_changes();
  return SolvedStep(data());
}

std::optional<FoundContacts> SolvedStep::find_missed(StepReport& report) & {
  const StageTimer timer(report, Stage::kDetect);
  if (!data().add_missed_contacts()) return std::nullopt;
  return FoundContacts(data());
}

AdvancedStep SolvedStep::advance(StepReport& report) && {
  const StageTimer timer(report, Stage::kCorrect);
  data().advance();
  return AdvancedStep(data());
}

AdvancedStep::Contacts AdvancedStep::find_contacts() const {
  data().find_contacts();
  return {data().contacts, data().found};
}

// Their order.

/// A step as it is done: its parts, in the thread that asked for it and in a second one.
struct StepOrder {
  StepData& data;
  StepReader* reader;

  std::optional<SolvedStep> solve(const StepRequest& request, StepReport& report);
  std::optional<SolvedStep> meet_contacts(StepReport& report);
  std::optional<SolvedStep> solve_by_reader(StepProblem& problem, StepReport& report);
  bool advance_in_parts(const StepRequest& request, int parts, StepReport& report);

  std::vector<double> own_lambda{};  ///< of the reader's law

  /// What belongs to the tick, and needs nothing of the step: it may be done beside it.
  struct Tick {
    StepOrder& order;
    StepReport report{};  ///< its own, for the other thread writes to the step's
    bool good = true;
    bool read = false;

    void finish_free_motion() noexcept {
      const StageTimer timer(report, Stage::kFree);
      good = order.data.finish_free_motion(1);
    }
    void let_read() noexcept {
      read = true;
      if (good && order.reader) order.reader->read_tick(FreeTick(order.data.tick, order.data), report);
    }
    static void run(void* self) noexcept {
      Tick& tick = *static_cast<Tick*>(self);
      tick.finish_free_motion();
      if (tick.order.data.allows_reading_beside()) tick.let_read();
    }
    void add_to(StepReport& whole) const noexcept {
      for (std::size_t i = 0; i < kStageCount; ++i) {
        double& total = whole.stage_time[i];
        if (!std::isnan(report.stage_time[i]))
          total = std::isnan(total) ? report.stage_time[i] : total + report.stage_time[i];
      }
      whole.overflow = whole.overflow || report.overflow;
    }
  };
};

std::optional<SolvedStep> StepOrder::solve(const StepRequest& request, StepReport& report) {
  {
    const StageTimer timer(report, Stage::kFree);
    if (!data.begin_free_motion(request)) return std::nullopt;
  }
  Tick tick{*this};
  SecondThread* second = request.tick > 0.0 ? data.second_thread() : nullptr;
  if (second) second->start(&Tick::run, &tick);
  bool good = false;
  {
    const StageTimer timer(report, Stage::kFree);
    good = data.finish_free_motion(0);
  }
  std::optional<SolvedStep> solved;
  if (good) solved = meet_contacts(report);
  if (second) {
    second->wait();
  } else if (request.tick > 0.0 && solved) {
    tick.finish_free_motion();
  }
  if (request.tick > 0.0 && solved && !tick.read) tick.let_read();
  tick.add_to(report);
  if (!tick.good) return std::nullopt;
  return solved;
}

std::optional<SolvedStep> StepOrder::solve_by_reader(StepProblem& problem, StepReport& report) {
  if (!reader) return std::nullopt;
  {
    const StageTimer timer(report, Stage::kSolve);
    if (!reader->solve(problem, own_lambda)) return std::nullopt;
  }
  report.residual = report.residual_force = 0.0;
  report.converged = true;
  return std::move(problem).take(own_lambda, report);
}

/// From the free motion to the forces, once more with what the motion so found would run into.
std::optional<SolvedStep> StepOrder::meet_contacts(StepReport& report) {
  // Each round adds what the one before ran into. Two are enough for a fold, three for a corner. In a pile of more than
  // a few contacts, which needs all of the solver's iterations at once, the rounds together take at most half as many
  // again.
  constexpr int kMaxRounds = 3;
  constexpr std::size_t kFewContacts = 64;
  report.iterations = 0;
  std::optional<SolvedStep> solved;
  std::optional<FoundContacts> found = FreeMotion(data).find_contacts(report);
  SolverSettings settings = data.solver_settings();
  const int most_iterations = settings.max_iterations + settings.max_iterations / 2;
  for (int round = 0; found; ++round) {
    std::optional<StepProblem> problem = std::move(*found).assemble(report);
    if (!problem) return std::nullopt;
    solved = solve_by_reader(*problem, report);
    if (solved) break;
    solved = std::move(*problem).solve(settings, report);
    if (solved->contacts().size() > kFewContacts)
      settings.max_iterations = std::min(settings.max_iterations, most_iterations - report.iterations);
    if (round == kMaxRounds || settings.max_iterations <= 0) break;
    found = solved->find_missed(report);
  }
  const auto pushes = [](const Vec3& force) { return force.x() > 0.0; };
  report.contacts =
      static_cast<std::int32_t>(std::count_if(data.contact_forces.begin(), data.contact_forces.end(), pushes));
  report.penetration = data.found.deepest;
  report.overflow = data.found.overflow;
  return solved;
}

bool StepOrder::advance_in_parts(const StepRequest& request, int parts, StepReport& report) {
  StepRequest part = request;
  part.h = request.h / parts;
  part.tick = 0.0;
  for (int i = 0; i < parts; ++i) {
    part.elapsed = request.elapsed + i * part.h;
    std::optional<SolvedStep> solved = solve(part, report);
    if (!solved) return false;
    const AdvancedStep advanced = std::move(*solved).advance(report);
    if (reader && i + 1 == parts) reader->read_advanced(advanced, report);
  }
  return true;
}

std::optional<FreeMotion> begin_step(World& world, const StepRequest& request, StepReport& report) {
  StepData& data = world.step_data();
  const StageTimer timer(report, Stage::kFree);
  if (!data.begin_free_motion(request) || !data.finish_free_motion(0)) return std::nullopt;
  if (request.tick > 0.0 && !data.finish_free_motion(1)) return std::nullopt;
  return FreeMotion(data);
}

bool run_step(World& world, const StepRequest& request, StepReport& report, StepReader* reader) {
  StepData& data = world.step_data();
  StepOrder order{data, reader};
  std::optional<SolvedStep> solved = order.solve(request, report);
  if (!solved) return false;
  if (reader) reader->read_solved(*solved, report);
  const double most = world.settings().max_turn;
  const double turn = data.compute_largest_turn();
  if (turn > most) {
    constexpr double kMaxParts = 16.0;
    return order.advance_in_parts(request, static_cast<int>(std::min(kMaxParts, std::ceil(turn / most))), report);
  }
  const AdvancedStep advanced = std::move(*solved).advance(report);
  if (reader) reader->read_advanced(advanced, report);
  return true;
}

std::optional<SolvedStep> try_step(World& world, const TriedStep& step) {
  StepReport report;
  std::optional<FreeMotion> free = begin_step(world, step.request, report);
  if (!free) return std::nullopt;
  FoundContacts found = step.keep ? std::move(*free).keep_contacts(*step.keep) : std::move(*free).find_contacts(report);
  std::optional<StepProblem> problem = std::move(found).assemble(report);
  if (!problem) return std::nullopt;
  SolverSettings settings = problem->solver_settings();
  if (step.max_iterations > 0) settings.max_iterations = step.max_iterations;
  return std::move(*problem).solve(settings, report);
}

}  // namespace palpate
