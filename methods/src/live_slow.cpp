#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <tuple>

#include "live.h"
#include "live_answer.h"
#include "tool_grip.h"

namespace palpate::live {
namespace {

auto flat(std::span<const Vec3> v) noexcept {
  return Eigen::Map<const Eigen::VectorXd>(v.data()->data(), static_cast<Eigen::Index>(3 * v.size()));
}

/// Slow thread.
class LiveSlow final : public SlowHalf {
 public:
  LiveSlow(const MethodContext& c, const LiveSettings& settings, const Layout& layout)
      : world_(c.world),
        tool_(c.body()),
        settings_(settings),
        layout_(layout),
        slow_period_(c.slow_period),
        start_(c.start),
        grip_(c, *c.world.body(c.body())),
        answers_(c, layout, settings.answer) {
    for (const int i : layout_.soft) before_.emplace_back(Eigen::VectorXd::Zero(3 * world_.body(i)->block_count()));
  }

  StepWish begin_bytes(const std::byte* feedback, std::byte* model, StepReport& report) override;
  void read_tick_bytes(const FreeTick&, std::byte*, StepReport&) noexcept override {}
  void read_solved_bytes(const SolvedStep& step, std::byte* model, StepReport& report) override;
  void read_advanced_bytes(const AdvancedStep&, std::byte* model, StepReport& report) override;
  void finish_bytes(bool done, std::byte* model, StepReport& report) override;

 private:
  static Model& typed(std::byte* model) noexcept { return *std::launder(reinterpret_cast<Model*>(model)); }
  const FemBody& soft(std::size_t k) const { return dynamic_cast<const FemBody&>(*world_.body(layout_.soft[k])); }
  void take_over(const Feedback& feedback);

  World& world_;
  const int tool_;
  const LiveSettings settings_;
  const Layout layout_;
  const double slow_period_;
  const DeviceState start_;
  ToolGrip grip_;
  Answers answers_;
  std::vector<Eigen::VectorXd> before_;  ///< the nodes of each soft body at the start of the step [m]
  ContactMemory memory_;
  std::vector<FeltContact> felt_;
  double penetration_ = 0.0;  ///< that the fast loop told of [m]
  bool read_ = false;         ///< the model has what the solved step tells
};

StepWish LiveSlow::begin_bytes(const std::byte* feedback_bytes, std::byte* model, StepReport& report) {
  const auto& feedback = *std::launder(reinterpret_cast<const Feedback*>(feedback_bytes));
  const StageTimer timer(report, Stage::kFree);
  typed(model).valid = 0;
  read_ = false;
  Body& tool = *world_.body(tool_);
  const bool known = feedback.header.sequence > 0;
  if (known) take_over(feedback);
  penetration_ = feedback.penetration;
  tool.set_grip(known ? grip_.aim(feedback.device, settings_.aim_ahead) : grip_.aim(start_));
  answers_.begin(known ? feedback.device.velocity.linear : Vec3(Vec3::Zero()));
  return {.tick = settings_.answer == Answer::kTick};
}

/// The tool and what is rigid, and who touches them where with which force, are the fast loop's. What touches elsewhere
/// is the slow loop's own.
void LiveSlow::take_over(const Feedback& feedback) {
  std::span<const double> states(feedback.states(), layout_.state_numbers);
  if (!std::all_of(states.begin(), states.end(), [](double x) { return std::isfinite(x); })) return;
  for (const int i : layout_.whole) {
    Body& body = *world_.body(i);
    body.restore_state(states.first(as_size(body.state_size())));
    states = states.subspan(as_size(body.state_size()));
  }
  if (feedback.model == 0) return;
  memory_ = world_.memory();
  felt_.assign(feedback.contact.begin(), feedback.contact.begin() + feedback.contacts);
  for (std::size_t i = 0; i < memory_.contacts.size(); ++i) {
    const Contact& c = memory_.contacts[i];
    if (layout_.is_whole(c.body_a) || layout_.is_whole(c.body_b)) continue;
    felt_.push_back({c, memory_.contact_forces[i], memory_.anchors[i]});
  }
  std::sort(felt_.begin(), felt_.end(), [](const FeltContact& x, const FeltContact& y) {
    const auto order = [](const Contact& c) { return std::tuple(c.body_a, c.body_b, c.id); };
    return order(x.contact) < order(y.contact);
  });
  memory_.contacts.clear();
  memory_.contact_forces.clear();
  memory_.anchors.clear();
  for (const FeltContact& f : felt_) {
    memory_.contacts.push_back(f.contact);
    memory_.contact_forces.push_back(f.force);
    memory_.anchors.push_back(f.anchor);
  }
  world_.set_memory(memory_);
}

void LiveSlow::read_solved_bytes(const SolvedStep& step, std::byte* model, StepReport& report) {
  const StageTimer timer(report, Stage::kModel);
  for (std::size_t k = 0; k < before_.size(); ++k) before_[k] = flat(soft(k).positions());
  read_ = answers_.compute(step, typed(model).numbers());
}

/// Where nodes are and go: with the answer of a tick on their way through the step, with that of a step at its end.
void LiveSlow::read_advanced_bytes(const AdvancedStep&, std::byte* model_bytes, StepReport& report) {
  const StageTimer timer(report, Stage::kModel);
  Model& model = typed(model_bytes);
  bool finite = read_;
  for (std::size_t k = 0; k < before_.size(); ++k) {
    BodyView<double> out = layout_.at[k].view(model.numbers());
    const auto now = flat(soft(k).positions());
    if (settings_.answer == Answer::kTick) {
      out.place = before_[k];
      out.rate = (now - before_[k]) / slow_period_;
    } else {
      out.place = now;
      out.rate.setZero();
    }
    finite = finite && out.place.allFinite() && out.rate.allFinite();
  }
  model.valid = finite ? 1 : 0;
}

void LiveSlow::finish_bytes(bool done, std::byte* model, StepReport& report) {
  if (!done) typed(model).valid = 0;
  report.penetration = penetration_;  // where it is felt: the slow loop's tool only follows
  report.converged = report.converged && typed(model).valid != 0;
}

}  // namespace

std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context, const LiveSettings& settings,
                                         const Layout& layout) {
  return std::make_unique<LiveSlow>(context, settings, layout);
}

}  // namespace palpate::live
