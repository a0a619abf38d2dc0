#include <algorithm>
#include <cmath>

#include "accelerance/halves.h"
#include "accelerance/pointer_finder.h"
#include "accelerance/pointer_forces.h"
#include "accelerance/response.h"
#include "accelerance/spring_rows.h"
#include "palpate/methods/accelerance_settings.h"

namespace palpate::accelerance {
namespace {

Vec6 read_velocity(const Body& body) noexcept {
  Vec6 out = Vec6::Zero();
  const std::span<const Vec3> v = body.velocities();
  for (std::size_t b = 0; b < v.size(); ++b) out.segment<3>(3 * static_cast<int>(b)) = v[b];
  return out;
}

constexpr int kPredictionSweeps = 200;

/// Particles have six numbers of state, rigid bodies thirteen: position, orientation, velocity, spin.
void write_state(Body& body, const Pose& pose, const Vec6& velocity) noexcept {
  std::array<double, 13> state;
  Eigen::Map<Vec3>(state.data()) = pose.position;
  if (body.block_count() == 1) {
    Eigen::Map<Vec3>(state.data() + 3) = velocity.head<3>();
  } else {
    Eigen::Map<Eigen::Vector4d>(state.data() + 3) = pose.rotation.coeffs();
    Eigen::Map<Vec6>(state.data() + 7) = velocity;
  }
  body.restore_state({state.data(), as_size(body.state_size())});
}

class AcceleranceSlow final : public TypedSlowHalf<Model, Feedback> {
 public:
  AcceleranceSlow(const MethodContext& c, Exchange exchange)
      : world_(c.world),
        settings_(c.settings.get<AcceleranceSettings>("accelerance")),
        exchange_(exchange),
        period_(c.slow_period),
        device_(c.start),
        finder_(c.world, c.tool),
        pointers_(c.tool, c.slow_period, c.slow_period, settings_.literal),
        joints_(c.world),
        local_(joints_),
        tool_(c.body()),
        response_(c.world, joints_, c.slow_period, c.body(), settings_.tried_sweeps),
        springs_(c.world),
        last_(std::make_unique<Model>()) {
    clear_model(*last_);
    local_.set_push_out_speed(world_.settings().push_out_speed);
    if (tool_ >= 0) {
      const Body& tool = body(tool_);
      const Pose handle = tool.handle_pose(), centre = centre_pose(&tool);
      const Quat to_handle = handle.rotation.conjugate();
      tool_in_handle_ = {to_handle * (centre.position - handle.position), to_handle * centre.rotation};
    }
  }

  StepWish begin(const Feedback& feedback, Model& model, StepReport& report) override;
  void read_advanced(const AdvancedStep& step, Model& model, StepReport& report) override;
  void finish(bool done, Model& model, StepReport& report) override;

 private:
  /// A body that the hand pushes, and how: in the step of `impulse`, or as the last step's springs did.
  struct Pushed {
    std::int32_t body = -1;
    Vec6 wrench = Vec6::Zero();
  };

  Body& body(int index) noexcept { return *world_.body(index); }

  void take_over(const Feedback& feedback);
  void push(bool on);
  void place_tool();
  void find_neighbours(Model& model);
  void add_jointed(std::size_t room);
  void predict_local(const Feedback& feedback);
  void set_springs();
  void hold_forces();
  void read_springs(const SolveResults& step, std::vector<Pushed>& out) const;
  Vec6 compute_nonlinear(int body);
  bool find_response(Model& model);
  bool find_response_by_tests(Model& model);
  void publish(Model& model);
  Vec3 find_arm(const Model& model, int place);
  int last_place(int body) const noexcept {
    for (std::int32_t i = 0; i < last_->neighbours; ++i) {
      if (last_->neighbour[as_size(i)].body == body) return i;
    }
    return -1;
  }

  World& world_;
  const AcceleranceSettings settings_;
  const Exchange exchange_;
  const double period_;
  DeviceState device_;
  Pose tool_in_handle_;  ///< of the absent tool's centre
  PointerFinder finder_;
  PointerForces pointers_;
  const JointFrames joints_;
  LocalDynamics local_;
  const int tool_;  ///< of the world, in which it is only seen; −1: none
  Response response_;
  SpringRows springs_;           ///< of the pointers that press on bodies
  std::unique_ptr<Model> last_;  ///< published before this one: what the fast loop follows while this step is made

  std::vector<Pushed> pushed_;
  std::vector<Pushed> tried_;    ///< the same in the tried step
  std::vector<Pushed> counted_;  ///< impulses of the model in use that earlier steps were told
  std::uint64_t counted_of_ = 0;
  std::vector<Vec6> start_;  ///< velocities of last_'s neighbours: predicted for the end of this step
  std::vector<Pose> poses_;
  std::vector<Vec6> acting_;  ///< on each neighbour in a tried step: the hand and friction
  std::vector<FoundContact> found_;
  std::vector<std::int32_t> bodies_;  ///< neighbours
  std::vector<Response::TestPoint> points_;
  Eigen::MatrixXd A_;
};

StepWish AcceleranceSlow::begin(const Feedback& feedback, Model& model, StepReport&) {
  model.begin = model.header.time + period_;
  model.follow = exchange_ == Exchange::kImpulses;
  clear_model(model);
  model.left_out = 0;
  model.columns = 6;
  const bool sent = feedback.header.sequence > 0;
  if (sent) device_ = feedback.device;
  pushed_.clear();
  springs_.springs.clear();
  if (sent) take_over(feedback);
  if (exchange_ == Exchange::kStates) {
    predict_local(feedback);
    settings_.literal ? hold_forces() : set_springs();
  }
  place_tool();
  push(true);
  return {.rows = &springs_, .absent = tool_};
}

void AcceleranceSlow::read_advanced(const AdvancedStep& step, Model&, StepReport&) {
  push(false);
  if (exchange_ == Exchange::kStates && !settings_.literal) read_springs(step, pushed_);
}

void AcceleranceSlow::finish(bool done, Model& model, StepReport& report) {
  if (!done) {
    push(false);
    clear_model(*last_);
    return;
  }
  const StageTimer timer(report, Stage::kModel);
  find_neighbours(model);
  report.overflow = report.overflow || model.left_out > 0;
  if (exchange_ == Exchange::kImpulses) A_.setZero(6 * model.neighbours, 6 * model.neighbours);
  if (exchange_ == Exchange::kStates && !find_response(model)) clear_model(model);
  publish(model);
}

/// Synchronisation, eq. 12 and 13: neighbours go on from where the fast loop has them. The nonlinear part that it takes
/// with the model that is about to arrive is already known here.
void AcceleranceSlow::take_over(const Feedback& feedback) {
  const bool pending = feedback.taken < last_->header.sequence;
  for (std::int32_t i = 0; i < std::clamp(feedback.bodies, 0, kMaxNeighbours); ++i) {
    const Feedback::Body& f = feedback.body[as_size(i)];
    const bool finite = f.pose.position.allFinite() && f.velocity.allFinite() && f.impulse.allFinite();
    if (f.body < 0 || f.body >= static_cast<std::int32_t>(world_.bodies().size()) || !finite) continue;
    if (exchange_ == Exchange::kStates) {
      const int place = last_place(f.body);
      Vec6 velocity = f.velocity;
      if (pending && place >= 0)
        velocity = add_nonlinear(velocity, last_->neighbour[as_size(place)], settings_.literal);
      write_state(body(f.body), f.pose, velocity);
    } else {
      Vec6 impulse = f.impulse;
      for (const Pushed& c : counted_) {
        if (feedback.taken == counted_of_ && c.body == f.body) impulse -= c.wrench;
      }
      if (!impulse.isZero(0.0)) pushed_.push_back({f.body, impulse / period_});
    }
  }
  counted_.clear();
  counted_of_ = feedback.taken;
  for (std::int32_t i = 0; i < std::clamp(feedback.bodies, 0, kMaxNeighbours); ++i)
    counted_.push_back({feedback.body[as_size(i)].body, feedback.body[as_size(i)].impulse});
}

/// Puts the hand's wrenches on the bodies, or takes them off: of `impulse`, and of the paper's forces that are held.
void AcceleranceSlow::push(bool on) {
  for (const Pushed& p : pushed_) {
    const std::span<Vec3> external = body(p.body).external_forces();
    for (std::size_t b = 0; b < external.size(); ++b)
      external[b] += (on ? 1.0 : -1.0) * p.wrench.segment<3>(3 * static_cast<int>(b));
  }
}

/// The tool is where the hand is: only to be seen.
void AcceleranceSlow::place_tool() {
  if (tool_ < 0) return;
  const Pose& hand = device_.pose;
  write_state(body(tool_),
              {hand.position + hand.rotation * tool_in_handle_.position, hand.rotation * tool_in_handle_.rotation},
              Vec6::Zero());
}

/// Contacts of the pointers where hand and bodies will be when the model begins; what is pushed stays a neighbour.
void AcceleranceSlow::find_neighbours(Model& model) {
  DeviceState hand = device_;
  hand.pose.position += period_ * hand.velocity.linear;
  hand.pose.rotation = (rotation_from_vector(period_ * hand.velocity.angular) * hand.pose.rotation).normalized();
  hand.grip = std::clamp(hand.grip + period_ * hand.grip_rate, 0.0, 1.0);
  finder_.find(hand, settings_.reach, 2.0 * period_, found_);
  std::stable_partition(found_.begin(), found_.end(), [&](const FoundContact& f) {
    return std::any_of(pushed_.begin(), pushed_.end(), [&](const Pushed& p) { return p.body == f.contact.body; });
  });
  bodies_.clear();
  const auto room = as_size(std::min(settings_.max_neighbours, kMaxNeighbours));
  for (const FoundContact& f : found_) {
    std::int32_t place = -1;
    if (f.contact.neighbour >= 0) {
      const auto at = std::find(bodies_.begin(), bodies_.end(), f.contact.body);
      place = static_cast<std::int32_t>(at - bodies_.begin());
      if (at == bodies_.end() && (bodies_.size() == room || model.contacts == kMaxContacts)) {
        ++model.left_out;
        continue;
      }
      if (at == bodies_.end()) bodies_.push_back(f.contact.body);
    }
    if (model.contacts == kMaxContacts) {
      ++model.left_out;
      continue;
    }
    PointerContact& c = model.contact[as_size(model.contacts++)];
    c = f.contact;
    c.neighbour = place;
  }
  add_jointed(room);
  model.neighbours = static_cast<std::int32_t>(bodies_.size());
}

/// What joints tie to neighbours moves with them, as long as there is room.
void AcceleranceSlow::add_jointed(std::size_t room) {
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    for (const Joint& j : world_.joints()) {
      if (j.body_a != bodies_[k] && j.body_b != bodies_[k]) continue;
      const std::int32_t other = j.body_a == bodies_[k] ? j.body_b : j.body_a;
      const bool moves = other >= 0 && body(other).block_count() > 0;
      if (moves && bodies_.size() < room && std::find(bodies_.begin(), bodies_.end(), other) == bodies_.end())
        bodies_.push_back(other);
    }
  }
}

/// What the fast loop will have done to its neighbours by the end of this step, in one implicit step: start_. The
/// springs of the pointers that it begins with are the world's too.
void AcceleranceSlow::predict_local(const Feedback& feedback) {
  start_.clear();
  poses_.clear();
  for (std::int32_t i = 0; i < last_->neighbours; ++i) {
    const Body& b = body(last_->neighbour[as_size(i)].body);
    start_.push_back(read_velocity(b));
    poses_.push_back(centre_pose(&b));
  }
  local_.take(*last_, period_, LocalDynamics::Overlap::kPushed);
  local_.start(poses_, start_);
  pointers_.recall({feedback.contact.data(), as_size(std::clamp(feedback.contacts, 0, kMaxContacts))});
  pointers_.take(*last_);
  pointers_.start(device_, poses_, start_, local_);
  double largest = 0.0;
  for (int i = 0; i < kPredictionSweeps; ++i) {
    const double change = std::max(local_.sweep(), pointers_.sweep(local_));
    largest = std::max(largest, change);
    if (!(change > 1e-6 * largest)) break;
  }
  for (std::size_t k = 0; k < start_.size(); ++k) start_[k] += period_ * local_.acceleration(static_cast<int>(k));
}

/// The hand in the global step: its springs and dampers as they are, not the force of the last tick, which the paper
/// holds for a period. A cube that is knocked away is pushed for some ticks; held, that force would shoot it.
void AcceleranceSlow::set_springs() {
  for (const PointerForces::Active& a : pointers_.active()) {
    if (a.neighbour < 0 || !a.wanted.allFinite()) continue;
    const std::int32_t index = last_->neighbour[as_size(a.neighbour)].body;
    springs_.springs.push_back({index, body(index).find_point(a.foot), -a.normal, a.foot + a.apart, a.velocity,
                                a.stiffness, a.damping, a.friction});
  }
}

/// The hand in the global step as the paper has it: the last tick's forces, all through it.
void AcceleranceSlow::hold_forces() {
  for (const PointerForces::Active& a : pointers_.active()) {
    if (a.neighbour < 0 || !a.force.allFinite() || a.force.isZero(0.0)) continue;
    Pushed p{last_->neighbour[as_size(a.neighbour)].body};
    p.wrench << -a.force, -a.arm.cross(a.force);
    pushed_.push_back(p);
  }
}

/// What the springs did to bodies in a step.
void AcceleranceSlow::read_springs(const SolveResults& step, std::vector<Pushed>& out) const {
  out.clear();
  for (std::size_t i = 0; i < springs_.springs.size(); ++i) {
    const SpringContact& s = springs_.springs[i];
    const Vec3 force = springs_.compute_force(step, i);
    if (force.isZero(0.0)) continue;
    if (out.empty() || out.back().body != s.body) out.push_back({s.body});
    const Body& b = *world_.body(s.body);
    out.back().wrench.head<3>() += force;
    if (b.block_count() > 1)
      out.back().wrench.tail<3>() += (b.compute_point(s.foot) - b.compute_point({})).cross(force);
  }
}

/// What the global step did to a body beyond that: impacts, contacts that opened or closed, friction elsewhere.
Vec6 AcceleranceSlow::compute_nonlinear(int index) {
  const int place = last_place(index);
  if (exchange_ == Exchange::kImpulses || place < 0) return Vec6::Zero();
  return read_velocity(body(index)) - start_[as_size(place)];
}

/// A and b (eq. 2). Directly, the model is the tangent at the force that the hand has now; by tests, as in the paper,
/// the chord from no force to that one.
bool AcceleranceSlow::find_response(Model& model) {
  if (bodies_.empty()) return true;
  const bool tests = settings_.way == AcceleranceSettings::Way::kTests;
  const bool tried =
      tests ? response_.try_step(Response::Contacts::kKept) : response_.try_step(Response::Contacts::kFound, &springs_);
  if (!tried) return false;
  for (std::size_t k = 0; k < bodies_.size(); ++k) model.neighbour[k].acceleration = response_.acceleration(bodies_[k]);
  if (tests) return find_response_by_tests(model);
  response_.compute_direct(bodies_, settings_.max_bodies, settings_.local_contacts, A_);
  acting_.assign(response_.local_wrenches().begin(), response_.local_wrenches().end());
  read_springs(response_.step(), tried_);
  for (const Pushed& p : tried_) {
    const auto at = std::find(bodies_.begin(), bodies_.end(), p.body);
    if (at != bodies_.end()) acting_[as_size(at - bodies_.begin())] += p.wrench;
  }
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    for (std::size_t j = 0; j < bodies_.size(); ++j)
      model.neighbour[k].acceleration -=
          A_.block<6, 6>(6 * static_cast<Eigen::Index>(k), 6 * static_cast<Eigen::Index>(j)) * acting_[j];
  }
  model.local_joints = static_cast<std::int32_t>(response_.local_joints().size());
  std::copy(response_.local_joints().begin(), response_.local_joints().end(), model.local_joint.begin());
  model.local_contacts = static_cast<std::int32_t>(response_.local_contacts().size());
  std::copy(response_.local_contacts().begin(), response_.local_contacts().end(), model.local_contact.begin());
  return A_.allFinite();
}

bool AcceleranceSlow::find_response_by_tests(Model& model) {
  points_.clear();
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    Response::TestPoint& point = points_.emplace_back();
    point.body = bodies_[k];
    point.force = settings_.test_force;
    for (const Pushed& p : pushed_) {
      if (p.body == point.body) point.force = std::max(point.force, p.wrench.head<3>().norm());
    }
    point.arm = find_arm(model, static_cast<int>(k));
  }
  model.columns = 3;
  return response_.compute_by_tests(points_, A_) && A_.allFinite();
}

/// From a neighbour's centre to where its nearest pointer touches it [m].
Vec3 AcceleranceSlow::find_arm(const Model& model, int place) {
  for (std::int32_t i = 0; i < model.contacts; ++i) {
    const PointerContact& c = model.contact[as_size(i)];
    if (c.neighbour != place) continue;
    const Pose pointer = compute_finger_pose(finder_.pointers()[as_size(c.pointer)], device_);
    const Pose X_WB = centre_pose(&body(c.body));
    Vec3 p = X_WB.rotation.conjugate() * (pointer.position + pointer.rotation * c.point - X_WB.position);
    if (c.body_corner) return X_WB.rotation * c.point;
    if (c.planes > 0) p -= (c.plane[0].normal.dot(p) - c.plane[0].offset) * c.plane[0].normal;
    return X_WB.rotation * p;
  }
  return Vec3::Zero();
}

void AcceleranceSlow::publish(Model& model) {
  const Eigen::Index n = model.neighbours;
  Eigen::Map<Eigen::MatrixXd> A(model.A.data(), 6 * n, model.columns * n);
  A = A_.topLeftCorner(6 * n, model.columns * n);
  if (!settings_.coupled) {
    for (Eigen::Index k = 0; k < n; ++k) {
      A.block(0, model.columns * k, 6 * k, model.columns).setZero();
      A.block(6 * (k + 1), model.columns * k, 6 * (n - k - 1), model.columns).setZero();
    }
  }
  for (std::int32_t k = 0; k < model.neighbours; ++k) {
    Neighbour& to = model.neighbour[as_size(k)];
    to.body = bodies_[as_size(k)];
    to.pose = centre_pose(&body(to.body));
    Mat6 R = Mat6::Zero();
    body(to.body).compute_response(0, R);
    to.inverse_mass = R(0, 0) / (period_ * period_);
    to.inverse_inertia = R.bottomRightCorner<3, 3>() / (period_ * period_);
    // Impulses: the fast loop holds poses until the next ones come.
    to.velocity = exchange_ == Exchange::kImpulses ? Vec6(Vec6::Zero()) : read_velocity(body(to.body));
    to.nonlinear = compute_nonlinear(to.body);
  }
  copy_model(model, *last_);
}

}  // namespace

std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context, Exchange exchange) {
  return std::make_unique<AcceleranceSlow>(context, exchange);
}

}  // namespace palpate::accelerance
