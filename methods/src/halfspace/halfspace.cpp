#include "halfspace/halfspace.h"

#include <algorithm>

#include "palpate/constraints/point_on_planes.h"
#include "palpate/world/point_slide.h"
#include "point_tool.h"

// The standard contact model (SCM) that Knott & Kuhlen 2015, section 5, compare against: contacts as linear
// inequalities, of which only the closest is kept, because several of them lock the proxy in convex regions.
namespace palpate {
namespace {

/// Radius of the proximity query around the proxy [m] (section 5).
constexpr double kQueryRadius = 0.020;

struct Model {
  MessageHeader header;
  ContactPlane plane;
  std::int32_t planes = 0;  ///< 0: nothing near
};

struct Feedback {
  MessageHeader header;
  Vec3 position = Vec3::Zero();  ///< of the proxy
};

class HalfspaceSlow final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit HalfspaceSlow(const MethodContext& c) : world_(c.world), start_(c.start.pose.position) {}

  void step(const Feedback& feedback, Model& model, StepReport& report) override {
    const Vec3& proxy = feedback.header.sequence ? feedback.position : start_;
    WorldClosest nearest;
    bool found = false;
    {
      const StageTimer timer(report, Stage::kDetect);
      found = world_.find_closest(proxy, kQueryRadius, nearest);
    }
    const StageTimer timer(report, Stage::kModel);
    model.planes = found ? 1 : 0;
    if (!found) return;
    // Above an edge or a vertex the contact's normal is the shortest way to it; on the surface or below it that way
    // has no direction or the wrong one, and the surface's own normal stands in.
    const Vec3 apart = proxy - nearest.closest.point;
    const bool clear = nearest.signed_distance > 1e-6 * proxy.cwiseAbs().maxCoeff();
    const Vec3 normal = clear ? apart.normalized() : nearest.normal;
    model.plane = {normal, normal.dot(nearest.closest.point),
                   world_.static_surfaces()[static_cast<std::size_t>(nearest.body)].friction};
    report.contacts = 1;
    report.penetration = std::max(0.0, -nearest.signed_distance);
  }

 private:
  const World& world_;
  const Vec3 start_;
};

class HalfspaceFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit HalfspaceFast(const MethodContext& c)
      : tool_(c.tool, c.dt, push_outside(c.world, c.start.pose.position, kMaxStartDepth)) {}

  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override {
    const std::size_t planes = model.header.sequence ? static_cast<std::size_t>(model.planes) : 0;
    const PlaneContact contact =
        settle_on_planes({&model.plane, planes}, tool_.position(), tool_.compute_free_motion(device));
    tool_.move_to(contact.position);
    feedback.position = tool_.position();
    TickResult out;
    out.wrench.force = tool_.force_on_hand(device);
    out.tool = {tool_.position(), device.pose.rotation};
    out.iterations = 1;
    out.contacts = contact.active;
    return out;
  }

 private:
  PointTool tool_;
};

}  // namespace

Method make_halfspace(const MethodContext& context) {
  return {layout_of<Model>(), layout_of<Feedback>(), std::make_unique<HalfspaceSlow>(context),
          std::make_unique<HalfspaceFast>(context)};
}

}  // namespace palpate
