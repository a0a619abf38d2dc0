#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "compliance/halves.h"
#include "palpate/methods/compliance_settings.h"
#include "tool_grip.h"

namespace palpate::compliance {
namespace {

/// A contact without the tool that is open by more than this share of the alarm distance at the end of a tick is not
/// published: nothing that happens within a tick closes it.
constexpr double kOpenShare = 0.1;

/// Joints' constraints are known by this; contacts' identities are those of the world.
constexpr std::uint64_t kJointMark = 1ull << 63;

bool all_finite(std::span<const double> values) noexcept {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

/// Sub-steps L1–L7. Slow thread.
class ComplianceSlow final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit ComplianceSlow(const MethodContext& context);

  StepWish begin(const Feedback& feedback, Model& model, StepReport& report) override;
  void read_solved(const SolvedStep& step, Model& model, StepReport& report) override;
  void read_advanced(const AdvancedStep& step, Model& model, StepReport& report) override;
  void finish(bool done, Model& model, StepReport& report) override;

 private:
  /// A constraint of the world that may be published.
  struct Candidate {
    std::int32_t first_row = 0, rows = 0;  ///< of the world's problem
    std::int32_t joint = -1;               ///< of the world, with …
    std::int32_t part = 0;                 ///< … the constraint's number in it; or
    std::int32_t contact = -1;             ///< of the step
    bool tool = false;                     ///< acts on it
    bool active = false;                   ///< has a force in the slow solve
    bool chosen = false;
    double order = 0.0;  ///< the lowest are kept first
  };
  /// The other bodies' end of a published constraint.
  struct OtherEnd {
    Vec3 place = Vec3::Zero();  ///< Σ scale · point [m]
    Quat frame = Quat::Identity();
    double side = 0.0;  ///< +1: body a, −1: body b
  };

  void impose(const Feedback& feedback);
  bool publish(const SolvedStep& step, Model& model);
  void list_candidates(const SolvedStep& step);
  void choose(Model& model);
  void describe(const Candidate& from, Model& model);
  void describe_contact(const Candidate& from, PublishedConstraint& out, PublishedRow* rows);
  void describe_joint(const Candidate& from, PublishedConstraint& out, PublishedRow* rows);
  void add_point(PublishedConstraint& out, const BodyPoint& point, double scale) const;
  void fill_compliance(std::span<const double> lambda, Model& model);
  OtherEnd find_other_end(const Candidate& of) const;
  void compute_rates(Model& model) const;
  const Body* body(int index) const { return index < 0 ? nullptr : world_.bodies()[as_size(index)].body.get(); }

  World& world_;
  const int tool_;
  const double dt_, slow_period_;
  const ComplianceSettings settings_;
  const DeviceState start_;
  ToolGrip grip_;
  const Feedback* feedback_ = nullptr;  ///< of this step
  std::vector<Contact> contacts_;       ///< of this step
  ConstraintProblem problem_;           ///< at dt without the tool
  Eigen::MatrixXd W_;                   ///< of problem_
  std::vector<Candidate> candidates_;
  std::vector<std::int32_t> order_;      ///< of the candidates, by importance
  std::vector<std::int32_t> published_;  ///< the candidates in the order of the model
  std::vector<OtherEnd> other_ends_;     ///< of the published constraints before the step
  JointConstraints joint_constraints_;
};

ComplianceSlow::ComplianceSlow(const MethodContext& c)
    : world_(c.world),
      tool_(c.body()),
      dt_(c.dt),
      slow_period_(c.slow_period),
      settings_(c.settings.get<ComplianceSettings>("compliance")),
      start_(c.start),
      grip_(c, *c.world.body(c.body())) {}

StepWish ComplianceSlow::begin(const Feedback& feedback, Model& model, StepReport& report) {
  model.valid = model.constraints = model.tool_constraints = model.rows = model.tool_rows = model.left_out = 0;
  feedback_ = &feedback;
  // The paper looks for contacts (L1) before it imposes the tool's state (L2), so with a proxy one period older.
  const StageTimer timer(report, Stage::kFree);
  impose(feedback);
  return {.tick = true};
}

void ComplianceSlow::read_solved(const SolvedStep& step, Model& model, StepReport& report) {
  const StageTimer timer(report, Stage::kModel);
  model.valid = publish(step, model) ? 1 : 0;
}

void ComplianceSlow::read_advanced(const AdvancedStep&, Model& model, StepReport& report) {
  const StageTimer timer(report, Stage::kModel);
  compute_rates(model);
}

void ComplianceSlow::finish(bool done, Model& model, StepReport& report) {
  if (!done) model.valid = 0;
  report.converged = report.converged && model.valid != 0;
  report.overflow = report.overflow || model.left_out > 0;
}

/// L2. Backward Euler takes forces at the end of a step: the hand is put where its last tick within this one will find
/// it.
void ComplianceSlow::impose(const Feedback& feedback) {
  Body& tool = *world_.body(tool_);
  const bool known = feedback.header.sequence > 0;
  const auto state = std::span(feedback.tool).first(as_size(tool.state_size()));
  if (known && all_finite(state)) tool.restore_state(state);
  if (known)
    tool.set_grip(grip_.aim(feedback.device, slow_period_));
  else
    tool.set_grip(grip_.aim(start_));
}

/// L4, L5: what the fast loop meets, at dt.
bool ComplianceSlow::publish(const SolvedStep& step, Model& model) {
  if (!step.compute_problem(1, tool_, problem_)) return false;
  contacts_.assign(step.contacts().begin(), step.contacts().end());
  list_candidates(step);
  choose(model);
  published_.clear();
  other_ends_.clear();
  for (const bool tool : {true, false}) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& c = candidates_[i];
      if (!c.chosen || c.tool != tool) continue;
      describe(c, model);
      published_.push_back(static_cast<std::int32_t>(i));
      other_ends_.push_back(find_other_end(c));
    }
    if (tool) {
      model.tool_constraints = model.constraints;
      model.tool_rows = model.rows;
    }
  }
  fill_compliance(step.lambda(), model);
  return all_finite(std::span(model.W).first(as_size(model.rows * model.rows)));
}

void ComplianceSlow::list_candidates(const SolvedStep& step) {
  candidates_.clear();
  const auto constraints = problem_.constraints();
  const double open = kOpenShare * world_.settings().contacts.alarm_distance;
  std::size_t index = 0;
  const auto begin = [&] {
    Candidate c;
    c.first_row = constraints[index].first_row;
    c.rows = constraints[index].rows;
    for (int r = 0; r < c.rows; ++r) c.active = c.active || step.lambda()[as_size(c.first_row + r)] != 0.0;
    ++index;
    return c;
  };
  for (std::size_t j = 0; j < world_.joints().size(); ++j) {
    const Joint& joint = world_.joints()[j];
    const std::size_t count =
        compute_joint_constraints(joint, body(joint.body_a), body(joint.body_b), dt_, joint_constraints_);
    for (std::size_t k = 0; k < count; ++k) {
      Candidate c = begin();
      c.joint = static_cast<std::int32_t>(j);
      c.part = static_cast<std::int32_t>(k);
      c.tool = joint.body_a == tool_ || joint.body_b == tool_;
      c.order = -HUGE_VAL;
      candidates_.push_back(c);
    }
  }
  index = as_size(step.first_contact());
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Contact& contact = contacts_[k];
    Candidate c = begin();
    c.contact = static_cast<std::int32_t>(k);
    c.tool = contact.body_a == tool_ || contact.body_b == tool_;
    // The tool's deepest first; of the others those that push hardest, then the deepest.
    c.order = !c.tool && c.active ? -1e3 - step.contact_forces()[k].x() : contact.gap;
    if (!c.tool && !c.active && problem_.delta_free()[as_size(c.first_row)] > open) continue;
    candidates_.push_back(c);
  }
}

void ComplianceSlow::choose(Model& model) {
  order_.resize(candidates_.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    const Candidate &x = candidates_[as_size(a)], &y = candidates_[as_size(b)];
    return x.tool != y.tool ? x.tool : x.order < y.order;
  });
  int constraints = 0, rows = 0, others = 0;
  for (const std::int32_t i : order_) {
    Candidate& c = candidates_[as_size(i)];
    const bool room = constraints < kMaxConstraints && rows + c.rows <= kMaxRows &&
                      (c.tool || others + c.rows <= settings_.environment_rows);
    if (!room) {
      model.left_out += c.tool || c.active ? 1 : 0;
      continue;
    }
    c.chosen = true;
    ++constraints;
    rows += c.rows;
    others += c.tool ? 0 : c.rows;
  }
}

void ComplianceSlow::describe(const Candidate& from, Model& model) {
  const Feedback& feedback = *feedback_;
  PublishedConstraint& out = model.constraint[as_size(model.constraints++)];
  PublishedRow* rows = &model.row[as_size(model.rows)];
  out = {};
  std::fill_n(rows, from.rows, PublishedRow{});
  out.rows = from.rows;
  if (from.contact >= 0)
    describe_contact(from, out, rows);
  else
    describe_joint(from, out, rows);
  if (out.points > 0) out.start_frame = body(tool_)->compute_frame(out.on_tool[0].point);
  for (int i = 0; i < feedback.slips && feedback.header.sequence > 0; ++i) {
    const Slip& slip = feedback.slip[as_size(i)];
    if (slip.id != out.id || out.kind != ConstraintKind::kContact) continue;
    out.slip = slip.slip;
    out.slip_known = 1;
  }
  for (int r = 0; r < from.rows; ++r) {
    const int row = from.first_row + r;
    // The world parts what overlaps at a limited speed; the fast loop does so from the true gap.
    const double limited =
        out.kind == ConstraintKind::kContact ? world_.settings().felt_gap(rows[r].gap, dt_) : rows[r].gap;
    rows[r].motion = problem_.delta_free()[as_size(row)] - limited;
    rows[r].compliance = problem_.compliance()[as_size(row)];
  }
  model.rows += from.rows;
}

void ComplianceSlow::describe_contact(const Candidate& from, PublishedConstraint& out, PublishedRow* rows) {
  const Contact& contact = contacts_[as_size(from.contact)];
  out.kind = ConstraintKind::kContact;
  out.id = contact.id;
  out.friction = contact.friction;
  rows[0].direction = contact.normal;
  rows[0].gap = contact.gap;
  make_tangents(contact.normal, rows[1].direction, rows[2].direction);
  if (contact.body_a == tool_) add_point(out, contact.foot_a, 1.0);
  if (contact.body_b == tool_) add_point(out, contact.foot_b, -1.0);
}

void ComplianceSlow::describe_joint(const Candidate& from, PublishedConstraint& out, PublishedRow* rows) {
  const Joint& joint = world_.joints()[as_size(from.joint)];
  compute_joint_constraints(joint, body(joint.body_a), body(joint.body_b), dt_, joint_constraints_);
  const JointConstraint& c = joint_constraints_[as_size(from.part)];
  out.kind = c.constraint.kind;
  out.id = kJointMark | static_cast<std::uint64_t>(from.joint) << 8 | static_cast<std::uint64_t>(from.part);
  out.lower = c.constraint.lower;
  out.upper = c.constraint.upper;
  for (int r = 0; r < from.rows; ++r) {
    const JointRow& row = c.rows[as_size(r)];
    rows[r].direction = row.direction;
    rows[r].turn = row.turn ? 1 : 0;
    rows[r].gap = row.error;
  }
  if (joint.body_a == tool_) add_point(out, joint.point_a, 1.0);
  if (joint.body_b != tool_) return;
  add_point(out, c.points_b[0], c.share - 1.0);
  if (c.share > 0.0) add_point(out, c.points_b[1], -c.share);
}

void ComplianceSlow::add_point(PublishedConstraint& out, const BodyPoint& point, double scale) const {
  if (out.points == static_cast<std::int32_t>(out.on_tool.size())) return;
  out.on_tool[as_size(out.points++)] = {point, scale};
  out.start += scale * body(tool_)->compute_point(point);
}

void ComplianceSlow::fill_compliance(std::span<const double> lambda, Model& model) {
  const Eigen::Index all = problem_.rows();
  W_.resize(all, all);
  problem_.assemble_dense(W_);
  Eigen::Map<Eigen::MatrixXd> W(model.W.data(), model.rows, model.rows);
  Eigen::Index column = 0;
  for (const std::int32_t c : published_) {
    for (int i = 0; i < candidates_[as_size(c)].rows; ++i, ++column) {
      Eigen::Index row = 0;
      for (const std::int32_t r : published_) {
        const Candidate& from = candidates_[as_size(r)];
        W.col(column).segment(row, from.rows) =
            W_.col(candidates_[as_size(c)].first_row + i).segment(from.first_row, from.rows);
        row += from.rows;
      }
    }
  }
  // What found no room acts on with the force that the slow solve gave it.
  Eigen::Index row = 0;
  for (const std::int32_t r : published_) {
    const Candidate& to = candidates_[as_size(r)];
    for (int i = 0; i < to.rows; ++i, ++row) {
      for (const Candidate& held : candidates_) {
        if (held.chosen || held.tool || !held.active) continue;
        for (int k = 0; k < held.rows; ++k)
          model.row[as_size(row)].motion +=
              W_(to.first_row + i, held.first_row + k) * lambda[as_size(held.first_row + k)];
      }
    }
  }
}

ComplianceSlow::OtherEnd ComplianceSlow::find_other_end(const Candidate& of) const {
  OtherEnd out;
  const auto add = [&](int index, const BodyPoint& point, double scale) {
    if (index == tool_ || !body(index) || body(index)->block_count() == 0) return;
    out.place += scale * body(index)->compute_point(point);
    out.frame = body(index)->compute_frame(point);
    out.side = scale;
  };
  if (of.contact >= 0) {
    const Contact& c = contacts_[as_size(of.contact)];
    add(c.body_a, c.foot_a, 1.0);
    add(c.body_b, c.foot_b, -1.0);
    return out;
  }
  const Joint& joint = world_.joints()[as_size(of.joint)];
  const bool curve = joint.kind == Joint::Kind::kCurve;
  add(joint.body_a, joint.point_a, 1.0);
  if (!curve) add(joint.body_b, joint.point_b, -1.0);
  return out;
}

/// How the other bodies moved in the step. Constraints among themselves are taken as they were at its beginning.
void ComplianceSlow::compute_rates(Model& model) const {
  if (model.valid == 0) return;
  std::size_t row = 0;
  for (std::size_t c = 0; c < as_size(model.tool_constraints); ++c) {
    const OtherEnd now = find_other_end(candidates_[as_size(published_[c])]);
    const OtherEnd& before = other_ends_[c];
    const Vec3 way = now.place - before.place;
    const Vec3 turn = now.side * rotation_vector(now.frame * before.frame.conjugate());
    for (int r = 0; r < model.constraint[c].rows; ++r, ++row) {
      PublishedRow& out = model.row[row];
      out.rate = out.direction.dot(out.turn ? turn : way) / slow_period_;
    }
  }
}

}  // namespace

std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context) {
  return std::make_unique<ComplianceSlow>(context);
}

}  // namespace palpate::compliance
