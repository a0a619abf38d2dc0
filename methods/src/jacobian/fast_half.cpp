#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "jacobian/halves.h"
#include "palpate/methods/jacobian_settings.h"
#include "tool_grip.h"

namespace palpate::jacobian {
namespace {

/// Real-time: bounded by max_iterations of the solver over kMaxRows rows.
class JacobianFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit JacobianFast(const MethodContext& c)
      : settings_(c.settings.get<JacobianSettings>("jacobian")),
        dt_(c.dt),
        tool_(make_tool(c.tool, c.start.pose, c.world.settings().gravity, false)),
        grip_(c, *tool_.body),
        solver_(make_accelerated_solver()),
        slow_period_(c.slow_period),
        fade_(settings_.blend > 0.0 ? dt_ / (settings_.blend * c.slow_period) : 1.0) {
    take_motion(c, body());
    grip_.grip().exact = settings_.form == JacobianSettings::Form::kEquality;
    solving_.tolerance = settings_.tolerance;
    solving_.max_iterations = settings_.max_iterations;
    problem_.reserve(kMaxRows, 1, kMaxRows, 1);
    solver_->reserve(kMaxRows, 2 * kMaxRows, 1);
  }

  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override;

 private:
  void take(const Model& model) noexcept;
  void apply_contacts(const Model& model, TickResult& out) noexcept;
  Vec6 compute_wrench(const Model& model, const Vec6& other, TickResult& out) noexcept;
  Vec6 moved_since(const Model& model) noexcept;
  void start_bodies(const Model& model) noexcept;
  double coast(const Model& model, std::size_t row) const noexcept;
  void move_bodies(const Model& model) noexcept;
  void choose(const Model& model) noexcept;
  void build(const Model& model) noexcept;
  bool solve_chosen(const Model& model, TickResult& out) noexcept;
  void apply_linear(const Model& model) noexcept;
  Body& body() noexcept { return *tool_.body; }

  const JacobianSettings settings_;
  const double dt_;
  WorldBody tool_;
  ToolGrip grip_;
  std::unique_ptr<ConstraintSolver> solver_;
  SolverSettings solving_;
  ConstraintProblem problem_;
  std::uint64_t taken_ = 0;  ///< sequence of the model in problem_
  const double slow_period_;
  double age_ = 0.0;  ///< the tick's end less that of the slow step that the model describes, within two periods [s]
  std::int32_t contacts_ = 0;
  std::array<double, kMaxRows> lambda_{};
  std::array<double, kMaxRows> slip_{};  ///< how far the tangents' anchors have moved since the model [m]
  // Inertial models: what the bodies have done since the end of the slow step.
  std::array<double, kMaxRows> gone_{};  ///< change of δ by the bodies' motion [m]
  std::array<double, kMaxRows> rate_{};  ///< and its rate [m/s]
  /// Of normals: how far the tool was in where the model has the bodies when it came [m]. It is let out over half of
  /// the time that blending takes: at once the tool would be shot out, and over the whole of it the slow loop would
  /// begin its step with a tool that is in.
  std::array<double, kMaxRows> overlap_{};
  std::array<double, kMaxRows> free_{};   ///< δ without contact forces [m]
  std::array<double, kMaxRows> delta_{};  ///< δ with them [m]
  // Of the published contacts most are only near. Those that touch, or are about to, are solved for.
  std::array<bool, kMaxContacts> chosen_{};
  std::array<std::int32_t, kMaxContacts> order_{};  ///< the chosen ones
  int count_ = 0;
  std::array<double, kMaxRows> chosen_lambda_{};
  bool built_ = false;  ///< problem_ is that of the chosen ones
  Mat6 response_ = Mat6::Zero();
  Vec6 change_ = Vec6::Zero();  ///< Δv
  // What the last model's wrench had more than the new one's at its arrival is carried over and fades, so that no step
  // at the slow rate is felt.
  const double fade_;   ///< share that goes in a tick …
  double fades_ = 1.0;  ///< … of the model in use
  bool arrived_ = false;
  Vec6 felt_ = Vec6::Zero();     ///< contact wrench of the last tick, as the tool had it
  Vec6 carried_ = Vec6::Zero();  ///< the old model's less the new one's at its arrival
  double first_ = 0.0;           ///< the new one's force then [N]
  double left_ = 0.0, share_ = 0.0;
  Mat6 by_force_ = Mat6::Zero();
  Vec6 offset_ = Vec6::Zero();
};

TickResult JacobianFast::tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept {
  feedback.device = device;
  TickResult out;
  const bool modelled = model.header.sequence > 0;
  age_ = std::clamp(feedback.header.time - model.header.time, 0.0, 3.0 * slow_period_) + dt_ - slow_period_;
  if (modelled && model.header.sequence != taken_) take(model);
  const auto blocks = as_size(body().block_count());
  std::array<Vec3, 2> dv{Vec3::Zero(), Vec3::Zero()};
  body().set_grip(grip_.aim(device));
  // A tool that cannot be stepped stands and pushes nobody.
  if (body().linearise({&dt_, 1})) {
    body().compute_free_motion(0, std::span(dv).first(blocks));
    change_ = read_blocks(std::span(dv).first(blocks));
    response_.setZero();
    body().compute_response(0, response_);
    if (settings_.form == JacobianSettings::Form::kEquality)
      apply_linear(model);
    else if (contacts_ > 0)
      apply_contacts(model, out);
    else
      felt_.setZero();
    for (std::size_t b = 0; b < blocks; ++b) dv[b] = change_.segment<3>(3 * static_cast<int>(b));
    body().advance(dt_, std::span(dv).first(blocks));
    const Wrench on_tool = body().compute_grip();
    out.wrench = {-on_tool.force, -on_tool.torque};
    if (settings_.form == JacobianSettings::Form::kEquality) out.contacts = contacts_;
  }
  out.tool = grip_.device_pose(body());
  feedback.tool.fill(0.0);
  body().save_state({feedback.tool.data(), as_size(body().state_size())});
  return out;
}

/// A new model: its contacts become the problem of the ticks to come. One that is not finite, or says that it has more
/// contacts than there can be, counts as one without contacts.
void JacobianFast::take(const Model& model) noexcept {
  taken_ = model.header.sequence;
  contacts_ = model.contacts;
  arrived_ = true;
  const bool equality = settings_.form == JacobianSettings::Form::kEquality;
  // The six equations hold any number of contacts; no world has more than so many.
  constexpr std::int32_t kMostHeld = 100000;
  if (contacts_ < 0 || contacts_ > (equality ? kMostHeld : kMaxContacts)) contacts_ = 0;
  if (equality || contacts_ == 0) return;
  const int n = 3 * contacts_;
  const Eigen::Map<const Eigen::MatrixXd> W(model.W.data(), n, n);
  bool finite = W.allFinite() && model.tool.position.allFinite() && model.tool.rotation.coeffs().allFinite();
  for (std::size_t i = 0; i < as_size(n); ++i)
    finite =
        finite && model.J[i].allFinite() && std::isfinite(model.delta[i]) && std::isfinite(model.rate[i]) &&
        (model.inertial == 0 || (std::isfinite(model.acceleration[i]) && std::isfinite(model.friction_elsewhere[i])));
  if (!finite) {
    contacts_ = 0;
    return;
  }
  std::copy_n(model.lambda.begin(), n, lambda_.begin());
  slip_.fill(0.0);
  chosen_.fill(false);
  built_ = false;
  if (model.inertial != 0) start_bodies(model);
}

/// Centre and orientation less those that the model's δ are for.
Vec6 JacobianFast::moved_since(const Model& model) noexcept {
  const Pose now = read_centre(body());
  Vec6 moved;
  moved << now.position - model.tool.position, rotation_vector(now.rotation * model.tool.rotation.conjugate());
  return moved;
}

/// Where the bodies are at the beginning of the tick. Before the end of the slow step, if the model comes so early,
/// they are on the way through it: on a line, their velocity changing evenly.
void JacobianFast::start_bodies(const Model& model) noexcept {
  const int n = 3 * contacts_;
  const Eigen::Map<const Eigen::MatrixXd> W(model.W.data(), n, n);
  const Eigen::Map<const Eigen::VectorXd> lambda(model.lambda.data(), n);
  const double age = age_ - dt_, within = std::min(age, 0.0);
  const Vec6 moved = moved_since(model);
  for (int i = 0; i < n; ++i) {
    const auto k = as_size(i);
    gone_[k] = age * model.rate[k];
    rate_[k] = model.rate[k];
    if (within < 0.0)
      rate_[k] += within * (model.acceleration[k] + model.friction_elsewhere[k] + W.row(i).dot(lambda) / (dt_ * dt_));
    overlap_[k] = i % 3 == 0 ? std::max(0.0, -(model.delta[k] + gone_[k] + model.J[k].dot(moved))) : 0.0;
  }
}

/// How fast δ changes in this tick by what the bodies do without the tool's forces [m/s]. Friction only slows them
/// down.
double JacobianFast::coast(const Model& model, std::size_t row) const noexcept {
  if (age_ >= 2.0 * slow_period_) return 0.0;  // so old a model tells no more of how they go on
  const double rate = rate_[row] + dt_ * model.acceleration[row], slowed = dt_ * model.friction_elsewhere[row];
  if (rate * slowed >= 0.0) return rate;
  return std::abs(slowed) < std::abs(rate) ? rate + slowed : 0.0;
}

/// What the tick's λ has done to them.
void JacobianFast::move_bodies(const Model& model) noexcept {
  const int n = 3 * contacts_;
  const Eigen::Map<const Eigen::MatrixXd> W(model.W.data(), n, n);
  Eigen::Map<Eigen::VectorXd> rate(rate_.data(), n);
  for (int i = 0; i < n; ++i) rate[i] = coast(model, as_size(i));
  for (int i = 0; i < n; ++i) {
    if (lambda_[as_size(i)] != 0.0) rate += lambda_[as_size(i)] / dt_ * W.col(i);
  }
  Eigen::Map<Eigen::VectorXd>(gone_.data(), n) += dt_ * rate;
}

/// Takes in contacts nearer than a margin or bearing force; leaves out others when they have become many.
void JacobianFast::choose(const Model& model) noexcept {
  // What a tool at 0.5 m/s does in a tick.
  constexpr double kNear = 5e-4;
  constexpr int kSpare = 6;
  int wanted = 0;
  bool missing = false;
  std::array<bool, kMaxContacts> near{};
  for (std::size_t c = 0; c < as_size(contacts_); ++c) {
    near[c] = free_[3 * c] < kNear || lambda_[3 * c] > 0.0;
    wanted += near[c];
    missing = missing || (near[c] && !chosen_[c]);
  }
  if (built_ && !missing && count_ <= wanted + kSpare) return;
  for (std::size_t c = 0; c < as_size(contacts_); ++c) chosen_[c] = near[c] || (chosen_[c] && missing);
  build(model);
}

void JacobianFast::build(const Model& model) noexcept {
  built_ = true;
  count_ = 0;
  for (std::int32_t c = 0; c < contacts_; ++c) {
    if (chosen_[as_size(c)]) order_[as_size(count_++)] = c;
  }
  problem_.clear();
  const int world = problem_.add_dense_body();
  const int tool = problem_.add_light_body();
  Constraint contact;
  contact.a = {ConstraintSide::Kind::kLight, tool, -1};
  contact.b = {ConstraintSide::Kind::kDense, world, -1};
  for (int i = 0; i < count_; ++i) {
    const double friction = model.friction[as_size(order_[as_size(i)])];
    contact.friction = std::isfinite(friction) ? std::max(0.0, friction) : 0.0;
    problem_.add_constraint(contact);
  }
  problem_.prepare_dense();
  const int n = 3 * contacts_;
  const Eigen::Map<const Eigen::MatrixXd> W(model.W.data(), n, n);
  auto own = problem_.dense_compliance(world);
  for (int i = 0; i < count_; ++i) {
    const int a = 3 * order_[as_size(i)];
    for (int j = 0; j < count_; ++j) own.block<3, 3>(3 * i, 3 * j) = W.block<3, 3>(a, 3 * order_[as_size(j)]);
    for (int r = 0; r < 3; ++r) problem_.light_J(3 * i + r) = model.J[as_size(a + r)];
  }
}

/// Adds what the contacts do to the tool in this tick. The first tick of a model is done twice: the contact wrench
/// alone shows what is to be carried over from the last model.
void JacobianFast::apply_contacts(const Model& model, TickResult& out) noexcept {
  if (arrived_) {
    fades_ = model.inertial != 0 ? 2.0 * fade_ : fade_;
    left_ = std::max(0.0, 1.0 - fades_);
    if (left_ > 0.0 && model.inertial == 0) {
      const Vec6 alone = compute_wrench(model, Vec6::Zero(), out);
      carried_ = felt_ - alone;
      first_ = alone.head<3>().norm();
    }
    if (model.inertial != 0) first_ = 0.0;  // what is carried over is the overlap
    share_ = first_ > 0.0 ? left_ : 0.0;
    arrived_ = false;
  }
  const Vec6 carried = share_ * carried_;
  const Vec6 wrench = compute_wrench(model, carried, out);
  change_ += response_ / dt_ * (wrench + carried);
  if (model.inertial != 0) move_bodies(model);
  for (std::size_t i = 0; i < as_size(3 * contacts_); ++i) {
    if (i % 3 != 0) slip_[i] += delta_[i];
  }
  for (std::size_t c = 0; c < as_size(contacts_); ++c)
    out.contacts += lambda_[3 * c] > 0.0 && !model.J[3 * c].isZero(0.0);
  // What is carried fades, and shrinks with the contact's own force: contacts that have let go carry nothing.
  left_ = std::max(0.0, left_ - fades_);
  share_ = first_ > 0.0 ? left_ * std::min(1.0, wrench.head<3>().norm() / first_) : 0.0;
  felt_ = wrench + carried;
}

/// Contact wrench of δ = delta + rate · age + J (x − x_model) + W λ − slip, 0 ≤ δ_n ⊥ λ_n ≥ 0, Coulomb, when `other`
/// acts too.
Vec6 JacobianFast::compute_wrench(const Model& model, const Vec6& other, TickResult& out) noexcept {
  const Vec6 moved = dt_ * (read_blocks(body().velocities()) + change_) + response_ * other + moved_since(model);
  const auto n = as_size(3 * contacts_);
  for (std::size_t i = 0; i < n; ++i) {
    const double by_others =
        model.inertial != 0 ? left_ * overlap_[i] + gone_[i] + dt_ * coast(model, i) : age_ * model.rate[i];
    free_[i] = model.delta[i] + by_others + model.J[i].dot(moved) - slip_[i];
  }
  choose(model);
  // Forces of the chosen may close another contact, rarely: once more with it, and what is left is the next tick's.
  if (!solve_chosen(model, out)) solve_chosen(model, out);
  Vec6 wrench = Vec6::Zero();
  for (std::size_t i = 0; i < n; ++i) wrench += lambda_[i] * model.J[i];
  return wrench;
}

/// Solves for the chosen contacts and finds δ of all. False if one that was not chosen is closed by that: it is chosen
/// now.
bool JacobianFast::solve_chosen(const Model& model, TickResult& out) noexcept {
  for (int i = 0; i < count_; ++i) {
    for (int r = 0; r < 3; ++r) {
      const auto k = as_size(3 * order_[as_size(i)] + r);
      problem_.delta_free(3 * i + r) = free_[k];
      problem_.light_Y(3 * i + r).noalias() = response_ * model.J[k];
      chosen_lambda_[as_size(3 * i + r)] = lambda_[k];
    }
  }
  const SolveReport solved = solver_->solve(problem_, solving_, std::span(chosen_lambda_).first(as_size(3 * count_)));
  out.residual = solved.residual.metres;
  out.iterations += solved.iterations;
  lambda_.fill(0.0);
  const int n = 3 * contacts_;
  const Eigen::Map<const Eigen::MatrixXd> W(model.W.data(), n, n);
  Eigen::Map<Eigen::VectorXd> delta(delta_.data(), n);
  delta = Eigen::Map<const Eigen::VectorXd>(free_.data(), n);
  Vec6 displaced = Vec6::Zero();
  for (int i = 0; i < 3 * count_; ++i) {
    const int k = 3 * order_[as_size(i / 3)] + i % 3;
    const double lambda = chosen_lambda_[as_size(i)];
    lambda_[as_size(k)] = lambda;
    if (lambda == 0.0) continue;
    delta += lambda * W.col(k);
    displaced += lambda * problem_.light_Y(i);
  }
  bool complete = true;
  for (int i = 0; i < n; ++i) delta[i] += model.J[as_size(i)].dot(displaced);
  for (std::size_t c = 0; c < as_size(contacts_); ++c) {
    if (chosen_[c] || delta_[3 * c] >= -settings_.tolerance) continue;
    chosen_[c] = true;
    complete = false;
  }
  if (!complete) build(model);
  return complete;
}

/// Otaduy & Gross 2007, eq. 13, then eq. 3: F̃ = A v⁻ with v⁻ the velocity after free motion.
void JacobianFast::apply_linear(const Model& model) noexcept {
  const bool usable = contacts_ > 0 && model.by_force.allFinite() && model.offset.allFinite();
  const double share = settings_.filter_time > 0.0 ? dt_ / (settings_.filter_time + dt_) : 1.0;
  by_force_ += share * ((usable ? model.by_force : Mat6(Mat6::Zero())) - by_force_);
  offset_ += share * ((usable ? model.offset : Vec6(Vec6::Zero())) - offset_);
  const int n = 3 * body().block_count();
  const Vec6 v = read_blocks(body().velocities()) + change_;
  Vec6 force = Vec6::Zero();
  if (n == 6)
    force = dt_ * response_.partialPivLu().solve(v);
  else
    force.head<3>() = dt_ * Mat3(response_.topLeftCorner<3, 3>()).inverse() * v.head<3>();
  change_ += response_ / dt_ * (offset_ + by_force_ * force);
}

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context) {
  return std::make_unique<JacobianFast>(context);
}

}  // namespace palpate::jacobian
