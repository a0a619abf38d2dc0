#include <algorithm>
#include <cmath>

#include "halfspace/halves.h"
#include "palpate/constraints/solver.h"
#include "palpate/methods/baseline_settings.h"
#include "palpate/world/point_slide.h"
#include "point_tool.h"

namespace palpate::halfspace {
namespace {

/// A plane that is farther than this from where the contact was is another contact [m].
constexpr double kMaxOffset = 0.01;

class HalfspaceFast final : public TypedFastHalf<Model, PointFeedback> {
 public:
  explicit HalfspaceFast(const MethodContext& c)
      : tool_(c.tool, c.dt, push_outside(c.world, c.start.pose.position, kMaxStartDepth)),
        solver_(make_gauss_seidel()),
        blend_ticks_(c.settings.get<HalfspaceSettings>("halfspace").blend
                         ? std::max(1, static_cast<int>(std::lround(c.slow_period / c.dt)))
                         : 0) {
    problem_.reserve(3, 1, 3, 1);
    solver_->reserve(3, 6, 1);
  }

  TickResult tick(const DeviceState& device, const Model& model, PointFeedback& feedback) noexcept override {
    const std::size_t planes = model.header.sequence ? as_size(model.planes) : 0;
    if (model.header.sequence != sequence_) take_over(model, planes > 0);
    const ContactPlane plane = show(model);
    const Vec3 free = tool_.compute_free_motion(device);
    TickResult out;
    if (planes && model.moving) {
      tool_.move_to(settle_on_moving(plane, model.C, free, out));
    } else {
      const PlaneContact contact = settle_on_planes({&plane, planes}, tool_.position(), free);
      tool_.move_to(contact.position);
      out.contacts = contact.active;
    }
    held_ = out.contacts > 0;
    feedback.position = tool_.position();
    feedback.velocity = tool_.velocity();
    feedback.device = device;
    out.wrench.force = tool_.force_on_hand(device);
    out.tool = {tool_.position(), device.pose.rotation};
    out.iterations = 1;
    return out;
  }

 private:
  /// With blending a new plane is first shown through the place where the last one held the proxy.
  void take_over(const Model& model, bool near) noexcept {
    sequence_ = model.header.sequence;
    const double shift = near && held_ ? model.plane.normal.dot(tool_.position()) - model.plane.offset : 0.0;
    shift_ = blend_ticks_ > 0 && std::abs(shift) < kMaxOffset ? shift : 0.0;
    shift_step_ = shift_ / std::max(1, blend_ticks_);
    blend_left_ = blend_ticks_;
  }

  /// The plane's way to its true place, one tick of it, taking the proxy along: that is no motion of the proxy.
  ContactPlane show(const Model& model) noexcept {
    ContactPlane plane = model.plane;
    if (blend_left_ > 0) {
      const double now = --blend_left_ == 0 ? 0.0 : shift_ - shift_step_;
      if (held_) tool_.carry_to(tool_.position() + (now - shift_) * plane.normal);
      shift_ = now;
    }
    plane.offset += shift_;
    return plane;
  }

  /// One contact with a plane whose body yields: W = h A⁻¹ of the point + C.
  Vec3 settle_on_moving(const ContactPlane& plane, const Mat3& C, const Vec3& free, TickResult& out) noexcept {
    Mat3 frame;
    Vec3 t1, t2;
    make_tangents(plane.normal, t1, t2);
    frame << plane.normal, t1, t2;
    problem_.clear();
    const int light = problem_.add_light_body(), dense = problem_.add_dense_body();
    Constraint c;
    c.friction = plane.friction;
    c.a = {ConstraintSide::Kind::kLight, light, -1};
    c.b = {ConstraintSide::Kind::kDense, dense, -1};
    const auto index = as_size(problem_.add_constraint(c));
    const Constraint& added = problem_.constraints()[index];
    for (int r = 0; r < 3; ++r) {
      problem_.light_J(added.a.first + r).head<3>() = frame.col(r);
      problem_.light_Y(added.a.first + r).head<3>() = tool_.compliance() * frame.col(r);
    }
    const Vec3 slip = frame.transpose() * (free - tool_.position());
    problem_.delta_free(0) = plane.normal.dot(free) - plane.offset;
    problem_.delta_free(1) = slip[1];
    problem_.delta_free(2) = slip[2];
    problem_.prepare_dense();
    problem_.dense_compliance(dense).topRows<3>().noalias() = frame.transpose() * C * frame;
    Vec3 lambda = Vec3::Zero();
    const SolveReport report = solver_->solve(problem_, {.tolerance = 1e-12, .max_iterations = 20}, {lambda.data(), 3});
    out.residual = report.residual.metres;
    out.contacts = lambda[0] > 0.0 ? 1 : 0;
    return free + tool_.compliance() * (frame * lambda);
  }

  PointTool tool_;
  std::unique_ptr<ConstraintSolver> solver_;
  ConstraintProblem problem_;
  std::uint64_t sequence_ = 0;
  const int blend_ticks_;  ///< 0: a new plane is in its place at once
  int blend_left_ = 0;
  double shift_ = 0.0, shift_step_ = 0.0;  ///< of the plane as it is shown, along its normal, and of one tick [m]
  bool held_ = false;                      ///< in the last tick
};

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context) {
  return std::make_unique<HalfspaceFast>(context);
}

}  // namespace palpate::halfspace
