#include "direct/direct.h"

#include "palpate/world/point_slide.h"
#include "point_tool.h"
#include "world_tool.h"

namespace palpate {
namespace direct {
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

/// For a point among static surfaces.
class PointDirect final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit PointDirect(const MethodContext& c)
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

/// For everything else: the whole world, tool included.
class WorldDirect final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit WorldDirect(const MethodContext& c) : start_(c.start), h_(c.slow_period), tool_(c) {}

  void step(const Feedback& feedback, Model& model, StepReport& report) override {
    const TickResult result = tool_.step(feedback.header.sequence ? feedback.device : start_, h_, report);
    model.wrench = result.wrench;
    model.tool = result.tool;
    model.residual = result.residual;
    model.iterations = result.iterations;
    model.contacts = result.contacts;
  }

 private:
  const DeviceState start_;
  const double h_;
  WorldTool tool_;
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
}  // namespace direct

Method make_direct(const MethodContext& context) {
  using namespace direct;
  std::unique_ptr<SlowHalf> slow;
  if (context.world.tool() < 0)
    slow = std::make_unique<PointDirect>(context);
  else
    slow = std::make_unique<WorldDirect>(context);
  return {layout_of<Model>(), layout_of<Feedback>(), std::move(slow), std::make_unique<DirectFast>()};
}

}  // namespace palpate
