#include "direct/direct.h"

#include "palpate/world/point_slide.h"
#include "point_tool.h"

namespace palpate {
namespace {

struct Model {
  MessageHeader header;
  Wrench wrench;
  Pose tool;
  double residual = 0.0;
  std::int32_t iterations = 0;
  std::int32_t contacts = 0;
};

struct Feedback {
  MessageHeader header;
  DeviceState device;
};

class DirectSlow final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit DirectSlow(const MethodContext& c)
      : world_(c.world),
        start_(c.start),
        tool_(c.tool, c.slow_period, push_outside(c.world, c.start.pose.position, kMaxStartDepth)) {}

  void step(const Feedback& feedback, Model& model, StepReport& report) override {
    const DeviceState& device = feedback.header.sequence ? feedback.device : start_;
    Vec3 free;
    {
      const StageTimer timer(report, Stage::kFree);
      free = tool_.compute_free_motion(device);
    }
    SlideResult slide;
    {
      // Continuous collision and contact solve alternate along the way and are timed as one.
      const StageTimer timer(report, Stage::kSolve);
      slide = slide_point(world_, tool_.position(), free);
      tool_.move_to(slide.position);
    }
    const StageTimer timer(report, Stage::kModel);
    report.residual = slide.residual;
    report.iterations = slide.iterations;
    report.contacts = slide.contacts;
    model.wrench.force = tool_.force_on_hand(device);
    model.tool = {tool_.position(), device.pose.rotation};
    model.residual = slide.residual;
    model.iterations = slide.iterations;
    model.contacts = slide.contacts;
  }

 private:
  const World& world_;
  const DeviceState start_;
  PointTool tool_;
};

/// Holds the last force: between slow steps the hand feels nothing new.
class DirectFast final : public TypedFastHalf<Model, Feedback> {
 public:
  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override {
    feedback.device = device;
    TickResult out;
    out.tool = device.pose;
    if (model.header.sequence == 0) return out;
    out.wrench = model.wrench;
    out.tool = model.tool;
    out.residual = model.residual;
    out.iterations = model.iterations;
    out.contacts = model.contacts;
    return out;
  }
};

}  // namespace

Method make_direct(const MethodContext& context) {
  return {layout_of<Model>(), layout_of<Feedback>(), std::make_unique<DirectSlow>(context),
          std::make_unique<DirectFast>()};
}

}  // namespace palpate
