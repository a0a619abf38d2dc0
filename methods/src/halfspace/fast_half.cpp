#include "halfspace/halves.h"
#include "palpate/constraints/solver.h"
#include "palpate/world/point_slide.h"
#include "point_tool.h"

namespace palpate::halfspace {
namespace {

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
    const std::size_t planes = model.header.sequence ? as_size(model.planes) : 0;
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
    const auto index = as_size(problem_.add_constraint(c));
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

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context) {
  return std::make_unique<HalfspaceFast>(context);
}

}  // namespace palpate::halfspace
