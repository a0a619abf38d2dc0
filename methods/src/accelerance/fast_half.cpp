#include <cmath>

#include "accelerance/halves.h"
#include "accelerance/pointer_forces.h"
#include "palpate/methods/accelerance_settings.h"

namespace palpate::accelerance {
namespace {

/// Real-time: bounded by the model's capacities and max_iterations sweeps over its contacts.
class AcceleranceFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit AcceleranceFast(const MethodContext& c)
      : settings_(c.settings.get<AcceleranceSettings>("accelerance")),
        dt_(c.dt),
        stiffness_(c.tool.coupling.stiffness),
        turns_(!c.tool.is<HeldPoint>()),
        pointers_(c.tool, c.dt, 0.0, settings_.literal),
        joints_(c.world),
        local_(joints_),
        model_(std::make_unique<Model>()),
        next_(std::make_unique<Model>()) {
    clear_model(*model_);
    local_.take(*model_, dt_, LocalDynamics::Overlap::kMoved);
    pointers_.take(*model_);
  }

  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override;

 private:
  static bool is_sound(const Model& model) noexcept;
  void receive(const Model& model) noexcept;
  void take_next() noexcept;
  void solve(const DeviceState& device, TickResult& out) noexcept;
  void write(const DeviceState& device, TickResult& out) const noexcept;
  void advance() noexcept;
  std::size_t neighbours() const noexcept { return as_size(model_->neighbours); }

  const AcceleranceSettings settings_;
  const double dt_, stiffness_;
  const bool turns_;  ///< the hand feels torque
  PointerForces pointers_;
  const JointFrames joints_;
  LocalDynamics local_;
  std::unique_ptr<Model> model_;  ///< in use
  std::unique_ptr<Model> next_;   ///< arrived, if `waiting_`, and not yet begun
  bool waiting_ = false;
  std::uint64_t arrived_ = 0;  ///< sequence of the last one that was received
  // Of the neighbours.
  std::array<Pose, kMaxNeighbours> poses_{}, old_poses_{};
  std::array<Vec6, kMaxNeighbours> velocities_{}, old_velocities_{};
  std::array<Vec6, kMaxNeighbours> impulses_{};  ///< of the hand since the model began [N·s, N·m·s]
};

TickResult AcceleranceFast::tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept {
  // A model is of the period after the one in which it was made, whenever it arrives.
  if (model.header.sequence != arrived_) {
    arrived_ = model.header.sequence;
    if (waiting_) take_next();
    receive(model);
  }
  if (waiting_ && feedback.header.time > next_->begin - 0.5 * dt_) take_next();
  TickResult out;
  out.tool = device.pose;
  solve(device, out);
  write(device, out);
  advance();
  feedback.device = device;
  feedback.taken = model_->header.sequence;
  feedback.bodies = model_->neighbours;
  for (std::size_t k = 0; k < neighbours(); ++k)
    feedback.body[k] = {model_->neighbour[k].body, poses_[k], velocities_[k], impulses_[k]};
  feedback.contacts = static_cast<std::int32_t>(pointers_.touched().size());
  std::copy(pointers_.touched().begin(), pointers_.touched().end(), feedback.contact.begin());
  return out;
}

bool AcceleranceFast::is_sound(const Model& m) noexcept {
  if (m.neighbours < 0 || m.neighbours > kMaxNeighbours || m.contacts < 0 || m.contacts > kMaxContacts) return false;
  if ((m.columns != 3 && m.columns != 6) || m.local_contacts < 0 || m.local_contacts > kMaxLocalContacts) return false;
  if (m.local_joints < 0 || m.local_joints > kMaxLocalJoints) return false;
  const std::int32_t entries = 6 * m.columns * m.neighbours * m.neighbours;
  bool finite = Eigen::Map<const Eigen::VectorXd>(m.A.data(), entries).allFinite();
  for (std::size_t i = 0; i < as_size(m.neighbours); ++i) {
    const Neighbour& n = m.neighbour[i];
    finite = finite && n.pose.position.allFinite() && n.pose.rotation.coeffs().allFinite() && n.velocity.allFinite() &&
             n.nonlinear.allFinite() && n.acceleration.allFinite();
  }
  return finite;
}

/// A model that is not finite counts as empty.
void AcceleranceFast::receive(const Model& model) noexcept {
  waiting_ = true;
  if (is_sound(model)) {
    copy_model(model, *next_);
  } else {
    next_->header = model.header;
    next_->begin = 0.0;
    clear_model(*next_);
  }
}

/// Goes over to the next model. Neighbours that stay go on from where they are, with the nonlinear part (eq. 14); new
/// ones begin where the global simulation has them.
void AcceleranceFast::take_next() noexcept {
  const std::size_t old_neighbours = neighbours();
  std::copy_n(poses_.begin(), old_neighbours, old_poses_.begin());
  std::copy_n(velocities_.begin(), old_neighbours, old_velocities_.begin());
  waiting_ = false;
  std::swap(model_, next_);
  for (std::size_t k = 0; k < neighbours(); ++k) {
    const Neighbour& n = model_->neighbour[k];
    poses_[k] = n.pose;
    velocities_[k] = n.velocity;
    impulses_[k].setZero();
    for (std::size_t o = 0; o < old_neighbours && !model_->follow; ++o) {
      if (next_->neighbour[o].body != n.body) continue;
      poses_[k] = old_poses_[o];
      velocities_[k] = add_nonlinear(old_velocities_[o], n, settings_.literal);
    }
  }
  local_.take(*model_, dt_, LocalDynamics::Overlap::kMoved);
  pointers_.take(*model_);
}

/// The forces of this tick, of pointers and of the bodies on each other.
void AcceleranceFast::solve(const DeviceState& device, TickResult& out) noexcept {
  local_.start(poses_, velocities_);
  pointers_.start(device, poses_, velocities_, local_);
  const double target = settings_.tolerance * stiffness_;
  double change = 0.0;
  const bool idle = pointers_.active().empty() && !local_.has_constraints();
  for (int sweep = 0; sweep < settings_.max_iterations && !idle; ++sweep) {
    change = std::max(local_.sweep(), pointers_.sweep(local_));
    out.iterations = sweep + 1;
    if (change <= target) break;
  }
  out.residual = change / stiffness_;
  pointers_.settle(device, poses_);
}

/// Sums up what the hand gets.
void AcceleranceFast::write(const DeviceState& device, TickResult& out) const noexcept {
  for (const PointerForces::Active& a : pointers_.active()) {
    if (!(a.force.dot(a.normal) > 0.0)) continue;
    ++out.contacts;
    out.wrench.force += a.force;
    if (turns_) out.wrench.torque += (a.foot - device.pose.position).cross(a.force);
    out.finger_forces[as_size(model_->contact[a.contact].pointer)] += a.force;
  }
}

/// The local simulation, eq. 8 to 10.
void AcceleranceFast::advance() noexcept {
  std::array<Vec6, kMaxNeighbours> wrenches;
  std::fill_n(wrenches.begin(), neighbours(), Vec6::Zero());
  pointers_.add_wrenches(wrenches);
  local_.part(poses_);
  for (std::size_t k = 0; k < neighbours(); ++k) {
    velocities_[k] += dt_ * local_.acceleration(static_cast<int>(k));
    impulses_[k] += dt_ * wrenches[k];
    Pose& pose = poses_[k];
    pose.position += dt_ * velocities_[k].head<3>();
    pose.rotation = (rotation_from_vector(dt_ * velocities_[k].tail<3>()) * pose.rotation).normalized();
    if (pose.position.allFinite() && pose.rotation.coeffs().allFinite() && velocities_[k].allFinite()) continue;
    // Nothing of such a state may reach the other loop: this one has no neighbours until the next model.
    clear_model(*model_);
    return;
  }
  local_.hold_joints(poses_, velocities_);
}

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context) {
  return std::make_unique<AcceleranceFast>(context);
}

}  // namespace palpate::accelerance
