#include <algorithm>
#include <cmath>
#include <new>

#include "live.h"
#include "world_tool.h"

namespace palpate::live {
namespace {

/// Fast thread: wait-free; bounded by the world's step, whose solver is bounded by its iterations. Allocates at set-up
/// only.
class LiveFast final : public FastHalf {
 public:
  LiveFast(const MethodContext& context, const LiveSettings& settings, const Layout& layout);

  TickResult tick_bytes(const DeviceState& device, const std::byte* model, std::byte* feedback) noexcept override;

 private:
  World make_world(const MethodContext& c);
  void place_bodies(const Model& model, double time) noexcept;
  void look_around() noexcept;
  Wrench sum_contact_forces() const noexcept;
  void report(const DeviceState& device, Feedback& out) const noexcept;

  const Layout layout_;
  const LiveSettings settings_;
  const double dt_, fade_;
  const int tool_body_;
  const bool bends_;  ///< the tool
  std::vector<LiveBody*> soft_;
  World world_;
  WorldTool tool_;
  std::uint64_t sequence_ = 0;  ///< of the model in use
  double left_ = 0.0;           ///< of the difference to the model before
  double depth_ = 0.0;          ///< deepest overlap of bodies in the last tick [m]
  double deepest_ = 0.0;        ///< as in Feedback [m]
  BoundingBox last_box_;        ///< of the tool and what is rigid, two ticks ago
};

LiveFast::LiveFast(const MethodContext& c, const LiveSettings& settings, const Layout& layout)
    : layout_(layout),
      settings_(settings),
      dt_(c.dt),
      fade_(settings.blend > c.dt ? c.dt / settings.blend : 1.0),
      tool_body_(c.body()),
      bends_(c.tool.bends()),
      world_(make_world(c)),
      tool_({world_, c.tool, c.dt, c.slow_period, c.start, c.settings, c.tool_number, nullptr}) {
  // Soft bodies are put where the model has them: friction holds places.
  if (!soft_.empty()) world_.set_memory(world_.memory());
}

World LiveFast::make_world(const MethodContext& c) {
  WorldSettings settings = c.world.settings();
  settings.contacts = settings.contacts.for_ticks();
  if (!layout_.soft.empty()) {
    settings.max_turn = HUGE_VAL;  // a model is for whole ticks
    settings.looks_along_velocity = true;
  }
  // What a solve leaves in a body that nobody puts right stays there as velocity: then it is solved as in the world.
  if (layout_.whole.size() == 1) settings.solver = settings_.solver;
  settings.solver.max_seconds = settings_.solver.max_seconds;
  // What soft bodies do to each other and to what stands still is in their answers.
  std::vector<std::pair<int, int>> ignored;
  const auto count = static_cast<int>(c.world.bodies().size());
  for (const int i : layout_.soft) {
    for (int j = 0; j < count; ++j) {
      if (!layout_.is_whole(j) && j != i) ignored.emplace_back(i, j);
    }
  }
  return c.world.make_twin(
      settings,
      [&](int i, const Body& body) -> std::unique_ptr<Body> {
        if (std::find(layout_.soft.begin(), layout_.soft.end(), i) == layout_.soft.end()) {
          std::unique_ptr<Body> copy = body.make_copy();  // none of a soft tool
          return copy ? std::move(copy) : make_tool(c.tool, body.handle_pose(), c.world.settings().gravity).body;
        }
        auto live = std::make_unique<LiveBody>(dynamic_cast<const FemBody&>(body), settings_.answer, dt_);
        soft_.push_back(live.get());
        return live;
      },
      ignored);
}

TickResult LiveFast::tick_bytes(const DeviceState& device, const std::byte* model_bytes,
                                std::byte* feedback_bytes) noexcept {
  const auto& model = *std::launder(reinterpret_cast<const Model*>(model_bytes));
  auto& feedback = *std::launder(reinterpret_cast<Feedback*>(feedback_bytes));
  StepReport step;
  bool done = false;
  if (soft_.empty() || (model.header.sequence > 0 && model.valid != 0)) {
    if (!soft_.empty()) place_bodies(model, feedback.header.time);
    look_around();
    tool_.aim(device);
    done = world_.step(dt_, step);
    depth_ = step.penetration;
    deepest_ = std::max(deepest_, depth_);
  } else if (model.header.sequence == 0 && !bends_) {
    // A tool that stood until the first model would then be a slow period's way behind its hand. One that has weight
    // stands nevertheless: it may lie on what is not known yet.
    tool_.aim(device);
    tool_.step_alone(dt_);
  }
  TickResult out = tool_.read(done, step);
  if (done && settings_.by_constraints) out.wrench = sum_contact_forces();
  report(device, feedback);
  return out;
}

/// Puts the soft bodies where they are in this tick. A new model begins with the surface where the last one had it.
void LiveFast::place_bodies(const Model& model, double time) noexcept {
  PathTime at;
  at.age = std::clamp(time - model.header.time, 0.0, settings_.lookahead);
  at.age_then = settings_.lookahead > 0.0 ? std::clamp(at.age + dt_, 0.0, settings_.lookahead) : 0.0;
  if (model.header.sequence != sequence_) {
    for (std::size_t k = 0; k < soft_.size(); ++k) soft_[k]->begin(layout_.at[k].view(model.numbers()), at.age);
    sequence_ = model.header.sequence;
    left_ = 1.0;
    deepest_ = 0.0;
  }
  at.left = fade_ < 1.0 ? left_ : 0.0;
  at.left_then = left_ = std::max(0.0, left_ - fade_);
  for (std::size_t k = 0; k < soft_.size(); ++k) soft_[k]->place(layout_.at[k].view(model.numbers()), at);
}

/// Soft bodies move only what of their surface may be touched. Where the others were in the last tick tells where they
/// are now.
void LiveFast::look_around() noexcept {
  BoundingBox near;
  for (const int i : layout_.whole) {
    const BoundingBox box = world_.swept_box(i);
    if (box.is_empty()) continue;
    near.add(box.lower);
    near.add(box.upper);
  }
  if (soft_.empty() || near.is_empty()) return;
  // The way out of a body is looked for around what is in it.
  near.lower.array() -= depth_;
  near.upper.array() += depth_;
  double way = 0.0;  // twice that of the last tick
  if (!last_box_.is_empty())
    way = 2.0 * std::max((near.lower - last_box_.lower).cwiseAbs().maxCoeff(),
                         (near.upper - last_box_.upper).cwiseAbs().maxCoeff());
  for (std::size_t k = 0; k < soft_.size(); ++k) {
    const auto* shape = world_.bodies()[as_size(layout_.soft[k])].shape.as<ContactShape::Surface>();
    if (shape == nullptr || shape->self) continue;  // it may meet itself anywhere
    if (!soft_[k]->covers(near, way)) soft_[k]->watch(near);
  }
  last_box_ = near;
}

/// On the tool, with their moment about the handle.
Wrench LiveFast::sum_contact_forces() const noexcept {
  const Vec3 handle = world_.body(tool_body_)->handle_pose().position;
  Wrench sum;
  const ContactMemory& memory = world_.memory();
  for (std::size_t i = 0; i < memory.contacts.size(); ++i) {
    const Contact& c = memory.contacts[i];
    const bool is_a = c.body_a == tool_body_;
    if (!is_a && c.body_b != tool_body_) continue;
    const Vec3 f = (is_a ? 1.0 : -1.0) * memory.contact_forces[i];
    sum.force += f;
    sum.torque += ((is_a ? c.point_a : c.point_b) - handle).cross(f);
  }
  return sum;
}

void LiveFast::report(const DeviceState& device, Feedback& out) const noexcept {
  out.device = device;
  out.model = soft_.empty() ? 1 : sequence_;
  out.penetration = deepest_;
  std::span<double> states(out.states(), layout_.state_numbers);
  for (const int i : layout_.whole) {
    const Body& body = *world_.body(i);
    body.save_state(states);
    states = states.subspan(as_size(body.state_size()));
  }
  out.contacts = 0;
  const ContactMemory& memory = world_.memory();
  for (std::size_t i = 0; i < memory.contacts.size() && out.contacts < kMaxContacts; ++i) {
    if (memory.contact_forces[i].isZero(0.0)) continue;
    out.contact[as_size(out.contacts++)] = {memory.contacts[i], memory.contact_forces[i], memory.anchors[i]};
  }
}

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context, const LiveSettings& settings,
                                         const Layout& layout) {
  return std::make_unique<LiveFast>(context, settings, layout);
}

}  // namespace palpate::live
