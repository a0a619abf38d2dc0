#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "compliance/halves.h"
#include "palpate/constraints/solver.h"
#include "palpate/methods/compliance_settings.h"
#include "tool_grip.h"

namespace palpate::compliance {
namespace {

/// Sub-steps H1–H6. Fast thread: wait-free and bounded by ComplianceSettings::max_iterations; allocates at set-up only.
///
/// Until the first model comes a tool goes with its hand, touching nothing, or waits if it bends; while the slow loop
/// has none to give later it waits; in either case there is no force. A tick
/// that cannot be done (a system that cannot be factored, a device or a result that is not finite) leaves the tool as
/// it was, at rest, and gives no force either.
class ComplianceFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit ComplianceFast(const MethodContext& context);

  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override;

 private:
  void adopt(const Model& model) noexcept;
  bool move(const DeviceState& device, const Model& model, double age, TickResult& out) noexcept;
  void assemble_rows(const Model& model, double age) noexcept;
  using Feet = std::array<BodyPoint, 2>;  ///< of PublishedConstraint::on_tool
  Feet find_feet(const PublishedConstraint& constraint) const noexcept;
  double fill_row(const PublishedConstraint& constraint, const Feet& feet, const PublishedRow& row) noexcept;
  void note_slip(const Model& model) noexcept;
  Wrench sum_constraint_forces(const Model& model) const noexcept;
  void send(Feedback& feedback) const noexcept;

  /// What the fast loop remembers of a constraint of the model, by its place there.
  struct Memory {
    std::uint64_t id = 0;
    Vec3 slip = Vec3::Zero();    ///< since the contact began, world frame [m]
    Vec3 anchor = Vec3::Zero();  ///< the part of the tool's way from the model's start that was slip [m]
    bool anchored = false;
    bool contact = false;
    Vec3 force = Vec3::Zero();  ///< of a contact, world frame [N]; guess for the next solve
    std::array<double, 6> lambda{};
    std::int32_t rows = 0;
  };

  const double dt_, lookahead_;
  const WorldSettings world_settings_;
  const bool by_constraints_;
  const bool round_;  ///< the tool is a chain, whose contacts do not roll with it
  const bool bends_;  ///< the tool
  std::unique_ptr<Body> tool_;
  ToolGrip grip_;
  DeviceState device_;  ///< the last that was finite
  SolverSettings solver_settings_;
  std::unique_ptr<ConstraintSolver> solver_;
  ConstraintProblem problem_;
  BlockRows J_;  ///< of the tool
  std::vector<BlockRows::Entry> entries_;
  std::vector<Vec3> free_, change_;
  std::vector<double> state_;  ///< of the tool after the last good tick
  std::array<double, kMaxRows> lambda_{}, delta_{};
  std::array<Memory, kMaxConstraints> memory_, old_memory_;
  int memories_ = 0;
  int ties_end_ = 0;  ///< constraints of the tool, its joints among them, are before this
  std::array<double, kMaxTieRows> tie_impulse_{};
  std::uint64_t sequence_ = 0;  ///< of the model adopted last
};

ComplianceFast::ComplianceFast(const MethodContext& c)
    : dt_(c.dt),
      lookahead_(c.settings.get<ComplianceSettings>("compliance").lookahead * c.slow_period),
      world_settings_(c.world.settings()),
      by_constraints_(c.settings.get<ComplianceSettings>("compliance").force ==
                      ComplianceSettings::Force::kConstraints),
      round_(c.tool.is<HeldChain>()),
      bends_(c.tool.bends()),
      tool_(make_tool(c.tool, c.start.pose, c.world.settings().gravity).body),
      grip_(c, *tool_),
      device_(c.start),
      solver_(make_accelerated_solver()) {
  const auto& settings = c.settings.get<ComplianceSettings>("compliance");
  solver_settings_.tolerance = settings.tolerance;
  solver_settings_.max_iterations = settings.max_iterations;
  solver_settings_.max_seconds = settings.max_seconds;
  solver_settings_.pyramid = c.world.settings().solver.pyramid;
  state_.resize(as_size(tool_->state_size()));
  take_motion(c, *tool_);
  tool_->save_state(state_);
  free_.assign(as_size(tool_->block_count()), Vec3::Zero());
  change_ = free_;
  entries_.resize(as_size(tool_->max_row_entries()));
  J_.reserve(kMaxRows, 2 * kMaxRows * tool_->max_row_entries());
  problem_.reserve(kMaxRows, 1, kMaxRows, 0);
  solver_->reserve(kMaxRows, kMaxRows, 0);
}

TickResult ComplianceFast::tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept {
  TickResult out;
  if (model.header.sequence > 0 && model.valid != 0) {
    if (model.header.sequence != sequence_) adopt(model);
    const double age = std::clamp(feedback.header.time - model.header.time, 0.0, lookahead_);
    if (move(device, model, age, out)) {
      tool_->save_state(state_);
    } else {
      tool_->restore_state(state_);
      std::fill(change_.begin(), change_.end(), Vec3::Zero());
      tool_->set_velocities(change_);
      std::fill(lambda_.begin(), lambda_.end(), 0.0);
      out = {};
    }
  } else if (model.header.sequence == 0 && !bends_) {
    tool_->set_grip(grip_.aim(device));  // as in the live form (live_fast.cpp)
    step_alone(*tool_, dt_, free_);
    tool_->save_state(state_);
  }
  out.tool = grip_.device_pose(*tool_);
  device_ = device;
  send(feedback);
  return out;
}

/// Takes over a model: its constraints, the compliance that it brings, and what is known of them from the last one.
void ComplianceFast::adopt(const Model& model) noexcept {
  std::copy_n(memory_.begin(), memories_, old_memory_.begin());
  const std::size_t old = as_size(memories_);
  problem_.clear();
  problem_.add_dense_body();
  std::size_t row = 0;
  for (int i = 0; i < model.constraints; ++i) {
    const PublishedConstraint& from = model.constraint[as_size(i)];
    Constraint c;
    c.kind = from.kind;
    c.rows = from.rows;
    c.friction = from.friction;
    c.lower = from.lower;
    c.upper = from.upper;
    c.a = {ConstraintSide::Kind::kDense, 0, -1};
    problem_.add_constraint(c);

    Memory& m = memory_[as_size(i)];
    m = {};
    m.id = from.id;
    m.contact = from.kind == ConstraintKind::kContact;
    m.rows = from.rows;
    const auto known = std::find_if(old_memory_.begin(), old_memory_.begin() + static_cast<std::ptrdiff_t>(old),
                                    [&](const Memory& x) { return x.id == m.id && x.contact == m.contact; });
    const bool found = known != old_memory_.begin() + static_cast<std::ptrdiff_t>(old);
    if (found) {
      m.slip = known->slip;
      m.anchored = from.slip_known != 0;
      m.anchor = m.slip - from.slip;
    }
    for (int r = 0; r < from.rows; ++r, ++row) {
      lambda_[row] = 0.0;
      if (found && m.contact) lambda_[row] = known->force.dot(model.row[row].direction);
      if (found && !m.contact && known->rows == m.rows) lambda_[row] = known->lambda[as_size(r)];
      problem_.compliance(static_cast<int>(row)) = model.row[row].compliance;
      problem_.delta_free(static_cast<int>(row)) = model.row[row].gap + model.row[row].motion;
    }
  }
  problem_.prepare_dense();
  problem_.dense_compliance(0) = Eigen::Map<const Eigen::MatrixXd>(model.W.data(), model.rows, model.rows);
  memories_ = model.constraints;
  ties_end_ = model.tool_constraints;
  sequence_ = model.header.sequence;
}

bool ComplianceFast::move(const DeviceState& device, const Model& model, double age, TickResult& out) noexcept {
  tool_->set_grip(grip_.aim(device));              // H1
  if (!tool_->linearise({&dt_, 1})) return false;  // H2
  tool_->compute_free_motion(0, free_);
  assemble_rows(model, age);               // H3
  const Eigen::Index n = model.tool_rows;  // H4
  auto W = problem_.dense_compliance(0);
  for (Eigen::Index c = 0; c < n; ++c)
    W.col(c).head(n) = Eigen::Map<const Eigen::VectorXd>(model.W.data() + c * model.rows, n);
  if (!tool_->add_compliance(0, J_, W.topLeftCorner(n, n))) return false;
  const auto lambda = std::span(lambda_).first(as_size(model.rows));
  const SolveReport solved = solver_->solve(problem_, solver_settings_, lambda);  // H5
  if (!std::isfinite(solved.residual.metres)) return false;
  tool_->compute_correction(0, J_, lambda, change_);  // H6
  for (std::size_t b = 0; b < change_.size(); ++b) {
    change_[b] += free_[b];
    if (!change_[b].allFinite()) return false;
  }
  note_slip(model);
  const Wrench by_constraints = by_constraints_ ? sum_constraint_forces(model) : Wrench{};
  tool_->advance(dt_, change_);
  const Wrench on_tool = tool_->compute_grip();
  out.wrench = by_constraints_ ? by_constraints : Wrench{-on_tool.force, -on_tool.torque};
  out.residual = solved.residual.metres;
  out.iterations = solved.iterations;
  for (int i = 0, row = 0; i < model.tool_constraints; row += model.constraint[as_size(i)].rows, ++i)
    out.contacts += model.constraint[as_size(i)].kind == ConstraintKind::kContact && lambda_[as_size(row)] > 0.0;
  return is_finite(out.wrench);
}

/// J of the tool and δ of its rows (eq. 10–12). Directions are the model's (section III-B), lever arms those of now.
void ComplianceFast::assemble_rows(const Model& model, double age) noexcept {
  J_.clear();
  int row = 0;
  for (int i = 0; i < model.tool_constraints; ++i) {
    const PublishedConstraint& c = model.constraint[as_size(i)];
    const Feet feet = find_feet(c);
    Vec3 way = -c.start;
    for (std::size_t k = 0; k < as_size(c.points); ++k) way += c.on_tool[k].scale * tool_->compute_point(feet[k]);
    Memory& m = memory_[as_size(i)];
    Vec3 turn = Vec3::Zero();  // contacts have no rows about angles
    if (!m.contact)
      turn = rotation_vector(tool_->compute_frame(c.on_tool[0].point) * c.start_frame.conjugate()) *
             (c.on_tool[0].scale < 0.0 ? -1.0 : 1.0);
    if (m.contact && !m.anchored) {
      m.anchor = way;
      m.anchored = true;
      for (int r = 0; r < 3; ++r)
        m.anchor += age * model.row[as_size(row + r)].rate * model.row[as_size(row + r)].direction;
    }
    for (int r = 0; r < c.rows; ++r, ++row) {
      const PublishedRow& from = model.row[as_size(row)];
      const double free = fill_row(c, feet, from);
      double gap = from.gap + from.direction.dot(from.turn ? turn : way) + age * from.rate;
      if (m.contact && r == 0) gap = world_settings_.felt_gap(gap, dt_);
      if (m.contact && r > 0) gap -= from.direction.dot(m.anchor);
      problem_.delta_free(row) = gap + from.motion + free;
    }
  }
}

/// Where a constraint acts on the tool. What touches a round wire is the side that looks there: a foot that rolled
/// along with the wire would come up behind it, and let it in by its diameter. A push on such a foot makes it roll,
/// too.
ComplianceFast::Feet ComplianceFast::find_feet(const PublishedConstraint& constraint) const noexcept {
  Feet feet = {constraint.on_tool[0].point, constraint.on_tool[1].point};
  if (round_ && constraint.kind == ConstraintKind::kContact) {
    for (BodyPoint& foot : std::span(feet).first(as_size(constraint.points)))
      foot.offset = tool_->compute_frame(foot).conjugate() * (constraint.start_frame * foot.offset);
  }
  return feet;
}

/// Adds the row to J; returns what the tool's free motion does to it in this tick [m].
double ComplianceFast::fill_row(const PublishedConstraint& constraint, const Feet& feet,
                                const PublishedRow& row) noexcept {
  const std::span<const Vec3> v = tool_->velocities();
  double speed = 0.0;
  J_.begin_row();
  for (std::size_t k = 0; k < as_size(constraint.points); ++k) {
    const Vec3 direction = constraint.on_tool[k].scale * row.direction;
    const int count = row.turn ? tool_->compute_turn_row(feet[k], direction, entries_)
                               : tool_->compute_point_row(feet[k], direction, entries_);
    for (const BlockRows::Entry& e : std::span(entries_).first(as_size(count))) {
      J_.add(e.block, e.value);
      speed += e.value.dot(v[as_size(e.block)] + free_[as_size(e.block)]);
    }
  }
  return dt_ * speed;
}

/// Friction holds against the slip of this tick, not against the way since the model began: what a contact slips now
/// is taken off its tangents' δ from the next tick on. What sticks has δ_t = 0 and keeps its place.
void ComplianceFast::note_slip(const Model& model) noexcept {
  problem_.compute_delta(std::span(lambda_).first(as_size(model.rows)), delta_);
  std::size_t tie = 0;
  for (int i = 0, row = 0; i < model.constraints; row += model.constraint[as_size(i)].rows, ++i) {
    Memory& m = memory_[as_size(i)];
    const auto at = as_size(row);
    if (!m.contact) {
      std::copy_n(lambda_.begin() + row, m.rows, m.lambda.begin());
      for (std::size_t r = 0; r < as_size(m.rows) && i < ties_end_ && tie < tie_impulse_.size(); ++r)
        tie_impulse_[tie++] += m.lambda[r] * dt_;
      continue;
    }
    m.force.setZero();
    for (std::size_t r = 0; r < 3; ++r) m.force += lambda_[at + r] * model.row[at + r].direction;
    if (i >= model.tool_constraints) continue;
    const Vec3 slip = delta_[at + 1] * model.row[at + 1].direction + delta_[at + 2] * model.row[at + 2].direction;
    m.slip += slip;
    m.anchor += slip;
  }
}

/// The paper's force: Σ Jᵀλ over the tool's nodes, and its moment about the handle.
Wrench ComplianceFast::sum_constraint_forces(const Model& model) const noexcept {
  const Vec3 handle = tool_->handle_pose().position;
  Wrench sum;
  int row = 0;
  for (int i = 0; i < model.tool_constraints; ++i) {
    const PublishedConstraint& c = model.constraint[as_size(i)];
    const Feet feet = find_feet(c);
    for (int r = 0; r < c.rows; ++r, ++row) {
      const PublishedRow& from = model.row[as_size(row)];
      for (std::size_t k = 0; k < as_size(c.points); ++k) {
        const Vec3 f = lambda_[as_size(row)] * c.on_tool[k].scale * from.direction;
        if (from.turn) {
          sum.torque += f;
        } else {
          sum.force += f;
          sum.torque += (tool_->compute_point(feet[k]) - handle).cross(f);
        }
      }
    }
  }
  return sum;
}

void ComplianceFast::send(Feedback& feedback) const noexcept {
  feedback.device = device_;
  std::copy(state_.begin(), state_.end(), feedback.tool.begin());
  feedback.slips = feedback.tie_rows = 0;
  for (int i = 0; i < memories_; ++i) {
    const Memory& m = memory_[as_size(i)];
    if (m.contact) {
      feedback.slip[as_size(feedback.slips++)] = {m.id, m.slip};
    } else if (i < ties_end_) {
      feedback.tie_rows = std::min(feedback.tie_rows + m.rows, kMaxTieRows);
    }
  }
  feedback.tie_impulse = tie_impulse_;
}

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context) {
  return std::make_unique<ComplianceFast>(context);
}

}  // namespace palpate::compliance
