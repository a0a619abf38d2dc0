#include "direct/halves.h"

namespace palpate::direct {
namespace {

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

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& /*context*/) {
  return std::make_unique<DirectFast>();
}

}  // namespace palpate::direct
