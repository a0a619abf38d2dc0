#include "double_coupling/halves.h"
#include "tool_grip.h"

namespace palpate::double_coupling {
namespace {

class DoubleSlow final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit DoubleSlow(const MethodContext& c)
      : tool_(*c.world.body(c.body())), start_(c.start), grip_(make_second_grip(c, tool_)) {}

  StepWish begin(const Feedback& feedback, Model&, StepReport&) override {
    tool_.set_grip(grip_.aim(feedback.header.sequence ? feedback.tool : start_));
    return {};
  }

  void finish(bool done, Model& model, StepReport& report) override {
    model.valid = done ? 1 : 0;
    model.handle = grip_.device_pose(tool_);
    model.velocity = handle_velocity(tool_);
    model.contacts = report.contacts;
  }

 private:
  Body& tool_;
  const DeviceState start_;
  ToolGrip grip_;
};

}  // namespace

std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context) {
  return std::make_unique<DoubleSlow>(context);
}

}  // namespace palpate::double_coupling
