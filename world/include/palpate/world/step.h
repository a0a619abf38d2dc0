#pragma once

#include <optional>
#include <span>

#include "palpate/constraints/solver.h"
#include "palpate/world/contact_finder.h"
#include "palpate/world/joint.h"
#include "palpate/world/step_report.h"

// The step of a world, as an object whose stages are types:
//
//   begin_step() → FreeMotion → FoundContacts → StepProblem → SolvedStep → AdvancedStep
//
// Each stage is made from the one before, which it uses up, so a stage out of order does not compile. What a stage
// found is read from it and from all that follow it. Whoever only reads gets a const stage, which cannot go on. The
// stages of a step are views of memory that the world keeps, so that steps allocate nothing: they hold until the next
// step of that world begins.
//
// Stages add the time that they take, and what they find, to a StepReport.
//
// The order of a step stands in one file, world/src/step.cpp: run_step() does all of it, and lets others read.
namespace palpate {

class StepData;
class World;

/// Takes the rows that somebody adds to a step's problem.
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// A constraint between two bodies of the world (−1: the world itself); `rows.points_b` is where it acts on b.
  virtual void add(const JointConstraint& rows, int body_a, const BodyPoint& point_a, int body_b) = 0;
};

/// Further rows of a step, between those of joints and contacts: what acts on bodies from outside.
class StepRows {
 public:
  virtual ~StepRows() = default;
  /// Adds the rows of a step of h [s] that begins `elapsed` [s] after the one that was asked for: a step may be done in
  /// parts.
  virtual void add_rows(double h, double elapsed, RowSink& sink) const = 0;
  virtual int max_rows() const noexcept = 0;  ///< the most that add_rows() adds
};

/// What is asked of a step.
struct StepRequest {
  double h = 0.0;  ///< its length [s]
  /// A second, shorter time step [s], for which free motion and compliance are computed beside the first: what a fast
  /// loop meets within one of its ticks. 0: none.
  double tick = 0.0;
  /// Bodies that the step leaves where they are: they touch nothing. Not those that joints hold.
  std::span<const int> absent{};
  std::span<const StepRows* const> rows{};
  double elapsed = 0.0;  ///< that StepRows are told [s]
};

/// What is known from the first stage on: each body's free motion. Base of all stages.
///
/// Thread, of all stages: that which steps the world. Reading allocates nothing.
class FreeMotionResults {
 public:
  double h() const noexcept;  ///< length of the step [s]
  /// Δv of a body without contacts and joints, one for each of its blocks, world frame [m/s or rad/s].
  std::span<const Vec3> free_change(int body) const noexcept;

 protected:
  explicit FreeMotionResults(StepData& data) noexcept;
  StepData& data() const noexcept;  ///< asserts that no other step has begun

 private:
  StepData* data_;
  std::uint64_t number_;  ///< of the step
};

/// What is known from the second stage on: also which contacts there are.
class ContactResults : public FreeMotionResults {
 public:
  std::span<const Contact> contacts() const noexcept;
  /// How far the feet of each contact are, across its normal, from where friction holds them (ContactMemory::anchors)
  /// [m].
  std::span<const Vec3> strains() const noexcept;
  const FindReport& found() const noexcept;

 protected:
  using FreeMotionResults::FreeMotionResults;
};

/// Constraints of a problem, from the first to before the last.
struct ConstraintRange {
  int first = 0;
  int end = 0;
};

/// What is known from the third stage on: also the contact problem. Its constraints are those of the joints, then those
/// of StepRows, then the contacts in their order.
class ProblemResults : public ContactResults {
 public:
  const ConstraintProblem& problem() const noexcept;
  ConstraintRange constraints_of_joint(std::size_t joint) const noexcept;
  ConstraintRange further_constraints() const noexcept;  ///< of StepRows
  int first_contact() const noexcept;                    ///< constraint of the first contact
  /// Where a body's rows are in the problem: of bodies of many unknowns J is rows(), of light ones problem().light_J().
  const ConstraintSide& side(int body) const noexcept;
  const BlockRows& rows(int body) const noexcept;
  /// The problem of the same constraints at the step (0) or the tick (1), with one body left out: its sides are kNone,
  /// and neither its motion nor its compliance counts. That is the world as a copy of that body meets it in another
  /// loop. Constraints and rows keep their numbers; −1 leaves no body out. False if a body has no room for its rows.
  bool compute_problem(int which, int without, ConstraintProblem& out) const;

 protected:
  using ContactResults::ContactResults;
};

/// What is known from the fourth stage on: also the forces, and what they do to the bodies.
class SolveResults : public ProblemResults {
 public:
  std::span<const double> lambda() const noexcept;  ///< one for each row of the problem [N]
  /// λ of each contact: normal, and along the two make_tangents() [N].
  std::span<const Vec3> contact_forces() const noexcept;
  /// Δv of a body, free and corrective, one for each of its blocks, world frame [m/s or rad/s].
  std::span<const Vec3> change(int body) const noexcept;

 protected:
  using ProblemResults::ProblemResults;
};

/// Last stage: the bodies have moved.
class AdvancedStep : public SolveResults {
 public:
  struct Contacts {
    std::span<const Contact> contacts;
    FindReport found;
  };
  /// Where the bodies touch now. The step's own contacts are gone then.
  Contacts find_contacts() const;

 private:
  friend class SolvedStep;
  using SolveResults::SolveResults;
};

/// Fourth stage: forces are known, no body has moved.
class SolvedStep : public SolveResults {
 public:
  AdvancedStep advance(StepReport& report) &&;
  /// Goes back to the second stage, with what the motion so found would run into beside the contacts that were known;
  /// nothing if it runs into nothing new. A contact is held along its normal as it
  /// was at the start of the step; where a body slides into a fold or from one feature to another, the next one is met
  /// only on that way.
  std::optional<class FoundContacts> find_missed(StepReport& report) &;

 private:
  friend class StepProblem;
  using SolveResults::SolveResults;
};

/// Third stage: rows, compliance and gaps.
class StepProblem : public ProblemResults {
 public:
  /// How the world would solve it: WorldSettings::solver, with a tolerance for this length of step.
  SolverSettings solver_settings() const noexcept;
  /// Solves it by the world's solver, starting from the last step's forces. Iterations add up in the report.
  SolvedStep solve(const SolverSettings& settings, StepReport& report) &&;
  /// Takes forces that another law gave, as many as problem() has rows [N].
  SolvedStep take(std::span<const double> lambda, StepReport& report) &&;

 private:
  friend class FoundContacts;
  using ProblemResults::ProblemResults;
};

/// Second stage: who touches whom.
class FoundContacts : public ContactResults {
 public:
  /// Makes the rows, the gaps and the compliance; nothing if a body has no room for its rows.
  std::optional<StepProblem> assemble(StepReport& report) &&;

 private:
  friend class FreeMotion;
  friend class SolvedStep;
  using ContactResults::ContactResults;
};

/// First stage: where each body goes by itself.
class FreeMotion : public FreeMotionResults {
 public:
  /// Finds who touches whom, or may within the step.
  FoundContacts find_contacts(StepReport& report) &&;
  /// Does without detection and takes these contacts, with the gaps that their feet have now and the normals that they
  /// have.
  FoundContacts keep_contacts(std::span<const Contact> contacts) &&;

 private:
  friend std::optional<FreeMotion> begin_step(World& world, const StepRequest& request, StepReport& report);
  friend struct StepOrder;
  using FreeMotionResults::FreeMotionResults;
};

/// Begins a step of a world that can move: every body's free motion, over the tick too if one is asked for. Nothing if
/// a body's system could not be factored. Throws InputError if the request is wrong.
std::optional<FreeMotion> begin_step(World& world, const StepRequest& request, StepReport& report);

/// The bodies after one tick in which nothing touches them.
class FreeTick {
 public:
  double h() const noexcept { return h_; }  ///< the tick [s]
  /// Δv of a body, one for each of its blocks, world frame [m/s or rad/s].
  std::span<const Vec3> change(int body) const noexcept;

  /// The tick of a world in which nothing moves: there is no change() to ask for.
  explicit FreeTick(double h) noexcept : h_(h) {}

 private:
  friend struct StepOrder;
  FreeTick(double h, const StepData& data) noexcept : h_(h), data_(&data) {}
  double h_;
  const StepData* data_ = nullptr;
};

/// Reads a step while it is done. All are called in this order, each at most once a step, whether it is done in one or
/// in parts: a model is that of the whole step.
class StepReader {
 public:
  virtual ~StepReader() = default;
  /// Called if a tick was asked for. It may run in another thread, beside the contacts of the step; it must not throw,
  /// and may ask bodies for what belongs to the tick (Body::add_compliance() with 1) and for what does not change in a
  /// step.
  virtual void read_tick(const FreeTick& /*tick*/, StepReport& /*report*/) noexcept {}
  /// Another law of contact than the world's: fills λ [N], as many as the problem has rows, and returns true. In a step
  /// that is done in parts it is asked for each of them.
  virtual bool solve(const StepProblem& /*problem*/, std::vector<double>& /*lambda*/) { return false; }
  virtual void read_solved(const SolvedStep& /*step*/, StepReport& /*report*/) {}      ///< no body has moved yet
  virtual void read_advanced(const AdvancedStep& /*step*/, StepReport& /*report*/) {}  ///< the bodies have moved
};

/// Does a whole step, in parts if bodies that touch turn fast (WorldSettings::max_turn). Fills the report but for its
/// model stage. Returns false if a body's system could not be factored or has no room for its rows: then nothing moved,
/// or only some of the parts were done. A world in which nothing can move has no steps.
bool run_step(World& world, const StepRequest& request, StepReport& report, StepReader* reader = nullptr);

/// A step that is only tried: it changes no state.
struct TriedStep {
  StepRequest request;
  std::optional<std::span<const Contact>> keep{};  ///< these contacts; none: found anew
  int max_iterations = 0;                          ///< of the solver; 0: as in a step
};
/// Tries it, up to its forces; nothing if a system could not be factored or has no room for its rows.
std::optional<SolvedStep> try_step(World& world, const TriedStep& step);

}  // namespace palpate
