#include <Eigen/LU>
#include <cmath>

#include "accelerance/halves.h"
#include "accelerance/local.h"
#include "palpate/constraints/point_on_planes.h"

namespace palpate::accelerance {
namespace {

/// A contact this near takes part in a tick although it does not touch: others may push the body onto it [m].
constexpr double kNear = 1e-3;

/// Where a pointer's point is over a body, in the body's frame.
struct Foot {
  double gap = 0.0;  ///< [m]
  Vec3 normal = Vec3::UnitY();
  Vec3 point = Vec3::Zero();  ///< of the body's surface
};

/// The point of a convex solid nearest to p. Outside several faces it lies on their common edge or corner; inside, on
/// the nearest face.
Foot find_foot(const PointerContact& c, const Vec3& p) noexcept {
  Foot foot;
  if (c.planes == 0) {
    const double distance = (p - c.centre).norm();
    foot.normal = distance > 1e-9 ? Vec3((p - c.centre) / distance) : Vec3(Vec3::UnitY());
    foot.gap = distance - c.radius;
    foot.point = p - foot.gap * foot.normal;
    return foot;
  }
  std::array<ContactPlane, kMaxPlanes> outside;
  std::size_t count = 0;
  double highest = -HUGE_VAL;
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.planes); ++i) {
    const double height = c.plane[i].normal.dot(p) - c.plane[i].offset;
    if (height > 0.0) outside[count++] = {-c.plane[i].normal, -c.plane[i].offset, 0.0};
    if (height <= highest) continue;
    highest = height;
    foot.normal = c.plane[i].normal;
  }
  foot.gap = highest - c.radius;
  foot.point = p - highest * foot.normal;
  if (count < 2) return foot;
  const PlaneContact nearest = settle_on_planes({outside.data(), count}, p, p);
  const double distance = (p - nearest.position).norm();
  if (!nearest.feasible || !(distance > 1e-9)) return foot;
  foot.normal = (p - nearest.position) / distance;
  foot.point = nearest.position;
  foot.gap = distance - c.radius;
  return foot;
}

/// Real-time: bounded by kMaxContacts contacts and max_iterations sweeps over them.
class AcceleranceFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit AcceleranceFast(const MethodContext& c)
      : settings_(c.settings.accelerance),
        dt_(c.dt),
        stiffness_(c.tool.coupling.stiffness),
        damping_(c.tool.coupling.damping),
        turns_(c.tool.kind != ToolSettings::Kind::kPoint),
        pointers_(make_fingers(c.tool)),
        model_(std::make_unique<Model>()),
        next_(std::make_unique<Model>()) {
    for (Finger& f : pointers_) f.surface = {};
    local_.take(*model_, dt_, LocalDynamics::Overlap::kMoved);
  }

  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override;

 private:
  struct BodyState {
    Pose pose;
    Vec6 velocity = Vec6::Zero();
    Vec6 wrench = Vec6::Zero();
    Vec6 impulse = Vec6::Zero();
  };
  /// What a contact remembers from tick to tick.
  struct Memory {
    bool touches = false;
    Vec3 anchor = Vec3::Zero();   ///< where friction holds the pointer, in the body's frame [m]
    Vec3 stretch = Vec3::Zero();  ///< how far the pointer is from there along the surface, world frame [m]
    Vec3 force = Vec3::Zero();    ///< on the pointer [N]
  };
  /// A contact in this tick; world frame.
  struct Active {
    std::size_t contact = 0;
    int neighbour = -1;
    Vec3 normal, foot, arm;  ///< arm: of the foot from the body's centre
    Vec3 wanted;             ///< the spring's and damper's force, were the body to stand [N]
    Vec3 force;              ///< on the pointer [N]
    Mat3 system;             ///< 1 + c G: how the force weakens itself by moving the body
    Mat3 inverse;
    double c = 0.0;  ///< force lost for an acceleration of the foot [N·s²/m]
    double stiffness = 0.0;
    double friction = 0.0;
  };

  static bool is_sound(const Model& model) noexcept;
  void receive(const Model& model) noexcept;
  void take_next() noexcept;
  void find_active(const DeviceState& device) noexcept;
  void apply(const Active& a, const Vec3& change) noexcept;
  Vec3 solve_one(const Active& a) const noexcept;
  void solve(TickResult& out) noexcept;
  void advance() noexcept;
  void write(const DeviceState& device, TickResult& out) noexcept;

  const AcceleranceSettings settings_;
  const double dt_, stiffness_, damping_;
  const bool turns_;  ///< the hand feels torque
  std::vector<Finger> pointers_;
  std::unique_ptr<Model> model_;  ///< in use
  std::unique_ptr<Model> next_;   ///< arrived, if `waiting_`, and not yet begun
  bool waiting_ = false;
  std::uint64_t arrived_ = 0;  ///< sequence of the last one that was received
  std::array<BodyState, kMaxNeighbours> states_{}, before_{};
  std::array<Memory, kMaxContacts> memories_{}, old_memories_{};
  std::array<PointerContact, kMaxContacts> old_contacts_{};
  std::array<Active, kMaxContacts> active_{};
  std::size_t active_count_ = 0;
  LocalDynamics local_;
  std::array<Pose, kMaxNeighbours> poses_{};
  std::array<Vec6, kMaxNeighbours> velocities_{};
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
  active_count_ = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(model_->neighbours); ++k) {
    poses_[k] = states_[k].pose;
    velocities_[k] = states_[k].velocity;
  }
  local_.start(poses_, velocities_);
  if (device.pose.position.allFinite() && device.pose.rotation.coeffs().allFinite()) {
    find_active(device);
  }
  solve(out);
  write(device, out);
  advance();
  feedback.device = device;
  feedback.taken = model_->header.sequence;
  feedback.bodies = model_->neighbours;
  for (std::size_t k = 0; k < static_cast<std::size_t>(model_->neighbours); ++k)
    feedback.body[k] = {model_->neighbour[k].body, states_[k].pose, states_[k].velocity, states_[k].wrench,
                        states_[k].impulse};
  return out;
}

bool AcceleranceFast::is_sound(const Model& m) noexcept {
  if (m.neighbours < 0 || m.neighbours > kMaxNeighbours || m.contacts < 0 || m.contacts > kMaxContacts) return false;
  if ((m.columns != 3 && m.columns != 6) || m.local_contacts < 0 || m.local_contacts > kMaxLocalContacts) return false;
  const std::int32_t entries = 6 * m.columns * m.neighbours * m.neighbours;
  bool finite = Eigen::Map<const Eigen::VectorXd>(m.A.data(), entries).allFinite();
  for (std::size_t i = 0; i < static_cast<std::size_t>(m.neighbours); ++i) {
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
    next_->neighbours = next_->contacts = next_->local_contacts = 0;
  }
}

/// Goes over to the next model. Neighbours that stay go on from where they are, with the nonlinear part (eq. 14); new
/// ones begin where the global simulation has them.
void AcceleranceFast::take_next() noexcept {
  const std::int32_t old_neighbours = model_->neighbours, old_contacts = model_->contacts;
  std::array<std::int32_t, kMaxNeighbours> old_bodies;
  for (std::size_t k = 0; k < static_cast<std::size_t>(old_neighbours); ++k) {
    old_bodies[k] = model_->neighbour[k].body;
    before_[k] = states_[k];
  }
  std::copy_n(model_->contact.begin(), old_contacts, old_contacts_.begin());
  std::copy_n(memories_.begin(), old_contacts, old_memories_.begin());
  waiting_ = false;
  std::swap(model_, next_);
  local_.take(*model_, dt_, LocalDynamics::Overlap::kMoved);
  for (std::size_t k = 0; k < static_cast<std::size_t>(model_->neighbours); ++k) {
    const Neighbour& n = model_->neighbour[k];
    states_[k] = {n.pose, n.velocity};
    for (std::size_t o = 0; o < static_cast<std::size_t>(old_neighbours) && !model_->follow; ++o) {
      if (old_bodies[o] != n.body) continue;
      states_[k].pose = before_[o].pose;
      states_[k].velocity = add_nonlinear(before_[o].velocity, n);
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(model_->contacts); ++i) {
    const PointerContact& c = model_->contact[i];
    Memory& memory = memories_[i];
    memory = {};
    // A corner that is new among those of the same pair is stretched as the others are.
    Vec3 stretch = Vec3::Zero();
    int others = 0;
    for (std::size_t o = 0; o < static_cast<std::size_t>(old_contacts); ++o) {
      const PointerContact& old = old_contacts_[o];
      if (old.pointer != c.pointer || old.body != c.body || !old_memories_[o].touches) continue;
      stretch += old_memories_[o].stretch;
      ++others;
      if (old.feature == c.feature) memory = old_memories_[o];
    }
    if (!memory.touches && others > 0) memory.stretch = stretch / others;
  }
}

/// Spring and damper of every contact that touches or nearly does, eq. 7.
void AcceleranceFast::find_active(const DeviceState& device) noexcept {
  for (std::size_t i = 0; i < static_cast<std::size_t>(model_->contacts); ++i) {
    const PointerContact& c = model_->contact[i];
    const Finger& pointer = pointers_[static_cast<std::size_t>(c.pointer)];
    const Pose X_WP = compute_finger_pose(pointer, device);
    const Twist V_WP = compute_finger_velocity(pointer, device);
    BodyState still;
    const BodyState& body = c.neighbour < 0 ? still : states_[static_cast<std::size_t>(c.neighbour)];
    const Quat to_body = body.pose.rotation.conjugate();
    Foot foot;
    Vec3 offset = X_WP.rotation * c.point;  // of the pointer's point from its origin
    if (c.body_corner) {
      offset = body.pose.position + body.pose.rotation * c.point - X_WP.position;
      foot.point = c.point;
      foot.normal = -(to_body * (X_WP.rotation * c.plane[0].normal));
      foot.gap = c.plane[0].normal.dot(X_WP.rotation.conjugate() * offset) - c.plane[0].offset;
    } else {
      foot = find_foot(c, to_body * (X_WP.position + offset - body.pose.position));
    }
    Memory& memory = memories_[i];
    if (foot.gap > kNear) {
      memory = {};
      continue;
    }
    Active& a = active_[active_count_++];
    a.contact = i;
    a.neighbour = c.neighbour;
    a.normal = body.pose.rotation * foot.normal;
    a.arm = body.pose.rotation * foot.point;
    a.foot = body.pose.position + a.arm;
    a.stiffness = c.share * stiffness_;
    const double damping = c.share * damping_;
    a.c = a.stiffness * dt_ * dt_ + damping * dt_;
    a.friction = c.friction;
    // What the pointer slides on is the body, or of a corner of the body the pointer.
    const double sign = c.body_corner ? -1.0 : 1.0;
    const Pose& ground = c.body_corner ? X_WP : body.pose;
    if (!memory.touches)
      memory.anchor = ground.rotation.conjugate() * (a.foot - sign * memory.stretch - ground.position);
    Vec3 stretch = sign * (a.foot - (ground.position + ground.rotation * memory.anchor));
    stretch -= stretch.dot(a.normal) * a.normal;
    memory.stretch = stretch;
    const Vec3 rate =
        V_WP.linear + V_WP.angular.cross(offset) - body.velocity.head<3>() - body.velocity.tail<3>().cross(a.arm);
    a.wanted = -a.stiffness * (foot.gap * a.normal + stretch) - damping * rate;
    a.system.setIdentity();
    if (a.neighbour >= 0) a.system += a.c * local_.point_response(a.neighbour, a.arm);
    a.inverse = a.system.inverse();
    a.force = memory.touches ? memory.force : Vec3(Vec3::Zero());
    apply(a, a.force);
  }
}

/// The force on the pointer changes, and so what the body gets.
void AcceleranceFast::apply(const Active& a, const Vec3& change) noexcept {
  if (a.neighbour < 0 || change.isZero(0.0)) return;
  Vec6 wrench;
  wrench << -change, -a.arm.cross(change);
  local_.push(a.neighbour, wrench);
}

/// The force of one contact, given those of all others: f = wanted − c G f, pushing only, within the friction cone. To
/// the paper's explicit force this adds what the force itself does to its spring and damper within the tick: without it
/// light bodies and many pointers shake themselves apart, with it any stiffness is stable.
Vec3 AcceleranceFast::solve_one(const Active& a) const noexcept {
  Vec3 right = a.wanted;
  if (a.neighbour >= 0)
    right += a.c * local_.point_acceleration(a.neighbour, a.arm) + (a.system - Mat3::Identity()) * a.force;
  const Vec3 sticks = a.inverse * right;
  const double push = sticks.dot(a.normal);
  const Vec3 rubs = sticks - push * a.normal;
  if (push > 0.0 && rubs.norm() <= a.friction * push) return sticks;
  const Vec3 slip = a.friction > 0.0 && rubs.norm() > 0.0 ? Vec3(a.friction * rubs.normalized()) : Vec3(Vec3::Zero());
  const double along = a.normal.dot(a.system * (a.normal + slip));
  const double size = a.normal.dot(right) / (along > 0.1 ? along : a.normal.dot(a.system * a.normal));
  return std::max(0.0, size) * (a.normal + slip);
}

void AcceleranceFast::solve(TickResult& out) noexcept {
  const double target = settings_.tolerance * stiffness_;
  double change = 0.0;
  const bool idle = active_count_ == 0 && model_->local_contacts == 0;
  for (int sweep = 0; sweep < settings_.max_iterations && !idle; ++sweep) {
    change = local_.sweep_contacts();
    for (std::size_t i = 0; i < active_count_; ++i) {
      Active& a = active_[i];
      const Vec3 force = solve_one(a);
      const Vec3 difference = force - a.force;
      if (!difference.allFinite()) continue;
      apply(a, difference);
      a.force = force;
      change = std::max(change, difference.norm());
    }
    out.iterations = sweep + 1;
    if (change <= target) break;
  }
  out.residual = change / stiffness_;
}

/// Sums up what the hand and the bodies get, and what contacts remember.
void AcceleranceFast::write(const DeviceState& device, TickResult& out) noexcept {
  for (std::size_t k = 0; k < static_cast<std::size_t>(model_->neighbours); ++k) states_[k].wrench.setZero();
  for (std::size_t i = 0; i < active_count_; ++i) {
    const Active& a = active_[i];
    const PointerContact& c = model_->contact[a.contact];
    Memory& memory = memories_[a.contact];
    const double push = a.force.dot(a.normal);
    memory.touches = push > 0.0;
    memory.force = a.force;
    if (!memory.touches) {
      memory.stretch.setZero();
      continue;
    }
    ++out.contacts;
    out.wrench.force += a.force;
    if (turns_) out.wrench.torque += (a.foot - device.pose.position).cross(a.force);
    out.finger_forces[static_cast<std::size_t>(c.pointer)] += a.force;
    const Vec3 rubs = a.force - push * a.normal;
    if (a.friction * push > 0.0 && rubs.norm() >= (1.0 - 1e-9) * a.friction * push)
      memory.stretch = -rubs / a.stiffness;
    if (!(a.friction > 0.0)) memory.stretch.setZero();
    Pose ground = a.neighbour < 0 ? Pose{} : states_[static_cast<std::size_t>(a.neighbour)].pose;
    if (c.body_corner) ground = compute_finger_pose(pointers_[static_cast<std::size_t>(c.pointer)], device);
    memory.anchor =
        ground.rotation.conjugate() * (a.foot - (c.body_corner ? -1.0 : 1.0) * memory.stretch - ground.position);
    if (a.neighbour < 0) continue;
    Vec6& wrench = states_[static_cast<std::size_t>(a.neighbour)].wrench;
    wrench.head<3>() -= a.force;
    wrench.tail<3>() -= a.arm.cross(a.force);
  }
}

/// The local simulation, eq. 8 to 10.
void AcceleranceFast::advance() noexcept {
  local_.part(poses_);
  for (std::size_t k = 0; k < static_cast<std::size_t>(model_->neighbours); ++k) {
    BodyState& s = states_[k];
    s.velocity += dt_ * local_.acceleration(static_cast<int>(k));
    s.impulse += dt_ * s.wrench;
    s.pose.position = poses_[k].position + dt_ * s.velocity.head<3>();
    s.pose.rotation = (rotation_from_vector(dt_ * s.velocity.tail<3>()) * s.pose.rotation).normalized();
    if (s.pose.position.allFinite() && s.pose.rotation.coeffs().allFinite() && s.velocity.allFinite()) continue;
    // Nothing of such a state may reach the other loop: this one has no neighbours until the next model.
    model_->neighbours = model_->contacts = model_->local_contacts = 0;
    break;
  }
}

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context) {
  return std::make_unique<AcceleranceFast>(context);
}

}  // namespace palpate::accelerance
