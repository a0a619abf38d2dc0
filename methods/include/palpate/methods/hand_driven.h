#pragma once

#include <deque>
#include <stdexcept>
#include <vector>

#include "palpate/methods/slow_step.h"

namespace palpate {

/// Throws std::logic_error unless the method's messages are of these types.
template <Message Model, Message Feedback>
void check_messages(const Method& method) {
  if (*method.model.type != typeid(Model) || *method.feedback.type != typeid(Feedback))
    throw std::logic_error("a method was driven with messages of another method");
}

/// One tick with messages of the caller's own, who has stamped them. Throws std::logic_error unless the method's
/// messages are of these types.
template <Message Model, Message Feedback>
TickResult tick_with(Method& method, const DeviceState& device, const Model& model, Feedback& feedback) {
  check_messages<Model, Feedback>(method);
  return method.fast->tick_bytes(device, reinterpret_cast<const std::byte*>(&model),
                                 reinterpret_cast<std::byte*>(&feedback));
}

/// One slow step, likewise.
template <Message Model, Message Feedback>
void step_with(Method& method, const Feedback& feedback, Model& model, StepReport& report) {
  check_messages<Model, Feedback>(method);
  SlowStep(method.world, method.dt, method.slow_period, {method.slow.get()})
      .run(reinterpret_cast<const std::byte*>(&feedback), reinterpret_cast<std::byte*>(&model), report);
}

/// A method driven by hand, a tick or a slow step at a time and all in one thread: for tests, benchmarks and
/// experiments that want what a run does not show. It keeps the messages and stamps them as the runtime does.
class HandDriven {
 public:
  explicit HandDriven(Method method)
      : method_(std::move(method)),
        step_(method_.world, method_.dt, method_.slow_period, {method_.slow.get()}),
        feedback_(make_buffer(method_.feedback)),
        model_(make_buffer(method_.model)) {}

  /// One slow step, begun at `time` [s], whose model the next tick gets.
  StepReport step(double time = 0.0) {
    StepReport report;
    begin_step(report, time);
    deliver();
    return report;
  }

  /// One slow step whose model stays on its way until deliver().
  void begin_step(StepReport& report, double time = 0.0) {
    if (spare_.empty()) spare_.push_back(make_buffer(method_.model));
    under_way_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    std::byte* model = under_way_.back().data()->bytes;
    header_of(model) = {time, ++steps_};
    step_.run(feedback_.data()->bytes, model, report);
  }
  /// The oldest model on its way becomes that of the next ticks.
  void deliver() {
    spare_.push_back(std::move(model_));
    model_ = std::move(under_way_.front());
    under_way_.pop_front();
  }
  /// How many models are on their way.
  int under_way() const noexcept { return static_cast<int>(under_way_.size()); }

  /// One tick with the newest model. Real-time, as far as the method is.
  TickResult tick(const DeviceState& device) noexcept {
    header_of(feedback_.data()->bytes) = {device.time, ++ticks_};
    return method_.fast->tick_bytes(device, model_.data()->bytes, feedback_.data()->bytes);
  }

  /// The model that ticks get, and what the last tick told.
  MessageView model() const noexcept { return {method_.model, model_.data()->bytes}; }
  MessageView feedback() const noexcept { return {method_.feedback, feedback_.data()->bytes}; }

  /// What the slow half shows of the newest model that it made.
  void show(ModelView& view) const noexcept {
    method_.slow->show_bytes((under_way_.empty() ? model_ : under_way_.back()).data()->bytes, view);
  }
  const SlowHalf* slow_half() const noexcept { return method_.slow.get(); }
  bool has_slow_half() const noexcept { return method_.slow != nullptr; }

 private:
  /// Memory of a message, aligned for any.
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  using Buffer = std::vector<Line>;
  static Buffer make_buffer(const MessageLayout& layout) {
    return Buffer((layout.size + sizeof(Line) - 1) / sizeof(Line), Line{});
  }
  static MessageHeader& header_of(std::byte* message) noexcept {
    return *std::launder(reinterpret_cast<MessageHeader*>(message));
  }

  Method method_;
  SlowStep step_;
  Buffer feedback_, model_;
  std::deque<Buffer> under_way_;
  std::vector<Buffer> spare_;  ///< of models that were delivered once, so that steps after the first allocate nothing
  std::uint64_t steps_ = 0, ticks_ = 0;
};

}  // namespace palpate
