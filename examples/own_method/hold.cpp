#include "hold.h"

#include "palpate/core/fields.h"

namespace own {
namespace {

using namespace palpate;

/// What the slow half tells the fast half. The runtime stamps the header.
struct Model {
  MessageHeader header;
  bool holds;
  Vec3 place;  ///< where the hand is held, world frame [m]
};

/// What the fast half tells the slow half.
struct Feedback {
  MessageHeader header;
  DeviceState device;
};

/// Decides when and where the hand is held. Runs in the slow thread and may take its time; a real method would look at
/// the world here.
class HoldSlow final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit HoldSlow(const MethodContext& c) : after_(c.settings.get<HoldSettings>("hold").after) {}

  /// Before the world's step: takes over what the fast half told, and says what it wants of the step.
  StepWish begin(const Feedback& feedback, Model&, StepReport&) override {
    const bool heard = feedback.header.sequence > 0;  // the fast half has ticked
    const bool asked = feedback.device.buttons & 1u;
    if (!holds_ && heard && (asked || feedback.header.time >= after_)) {
      holds_ = true;
      place_ = feedback.device.pose.position;
    }
    return {};
  }

  /// After it: fills the model whole. One that needs what the step found reads its stages (read_solved and others).
  void finish(bool, Model& model, StepReport&) override {
    model.holds = holds_;
    model.place = place_;
  }

 private:
  const double after_;
  bool holds_ = false;
  Vec3 place_ = Vec3::Zero();
};

/// Gives the force. Runs every tick in the fast thread, so it never allocates, locks, waits or throws.
class HoldFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit HoldFast(const MethodContext& c) : settings_(c.settings.get<HoldSettings>("hold")) {}

  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override {
    feedback.device = device;
    TickResult out;
    out.tool = device.pose;
    if (model.header.sequence == 0 || !model.holds) return out;
    out.tool.position = model.place;
    out.wrench.force =
        settings_.stiffness * (model.place - device.pose.position) - settings_.damping * device.velocity.linear;
    return out;
  }

 private:
  const HoldSettings settings_;
};

Method make_hold(const MethodContext& context) {
  return {layout_of<Model>(), layout_of<Feedback>(), std::make_unique<HoldSlow>(context),
          std::make_unique<HoldFast>(context)};
}

/// It holds the handle, so it can work on every world.
std::string refuse_hold(const ToolInWorld& where) {
  if (where.tool.is<HeldFingers>()) return "fingers would move on while the hand is held";
  return {};
}

}  // namespace

void describe(Fields& f, HoldSettings& s) {
  const HoldSettings d;
  f.number({.name = "stiffness", .doc = "of the spring that holds the hand", .unit = "N/m"}, s.stiffness, d.stiffness,
           {0.0, 5000.0});
  f.number({.name = "damping", .doc = "beside the spring", .unit = "N·s/m"}, s.damping, d.damping, {0.0, 50.0});
  f.number({.name = "after", .doc = "the hand is held where it is at this time; button 0 holds it sooner", .unit = "s"},
           s.after, d.after, {0.0, 3600.0});
}

MethodInfo make_hold_info() {
  return {"hold", "holds the hand where it is at a given time", &make_hold, &refuse_hold,
          SettingsChoice::own<HoldSettings>("when the hand is held, and how firmly")};
}

}  // namespace own
