#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "palpate/core/second_thread.h"
#include "palpate/world/step.h"
#include "palpate/world/world.h"

namespace palpate {

/// The memory of a world's steps and what is done in it, stage by stage. Their order is that of step.cpp; the types
/// that keep to it are in step.h. Slow thread, but for what says otherwise.
class StepData final : public RowSink {
 public:
  struct Moving {
    ConstraintSide side;          ///< kind and body of the problem; kNone if it cannot move
    bool absent = false;          ///< left out of this step
    std::vector<Vec3> free;       ///< Δv of the free motion
    std::vector<Vec3> tick_free;  ///< the same over the tick, if there is one
    std::vector<Vec3> change;     ///< Δv of free motion and forces
    BlockRows rows;               ///< J, of bodies of many unknowns
    BlockRows rows_before;        ///< the same in the round before
    std::vector<double> lambda;   ///< of those rows
    Mat6 response;
    Mat6 tick_response;
  };

  /// Of a world whose bodies and joints are complete. They stay where they are.
  StepData(const WorldSettings& settings, std::span<WorldBody> bodies, std::span<const Joint> joints,
           std::span<const std::pair<int, int>> ignored);

  // Free motion.

  /// What is common to both time steps, and all of the bodies that do not allow two threads.
  bool begin_free_motion(const StepRequest& request);
  /// The rest of the step (0) or the tick (1), each in a thread of its own if need be. False: not factored.
  bool finish_free_motion(int which) noexcept;
  /// Whether others may look at all bodies with a surface beside the step.
  bool allows_reading_beside() const noexcept { return reading_beside_; }
  SecondThread* second_thread() noexcept { return second_.get(); }

  // Contacts.

  void find_contacts();
  BoundingBox swept_box(int i) const noexcept { return finder_.swept_box(i); }
  void keep_contacts(std::span<const Contact> contacts);
  bool add_missed_contacts();  ///< true if there were any that the step did not know of

  // The problem. False: a body has no room for its rows.

  bool assemble();
  bool compute_problem(int which, int without, ConstraintProblem& out);

  // Forces and motion.

  SolverSettings solver_settings() const noexcept;
  SolveReport solve(const SolverSettings& settings);
  void take(std::span<const double> lambda);
  void compute_changes();
  /// Of the rigid bodies that touch something, in the step to come [rad].
  double compute_largest_turn() const noexcept;
  void advance();

  // Results.
  double h = 0.0, tick = 0.0;
  std::uint64_t number = 0;  ///< of the step: stages of earlier ones are void
  std::vector<Moving> moving;
  std::vector<Contact> contacts;
  std::vector<Vec3> strains;  ///< of each contact
  FindReport found;
  ConstraintProblem problem;
  std::vector<ConstraintRange> joint_constraints;
  ConstraintRange further_constraints;
  int first_contact = 0;
  std::vector<double> lambda;
  std::vector<Vec3> contact_forces;
  ContactMemory last;         ///< of the last step that was done
  bool holds_places = false;  ///< friction does, because somebody else moves bodies between steps

 private:
  /// A problem being assembled.
  struct Assembly {
    ConstraintProblem& problem;
    double h;
    int which;    ///< of the time steps
    int without;  ///< the body left out, or −1
    bool rows;    ///< fills the dense bodies' J too
  };
  void check(const StepRequest& request) const;
  void set_absent(std::span<const int> bodies);
  bool finish_free_motion(std::size_t body, int which) noexcept;
  void place_clearances() noexcept;
  void fill_offsets() noexcept;
  Vec3 compute_foot_distance(const Contact& contact) const noexcept;
  double compute_foot_gap(const Contact& contact) const noexcept;
  void match(const ContactMemory& memory);
  void recall_strains();
  void trim_contacts();
  void assemble(const Assembly& to);
  void add(const JointConstraint& rows, int body_a, const BodyPoint& point_a, int body_b) override;
  void add_constraint_rows(const Assembly& to, const JointConstraint& what, int body_a, const BodyPoint& point_a,
                           int body_b);
  double fill_side(const Assembly& to, const ConstraintSide& side, int offset, int body, const BodyPoint& point,
                   const JointRow& what, double scale);
  bool fill_compliance(const Assembly& to);
  void put_round_aside();
  bool keep_compliance(std::size_t body);
  void map_rows(int side_body);
  void warm_start();
  void read_contact_forces();
  void remember(ContactMemory& out) const;
  void reserve_rows(int further);
  Body* body(int index) const noexcept { return index < 0 ? nullptr : bodies_[as_size(index)].body.get(); }

  const WorldSettings settings_;
  const std::span<WorldBody> bodies_;
  const std::span<const Joint> joints_;
  std::vector<const StepRows*> further_;
  int further_room_ = 0;
  double elapsed_ = 0.0;
  int most_dense_rows_ = 0;  ///< of one body of many unknowns, for which memory is reserved
  bool reading_beside_ = false;
  std::vector<Moving*> light_;  ///< of the problem's light bodies
  std::vector<std::span<const Vec3>> free_changes_, changes_;
  std::vector<int> clear_places_;  ///< of each joint, in the finder; −1: its bodies do not touch at all
  ContactFinder finder_;
  std::unique_ptr<SecondThread> second_;  ///< for the tick beside the step; null: no body allows it
  std::unique_ptr<ConstraintSolver> solver_;
  std::vector<std::int32_t> matches_;      ///< of each contact in a memory, by match(); −1: none
  std::vector<std::uint8_t> taken_;        ///< of a memory's contacts, those that are found again by their identity
  std::vector<Vec3> anchors_;              ///< of each contact at the start of the step, as in ContactMemory
  std::vector<Contact> ahead_;             ///< that the motion found so far would run into
  std::vector<std::uint64_t> bearing_;     ///< identities of the last step's contacts with a force, ascending
  ContactMemory round_;                    ///< of the step so far, when more contacts were found
  bool is_later_round_ = false;            ///< problem is that of round_, and its compliances still count
  ConstraintProblem problem_before_;       ///< of the round before, while the next is assembled
  std::vector<std::int32_t> rows_before_;  ///< by map_rows()
  std::vector<std::int32_t> fresh_rows_;   ///< of those, the ones that were not there
  const ContactMemory* guess_ = nullptr;   ///< last or round_
  std::vector<BlockRows::Entry> entries_;
  JointConstraints joint_rows_;
  const Assembly* assembling_ = nullptr;  ///< while StepRows add theirs
};

}  // namespace palpate
