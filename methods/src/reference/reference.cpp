#include "reference/reference.h"

#include "palpate/world/point_slide.h"
#include "point_tool.h"

namespace palpate {
namespace {

struct Empty {
  MessageHeader header;
};

/// The truth: contact is found anew in every tick. Against static surfaces that fits in a tick; there is no slow half.
class ReferenceFast final : public TypedFastHalf<Empty, Empty> {
 public:
  explicit ReferenceFast(const MethodContext& c)
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

}  // namespace

Method make_reference(const MethodContext& context) {
  return {layout_of<Empty>(), layout_of<Empty>(), nullptr, std::make_unique<ReferenceFast>(context)};
}

}  // namespace palpate
