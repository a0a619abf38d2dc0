#include "reduced/twin.h"

#include <algorithm>
#include <cstring>

#include "palpate/core/error.h"

namespace palpate::reduced {
namespace {

/// Soft bodies keep that part of their surface up to date to which something may come until the next look.
constexpr std::uint64_t kLookEvery = ReducedBody::kSlices;  // [ticks]
constexpr double kReach = 0.008;                            // of everything until then [m]
constexpr double kLeastReach = 0.003;  // what must be left of it: the alarm distance, and what happens in a tick [m]

/// Another body like this one, for the twin. Soft tools have no copy, and are made again.
std::unique_ptr<Body> make_whole(const MethodContext& c, int index, const Body& body) {
  if (std::unique_ptr<Body> copy = body.make_copy()) return copy;
  const auto& tools = c.world.tools();
  const auto number = static_cast<std::size_t>(std::find(tools.begin(), tools.end(), index) - tools.begin());
  const bool told = c.shared && number < c.shared->tools.size();
  if (!told && number != c.tool_number) fail_input("method reduced: what another hand holds is soft, and not known");
  return make_tool(told ? c.shared->tools[number] : c.tool, body.handle_pose(), c.world.settings().gravity).body;
}

}  // namespace

Twin::Twin(const MethodContext& c, const Layout& layout, const Model& first, std::span<const Reduction> reductions)
    : layout_(layout),
      dt_(c.dt),
      first_memory_((layout.model().size + sizeof(double) - 1) / sizeof(double)),
      first_(static_cast<const Model*>(std::memcpy(first_memory_.data(), &first, layout.model().size))),
      world_(make_world(c, reductions)),
      model_number_(first.number),
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

World Twin::make_world(const MethodContext& c, std::span<const Reduction> reductions) {
  WorldSettings settings = c.world.settings();
  settings.contacts = settings.contacts.for_ticks();
  if (settings.solver_name == "accelerated") settings.solver_name = "tick";
  settings.looks_along_velocity = true;
  settings.max_turn = HUGE_VAL;  // a reduced body has its model for whole ticks, and in a tick nothing turns far
  soft_.reserve(layout_.soft.size());
  return c.world.make_twin(settings, [&](int i, const Body& body) -> std::unique_ptr<Body> {
    const auto found = std::find(layout_.soft.begin(), layout_.soft.end(), i);
    if (found == layout_.soft.end()) return make_whole(c, i, body);
    const auto k = static_cast<std::size_t>(found - layout_.soft.begin());
    auto reduced = std::make_unique<ReducedBody>(reductions[k].body(), reductions[k].make_fixed(), dt_);
    const auto view = layout_.reduced[k].view(first_->numbers());
    reduced->begin(view);
    soft_.push_back(
        {reduced.get(), layout_.reduced[k], std::vector<double>(3 * as_size(layout_.reduced[k].vertices()), 0.0)});
    return reduced;
  });
}

void Twin::take(const Model& model) noexcept {
  if (model.header.sequence == 0) return;
  valid_ = model.valid != 0;
  if (!valid_) return;
  if (model.header.sequence != sequence_) take_over(model);
  sequence_ = model.header.sequence;
  for (SoftBody& s : soft_) s.body->use(s.at.view(model.numbers()));
}

bool Twin::step() noexcept {
  if (!valid_) return false;
  look_around();
  step_ = {};
  const bool done = world_.step(dt_, step_);
  ++tick_;
  record();
  return done;
}

/// The model is of a tick that has passed, and the bodies have lived on since: it tells them which way they can go.
void Twin::take_over(const Model& model) noexcept {
  for (SoftBody& s : soft_) {
    const auto view = s.at.view(model.numbers());
    const bool follows = view.before == static_cast<double>(model_number_);
    // One of this very tick has the nodes where they are, but for the rounding of theirs.
    follows&& model.tick != tick_ ? s.body->carry(view) : s.body->begin(view);
  }
  model_number_ = model.number;
  age_ = static_cast<std::int32_t>(tick_ - model.tick);
}

bool Twin::has_left_its_region() const noexcept {
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
void Twin::look_around() noexcept {
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

void Twin::record() noexcept {
  for (SoftBody& s : soft_) {
    for (const ReducedBody::VertexForce& f : s.body->forces()) {
      for (int k = 0; k < 3; ++k) s.impulses[as_size(3 * f.vertex + k)] += dt_ * f.force[k];
    }
  }
}

void Twin::tell(Feedback& out) const noexcept {
  out.tick = tick_;
  out.model_number = model_number_;
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
    // A message that was told of this look before still has it: nobody else writes there.
    if (motion.look == s.body->look()) continue;
    motion.look = s.body->look();
    const Nodes& nodes = s.body->nodes();
    std::copy_n(nodes.places().data()->data(), motion.places.size(), motion.places.begin());
    std::copy_n(nodes.turns().data()->data(), motion.turns.size(), motion.turns.begin());
  }
}

}  // namespace palpate::reduced
