#include <algorithm>
#include <new>

#include "palpate/bodies/beam_chain.h"
#include "palpate/methods/reduced_settings.h"
#include "reduced/halves.h"

namespace palpate::reduced {

SlowReduced::SlowReduced(const MethodContext& c, const Layout& layout)
    : world_(c.world), dt_(c.dt), slow_period_(c.slow_period), layout_(layout) {
  const auto& settings = c.settings.get<ReducedSettings>("reduced");
  for (const int i : layout_.soft) {
    auto& body = dynamic_cast<FemBody&>(*world_.body(i));
    if (!second_ && body.allows_two_threads()) second_ = std::make_unique<SecondThread>();
    reductions_.emplace_back(body, Reduction::Settings{c.dt, c.slow_period, settings.factor_steps, settings.states},
                             body.allows_two_threads() ? second_.get() : nullptr);
  }
}

bool SlowReduced::make_first_model(Model& model) {
  if (!make_model(0, 0.0, model)) return false;
  begin_with(model);
  // By that one it is known where the bodies will be in the middle of the first period.
  const double ahead = 0.5 * (slow_period_ - dt_);
  if (ahead > 0.0) {
    if (!make_model(0, ahead, model)) return false;
    begin_with(model);
  }
  return true;
}

void SlowReduced::begin_with(const Model& model) {
  for (std::size_t k = 0; k < reductions_.size(); ++k)
    reductions_[k].begin_with(layout_.reduced[k].view(model.numbers()));
}

StepWish SlowReduced::begin_bytes(const std::byte* feedback_bytes, std::byte* model_bytes, StepReport& report) {
  const auto& feedback = *std::launder(reinterpret_cast<const Feedback*>(feedback_bytes));
  auto& model = *std::launder(reinterpret_cast<Model*>(model_bytes));
  const bool known = feedback.header.sequence > 0;
  if (known) {
    const StageTimer timer(report, Stage::kFree);
    follow(feedback);
  }
  const StageTimer timer(report, Stage::kModel);
  // The model is in use from when it comes, as late as the last one did, until the next one. One that came very late
  // (the loop stood still) says nothing of the next.
  const double late = known ? std::min(feedback.age * dt_, 4.0 * slow_period_) : slow_period_ - dt_;
  const double ahead = late + 0.5 * (slow_period_ - dt_);
  model.valid = make_model(known ? feedback.tick : 0, ahead, model) ? 1 : 0;
  report.contacts = feedback.contacts;
  report.residual = feedback.residual;
  report.penetration = feedback.penetration;
  report.converged = model.valid != 0;
  return {.step = false};
}

void SlowReduced::follow(const Feedback& feedback) {
  std::span<const double> rest(feedback.numbers(), layout_.feedback_numbers);
  for (const int i : layout_.whole) {
    Body& body = *world_.body(i);
    const auto state = rest.first(as_size(body.state_size()));
    if (std::all_of(state.begin(), state.end(), [](double x) { return std::isfinite(x); })) body.restore_state(state);
    rest = rest.subspan(state.size());
  }
  for (std::size_t k = 0; k < reductions_.size(); ++k) {
    const BodyLayout& at = layout_.reduced[k];
    reductions_[k].follow({feedback.tick, feedback.model_number, at.motion(feedback.numbers())});
  }
}

bool SlowReduced::make_model(std::uint64_t tick, double ahead, Model& model) {
  model.number = ++models_;
  model.tick = tick;
  bool good = true;
  for (std::size_t k = 0; k < reductions_.size(); ++k) {
    compute_distances(layout_.soft[k], reductions_[k], ahead);
    good =
        reductions_[k].make_model({model.number, tick, ahead}, distances_, layout_.reduced[k].view(model.numbers())) &&
        good;
  }
  return good;
}

void SlowReduced::show_bytes(const std::byte* model_bytes, ModelView& view) const noexcept {
  const auto& model = *std::launder(reinterpret_cast<const Model*>(model_bytes));
  if (model.valid == 0) return;
  for (std::size_t k = 0; k < layout_.soft.size(); ++k) {
    const BodyView<const double> body = layout_.reduced[k].view(model.numbers());
    view.add({layout_.soft[k], static_cast<std::int32_t>(body.states), reductions_[k].most_states(),
              static_cast<float>(body.left_out)});
  }
}

/// Of the body's vertices from the vertices of tools and of other bodies, on their way until the model is taken away,
/// from planes and from static surfaces. Rough: it only decides what is worth knowing well.
void SlowReduced::compute_distances(int index, const Reduction& reduction, double ahead) {
  const auto positions = reduction.body().surface().positions;
  distances_.tools.assign(positions.size(), HUGE_VAL);
  distances_.others = distances_.tools;
  const double until = ahead > 0.0 ? ahead + 0.5 * slow_period_ : 0.0;
  for (int i = 0; i < static_cast<int>(world_.bodies().size()); ++i) {
    if (i == index) continue;
    auto& distance = world_.is_tool(i) ? distances_.tools : distances_.others;
    if (const auto* plane = world_.bodies()[as_size(i)].shape.as<ContactShape::Plane>()) {
      for (std::size_t v = 0; v < positions.size(); ++v)
        distance[v] = std::min(distance[v], plane->normal.normalized().dot(positions[v]) - plane->offset);
    } else if (const Body* other = world_.body(i); other && other->block_count() > 0) {
      list_points(*other, until);
      BoundingBox box;
      for (const Vec3& p : points_) box.add(p);
      constexpr double kLook = 0.04;  // what is further away is known by its distance from the box [m]
      for (std::size_t v = 0; v < positions.size(); ++v) {
        const Vec3& x = positions[v];
        double nearest = (x - x.cwiseMax(box.lower).cwiseMin(box.upper)).squaredNorm();
        if (nearest < kLook * kLook) {
          nearest = HUGE_VAL;
          for (const Vec3& p : points_) nearest = std::min(nearest, (p - x).squaredNorm());
        }
        distance[v] = std::min(distance[v], std::sqrt(nearest));
      }
    }
  }
  WorldClosest closest;
  for (std::size_t v = 0; v < positions.size(); ++v) {
    if (world_.find_closest(positions[v], std::min(0.01, distances_.others[v]), closest))
      distances_.others[v] = std::abs(closest.signed_distance);
  }
}

/// Points on a body, where they are and where they will be until then [s], if it goes on as it does.
void SlowReduced::list_points(const Body& body, double until) {
  const BodySurface surface = body.surface();
  points_.assign(surface.positions.begin(), surface.positions.end());
  velocities_.assign(surface.velocities.begin(), surface.velocities.end());
  if (const auto* chain = dynamic_cast<const BeamChain*>(&body)) {
    for (int i = 0; i < chain->node_count(); ++i) {
      points_.push_back(chain->node_pose(i).position);
      velocities_.push_back(chain->velocities()[as_size(2 * i)]);
    }
  }
  if (points_.empty()) {
    points_.push_back(body.compute_point(BodyPoint::centre()));
    velocities_.push_back(body.velocities()[0]);
  }
  constexpr int kPlaces = 4;
  constexpr double kLeastWay = 0.001;  // [m]
  double fastest = 0.0;
  for (const Vec3& v : velocities_) fastest = std::max(fastest, v.squaredNorm());
  if (!(std::sqrt(fastest) * until > kLeastWay)) return;
  const std::size_t count = points_.size();
  for (int k = 1; k <= kPlaces; ++k) {
    for (std::size_t i = 0; i < count; ++i) points_.push_back(points_[i] + until * k / kPlaces * velocities_[i]);
  }
}

}  // namespace palpate::reduced
