#include <utility>

#include "palpate/world/point_slide.h"
#include "point_tool.h"
#include "reference/halves.h"
#include "world_tool.h"

namespace palpate::reference {
namespace {

/// The truth for a point among static surfaces: contact is found anew in every tick, which it has time for; there is no
/// slow half.
class PointReference final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit PointReference(const MethodContext& c)
      : world_(c.world), tool_(c.tool, c.dt, push_outside(c.world, c.start.pose.position, kMaxStartDepth)) {}

  TickResult tick(const DeviceState& device, const Model&, Feedback&) noexcept override {
    const SlideResult slide = slide_point(world_, tool_.position(), tool_.compute_free_motion(device));
    tool_.move_to(slide.position);
    TickResult out;
    out.wrench.force = tool_.force_on_hand(device);
    out.tool = {tool_.position(), device.pose.rotation};
    out.residual = slide.residual;
    out.iterations = slide.iterations;
    out.contacts = slide.contacts;
    return out;
  }

 private:
  const World& world_;
  PointTool tool_;
};

/// The truth for everything else: the whole world is stepped in every tick, once for all tools. That takes as long as
/// it takes: in real time it misses ticks unless the world is small, and only its steps after the first ones are free
/// of allocation.
class WorldReference final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit WorldReference(const MethodContext& c)
      : world_(c.world), dt_(c.dt), tool_(c), shared_(c.shared ? c.shared : std::make_shared<SharedTick>()) {}

  void begin_tick(const DeviceState& device) noexcept override {
    tool_.aim(device);
    aimed_ = true;
    shared_->stepped = false;
  }

  TickResult tick(const DeviceState& device, const Model&, Feedback&) noexcept override {
    if (!aimed_) begin_tick(device);  // alone, nobody waits for it
    aimed_ = false;
    // Whoever comes first steps the world; the others find it stepped.
    if (!std::exchange(shared_->stepped, true)) {
      shared_->report = {};
      shared_->done = world_.step(dt_, shared_->report);
    }
    return tool_.read(shared_->done, shared_->report);
  }

 private:
  World& world_;
  const double dt_;
  WorldTool tool_;
  std::shared_ptr<SharedTick> shared_;
  bool aimed_ = false;
};

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context) {
  if (context.body() < 0) return std::make_unique<PointReference>(context);
  return std::make_unique<WorldReference>(context);
}

}  // namespace palpate::reference
