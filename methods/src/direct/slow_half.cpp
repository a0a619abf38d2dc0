#include "direct/halves.h"
#include "palpate/methods/baseline_settings.h"
#include "palpate/world/point_slide.h"
#include "point_tool.h"
#include "world_tool.h"

namespace palpate::direct {
namespace {

/// For a point among static surfaces.
class PointDirect final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit PointDirect(const MethodContext& c)
      : world_(c.world),
        device_(c.start),
        ahead_(c.settings.get<DirectSettings>("direct").predict ? c.slow_period - c.dt : 0.0),
        tool_(c.tool, c.slow_period, push_outside(c.world, c.start.pose.position, kMaxStartDepth)) {}

  StepWish begin(const Feedback& feedback, Model&, StepReport&) override {
    if (!feedback.header.sequence) return {};
    device_ = feedback.device;
    device_.pose.position += ahead_ * device_.velocity.linear;
    return {};
  }

  void finish(bool, Model& model, StepReport& report) override {
    Vec3 free;
    {
      const StageTimer timer(report, Stage::kFree);
      free = tool_.compute_free_motion(device_);
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
    model.wrench.force = tool_.force_on_hand(device_);
    model.tool = {tool_.position(), device_.pose.rotation};
    model.residual = slide.residual;
    model.iterations = slide.iterations;
    model.contacts = slide.contacts;
  }

 private:
  const World& world_;
  DeviceState device_;
  const double ahead_;  ///< [s]
  PointTool tool_;
};

/// For everything else: the whole world, tool included.
class WorldDirect final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit WorldDirect(const MethodContext& c)
      : start_(c.start),
        ahead_(c.settings.get<DirectSettings>("direct").predict ? c.slow_period - c.dt : 0.0),
        tool_(c) {}

  StepWish begin(const Feedback& feedback, Model&, StepReport&) override {
    feedback.header.sequence ? tool_.aim(feedback.device, ahead_) : tool_.aim(start_);
    return {};
  }

  void finish(bool done, Model& model, StepReport& report) override {
    const TickResult result = tool_.read(done, report);
    model.wrench = result.wrench;
    model.tool = result.tool;
    model.residual = result.residual;
    model.iterations = result.iterations;
    model.contacts = result.contacts;
  }

 private:
  const DeviceState start_;
  const double ahead_;  ///< [s]
  WorldTool tool_;
};

}  // namespace

std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context) {
  if (context.body() < 0) return std::make_unique<PointDirect>(context);
  return std::make_unique<WorldDirect>(context);
}

}  // namespace palpate::direct
