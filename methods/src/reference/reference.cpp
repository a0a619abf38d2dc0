#include "reference/reference.h"

#include "palpate/world/point_slide.h"
#include "point_tool.h"
#include "world_tool.h"

namespace palpate {
namespace {

struct Empty {
  MessageHeader header;
};

/// The truth for a point among static surfaces: contact is found anew in every tick, which it has time for; there is no
/// slow half.
class PointReference final : public TypedFastHalf<Empty, Empty> {
 public:
  explicit PointReference(const MethodContext& c)
      : world_(c.world), tool_(c.tool, c.dt, push_outside(c.world, c.start.pose.position, kMaxStartDepth)) {}

  TickResult tick(const DeviceState& device, const Empty&, Empty&) noexcept override {
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

/// The truth for everything else: the whole world is stepped in every tick. That takes as long as it takes: in real
/// time it misses ticks unless the world is small, and only its steps after the first ones are free of allocation.
class WorldReference final : public TypedFastHalf<Empty, Empty> {
 public:
  explicit WorldReference(const MethodContext& c) : tool_(c), dt_(c.dt) {}

  TickResult tick(const DeviceState& device, const Empty&, Empty&) noexcept override {
    StepReport report;
    return tool_.step(device, dt_, report);
  }

 private:
  WorldTool tool_;
  const double dt_;
};

}  // namespace

Method make_reference(const MethodContext& context) {
  std::unique_ptr<FastHalf> fast;
  if (context.world.tool() < 0)
    fast = std::make_unique<PointReference>(context);
  else
    fast = std::make_unique<WorldReference>(context);
  return {layout_of<Empty>(), layout_of<Empty>(), nullptr, std::move(fast)};
}

}  // namespace palpate
