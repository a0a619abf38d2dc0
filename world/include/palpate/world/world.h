#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/constraints/solver.h"
#include "palpate/core/second_thread.h"
#include "palpate/geometry/triangle_tree.h"
#include "palpate/world/contact_finder.h"
#include "palpate/world/joint.h"
#include "palpate/world/step_report.h"

namespace palpate {

/// A body that never moves: its surface, in the world frame, and how it rubs.
struct StaticSurface {
  std::string name;
  TriangleTree surface;
  double friction = 0.0;  ///< Coulomb coefficient μ
};

/// Where a segment first meets a body.
struct WorldHit {
  SegmentHit hit;
  std::int32_t body = -1;
};

/// The point of all surfaces nearest to a query.
struct WorldClosest {
  ClosestPoint closest;
  Vec3 normal = Vec3::UnitY();  ///< unit, outward, of the face, edge or vertex that the point lies on
  double signed_distance = std::numeric_limits<double>::infinity();  ///< [m], negative inside
  std::int32_t body = -1;
};

/// A body of the world and how it touches others.
struct WorldBody {
  std::string name;
  std::unique_ptr<Body> body;  ///< null: a plane
  ContactShape shape;
};

/// A spring and damper that presses on a body from outside, with Coulomb's limit: f = −k (foot − place) − b (its rate),
/// never pulling along the normal. Steps have it implicitly, so that one that knocks a body away lets go of it in time.
struct SpringContact {
  std::int32_t body = -1;
  BodyPoint foot;
  Vec3 normal = Vec3::UnitY();   ///< unit, along the push, world frame
  Vec3 place = Vec3::Zero();     ///< of the spring's other end: where the foot feels nothing [m]
  Vec3 velocity = Vec3::Zero();  ///< of that end, which goes straight on [m/s]
  double stiffness = 0.0;        ///< [N/m]
  double damping = 0.0;          ///< [N·s/m]
  double friction = 0.0;         ///< μ
};

struct WorldSettings {
  Vec3 gravity = Vec3(0.0, -9.81, 0.0);  ///< [m/s²]
  ContactFinderSettings contacts;
  /// Of the contact forces. Its tolerance is that of steps of 5 ms and more; in shorter ones a length stands for more
  /// force (W goes with h²), so it is taken (h / 5 ms)² as large.
  SolverSettings solver{.tolerance = 1e-8, .max_iterations = 200};
  std::string solver_name = "accelerated";  ///< or gauss_seidel, direct
  /// Bodies that overlap at the start of a step are parted with this time constant [s]. It does not depend on the step:
  /// what a step parts at once it leaves in the bodies as velocity, and the finer the step, the harder they would be
  /// thrown apart.
  double overlap_time = 0.03;
  /// And no faster than this [m/s]: a deep overlap (a bad start, a teleported hand) ends in a push and not in an
  /// explosion.
  double push_out_speed = 0.5;
  /// Contacts hold along straight lines, rigid bodies turn: a step in which one that touches would turn further than
  /// this is done in shorter ones, sixteen at most [rad]. The error is ½ r angle² for a body of radius r.
  double max_turn = 0.1;

  /// What of a gap [m] a step of h [s] has to respect: all of it where bodies are apart, and of an overlap the part
  /// that it takes out. The few tolerances that the solver itself leaves are taken out at once, or they would add up
  /// over a stack; they are too small to throw anything.
  double felt_gap(double gap, double h) const noexcept {
    const double at_once = -std::min(10.0 * solver.tolerance, 1e-7);
    if (gap >= at_once) return gap;
    return std::max(at_once - (gap - at_once) * std::expm1(-h / overlap_time), -h * push_out_speed);
  }
};

/// Everything that a step changes. Restoring it repeats the same bits from there on. Saving into the same one again
/// allocates only if there are more contacts than before.
struct WorldState {
  std::vector<double> bodies;
  std::vector<Contact> contacts;     ///< of the last step, with …
  std::vector<Vec3> contact_forces;  ///< … their forces on body a, world frame [N]: the solver's warm start
  std::vector<double> joint_forces;  ///< λ of the joints' rows [N]
};

/// All bodies, what holds them together, and the step that moves them.
///
/// Set-up: add bodies, surfaces and joints, then prepare(). A step is that of docs/design.md: every body's free motion,
/// contacts, the rows J of contacts and joints, the compliance W of those rows, λ, and each body's corrective motion.
/// Bodies keep their own systems and meet only in the rows. The order of everything is that of adding: the same input
/// gives the same bits.
///
/// Thread: steps in one, the slow loop's. Queries on static surfaces are const, noexcept, allocate nothing and may run
/// in any thread.
class World {
 public:
  explicit World(const WorldSettings& settings = {});
  ~World();
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;

  // Set-up.
  void add(StaticSurface surface) { statics_.push_back(std::move(surface)); }
  int add(WorldBody body);  ///< its index
  int add(Joint joint);     ///< its index; the two bodies no longer touch each other
  void ignore_contacts(int a, int b);
  /// This body is the one in the hand.
  void set_tool(int body) noexcept { tool_ = body; }
  /// Ends the set-up: static surfaces become bodies after the others, memory is reserved, and the state is what reset()
  /// returns to. Throws InputError. Not needed, and does nothing, if nothing can move.
  void prepare();

  const WorldSettings& settings() const noexcept { return settings_; }
  std::span<const StaticSurface> static_surfaces() const noexcept { return statics_; }
  std::span<WorldBody> bodies() noexcept { return bodies_; }
  std::span<const WorldBody> bodies() const noexcept { return bodies_; }
  std::span<Joint> joints() noexcept { return joints_; }
  std::span<const Joint> joints() const noexcept { return joints_; }
  int tool() const noexcept { return tool_; }  ///< −1: none
  /// Nothing moves but a point in the hand, which is not of this world.
  bool is_static() const noexcept { return movable_ == 0; }

  /// The first static surface that the segment a→b crosses, from either side.
  bool find_first_hit(const Vec3& a, const Vec3& b, WorldHit& out) const noexcept;
  /// The nearest point of the static surfaces within `max_distance` [m] of p.
  bool find_closest(const Vec3& p, double max_distance, WorldClosest& out) const noexcept;

  void save_state(WorldState& out) const;
  void restore_state(const WorldState& state);
  void reset();  ///< to the state at prepare(), nothing absent

  /// Leaves a body out of steps: it touches nothing and stays where it is put, until it is let in again or reset(). For
  /// methods that have the tool elsewhere. Not for bodies that joints hold. After prepare().
  void set_absent(int body, bool absent);

  /// What presses on bodies from outside in the steps to come, until set anew or reset(). Steps move the places on;
  /// a step that is only tried does not.
  void set_springs(std::span<const SpringContact> springs);
  std::span<const SpringContact> springs() const noexcept { return springs_; }
  Vec3 compute_spring_force(std::size_t spring) const noexcept;  ///< on the body in the last step, world frame [N]

  /// One step of h [s], in parts if bodies turn fast (WorldSettings::max_turn). False if a body's system could not be
  /// factored: then nothing moved, or only some of the parts were done. Allocates nothing once
  /// there have been as many contacts before.
  bool step(double h, StepReport& report);

  // The parts of a step in order, for those who need what lies between them. `time_steps[0]` is the step; all are
  // factored, and refer to Body's `which` by their place.
  bool compute_free_motion(std::span<const double> time_steps);
  /// The same in parts: this one, then finish_free_motion() of each time step, each in a thread of its own if all
  /// bodies that the other looks at allow that (Body::allows_two_threads).
  bool begin_free_motion(std::span<const double> time_steps) noexcept;
  bool finish_free_motion(int which) noexcept;
  void find_contacts();
  /// All that follows the free motion up to advance(): contacts, rows, compliance, λ and changes, once more with what
  /// the motion so found would run into. A contact is held along its normal as it was at the start of the step; where a
  /// body slides into a fold or from one feature to another, the next one is met only on that way. False if a body has
  /// no room for its rows. Fills the report but for its free and model stages.
  bool solve_contacts(StepReport& report);
  /// Takes the place of find_contacts() in a further step that is only tried: the contacts of the last one, with the
  /// gaps that their feet have now and normals as they were. Without advance() such a step changes no state.
  void keep_contacts();
  void assemble_rows();
  bool assemble_compliance();
  SolveReport solve() { return solve(step_solver()); }
  SolveReport solve(const SolverSettings& settings);
  /// Takes the place of solve() for those who find λ by their own law: as many as problem() has rows [N].
  void impose(std::span<const double> lambda);
  void compute_changes();  ///< Δv of each body, free and corrective
  void advance();

  /// The problem of the same constraints at time step `which` (0 or 1) of compute_free_motion(), with one body left
  /// out: its sides are kNone, and neither its motion nor its compliance counts. That is the world as a copy of that
  /// body meets it in another loop. Constraints and rows keep their numbers in problem(); −1 leaves no body out. After
  /// assemble_rows() and before advance(). False if a body has no room for its rows.
  bool compute_problem(int which, int without, ConstraintProblem& out);

  // What the last step found.
  std::span<const Contact> contacts() const noexcept { return contacts_; }
  /// λ of each contact: normal, and along the two make_tangents() [N].
  std::span<const Vec3> contact_forces() const noexcept { return contact_forces_; }
  const FindReport& found() const noexcept { return found_; }
  const ConstraintProblem& problem() const noexcept { return problem_; }
  std::span<const double> lambda() const noexcept { return lambda_; }
  /// Constraints of the problem before the contacts' are the joints', then the springs', which are of kind kContact.
  int first_contact() const noexcept { return first_contact_; }
  int first_of_joint(std::size_t joint) const noexcept {
    return first_of_joint_[joint];
  }  ///< constraint of the problem
  /// Where a body's rows are in problem(): dense bodies' J is rows(), light ones' is problem().light_J().
  const ConstraintSide& side(int body) const noexcept { return moving_[static_cast<std::size_t>(body)].side; }
  const BlockRows& rows(int body) const noexcept;  ///< J of a body of many unknowns
  /// Δv of the free motion at time step `which` (0 or 1).
  std::span<const Vec3> free_change(int body, int which = 0) const noexcept;
  std::span<const Vec3> change(int body) const noexcept;  ///< Δv of compute_changes()
  double step_length() const noexcept { return h_; }

  BodyEnergy compute_energy() const noexcept;
  BodyMomentum compute_momentum() const noexcept;

 private:
  bool step_once(double h, StepReport& report, double max_turn);
  double compute_largest_turn() const noexcept;
  bool finish_free_motion(std::size_t body, int which) noexcept;
  struct Moving {
    ConstraintSide side;           ///< kind and body of the problem; kNone if it cannot move
    bool absent = false;           ///< left out by set_absent()
    std::vector<Vec3> free;        ///< Δv of the free motion
    std::vector<Vec3> other_free;  ///< the same at the second time step, if there is one
    std::vector<Vec3> change;
    BlockRows rows;              ///< J, of bodies of many unknowns
    std::vector<double> lambda;  ///< of those rows
    Eigen::Matrix<double, 6, 6> response;
    Eigen::Matrix<double, 6, 6> other_response;
  };
  /// A problem being assembled.
  struct Assembly {
    ConstraintProblem& problem;
    double h;
    int which;    ///< of the time steps
    int without;  ///< the body left out, or −1
    bool rows;    ///< fills the dense bodies' J too
  };
  void assemble(const Assembly& to);
  void add_constraint_rows(const Assembly& to, const JointConstraint& what, int body_a, const BodyPoint& point_a,
                           int body_b);
  double fill_side(const Assembly& to, const ConstraintSide& side, int offset, int body, const BodyPoint& point,
                   const JointRow& what, double scale);
  bool fill_compliance(const Assembly& to);
  SolverSettings step_solver() const noexcept;
  void trim_contacts();
  bool add_missed_contacts();
  void note_feet();
  double compute_foot_gap(const Contact& contact) const noexcept;
  void warm_start();
  void read_contact_forces();
  void reserve_rows(std::size_t springs);
  void add_spring(const Assembly& to, const SpringContact& spring);
  void remember();

  WorldSettings settings_;
  std::vector<StaticSurface> statics_;
  std::vector<WorldBody> bodies_;
  std::vector<Joint> joints_;
  std::vector<std::pair<int, int>> ignored_;
  std::vector<SpringContact> springs_;
  int tool_ = -1;
  int movable_ = 0;
  int most_dense_rows_ = 0;  ///< of one body of many unknowns, for which memory is reserved
  bool prepared_ = false;

  std::vector<Moving> moving_;  ///< one for each body
  std::vector<Moving*> light_;  ///< of the problem's light bodies
  std::vector<std::span<const Vec3>> free_changes_, changes_;
  std::unique_ptr<ContactFinder> finder_;
  std::unique_ptr<SecondThread> second_;  ///< for the second of two time steps; null: no body allows it
  std::unique_ptr<ConstraintSolver> solver_;
  std::vector<Contact> contacts_;
  std::vector<Contact> ahead_;          ///< that the motion found so far would run into
  std::vector<std::uint64_t> bearing_;  ///< identities of the last step's contacts with a force, ascending
  std::vector<Vec3> contact_forces_;
  std::vector<double> foot_offsets_;  ///< of each contact: its gap less that of its feet when it was found [m]
  FindReport found_;
  ConstraintProblem problem_;
  std::vector<double> lambda_;
  std::vector<BlockRows::Entry> entries_;
  JointConstraints joint_constraints_;
  WorldState start_;
  WorldState last_;  ///< its bodies unused
  int first_contact_ = 0;
  std::vector<int> first_of_joint_;
  double h_ = 0.0;
  double other_h_ = 0.0;  ///< the second time step; 0: none
};

}  // namespace palpate
