#include "halfspace/halfspace.h"

#include <algorithm>

#include "palpate/constraints/point_on_planes.h"
#include "palpate/constraints/solver.h"
#include "palpate/world/point_slide.h"
#include "point_tool.h"
#include "point_world.h"

// The standard contact model (SCM) that Knott & Kuhlen 2015, section 5, compare against: contacts as linear
// inequalities, of which only the closest is kept, because several of them lock the proxy in convex regions.
namespace palpate {
namespace halfspace {
namespace {

/// Radius of the proximity query around the proxy [m] (section 5).
constexpr double kQueryRadius = 0.020;

struct Model {
  MessageHeader header;
  ContactPlane plane;
  std::int32_t planes = 0;  ///< 0: nothing near
  std::int32_t moving = 0;  ///< 1: the plane's body answers with …
  Mat3 C;                   ///< … h A(dt)⁻¹ at the contact [m/N]
};

class HalfspaceSlow final : public TypedSlowHalf<Model, PointFeedback> {
 public:
  explicit HalfspaceSlow(const MethodContext& c) : world_(c) {}

  void step(const PointFeedback& feedback, Model& model, StepReport& report) override {
    model.planes = model.moving = 0;
    if (!world_.begin_step(feedback, report, [&](StepReport& r) { publish(model, r); })) {
      model.planes = model.moving = 0;
      report.converged = false;
      return;
    }
    report.contacts = model.planes;
    if (model.planes > 0) report.penetration = depth_;
    world_.end_step(report);
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
    const Vec3& proxy = world_.proxy();
    TouchPoint nearest;
    bool found = false;
    {
      const StageTimer timer(report, Stage::kDetect);
      found = world_.find_closest(proxy, kQueryRadius, nearest);
    }
    if (!found) return;
    const StageTimer timer(report, Stage::kModel);
    model.planes = 1;
    // Above an edge or a vertex the contact's normal is the shortest way to it; on the surface or below it that way
    // has no direction or the wrong one, and the surface's own normal stands in.
    const Vec3 apart = proxy - nearest.closest.point;
    const bool clear = nearest.signed_distance > 1e-6 * proxy.cwiseAbs().maxCoeff();
    const Vec3 normal = clear ? apart.normalized() : nearest.normal;
    model.plane = {normal, normal.dot(nearest.closest.point), nearest.friction};
    depth_ = std::max(0.0, -nearest.signed_distance);
    if (nearest.surface < 0 || world_.surfaces()[static_cast<std::size_t>(nearest.surface)].body < 0) return;
    BodyPoint foot;
    foot.element = nearest.closest.triangle;
    foot.weights = nearest.closest.barycentric;
    if (!world_.compute_compliance(nearest.surface, {&foot, 1}, C_)) return;
    model.moving = 1;
    model.C = C_;
  }

  PointWorld world_;
  Eigen::MatrixXd C_;
  double depth_ = 0.0;  ///< of the proxy below the plane [m]
};

class HalfspaceFast final : public TypedFastHalf<Model, PointFeedback> {
 public:
  explicit HalfspaceFast(const MethodContext& c)
      : tool_(
            c.tool, c.dt,
            c.world.is_static() ? push_outside(c.world, c.start.pose.position, kMaxStartDepth) : c.start.pose.position),
        solver_(make_gauss_seidel()) {
    problem_.reserve(3, 1, 3, 1);
    solver_->reserve(3, 6, 1);
  }

  TickResult tick(const DeviceState& device, const Model& model, PointFeedback& feedback) noexcept override {
    const std::size_t planes = model.header.sequence ? static_cast<std::size_t>(model.planes) : 0;
    const Vec3 free = tool_.compute_free_motion(device);
    TickResult out;
    if (planes && model.moving) {
      tool_.move_to(settle_on_moving(model, free, out));
    } else {
      const PlaneContact contact = settle_on_planes({&model.plane, planes}, tool_.position(), free);
      tool_.move_to(contact.position);
      out.contacts = contact.active;
    }
    feedback.position = tool_.position();
    feedback.velocity = tool_.velocity();
    feedback.device = device;
    out.wrench.force = tool_.force_on_hand(device);
    out.tool = {tool_.position(), device.pose.rotation};
    out.iterations = 1;
    return out;
  }

 private:
  /// One contact with a plane whose body yields: W = h A⁻¹ of the point + C.
  Vec3 settle_on_moving(const Model& model, const Vec3& free, TickResult& out) noexcept {
    Mat3 frame;
    Vec3 t1, t2;
    make_tangents(model.plane.normal, t1, t2);
    frame << model.plane.normal, t1, t2;
    problem_.clear();
    const int light = problem_.add_light_body(), dense = problem_.add_dense_body();
    Constraint c;
    c.friction = model.plane.friction;
    c.a = {ConstraintSide::Kind::kLight, light, -1};
    c.b = {ConstraintSide::Kind::kDense, dense, -1};
    const auto index = static_cast<std::size_t>(problem_.add_constraint(c));
    const Constraint& added = problem_.constraints()[index];
    for (int r = 0; r < 3; ++r) {
      problem_.light_J(added.a.first + r).head<3>() = frame.col(r);
      problem_.light_Y(added.a.first + r).head<3>() = tool_.compliance() * frame.col(r);
    }
    const Vec3 slip = frame.transpose() * (free - tool_.position());
    problem_.delta_free(0) = model.plane.normal.dot(free) - model.plane.offset;
    problem_.delta_free(1) = slip[1];
    problem_.delta_free(2) = slip[2];
    problem_.prepare_dense();
    problem_.dense_compliance(dense).topRows<3>().noalias() = frame.transpose() * model.C * frame;
    Vec3 lambda = Vec3::Zero();
    const SolveReport report = solver_->solve(problem_, {.tolerance = 1e-12, .max_iterations = 20}, {lambda.data(), 3});
    out.residual = report.residual.metres;
    out.contacts = lambda[0] > 0.0 ? 1 : 0;
    return free + tool_.compliance() * (frame * lambda);
  }

  PointTool tool_;
  std::unique_ptr<ConstraintSolver> solver_;
  ConstraintProblem problem_;
};

}  // namespace
}  // namespace halfspace

Method make_halfspace(const MethodContext& context) {
  using namespace halfspace;
  return {layout_of<Model>(), layout_of<PointFeedback>(), std::make_unique<HalfspaceSlow>(context),
          std::make_unique<HalfspaceFast>(context)};
}

}  // namespace palpate
