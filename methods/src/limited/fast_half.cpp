#include <algorithm>
#include <cmath>
#include <limits>

#include "limited/halves.h"
#include "limited/patch_solver.h"
#include "palpate/geometry/closest_features.h"
#include "palpate/methods/limited_settings.h"
#include "palpate/world/point_slide.h"
#include "point_tool.h"

namespace palpate::limited {
namespace {

/// A surface that has moved further than this between two models is not the same contact any more [m].
constexpr double kMaxOffset = 0.01;

class LimitedFast final : public TypedFastHalf<LimitedPatch, PointFeedback> {
 public:
  explicit LimitedFast(const MethodContext& c)
      : tool_(c.tool, c.dt, push_outside(c.world, c.start.pose.position, kMaxStartDepth)),
        radius_(c.tool.radius()),
        solver_({.tolerance = c.settings.get<LimitedSettings>("limited").tolerance,
                 .radius = c.tool.radius(),
                 .max_iterations = c.settings.get<LimitedSettings>("limited").max_iterations,
                 .start_outside = c.world.is_static()}),
        blend_ticks_(c.settings.get<LimitedSettings>("limited").blend
                         ? std::max(1, static_cast<int>(std::lround(c.slow_period / c.dt)))
                         : 0) {}

  TickResult tick(const DeviceState& device, const LimitedPatch& model, PointFeedback& feedback) noexcept override {
    if (model.header.sequence != sequence_) take_over(model);
    blend();
    TickResult out;
    out.tool = {tool_.position(), device.pose.rotation};
    const Vec3 free = tool_.compute_free_motion(device);
    if (model.header.sequence == 0 || !is_covered(model)) {
      wait(device, out);
    } else {
      move(device, model, free, out);
    }
    feedback.position = tool_.position();
    feedback.velocity = tool_.velocity();
    feedback.device = device;
    return out;
  }

 private:
  /// A new model. Where its bodies have moved, the whole patch is shown where the contact was, and comes to its true
  /// place over one slow period, taking the proxy along: a surface that jumped would kick the hand. A proxy that a
  /// surface has passed over is put back outside. Neither is motion: they give no speed.
  void take_over(const LimitedPatch& model) noexcept {
    sequence_ = model.header.sequence;
    std::array<std::int32_t, PatchSolution::kMaxContacts> same;
    same.fill(-1);
    Vec3 x = tool_.position();
    Vec3 offset = Vec3::Zero();
    for (int k = 0; k < held_count_; ++k) {
      const Held& held = held_[as_size(k)];
      for (std::int32_t t = 0; t < model.triangles; ++t) {
        if (model.triangle[as_size(t)].id == held.id) same[as_size(k)] = t;
      }
      const std::int32_t t = same[as_size(k)];
      if (k == 0 && t >= 0 && model.triangle[as_size(t)].moving)
        offset = held.foot + offset_ - compute_foot(model, t, held.weights);
    }
    solver_.restart(same);
    const bool show_there = blend_ticks_ > 0 && offset.allFinite() && offset.norm() < kMaxOffset;
    offset_ = show_there ? offset : Vec3(Vec3::Zero());
    offset_step_ = offset_ / std::max(1, blend_ticks_);
    blend_left_ = blend_ticks_;
    if (model.moves == 0) return;
    x -= offset_ + yield_;
    push_out(model, x);
    if (x.allFinite()) tool_.carry_to(x + offset_ + yield_);
  }

  /// The patch's way to its true place, one tick of it.
  void blend() noexcept {
    if (blend_left_ == 0) return;
    --blend_left_;
    const Vec3 now = blend_left_ == 0 ? Vec3(Vec3::Zero()) : Vec3(offset_ - offset_step_);
    if (held_count_ > 0) tool_.carry_to(tool_.position() + now - offset_);
    offset_ = now;
  }

  static Vec3 compute_foot(const LimitedPatch& model, std::int32_t triangle, const Vec3& weights) noexcept {
    Vec3 foot = Vec3::Zero();
    const auto& v = model.triangle[as_size(triangle)].vertex;
    for (int c = 0; c < 3; ++c) foot += weights[c] * model.position[as_size(v[as_size(c)])];
    return foot;
  }

  /// Moves x to the nearest surface, or to its radius in front of it, if it lies inside, no deeper than that surface's
  /// constraint reaches, or nearer than its radius.
  void push_out(const LimitedPatch& model, Vec3& x) const noexcept {
    double nearest2 = std::numeric_limits<double>::infinity();
    std::int32_t at = -1;
    Vec3 foot = x;
    Vec3 normal = Vec3::Zero();  // summed over the triangles that share the nearest feature
    for (std::int32_t t = 0; t < model.triangles; ++t) {
      const auto i = as_size(t);
      const auto& v = model.triangle[i].vertex;
      const Vec3 p = compute_foot(model, t,
                                  closest_on_triangle(x, model.position[as_size(v[0])], model.position[as_size(v[1])],
                                                      model.position[as_size(v[2])]));
      const double distance2 = (x - p).squaredNorm();
      const double same = 1e-9 * nearest2 + model.skin * model.skin;
      if (at >= 0 && std::abs(distance2 - nearest2) <= same) {
        normal += model.triangle[i].normal;
      } else if (distance2 < nearest2) {
        nearest2 = distance2;
        at = t;
        foot = p;
        normal = model.triangle[i].normal;
      }
    }
    if (at < 0) return;
    if (!(normal.dot(x - foot) < 0.0)) {
      const double distance = std::sqrt(nearest2);
      if (distance < radius_ && distance > model.skin) x = foot + (radius_ + 2.0 * model.skin) / distance * (x - foot);
      return;
    }
    if (nearest2 > model.triangle[as_size(at)].depth * model.triangle[as_size(at)].depth) return;
    x = foot + (radius_ + 2.0 * model.skin) * normal.normalized();
  }

  bool is_covered(const LimitedPatch& model) const noexcept {
    return (tool_.position() - offset_ - yield_ - model.centre).cwiseAbs().maxCoeff() <= model.half_edge * (1.0 + 1e-9);
  }

  /// Where nothing is known the proxy does not move. The hand feels what the last contacts bear of the coupling, never
  /// more than before.
  void wait(const DeviceState& device, TickResult& out) noexcept {
    tool_.stop();
    feel(compute_held_force(tool_.force_on_hand(device)), last_force_, out);
    out.contacts = held_count_;
  }

  void feel(const Vec3& force, double most, TickResult& out) noexcept {
    const double size = force.norm();
    last_force_ = std::isfinite(size) ? std::min(size, most) : 0.0;
    out.wrench.force = last_force_ > 0.0 ? Vec3(last_force_ / size * force) : Vec3(Vec3::Zero());
  }

  /// What the contacts alone would bear of the coupling: its part in the cone of their normals, and of the rest what
  /// friction holds. Where the proxy is held by more than contacts (by the box, because nothing is known beyond), the
  /// forces of the tick would be felt where nothing is: it is wedged against faces that the hand is in front of.
  Vec3 compute_held_force(const Vec3& coupling) const noexcept {
    constexpr int kSweeps = 16;  // three faces of a corner settle to a percent in a few
    std::array<double, PatchSolution::kMaxContacts> load{};
    Vec3 rest = coupling;
    double friction = 0.0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (int k = 0; k < held_count_; ++k) {
        const Held& held = held_[as_size(k)];
        double& a = load[as_size(k)];
        const double now = std::max(0.0, a + held.normal.dot(rest));
        rest -= (now - a) * held.normal;
        a = now;
        friction = std::max(friction, held.friction);
      }
    }
    const Vec3 pressed = coupling - rest;
    const double most = friction * pressed.norm(), sideways = rest.norm();
    return sideways > most ? Vec3(pressed + most / sideways * rest) : coupling;
  }

  void move(const DeviceState& device, const LimitedPatch& model, const Vec3& free, TickResult& out) noexcept {
    const PatchSolution& s =
        solver_.solve(model, tool_.position() - offset_ - yield_, free - offset_, tool_.compliance(), yield_);
    yield_ = s.yield;
    tool_.move_to(s.position + offset_ + yield_);
    out.tool.position = tool_.position();
    // What holds the proxy other than contact (the trusted box, the longest way of a tick) is no thing that one can
    // feel; no force is above the coupling's, and that of a tick that did not settle not above the last one's.
    held_count_ = s.contacts;
    for (int k = 0; k < s.contacts; ++k) {
      const PatchContact& c = s.contact[as_size(k)];
      const auto& face = model.triangle[as_size(c.triangle)];
      held_[as_size(k)] = {face.id, c.weights, compute_foot(model, c.triangle, c.weights), c.normal, face.friction};
    }
    const Vec3 coupling = tool_.force_on_hand(device);
    Vec3 force = Vec3::Zero();
    if (s.contacts > 0) {
      if (s.trust_force != Vec3::Zero()) {
        force = compute_held_force(coupling);
      } else {
        force = s.converged && s.share < 1.0 ? Vec3(s.contact_force / s.share) : coupling;
      }
    }
    feel(force, s.converged ? coupling.norm() : std::min(coupling.norm(), last_force_), out);
    out.residual = s.residual;
    out.iterations = s.iterations;
    out.contacts = s.contacts;
  }

  /// A triangle that held the proxy in the last tick, and where on it.
  struct Held {
    std::int64_t id = -1;
    Vec3 weights = Vec3::Zero();
    Vec3 foot = Vec3::Zero();  ///< [m], without the answer to the contact's own force
    Vec3 normal = Vec3::Zero();
    double friction = 0.0;
  };

  PointTool tool_;
  const double radius_;  ///< of the point [m]
  PatchSolver solver_;
  std::uint64_t sequence_ = 0;
  Vec3 offset_ = Vec3::Zero();       ///< of the patch as it is shown from where it is [m]
  Vec3 offset_step_ = Vec3::Zero();  ///< of one tick [m]
  Vec3 yield_ = Vec3::Zero();        ///< of the patch where it is touched, in the last tick [m]
  const int blend_ticks_;            ///< 0: the patch is where it is at once
  int blend_left_ = 0;
  std::array<Held, PatchSolution::kMaxContacts> held_;
  int held_count_ = 0;
  double last_force_ = 0.0;  ///< that the hand felt [N]
};

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context) {
  return std::make_unique<LimitedFast>(context);
}

}  // namespace palpate::limited
