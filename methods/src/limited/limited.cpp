#include "limited/limited.h"

#include <algorithm>
#include <cmath>

#include "limited/patch_builder.h"
#include "limited/patch_solver.h"
#include "palpate/core/fields.h"
#include "palpate/geometry/closest_features.h"
#include "palpate/world/point_slide.h"
#include "point_tool.h"

namespace palpate {
namespace {

/// A surface that has moved further than this between two models is not the same contact any more [m].
constexpr double kMaxOffset = 0.01;

/// Share of the trusted box within which the proxy must lie when the model is made.
constexpr double kCovered = 0.8;

class LimitedSlow final : public TypedSlowHalf<LimitedPatch, PointFeedback> {
 public:
  explicit LimitedSlow(const MethodContext& c)
      : world_(c), builder_(c.settings.limited, world_), ahead_(1.5 * c.slow_period) {}

  void step(const PointFeedback& feedback, LimitedPatch& model, StepReport& report) override {
    if (!world_.begin_step(feedback, report, [&](StepReport& r) { build(model, r); })) {
      // Nothing is known: a box without size, in which the proxy waits.
      model.centre = world_.proxy();
      model.half_edge = model.skin = 0.0;
      model.triangles = model.vertices = model.moving = model.moves = model.overflow = 0;
      report.converged = false;
      return;
    }
    report.contacts = model.triangles;
    report.overflow = report.overflow || model.overflow;
    world_.end_step(report);
  }

  /// The triangles nearest to the proxy by convex set, as in Fig. 6 of the paper, in the order of their distance: how
  /// the fast half would take them apart if all were active at once.
  void show(const LimitedPatch& model, ModelView& view) const noexcept override {
    std::vector<std::pair<double, std::int32_t>> near;
    for (std::int32_t t = 0; t < model.triangles; ++t) {
      const auto i = static_cast<std::size_t>(t);
      near.emplace_back(std::max(0.0, (model.middle[i] - world_.proxy()).norm() - model.extent[i]), t);
    }
    const std::size_t count = std::min(near.size(), ModelView::kMaxFaces);
    std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count), near.end());
    std::vector<int> set_of;
    for (std::size_t i = 0; i < count; ++i) {
      int set = 0;
      for (std::size_t j = 0; j < i;) {
        const bool fits = set_of[j] != set || are_mutually_convex(model, near[i].second, near[j].second);
        j = fits ? j + 1 : 0;
        set += fits ? 0 : 1;
      }
      set_of.push_back(set);
      const LimitedPatch::Triangle& t = model.triangle[static_cast<std::size_t>(near[i].second)];
      const auto corner = [&](int c) {
        return model.position[static_cast<std::size_t>(t.vertex[static_cast<std::size_t>(c)])];
      };
      view.add(corner(0), corner(1), corner(2), t.normal, set);
    }
  }

 private:
  /// The model is used from one to two periods after the proxy was here: it should be right where the hand will have
  /// taken it, and still cover where it is. How much that leaves is known when the triangles are found.
  void build(LimitedPatch& model, StepReport& report) {
    Vec3 way = world_.device().pose.position + ahead_ * world_.device().velocity.linear - world_.proxy();
    const double far = way.cwiseAbs().maxCoeff();
    if (far > most_ahead_) way *= most_ahead_ / far;
    builder_.begin(world_.proxy() + way, world_.proxy(), model, report);
    const double shift = way.cwiseAbs().maxCoeff();
    if (shift > kCovered * model.half_edge) {
      way *= kCovered * kCovered * model.half_edge / shift;
      builder_.begin(world_.proxy() + way, world_.proxy(), model, report);
    }
    if (way.cwiseAbs().maxCoeff() > kCovered * model.half_edge)
      builder_.begin(world_.proxy(), world_.proxy(), model, report);
    builder_.finish(model, report);
    most_ahead_ = kCovered * model.half_edge;
  }

  PointWorld world_;
  PatchBuilder builder_;
  const double ahead_;                                           ///< [s]
  double most_ahead_ = std::numeric_limits<double>::infinity();  ///< what the last patch would have left room for [m]
};

class LimitedFast final : public TypedFastHalf<LimitedPatch, PointFeedback> {
 public:
  explicit LimitedFast(const MethodContext& c)
      : tool_(
            c.tool, c.dt,
            c.world.is_static() ? push_outside(c.world, c.start.pose.position, kMaxStartDepth) : c.start.pose.position),
        solver_({.tolerance = c.settings.limited.tolerance,
                 .max_iterations = c.settings.limited.max_iterations,
                 .start_outside = c.world.is_static()}),
        blend_ticks_(std::max(1, static_cast<int>(std::lround(c.slow_period / c.dt)))) {}

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
      const Held& held = held_[static_cast<std::size_t>(k)];
      for (std::int32_t t = 0; t < model.triangles; ++t) {
        if (model.triangle[static_cast<std::size_t>(t)].id == held.id) same[static_cast<std::size_t>(k)] = t;
      }
      const std::int32_t t = same[static_cast<std::size_t>(k)];
      if (k == 0 && t >= 0 && model.triangle[static_cast<std::size_t>(t)].moving)
        offset = held.foot + offset_ - compute_foot(model, t, held.weights);
    }
    solver_.restart(same);
    offset_ = offset.allFinite() && offset.norm() < kMaxOffset ? offset : Vec3(Vec3::Zero());
    offset_step_ = offset_ / blend_ticks_;
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
    const auto& v = model.triangle[static_cast<std::size_t>(triangle)].vertex;
    for (int c = 0; c < 3; ++c)
      foot += weights[c] * model.position[static_cast<std::size_t>(v[static_cast<std::size_t>(c)])];
    return foot;
  }

  /// Moves x to the nearest surface if it lies inside, no deeper than that surface's constraint reaches.
  static void push_out(const LimitedPatch& model, Vec3& x) noexcept {
    double nearest2 = std::numeric_limits<double>::infinity();
    std::int32_t at = -1;
    Vec3 foot = x;
    Vec3 normal = Vec3::Zero();  // summed over the triangles that share the nearest feature
    for (std::int32_t t = 0; t < model.triangles; ++t) {
      const auto i = static_cast<std::size_t>(t);
      const auto& v = model.triangle[i].vertex;
      const Vec3 p = compute_foot(model, t,
                                  closest_on_triangle(x, model.position[static_cast<std::size_t>(v[0])],
                                                      model.position[static_cast<std::size_t>(v[1])],
                                                      model.position[static_cast<std::size_t>(v[2])]));
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
    if (at < 0 || !(normal.dot(x - foot) < 0.0)) return;
    if (nearest2 >
        model.triangle[static_cast<std::size_t>(at)].depth * model.triangle[static_cast<std::size_t>(at)].depth)
      return;
    x = foot + 2.0 * model.skin * normal.normalized();
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
        const Held& held = held_[static_cast<std::size_t>(k)];
        double& a = load[static_cast<std::size_t>(k)];
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
        solver_.solve(model, tool_.position() - offset_ - yield_, free - offset_, tool_.compliance());
    yield_ = s.yield;
    tool_.move_to(s.position + offset_ + yield_);
    out.tool.position = tool_.position();
    // What holds the proxy other than contact (the trusted box, the longest way of a tick) is no thing that one can
    // feel; no force is above the coupling's, and that of a tick that did not settle not above the last one's.
    held_count_ = s.contacts;
    for (int k = 0; k < s.contacts; ++k) {
      const PatchContact& c = s.contact[static_cast<std::size_t>(k)];
      const auto& face = model.triangle[static_cast<std::size_t>(c.triangle)];
      held_[static_cast<std::size_t>(k)] = {face.id, c.weights, compute_foot(model, c.triangle, c.weights), face.normal,
                                            face.friction};
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
  PatchSolver solver_;
  std::uint64_t sequence_ = 0;
  Vec3 offset_ = Vec3::Zero();       ///< of the patch as it is shown from where it is [m]
  Vec3 offset_step_ = Vec3::Zero();  ///< of one tick [m]
  Vec3 yield_ = Vec3::Zero();        ///< of the patch where it is touched, in the last tick [m]
  const int blend_ticks_;
  int blend_left_ = 0;
  std::array<Held, PatchSolution::kMaxContacts> held_;
  int held_count_ = 0;
  double last_force_ = 0.0;  ///< that the hand felt [N]
};

}  // namespace

Method make_limited(const MethodContext& context) {
  check_settings("limited", context.settings.limited);
  return {layout_of<LimitedPatch>(), layout_of<PointFeedback>(), std::make_unique<LimitedSlow>(context),
          std::make_unique<LimitedFast>(context)};
}

}  // namespace palpate
