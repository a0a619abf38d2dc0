#include <algorithm>
#include <cstring>
#include <new>

#include "reduced/halves.h"
#include "reduced/reduced_body.h"
#include "world_tool.h"

namespace palpate::reduced {
namespace {

/// Soft bodies keep that part of their surface up to date to which something may come until the next look.
constexpr std::uint64_t kLookEvery = ReducedBody::kSlices;  // [ticks]
constexpr double kReach = 0.008;                            // of everything until then [m]
constexpr double kLeastReach = 0.003;  // what must be left of it: the alarm distance, and what happens in a tick [m]

/// A soft body of the fast loop's world.
struct SoftBody {
  ReducedBody* body;
  BodyLayout at;
  std::vector<double> impulses;  ///< of the vertices, since the start [N·s]
};

class FastReduced final : public FastHalf {
 public:
  FastReduced(const MethodContext& context, const Layout& layout, const Model& first,
              std::span<const Reduction> reductions);

  TickResult tick_bytes(const DeviceState& device, const std::byte* model, std::byte* feedback) noexcept override;

 private:
  World make_world(const MethodContext& c, std::span<const Reduction> reductions);
  void take_over(const Model& model) noexcept;
  void look_around() noexcept;
  bool has_left_its_region() const noexcept;
  void record() noexcept;
  void report(Feedback& out) const noexcept;

  const Layout layout_;
  const double dt_;
  std::vector<double> first_memory_;
  const Model* first_;  ///< until one arrives
  std::vector<SoftBody> soft_;
  World world_;
  WorldTool tool_;
  std::uint64_t tick_ = 0;
  std::uint64_t model_tick_ = 0, sequence_ = 0;  ///< of the model in use
  std::int32_t age_ = 0;                         ///< of that model when it came [ticks]
  StepReport step_;                              ///< of the last tick
  std::uint64_t next_look_ = 1;                  ///< tick before which soft bodies are told again what is near them
  std::vector<BoundingBox> regions_;             ///< of each body of the world, in which it is expected until then
  std::vector<BoundingBox> others_;              ///< scratch: those that one body may meet
  std::vector<ContactShape::Plane> planes_;      ///< of the world, as far as something may come to them
};

FastReduced::FastReduced(const MethodContext& c, const Layout& layout, const Model& first,
                         std::span<const Reduction> reductions)
    : layout_(layout),
      dt_(c.dt),
      first_memory_((layout.model().size + sizeof(double) - 1) / sizeof(double)),
      first_(static_cast<const Model*>(std::memcpy(first_memory_.data(), &first, layout.model().size))),
      world_(make_world(c, reductions)),
      tool_({world_, c.tool, c.dt, c.slow_period, c.start, c.settings, c.tool_number, nullptr}),
      regions_(world_.bodies().size()) {
  others_.reserve(regions_.size());
  for (const Joint& joint : world_.joints()) {
    for (std::size_t k = 0; k < soft_.size(); ++k) {
      if (joint.body_a == layout_.soft[k]) soft_[k].body->pin(joint.point_a);
      if (joint.body_b != layout_.soft[k]) continue;
      soft_[k].body->pin(joint.point_b);
      for (const BodyPoint& point : joint.curve) soft_[k].body->pin(point);
    }
  }
  for (const WorldBody& body : world_.bodies()) {
    const auto* plane = body.shape.as<ContactShape::Plane>();
    if (plane == nullptr) continue;
    const double length = plane->normal.norm();
    planes_.push_back({plane->normal / length, plane->offset / length + kReach});
  }
}

World FastReduced::make_world(const MethodContext& c, std::span<const Reduction> reductions) {
  WorldSettings settings = c.world.settings();
  // What may meet in a tick is near: a hand moves by a millimetre in it, and motion adds to this. Each pair that is
  // only near costs as much as one that touches.
  settings.contacts.alarm_distance = std::min(settings.contacts.alarm_distance, 0.001);
  settings.max_turn = HUGE_VAL;  // a reduced body has its model for whole ticks, and in a tick nothing turns far
  soft_.reserve(layout_.soft.size());
  return c.world.make_twin(settings, [&](int i, const Body& body) -> std::unique_ptr<Body> {
    const auto found = std::find(layout_.soft.begin(), layout_.soft.end(), i);
    if (found == layout_.soft.end()) {
      std::unique_ptr<Body> copy = body.make_copy();
      if (!copy) copy = make_tool(c.tool, body.handle_pose(), c.world.settings().gravity).body;
      return copy;
    }
    const auto k = static_cast<std::size_t>(found - layout_.soft.begin());
    auto reduced = std::make_unique<ReducedBody>(reductions[k].body(), reductions[k].make_fixed(), dt_);
    const auto view = layout_.reduced[k].view(first_->numbers());
    reduced->begin(view);
    soft_.push_back(
        {reduced.get(), layout_.reduced[k], std::vector<double>(3 * as_size(layout_.reduced[k].vertices()), 0.0)});
    return reduced;
  });
}

TickResult FastReduced::tick_bytes(const DeviceState& device, const std::byte* model_bytes,
                                   std::byte* feedback_bytes) noexcept {
  const auto& model = *std::launder(reinterpret_cast<const Model*>(model_bytes));
  auto& feedback = *std::launder(reinterpret_cast<Feedback*>(feedback_bytes));
  if (model.header.sequence > 0) {
    // A model that could not be made is no model: the tool stays, and the safety stage takes the force down.
    if (model.valid == 0) {
      report(feedback);
      return tool_.read(false, step_);
    }
    if (model.header.sequence != sequence_) take_over(model);
    sequence_ = model.header.sequence;
    for (SoftBody& s : soft_) s.body->use(s.at.view(model.numbers()));
  }
  look_around();
  tool_.aim(device);
  step_ = {};
  const bool done = world_.step(dt_, step_);
  ++tick_;
  record();
  report(feedback);
  return tool_.read(done, step_);
}

/// The model is of a tick that has passed, and the bodies have lived on since: it tells them which way they can go.
void FastReduced::take_over(const Model& model) noexcept {
  for (SoftBody& s : soft_) {
    const auto view = s.at.view(model.numbers());
    const bool follows = view.before == static_cast<double>(model_tick_);
    // One of this very tick has the nodes where they are, but for the rounding of theirs.
    follows&& model.tick != tick_ ? s.body->carry(view) : s.body->begin(view);
  }
  model_tick_ = model.tick;
  age_ = static_cast<std::int32_t>(tick_ - model.tick);
}

bool FastReduced::has_left_its_region() const noexcept {
  for (int i = 0; i < static_cast<int>(regions_.size()); ++i) {
    const BoundingBox box = world_.swept_box(i), &region = regions_[as_size(i)];
    if (box.is_empty()) continue;
    const bool inside = (box.lower.array() - kLeastReach >= region.lower.array()).all() &&
                        (box.upper.array() + kLeastReach <= region.upper.array()).all();
    if (!inside) return true;
  }
  return false;
}

/// Tells soft bodies which part of their surface may be touched in the next ticks.
void FastReduced::look_around() noexcept {
  if (soft_.empty() || tick_ == 0 || (tick_ < next_look_ && !has_left_its_region())) return;
  next_look_ = tick_ + kLookEvery;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    regions_[i] = world_.swept_box(static_cast<int>(i));
    regions_[i].lower.array() -= kReach;
    regions_[i].upper.array() += kReach;
  }
  for (std::size_t k = 0; k < soft_.size(); ++k) {
    const auto* shape = world_.bodies()[as_size(layout_.soft[k])].shape.as<ContactShape::Surface>();
    if (shape == nullptr || shape->self) continue;  // it may meet itself anywhere
    others_.clear();
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      if (static_cast<int>(i) != layout_.soft[k] && !regions_[i].is_empty()) others_.push_back(regions_[i]);
    }
    soft_[k].body->watch(others_, planes_);
  }
}

void FastReduced::record() noexcept {
  for (SoftBody& s : soft_) {
    for (const ReducedBody::VertexForce& f : s.body->forces()) {
      for (int k = 0; k < 3; ++k) s.impulses[as_size(3 * f.vertex + k)] += dt_ * f.force[k];
    }
  }
}

void FastReduced::report(Feedback& out) const noexcept {
  out.tick = tick_;
  out.model_tick = model_tick_;
  out.age = age_;
  out.contacts = step_.contacts;
  out.residual = step_.residual;
  out.penetration = step_.penetration;
  std::span<double> rest(out.numbers(), layout_.feedback_numbers);
  for (const int i : layout_.whole) {
    const Body& body = *world_.body(i);
    body.save_state(rest);
    rest = rest.subspan(as_size(body.state_size()));
  }
  for (const SoftBody& s : soft_) {
    const auto motion = s.at.motion(out.numbers());
    std::ranges::copy(s.body->since(), motion.since.begin());
    std::ranges::copy(s.body->speeds(), motion.speed.begin());
    std::ranges::copy(s.impulses, motion.impulses.begin());
    const Nodes& nodes = s.body->nodes();
    std::copy_n(nodes.places().data()->data(), motion.places.size(), motion.places.begin());
    std::copy_n(nodes.turns().data()->data(), motion.turns.size(), motion.turns.begin());
  }
}

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context, const Layout& layout, const Model& first,
                                         std::span<const Reduction> reductions) {
  return std::make_unique<FastReduced>(context, layout, first, reductions);
}

}  // namespace palpate::reduced
