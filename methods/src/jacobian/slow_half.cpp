#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "jacobian/contact_space.h"
#include "jacobian/halves.h"
#include "jacobian/neighbours.h"
#include "palpate/methods/jacobian_settings.h"
#include "tool_grip.h"

namespace palpate::jacobian {
namespace {

/// Penetrations below this are left to the next step's contacts; the paper's form corrects deeper ones at once [m].
constexpr double kSane = 1e-6;
/// Rows of joints and of contacts among other bodies that the tool can be felt through; with more they hold their λ.
constexpr std::size_t kMaxOthers = 300;

class JacobianSlow final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit JacobianSlow(const MethodContext& c)
      : world_(c.world),
        body_(c.body()),
        tool_(*c.world.body(c.body())),
        settings_(c.settings.get<JacobianSettings>("jacobian")),
        start_(c.start),
        dt_(c.dt),
        slow_period_(c.slow_period),
        grip_(c, tool_),
        shadow_(make_tool(c.tool, c.start.pose, c.world.settings().gravity, false)),
        inertial_(!equality() && !fast_answer() && Neighbours::are_rigid(c.world, c.body())),
        neighbours_(c.world, c.body()) {
    grip_.grip().exact = equality();
  }

  StepWish begin(const Feedback& feedback, Model& model, StepReport&) override {
    clear(model);
    const bool sent = feedback.header.sequence > 0;
    if (sent && settings_.track) tool_.restore_state({feedback.tool.data(), state_size()});
    // The step ends one slow period from now; of that the tool of the fast loop sees all but its own tick.
    const double ahead = sent && settings_.track ? slow_period_ - dt_ : 0.0;
    tool_.set_grip(grip_.aim(sent ? feedback.device : start_, ahead));
    return {.tick = fast_answer()};
  }

  bool solve(const StepProblem& problem, std::vector<double>& lambda) override {
    if (equality()) hold_contacts(problem, lambda);
    return equality();
  }

  void read_solved(const SolvedStep& step, Model& model, StepReport& report) override {
    const StageTimer timer(report, Stage::kModel);
    if (equality())
      publish_linear(step, model);
    else
      publish_contacts(step, model);
  }

  void read_advanced(const AdvancedStep& step, Model&, StepReport& report) override {
    if (!equality()) return;
    const StageTimer timer(report, Stage::kCorrect);
    correct_penetration(step);
  }

  void finish(bool done, Model& model, StepReport& report) override {
    if (!done) clear(model);
    report.overflow = report.overflow || model.left_out > 0;
  }

 private:
  bool equality() const noexcept { return settings_.form == JacobianSettings::Form::kEquality; }
  bool fast_answer() const noexcept { return settings_.answer == JacobianSettings::Answer::kFast; }
  std::size_t state_size() const noexcept { return as_size(tool_.state_size()); }

  static void clear(Model& model) noexcept {
    model.contacts = 0;
    model.left_out = 0;
    model.inertial = 0;
    model.by_force.setZero();
    model.offset.setZero();
  }

  void hold_contacts(const ProblemResults& step, std::vector<double>& lambda);
  void publish_linear(const SolvedStep& step, Model& model);
  void publish_contacts(const SolvedStep& step, Model& model);
  void choose_contacts(const SolvedStep& step, Model& model);
  void choose_others(const SolvedStep& step);
  void eliminate_others();
  void compute_pull(const SolvedStep& step);
  void let_bodies_move(const SolvedStep& step, Model& model);
  void correct_penetration(const AdvancedStep& step);
  const ConstraintProblem& answer(const SolvedStep& step);
  double free_distance(const SolvedStep& step, const ConstraintProblem& from, std::span<const double> delta,
                       const RowRef& row) const;
  double gap_of(const ProblemResults& step, const RowRef& row) const;

  static int row_of(const ConstraintProblem& problem, const RowRef& r) {
    return problem.constraints()[as_size(r.constraint)].first_row + r.offset;
  }
  int tool_side(const ProblemResults& step) const noexcept { return step.side(body_).body; }
  bool acts_on_tool(const ProblemResults& step, const Constraint& c) const noexcept {
    const auto is_tool = [&](const ConstraintSide& s) {
      return s.kind == ConstraintSide::Kind::kLight && s.body == tool_side(step);
    };
    return is_tool(c.a) || is_tool(c.b);
  }

  World& world_;
  const int body_;  ///< the tool, of the world
  Body& tool_;
  const JacobianSettings settings_;
  const DeviceState start_;
  const double dt_, slow_period_;
  ToolGrip grip_;
  WorldBody shadow_;     ///< the tool once more, for its matrix in the fast loop's time step
  const bool inertial_;  ///< models are of bodies that go on by their inertia
  Neighbours neighbours_;
  ConstraintProblem other_;
  std::vector<RowRef> rows_;    ///< equality: that hold; inequality: published
  std::vector<RowRef> others_;  ///< inequality: that the tool is felt through
  std::vector<RowRef> both_;
  std::vector<std::pair<double, int>> deepest_;
  std::vector<std::uint8_t> published_;       ///< of each constraint, whether it is
  std::vector<double> fixed_;                 ///< λ of what slips or stands at its bound elsewhere
  std::vector<double> lambda_;                ///< scratch
  std::vector<double> rubbing_, by_rubbing_;  ///< of fixed_ what friction is, and δ with it alone
  std::vector<Vec3> velocities_, shift_;
  std::vector<BlockRows::Entry> entries_;
  Eigen::MatrixXd W_, J_;
  Eigen::VectorXd delta_;
  /// Inertial: of δ, what forces other than the tool's do in the slow step; of that, what friction does [m].
  Eigen::MatrixXd pull_;
};

/// The problem without the tool, at the time step whose answer is published.
const ConstraintProblem& JacobianSlow::answer(const SolvedStep& step) {
  if (!fast_answer()) return step.problem();
  step.compute_problem(1, body_, other_);
  return other_;
}

/// A row of `delta` as it is when the tool stands [m].
double JacobianSlow::free_distance(const SolvedStep& step, const ConstraintProblem& from, std::span<const double> delta,
                                   const RowRef& row) const {
  const double all = delta[as_size(row_of(from, row))];
  if (&from != &step.problem()) return all;
  const Vec6 v = read_blocks(tool_.velocities()) + read_blocks(step.free_change(body_));
  return all - slow_period_ * light_row(from, row, tool_side(step)).dot(v);
}

/// What of δ is there at the beginning of the step [m]. Joints hold their place, the paper's contacts only a velocity.
double JacobianSlow::gap_of(const ProblemResults& step, const RowRef& row) const {
  if (row.constraint < step.first_contact()) return 0.0;
  return world_.settings().felt_gap(step.contacts()[as_size(row.constraint - step.first_contact())].gap, step.h());
}

// The paper's form.

/// Contacts that the free motion would close keep their normal velocity at zero (eq. 8), joints hold, and so do motors
/// and dry friction as far as their bounds allow; λ by eq. 11. The paper has contacts alone.
void JacobianSlow::hold_contacts(const ProblemResults& step, std::vector<double>& lambda) {
  const ConstraintProblem& problem = step.problem();
  rows_.clear();
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(problem.constraints().size()); ++i) {
    const Constraint& c = problem.constraints()[as_size(i)];
    // Limits of joints can only push, as contacts do.
    const bool one_sided =
        c.kind == ConstraintKind::kContact || (c.kind == ConstraintKind::kBounded && c.lower == 0.0 && c.upper > 0.0);
    if (one_sided && !(problem.delta_free()[as_size(c.first_row)] < 0.0)) continue;
    for (std::int32_t r = 0; r < (c.kind == ConstraintKind::kContact ? 1 : c.rows); ++r) rows_.push_back({i, r});
  }
  // What would have to bear more than its bound gives way and bears that. Each round takes at least one out.
  fixed_.assign(as_size(problem.rows()), 0.0);
  lambda_.resize(fixed_.size());
  const auto gives_way = [&](const RowRef& row, double force) {
    const Constraint& c = problem.constraints()[as_size(row.constraint)];
    if (c.kind != ConstraintKind::kBounded || (force >= c.lower && force <= c.upper)) return false;
    fixed_[as_size(row_of(problem, row))] = std::clamp(force, c.lower, c.upper);
    return true;
  };
  for (std::size_t held = rows_.size() + 1; rows_.size() < held;) {
    held = rows_.size();
    problem.compute_delta(fixed_, lambda_);
    assemble_compliance(problem, rows_, -1, W_);
    delta_.resize(W_.rows());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      delta_[k] = gap_of(step, rows_[i]) - lambda_[as_size(row_of(problem, rows_[i]))];
      W_(k, k) += problem.compliance()[as_size(row_of(problem, rows_[i]))];
    }
    solve_held(W_, delta_);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (gives_way(rows_[i], delta_[static_cast<Eigen::Index>(i)])) continue;
      rows_[kept] = rows_[i];
      delta_[static_cast<Eigen::Index>(kept++)] = delta_[static_cast<Eigen::Index>(i)];
    }
    rows_.resize(kept);
  }
  lambda = fixed_;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    lambda[as_size(row_of(problem, rows_[i]))] = delta_[static_cast<Eigen::Index>(i)];
}

void JacobianSlow::publish_linear(const SolvedStep& step, Model& model) {
  const ConstraintProblem& from = answer(step);
  const double h = fast_answer() ? dt_ : slow_period_;
  const int tool = tool_side(step);
  assemble_compliance(from, rows_, &from == &step.problem() ? tool : -1, W_);
  W_ /= h;
  lambda_.resize(fixed_.size());
  from.compute_delta(fixed_, lambda_);
  J_.resize(W_.rows(), 6);
  delta_.resize(W_.rows());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    J_.row(k) = light_row(step.problem(), rows_[i], tool);
    delta_[k] = (free_distance(step, from, lambda_, rows_[i]) - gap_of(step, rows_[i])) / h;
  }
  lambda_.resize(state_size());
  tool_.save_state(lambda_);
  shadow_.body->restore_state(lambda_);
  shadow_.body->set_grip(grip_.grip());
  Mat6 response = Mat6::Zero();
  if (!shadow_.body->linearise({&dt_, 1}) || !shadow_.body->compute_response(0, response)) return;
  const LinearModel linear = compute_linear_model({J_, W_, delta_}, response / dt_);
  if (!linear.by_force.allFinite() || !linear.offset.allFinite()) return;
  model.by_force = linear.by_force;
  model.offset = linear.offset;
  model.contacts = static_cast<std::int32_t>((J_.rowwise().squaredNorm().array() > 0.0).count());
}

/// The paper's last stage: points of soft bodies that ended inside something are moved out along the contact's normal.
/// A body's motion in a unit step from rest is its displacement, whatever its kind.
void JacobianSlow::correct_penetration(const AdvancedStep& step) {
  const AdvancedStep::Contacts now = step.find_contacts();
  if (now.found.deepest <= kSane) return;
  for (std::size_t i = 0; i < world_.bodies().size(); ++i) {
    Body* body = world_.bodies()[i].body.get();
    if (!body || body->block_count() <= 2) continue;
    shift_.assign(as_size(body->block_count()), Vec3::Zero());
    entries_.resize(as_size(body->max_row_entries()));
    bool moved = false;
    for (const Contact& c : now.contacts) {
      const bool is_a = c.body_a == static_cast<std::int32_t>(i);
      if (c.gap >= -kSane || !(is_a || c.body_b == static_cast<std::int32_t>(i))) continue;
      const Vec3 out = is_a ? c.normal : Vec3(-c.normal);
      const int count = body->compute_point_row(is_a ? c.foot_a : c.foot_b, out, entries_);
      double squares = 0.0;
      for (int k = 0; k < count; ++k) squares += entries_[as_size(k)].value.squaredNorm();
      if (!(squares > 0.0)) continue;
      for (int k = 0; k < count; ++k) {
        const BlockRows::Entry& e = entries_[as_size(k)];
        // Several contacts may ask for the same node: the farthest counts.
        const Vec3 wish = -c.gap / squares * e.value;
        Vec3& farthest = shift_[as_size(e.block)];
        if (wish.squaredNorm() > farthest.squaredNorm()) farthest = wish;
      }
      moved = true;
    }
    if (!moved) continue;
    velocities_.assign(body->velocities().begin(), body->velocities().end());
    const std::vector<Vec3> still(velocities_.size(), Vec3::Zero());
    body->set_velocities(still);
    body->advance(1.0, shift_);
    body->set_velocities(velocities_);
  }
}

// The default form.

/// The tool's contacts, in the world's order. If there are too many: those that bear, then the deepest at the end of
/// the free motion. Where all else is rigid, contacts among the others take the room that is left.
void JacobianSlow::choose_contacts(const SolvedStep& step, Model& model) {
  const ConstraintProblem& problem = step.problem();
  deepest_.clear();
  for (std::int32_t i = step.first_contact(); i < static_cast<std::int32_t>(problem.constraints().size()); ++i) {
    const Constraint& c = problem.constraints()[as_size(i)];
    if (!acts_on_tool(step, c)) continue;
    const bool bears = step.lambda()[as_size(c.first_row)] > 0.0;
    const double depth = problem.delta_free()[as_size(c.first_row)];
    deepest_.emplace_back(bears ? -std::numeric_limits<double>::infinity() : depth, i);
  }
  const auto room = as_size(std::clamp(settings_.max_contacts, 1, JacobianSettings::kMost));
  if (deepest_.size() > room) {
    model.left_out = static_cast<std::int32_t>(deepest_.size() - room);
    std::sort(deepest_.begin(), deepest_.end());
    deepest_.resize(room);
    std::sort(deepest_.begin(), deepest_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  }
  neighbours_.begin(step);
  if (inertial_ && !deepest_.empty())
    neighbours_.list_contacts(step, as_size(kMaxContacts) - deepest_.size(), deepest_);
  rows_.clear();
  published_.assign(problem.constraints().size(), 0);
  for (const auto& [depth, constraint] : deepest_) {
    published_[as_size(constraint)] = 1;
    for (std::int32_t r = 0; r < 3; ++r) rows_.push_back({constraint, r});
  }
}

/// Rows of all other constraints that hold, as the slow solve left them; what slips keeps its force.
void JacobianSlow::choose_others(const SolvedStep& step) {
  const ConstraintProblem& problem = step.problem();
  const std::span<const double> lambda = step.lambda();
  others_.clear();
  fixed_.assign(lambda.size(), 0.0);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(problem.constraints().size()); ++i) {
    const Constraint& c = problem.constraints()[as_size(i)];
    if (c.kind == ConstraintKind::kContact && (acts_on_tool(step, c) || published_[as_size(i)] != 0)) continue;
    const double* l = lambda.data() + c.first_row;
    if (c.kind == ConstraintKind::kContact) {
      if (!(l[0] > 0.0)) continue;
      // A pile that is held until the next model is a wall; rigid bodies push on with what they pushed.
      if (inertial_) {
        std::copy(l, l + 3, fixed_.begin() + c.first_row);
        continue;
      }
      const bool sticks = std::hypot(l[1], l[2]) < (1.0 - 1e-6) * c.friction * l[0];
      for (std::int32_t r = 0; r < (sticks ? 3 : 1); ++r) others_.push_back({i, r});
      if (!sticks) std::copy(l + 1, l + 3, fixed_.begin() + c.first_row + 1);
    } else if (c.kind == ConstraintKind::kEquality || (l[0] > c.lower && l[0] < c.upper)) {
      for (std::int32_t r = 0; r < c.rows; ++r) others_.push_back({i, r});
    } else {
      fixed_[as_size(c.first_row)] = l[0];
    }
  }
  if (others_.size() <= kMaxOthers) return;
  for (const RowRef& r : others_) fixed_[as_size(row_of(problem, r))] = lambda[as_size(row_of(problem, r))];
  others_.clear();
}

/// What others hold gives way with them: W −= W_to W_oo⁻¹ W_ot and likewise δ.
void JacobianSlow::eliminate_others() {
  const auto n = static_cast<Eigen::Index>(rows_.size()), m = static_cast<Eigen::Index>(others_.size());
  if (m == 0) return;
  Eigen::MatrixXd held = W_.bottomRightCorner(m, m);
  held.diagonal().array() += 1e-12 * held.diagonal().cwiseAbs().maxCoeff();
  Eigen::MatrixXd right(m, n + 3);
  right << W_.bottomLeftCorner(m, n), delta_.tail(m), pull_.bottomRows(m);
  const Eigen::LDLT<Eigen::MatrixXd> factor(held);
  const Eigen::MatrixXd X = factor.solve(right);
  W_.topLeftCorner(n, n) -= (W_.topRightCorner(n, m) * X.leftCols(n)).eval();
  delta_.head(n) -= (W_.topRightCorner(n, m) * X.col(n)).eval();
  pull_.topRows(n) -= (W_.topRightCorner(n, m) * X.rightCols(2)).eval();
}

/// What weight and the fixed λ alone do to each row of `both_` in the slow step: no velocities, no gaps.
void JacobianSlow::compute_pull(const SolvedStep& step) {
  pull_.setZero(static_cast<Eigen::Index>(both_.size()), 2);
  if (!inertial_) return;
  const ConstraintProblem& problem = step.problem();
  rubbing_ = fixed_;
  for (const Constraint& c : problem.constraints()) {
    if (c.kind == ConstraintKind::kContact) rubbing_[as_size(c.first_row)] = 0.0;
  }
  by_rubbing_.resize(rubbing_.size());
  problem.compute_delta(rubbing_, by_rubbing_);
  for (std::size_t k = 0; k < both_.size(); ++k) {
    const auto row = as_size(row_of(problem, both_[k]));
    const double free = problem.delta_free()[row];
    pull_(static_cast<Eigen::Index>(k), 0) = lambda_[row] - free + neighbours_.fall(step, both_[k]);
    pull_(static_cast<Eigen::Index>(k), 1) = by_rubbing_[row] - free;
  }
}

/// Makes of a model of the whole slow step one of bodies that go on from its end and answer by their inertia: a rigid
/// body that gave way at once as it does in a slow step would be entered by the tool as far as that.
void JacobianSlow::let_bodies_move(const SolvedStep& step, Model& model) {
  model.inertial = 1;
  const auto n = static_cast<Eigen::Index>(rows_.size());
  Eigen::Map<Eigen::MatrixXd> W(model.W.data(), n, n);
  const Eigen::Map<const Eigen::VectorXd> lambda(model.lambda.data(), n);
  for (Eigen::Index i = 0; i < n; ++i)
    W(i, i) -= step.problem().compliance()[as_size(row_of(step.problem(), rows_[as_size(i)]))];
  Eigen::Map<Eigen::VectorXd>(model.delta.data(), n) += W * lambda;
  const double square = slow_period_ * slow_period_;
  Eigen::Map<Eigen::VectorXd>(model.acceleration.data(), n) = (pull_.col(0) - pull_.col(1)).head(n) / square;
  Eigen::Map<Eigen::VectorXd>(model.friction_elsewhere.data(), n) = pull_.col(1).head(n) / square;
  W *= dt_ * dt_ / square;
}

void JacobianSlow::publish_contacts(const SolvedStep& step, Model& model) {
  model.tool = read_centre(tool_);
  choose_contacts(step, model);
  if (rows_.empty()) return;
  choose_others(step);
  const ConstraintProblem& from = answer(step);
  const int tool = tool_side(step);
  both_.assign(rows_.begin(), rows_.end());
  both_.insert(both_.end(), others_.begin(), others_.end());
  assemble_compliance(from, both_, &from == &step.problem() ? tool : -1, W_);
  lambda_.resize(fixed_.size());
  from.compute_delta(fixed_, lambda_);
  delta_.resize(W_.rows());
  for (std::size_t i = 0; i < both_.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    delta_[k] = free_distance(step, from, lambda_, both_[i]);
    W_(k, k) += step.problem().compliance()[as_size(row_of(step.problem(), both_[i]))];
  }
  compute_pull(step);
  eliminate_others();
  const auto n = static_cast<Eigen::Index>(rows_.size());
  if (!W_.topLeftCorner(n, n).allFinite() || !delta_.head(n).allFinite()) return;
  Eigen::Map<Eigen::MatrixXd>(model.W.data(), n, n) = W_.topLeftCorner(n, n);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    model.J[i] = light_row(step.problem(), rows_[i], tool);
    model.delta[i] = delta_[static_cast<Eigen::Index>(i)];
    model.rate[i] = neighbours_.rate(step, rows_[i]);
    model.lambda[i] = step.lambda()[as_size(row_of(step.problem(), rows_[i]))];
  }
  if (inertial_) let_bodies_move(step, model);
  model.contacts = static_cast<std::int32_t>(deepest_.size());
  for (std::size_t i = 0; i < deepest_.size(); ++i)
    model.friction[i] = step.problem().constraints()[as_size(deepest_[i].second)].friction;
}

}  // namespace

std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context) {
  return std::make_unique<JacobianSlow>(context);
}

}  // namespace palpate::jacobian
