#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "jacobian/halves.h"
#include "tool_grip.h"

namespace palpate::jacobian {
namespace {

/// Real-time: bounded by max_iterations of the solver over kMaxRows rows.
class JacobianFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit JacobianFast(const MethodContext& c)
      : settings_(c.settings.jacobian),
        dt_(c.dt),
        tool_(make_tool(c.tool, c.start.pose, c.world.settings().gravity, false)),
        grip_(c, *tool_.body),
        solver_(make_accelerated_solver()) {
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
  std::int32_t contacts_ = 0;
  std::array<double, kMaxRows> lambda_{};
  std::array<double, kMaxRows> slip_{};  ///< how far the tangents' anchors have moved since the model [m]
  std::array<double, kMaxRows> delta_{};
  Mat6 response_ = Mat6::Zero();
  Vec6 change_ = Vec6::Zero();  ///< Δv
  Mat6 by_force_ = Mat6::Zero();
  Vec6 offset_ = Vec6::Zero();
};

TickResult JacobianFast::tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept {
  feedback.device = device;
  TickResult out;
  const bool modelled = model.header.sequence > 0;
  if (modelled && model.header.sequence != taken_) take(model);
  const auto blocks = static_cast<std::size_t>(body().block_count());
  std::array<Vec3, 2> dv{Vec3::Zero(), Vec3::Zero()};
  body().set_grip(grip_.aim(device));
  // A tool that cannot be stepped (a device that is not finite) stands and pushes nobody.
  const bool sound = device.pose.position.allFinite() && body().linearise({&dt_, 1});
  if (sound) {
    body().compute_free_motion(0, std::span(dv).first(blocks));
    change_ = read_blocks(std::span(dv).first(blocks));
    response_.setZero();
    body().compute_response(0, response_);
    if (settings_.form == JacobianSettings::Form::kEquality)
      apply_linear(model);
    else if (contacts_ > 0)
      apply_contacts(model, out);
    for (std::size_t b = 0; b < blocks; ++b) dv[b] = change_.segment<3>(3 * static_cast<int>(b));
    body().advance(dt_, std::span(dv).first(blocks));
    const Wrench on_tool = body().compute_grip();
    out.wrench = {-on_tool.force, -on_tool.torque};
    if (settings_.form == JacobianSettings::Form::kEquality) out.contacts = contacts_;
  }
  out.tool = grip_.device_pose(body());
  feedback.tool.fill(0.0);
  body().save_state({feedback.tool.data(), static_cast<std::size_t>(body().state_size())});
  return out;
}

/// A new model: its contacts become the problem of the ticks to come. One that is not finite, or says that it has more
/// contacts than there can be, counts as one without contacts.
void JacobianFast::take(const Model& model) noexcept {
  taken_ = model.header.sequence;
  contacts_ = model.contacts;
  problem_.clear();
  const bool equality = settings_.form == JacobianSettings::Form::kEquality;
  // The six equations hold any number of contacts; no world has more than so many.
  constexpr std::int32_t kMostHeld = 100000;
  if (contacts_ < 0 || contacts_ > (equality ? kMostHeld : kMaxContacts)) contacts_ = 0;
  if (equality || contacts_ == 0) return;
  const int n = 3 * contacts_;
  const Eigen::Map<const Eigen::MatrixXd> W(model.W.data(), n, n);
  bool finite = W.allFinite() && model.tool.position.allFinite() && model.tool.rotation.coeffs().allFinite();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    finite = finite && model.J[i].allFinite() && std::isfinite(model.delta[i]);
  if (!finite) {
    contacts_ = 0;
    return;
  }
  const int world = problem_.add_dense_body();
  const int tool = problem_.add_light_body();
  Constraint contact;
  contact.a = {ConstraintSide::Kind::kLight, tool, -1};
  contact.b = {ConstraintSide::Kind::kDense, world, -1};
  for (std::size_t i = 0; i < static_cast<std::size_t>(contacts_); ++i) {
    contact.friction = std::isfinite(model.friction[i]) ? std::max(0.0, model.friction[i]) : 0.0;
    problem_.add_constraint(contact);
  }
  problem_.prepare_dense();
  problem_.dense_compliance(world) = W;
  for (int i = 0; i < n; ++i) problem_.light_J(i) = model.J[static_cast<std::size_t>(i)];
  std::copy_n(model.lambda.begin(), n, lambda_.begin());
  slip_.fill(0.0);
}

/// δ = delta + J (x − x_model) + W λ − slip, 0 ≤ δ_n ⊥ λ_n ≥ 0, Coulomb; adds what λ does to the tool in this tick.
void JacobianFast::apply_contacts(const Model& model, TickResult& out) noexcept {
  const Pose now = read_centre(body());
  Vec6 moved = dt_ * (read_blocks(body().velocities()) + change_);
  moved.head<3>() += now.position - model.tool.position;
  moved.tail<3>() += rotation_vector(now.rotation * model.tool.rotation.conjugate());
  const int n = 3 * contacts_;
  for (int i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    problem_.delta_free(i) = model.delta[k] + model.J[k].dot(moved) - slip_[k];
    problem_.light_Y(i).noalias() = response_ * model.J[k];
  }
  const auto rows = static_cast<std::size_t>(n);
  const SolveReport solved = solver_->solve(problem_, solving_, {lambda_.data(), rows});
  problem_.compute_delta({lambda_.data(), rows}, {delta_.data(), rows});
  for (int i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    change_ += lambda_[k] / dt_ * problem_.light_Y(i);
    if (i % 3 != 0) slip_[k] += delta_[k];
  }
  for (int c = 0; c < contacts_; ++c) out.contacts += lambda_[static_cast<std::size_t>(3 * c)] > 0.0;
  out.residual = solved.residual.metres;
  out.iterations = solved.iterations;
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
