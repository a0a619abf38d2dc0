#include <algorithm>
#include <limits>
#include <vector>

#include "limited/halves.h"
#include "limited/patch_builder.h"
#include "palpate/methods/limited_settings.h"

namespace palpate::limited {
namespace {

/// Share of the trusted box within which the proxy must lie when the model is made.
constexpr double kCovered = 0.8;
constexpr double kAnywhere = std::numeric_limits<double>::infinity();

class LimitedSlow final : public TypedSlowHalf<LimitedPatch, PointFeedback> {
 public:
  explicit LimitedSlow(const MethodContext& c)
      : world_(c),
        builder_(c.settings.get<LimitedSettings>("limited"), world_, c.tool.radius()),
        ahead_(1.5 * c.slow_period),
        most_ahead_(c.settings.get<LimitedSettings>("limited").look_ahead ? kAnywhere : 0.0) {}

  StepWish begin(const PointFeedback& feedback, LimitedPatch&, StepReport&) override { return world_.begin(feedback); }

  void read_tick(const FreeTick& tick, LimitedPatch& model, StepReport& report) noexcept override {
    world_.read_tick(tick, report);
    build(model, report);
  }

  void finish(bool done, LimitedPatch& model, StepReport& report) override {
    if (!done) {
      // Nothing is known: a box without size, in which the proxy waits.
      model.centre = world_.proxy();
      model.half_edge = model.skin = 0.0;
      model.triangles = model.vertices = model.moving = model.moves = model.overflow = 0;
    }
    report.overflow = report.overflow || model.overflow;
  }

  /// The triangles nearest to the proxy by convex set, as in Fig. 6 of the paper, in the order of their distance: how
  /// the fast half would take them apart if all were active at once.
  void show(const LimitedPatch& model, ModelView& view) const noexcept override {
    std::vector<std::pair<double, std::int32_t>> near;
    for (std::int32_t t = 0; t < model.triangles; ++t) {
      const auto i = as_size(t);
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
      const LimitedPatch::Triangle& t = model.triangle[as_size(near[i].second)];
      const auto corner = [&](int c) { return model.position[as_size(t.vertex[as_size(c)])]; };
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
    if (most_ahead_ > 0.0) most_ahead_ = kCovered * model.half_edge;
  }

  PointWorld world_;
  PatchBuilder builder_;
  const double ahead_;  ///< [s]
  double most_ahead_;   ///< what the last patch would have left room for [m]; 0: the proxy stays in the middle
};

}  // namespace

std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context) {
  return std::make_unique<LimitedSlow>(context);
}

}  // namespace palpate::limited
