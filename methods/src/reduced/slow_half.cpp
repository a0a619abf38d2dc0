#include <algorithm>
#include <new>

#include "palpate/bodies/beam_chain.h"
#include "reduced/halves.h"

namespace palpate::reduced {

SlowReduced::SlowReduced(const MethodContext& c, const Layout& layout) : world_(c.world), layout_(layout) {
  for (const int i : layout_.soft)
    reductions_.emplace_back(dynamic_cast<FemBody&>(*world_.body(i)), c.dt, c.slow_period);
}

bool SlowReduced::make_first_model(Model& model) {
  return make_model(0, model);
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
  model.valid = make_model(known ? feedback.tick : 0, model) ? 1 : 0;
  report.contacts = feedback.contacts;
  report.residual = feedback.residual;
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
    reductions_[k].follow({feedback.tick, feedback.model_tick, at.states(feedback.numbers()),
                           at.speeds(feedback.numbers()), at.impulses(feedback.numbers())});
  }
}

bool SlowReduced::make_model(std::uint64_t tick, Model& model) {
  model.tick = tick;
  bool good = true;
  for (std::size_t k = 0; k < reductions_.size(); ++k) {
    compute_distances(reductions_[k]);
    good = reductions_[k].make_model(tick, distance_, layout_.reduced[k].view(model.numbers())) && good;
  }
  return good;
}

void SlowReduced::compute_distances(const Reduction& reduction) {
  tool_points_.clear();
  for (const int tool : world_.tools()) {
    const Body& body = *world_.body(tool);
    const BodySurface surface = body.surface();
    tool_points_.insert(tool_points_.end(), surface.positions.begin(), surface.positions.end());
    if (const auto* chain = dynamic_cast<const BeamChain*>(&body)) {
      for (int i = 0; i < chain->node_count(); ++i) tool_points_.push_back(chain->node_pose(i).position);
    }
    if (surface.positions.empty()) tool_points_.push_back(body.handle_pose().position);
  }
  const auto positions = reduction.body().surface().positions;
  distance_.resize(positions.size());
  for (std::size_t v = 0; v < positions.size(); ++v) {
    double nearest = HUGE_VAL;
    for (const Vec3& p : tool_points_) nearest = std::min(nearest, (p - positions[v]).squaredNorm());
    distance_[v] = std::sqrt(nearest);
  }
}

}  // namespace palpate::reduced
