#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/constraints/solver.h"
#include "palpate/geometry/triangle_tree.h"
#include "palpate/world/contact_finder.h"
#include "palpate/world/joint.h"
#include "palpate/world/step.h"
#include "palpate/world/step_report.h"

namespace palpate {

/// A body that never moves: its surface, in the world frame, and how it rubs.
struct StaticSurface {
  std::string name;
  TriangleTree surface;
  double friction = 0.0;  ///< Coulomb coefficient μ
};

/// Where a segment first meets a static surface.
struct WorldHit {
  SegmentHit hit;
  std::int32_t body = -1;  ///< which of World::static_surfaces()
};

/// The point of all static surfaces nearest to a query, world frame.
struct WorldClosest {
  ClosestPoint closest;
  Vec3 normal = Vec3::UnitY();  ///< unit, outward, of the face, edge or vertex that the point lies on
  double signed_distance = std::numeric_limits<double>::infinity();  ///< [m], negative inside
  std::int32_t body = -1;                                            ///< which of World::static_surfaces()
};

/// A body of the world and how it touches others.
struct WorldBody {
  std::string name;
  std::unique_ptr<Body> body;  ///< null: a plane
  ContactShape shape;
};

struct WorldSettings {
  Vec3 gravity = Vec3(0.0, -9.81, 0.0);  ///< [m/s²]
  ContactFinderSettings contacts;
  /// How contact forces are solved for. The tolerance [m] holds in steps of 5 ms and more. In a shorter step of h [s]
  /// the same length stands for more force, because W goes with h², and (h / 5 ms)² of the tolerance is taken.
  SolverSettings solver{.tolerance = 1e-8, .max_iterations = 200};
  std::string solver_name = "accelerated";  ///< or gauss_seidel, direct
  /// Bodies that overlap at the start of a step are parted with this time constant [s]. It does not depend on the step:
  /// what a step parts at once it leaves in the bodies as velocity, and the finer the step, the harder they would be
  /// thrown apart.
  double overlap_time = 0.03;
  /// The fastest that an overlap is taken out [m/s]: a deep one (a bad start, a teleported hand) ends in a push and not
  /// in an explosion.
  double push_out_speed = 0.5;
  /// The furthest that a rigid body in touch turns in one step [rad]. Contacts hold along straight lines, so that a
  /// body of radius r that turns is off by ½ r angle². A step in which it would turn further is done in shorter ones,
  /// sixteen at most.
  double max_turn = 0.1;
  /// Contacts are looked for along the motion that bodies have, and not along the free one, on which all that bears
  /// springs back by as much as its force has pressed it. For steps that are ticks, each nearly as the last: there is
  /// less to look at, and what a step runs into all the same it finds in its further rounds.
  bool looks_along_velocity = false;

  /// The gap [m] that a step of h [s] works with. Where bodies are apart it is the gap itself. Where they overlap it is
  /// the part of the overlap that the step takes out. An overlap of a few tolerances, which the solver itself leaves,
  /// is taken out at once, because it would add up over a stack; it is too small to throw anything.
  double felt_gap(double gap, double h) const noexcept {
    const double at_once = -std::min(10.0 * solver.tolerance, 1e-7);
    if (gap >= at_once) return gap;
    return std::max(at_once - (gap - at_once) * std::expm1(-h / overlap_time), -h * push_out_speed);
  }
};

/// The contacts of a step and their forces: what the next one starts from.
struct ContactMemory {
  std::vector<Contact> contacts;
  std::vector<Vec3> contact_forces;  ///< of each on its body a, world frame [N]
  /// Where friction holds the feet of each: their p_a − p_b without strain, world frame [m]. What has come between them
  /// since, across the normal, is made good in the next step as far as friction can, if somebody set the memory: then a
  /// contact that sticks does not creep, whoever moves the bodies between two steps.
  std::vector<Vec3> anchors;
  std::vector<double> joint_forces;  ///< λ of the rows before the contacts', those of joints first [N]
};

/// Everything that a step changes. Restoring it repeats the same bits from there on. Saving into the same one again
/// allocates only if there are more contacts than before.
struct WorldState {
  std::vector<double> bodies;  ///< Body::save_state() of one body after the other
  ContactMemory memory;        ///< what the next step starts from
};

/// All bodies, what holds them together, and the state that steps move on.
///
/// Set-up: add bodies, surfaces and joints, then prepare(). A step is that of docs/design.md: every body's free motion,
/// contacts, the rows J of contacts and joints, the compliance W of those rows, λ, and each body's corrective motion.
/// Bodies keep their own systems and meet only in the rows. What a step found belongs to the step (step.h); a world
/// keeps of it only what the next one starts from. The order of everything is that of adding: the same input gives the
/// same bits.
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
  int add(WorldBody body);             ///< its index
  int add(Joint joint);                ///< its index; Joint::collide says whether the two bodies still touch each other
  void ignore_contacts(int a, int b);  ///< these two bodies never touch each other
  /// This body is in a hand. There may be several; −1 stands for a tool that is no body of the world, so that tools
  /// keep their numbers.
  void mark_tool(int body) { tools_.push_back(body); }
  /// Ends the set-up: static surfaces become bodies after the others, memory is reserved, and the state is what reset()
  /// returns to. Throws InputError. Not needed, and does nothing, if nothing can move.
  void prepare();

  /// What stands for a body of this world in another one.
  using BodyTwin = std::function<std::unique_ptr<Body>(int index, const Body& body)>;
  /// Another world, prepared, with the same bodies by number, joints, tools and pairs that do not touch, for another
  /// loop. This one is prepared. `make_body` is called for every body but planes; the pairs `ignored` do not touch
  /// either.
  World make_twin(const WorldSettings& settings, const BodyTwin& make_body,
                  std::span<const std::pair<int, int>> ignored = {}) const;

  const WorldSettings& settings() const noexcept { return settings_; }
  std::span<const StaticSurface> static_surfaces() const noexcept { return statics_; }
  std::span<WorldBody> bodies() noexcept { return bodies_; }
  std::span<const WorldBody> bodies() const noexcept { return bodies_; }
  std::span<Joint> joints() noexcept { return joints_; }
  std::span<const Joint> joints() const noexcept { return joints_; }
  /// The body at that place; null for a plane and for −1, the world itself.
  Body* body(int index) noexcept { return index < 0 ? nullptr : bodies_[as_size(index)].body.get(); }
  const Body* body(int index) const noexcept { return index < 0 ? nullptr : bodies_[as_size(index)].body.get(); }
  /// The bodies that hands hold, in the order in which they were marked.
  std::span<const int> tools() const noexcept { return tools_; }
  bool is_tool(int body) const noexcept {
    return body >= 0 && std::find(tools_.begin(), tools_.end(), body) != tools_.end();
  }
  /// True if no body of this world can move. Then what moves is at most points in hands, which are no bodies of it.
  bool is_static() const noexcept { return movable_ == 0; }

  /// The first static surface that the segment a→b crosses, from either side.
  bool find_first_hit(const Vec3& a, const Vec3& b, WorldHit& out) const noexcept;
  /// The nearest point of the static surfaces within `max_distance` [m] of p.
  bool find_closest(const Vec3& p, double max_distance, WorldClosest& out) const noexcept;

  void save_state(WorldState& out) const;
  void restore_state(const WorldState& state);
  void reset();  ///< to the state at prepare()

  /// Does run_step() of h [s] without anything else; returns what it does.
  bool step(double h, StepReport& report) { return run_step(*this, {.h = h}, report); }
  /// The contacts of the last step that was done, and their forces. Empty in a world in which nothing moves.
  const ContactMemory& memory() const noexcept;
  /// What the next step starts from, for somebody who also moves bodies between steps. From then on friction holds
  /// places (ContactMemory::anchors), and not only against the slip of each step. Contacts are ordered as a step has
  /// them: by bodies, then by identity. Allocates only if there are more than the world's settings allow.
  void set_memory(const ContactMemory& memory);
  /// The box around every place where a body was in the last step, from its start to its end [m]. Empty for planes, for
  /// bodies that touch nothing and before the first step.
  BoundingBox swept_box(int body) const noexcept;
  /// Sum of the contact forces on a body in the last step that was done, world frame [N].
  Vec3 compute_contact_force(int body) const noexcept;

  BodyEnergy compute_energy() const noexcept;      ///< of all bodies [J]
  BodyMomentum compute_momentum() const noexcept;  ///< of all bodies, world frame, about the world's origin

  /// For step.cpp: the memory of this world's steps. After prepare(), and only if something can move.
  StepData& step_data() noexcept { return *step_; }

 private:
  WorldSettings settings_;
  std::vector<StaticSurface> statics_;
  std::vector<WorldBody> bodies_;
  std::vector<Joint> joints_;
  std::vector<std::pair<int, int>> ignored_;
  std::vector<int> tools_;
  int movable_ = 0;
  std::unique_ptr<StepData> step_;  ///< null: not prepared, or nothing moves
  WorldState start_;
};

}  // namespace palpate
