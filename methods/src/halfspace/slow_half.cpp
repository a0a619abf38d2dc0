#include <algorithm>

#include "halfspace/halves.h"
#include "palpate/constraints/problem.h"
#include "palpate/methods/baseline_settings.h"

namespace palpate::halfspace {
namespace {

/// Radius of the proximity query around the proxy [m] (Knott & Kuhlen 2015, section 5).
constexpr double kQueryRadius = 0.020;

class HalfspaceSlow final : public TypedSlowHalf<Model, PointFeedback> {
 public:
  explicit HalfspaceSlow(const MethodContext& c)
      : world_(c), ahead_(c.settings.get<HalfspaceSettings>("halfspace").look_ahead ? 1.5 * c.slow_period : -1.0) {}

  StepWish begin(const PointFeedback& feedback, Model& model, StepReport&) override {
    model.planes = model.moving = 0;
    return world_.begin(feedback);
  }

  void read_tick(const FreeTick& tick, Model& model, StepReport& report) noexcept override {
    world_.read_tick(tick, report);
    publish(model, report);
  }

  void finish(bool done, Model& model, StepReport& report) override {
    if (!done) model.planes = model.moving = 0;
    if (model.planes > 0) report.penetration = std::max(report.penetration, depth_);
  }

  /// The plane, as a square around the proxy's foot as wide as the query.
  void show(const Model& model, ModelView& view) const noexcept override {
    if (model.planes == 0) return;
    const Vec3& n = model.plane.normal;
    const Vec3 foot = world_.proxy() - (n.dot(world_.proxy()) - model.plane.offset) * n;
    Vec3 t1, t2;
    make_tangents(n, t1, t2);
    if (t1.cross(t2).dot(n) < 0.0) std::swap(t1, t2);
    const Vec3 a = kQueryRadius * (t1 + t2), b = kQueryRadius * (t2 - t1);
    view.add(foot + a, foot + b, foot - a, n, 0);
    view.add(foot + a, foot - a, foot - b, n, 0);
  }

 private:
  void publish(Model& model, StepReport& report) {
    // The model is used from one to two periods after the proxy was here.
    const DeviceState& hand = world_.device();
    const Vec3 at = ahead_ < 0.0 ? world_.proxy() : Vec3(hand.pose.position + ahead_ * hand.velocity.linear);
    TouchPoint nearest;
    bool found = false;
    {
      const StageTimer timer(report, Stage::kDetect);
      found = world_.find_closest(at, kQueryRadius, nearest);
    }
    if (!found) return;
    const StageTimer timer(report, Stage::kModel);
    model.planes = 1;
    // Above an edge or a vertex the contact's normal is the shortest way to it; on the surface or below it that way
    // has no direction or the wrong one, and the surface's own normal stands in.
    const Vec3 apart = at - nearest.closest.point;
    const bool clear = nearest.signed_distance > 1e-6 * at.cwiseAbs().maxCoeff();
    const Vec3 normal = clear ? apart.normalized() : nearest.normal;
    model.plane = {normal, normal.dot(nearest.closest.point), nearest.friction};
    depth_ = std::max(0.0, ahead_ < 0.0 ? -nearest.signed_distance : model.plane.offset - normal.dot(world_.proxy()));
    if (nearest.surface < 0 || world_.surfaces()[as_size(nearest.surface)].body < 0) return;
    BodyPoint foot;
    foot.element = nearest.closest.triangle;
    foot.weights = nearest.closest.barycentric;
    if (!world_.compute_compliance(nearest.surface, {&foot, 1}, C_)) return;
    model.moving = 1;
    model.C = C_;
  }

  PointWorld world_;
  Eigen::MatrixXd C_;
  const double ahead_;  ///< [s]; negative: the plane is that of where the proxy is
  double depth_ = 0.0;  ///< of the proxy below the plane [m]
};

}  // namespace

std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context) {
  return std::make_unique<HalfspaceSlow>(context);
}

}  // namespace palpate::halfspace
