#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "palpate/core/math.h"
#include "palpate/haptics/device.h"
#include "palpate/methods/model_view.h"
#include "palpate/methods/settings.h"
#include "palpate/methods/tool.h"
#include "palpate/world/step_report.h"
#include "palpate/world/world.h"

namespace palpate {

/// Everything a method is built from. The world outlives the method.
struct MethodContext {
  World& world;  ///< prepared; in its first state
  ToolSettings tool;
  double dt = 0.001;          ///< fast period [s]
  double slow_period = 0.02;  ///< ΔT [s]
  DeviceState start;          ///< of the device before the first tick
  MethodSettings settings{};
};

/// First member of every message between the halves. The runtime stamps it before each step and tick.
struct MessageHeader {
  double time = 0.0;           ///< of the state that the message describes, since the start of the run [s]
  std::uint64_t sequence = 0;  ///< 1, 2, …; 0: nothing was sent yet
};

/// Size and alignment of a method's messages; the runtime makes its exchange buffers from them.
struct MessageLayout {
  std::size_t size = sizeof(MessageHeader);
  std::size_t alignment = alignof(MessageHeader);
};

/// What a tick gives.
struct TickResult {
  Wrench wrench;                ///< for the hand, before the safety stage
  Pose tool;                    ///< of the proxy or tool after the tick
  double residual = 0.0;        ///< of the contact solve [m]
  std::int32_t iterations = 0;  ///< of the contact solve
  std::int32_t contacts = 0;    ///< active contacts
  /// What each finger of a tool of fingers feels, before the safety stage, in their order [N]; for display and
  /// experiments. The hand gets their sum and torque, `wrench`.
  FingerForces finger_forces;
};

/// The half of a method that runs every tick, in the fast thread: real-time, so it never allocates, locks, throws,
/// waits or loops unboundedly. It sees the device, its own state and the newest model, nothing else.
class FastHalf {
 public:
  virtual ~FastHalf() = default;
  /// `device` has passed the input guard: finite, in order of time, and where a hand can have gone since the last tick
  /// (or somewhere else altogether, after the force has faded). `model` points to the method's model, whose header has
  /// sequence 0 until the first one arrives; `feedback` to its feedback, to be filled whole.
  virtual TickResult tick_bytes(const DeviceState& device, const std::byte* model, std::byte* feedback) noexcept = 0;
};

/// The half of a method that runs in the slow step, in the slow thread. It sees the world and may take its time.
class SlowHalf {
 public:
  virtual ~SlowHalf() = default;
  /// `feedback` points to the newest state sent by the fast half (sequence 0 before its first tick); `model` is to be
  /// filled whole.
  virtual void step_bytes(const std::byte* feedback, std::byte* model, StepReport& report) = 0;
  /// The model that the last step filled, as people may see it; nothing unless a method has something to show. Slow
  /// thread, after the step, and only while somebody watches. `view` is empty before.
  virtual void show_bytes(const std::byte* /*model*/, ModelView& /*view*/) const noexcept {}
};

/// A method: two halves and the two messages between them.
struct Method {
  MessageLayout model;
  MessageLayout feedback;
  std::unique_ptr<SlowHalf> slow;  ///< null: the method does everything in its fast half
  std::unique_ptr<FastHalf> fast;
  // What the runtime keeps for a method that is run again, after a pause say: numbers of messages go on, and the first
  // slow step finds the last feedback of the run before.
  std::uint64_t models_sent = 0, feedbacks_sent = 0;
  std::vector<std::byte> last_feedback{};
};

/// A message type: plain data of fixed size with a MessageHeader as its first member `header`. Trivially copyable is
/// too much to ask, because Eigen's fixed vectors spell out their copy constructor, though it only copies bytes.
template <typename T>
concept Message = std::is_trivially_destructible_v<T> && std::is_standard_layout_v<T> && requires(T m) {
  { m.header } -> std::same_as<MessageHeader&>;
};

template <Message T>
MessageLayout layout_of() noexcept {
  return {sizeof(T), alignof(T)};
}

/// A FastHalf with typed messages: methods derive from this and never see bytes.
template <Message Model, Message Feedback>
class TypedFastHalf : public FastHalf {
 public:
  virtual TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept = 0;

  TickResult tick_bytes(const DeviceState& device, const std::byte* model, std::byte* feedback) noexcept final {
    return tick(device, *std::launder(reinterpret_cast<const Model*>(model)),
                *std::launder(reinterpret_cast<Feedback*>(feedback)));
  }
};

/// A SlowHalf with typed messages.
template <Message Model, Message Feedback>
class TypedSlowHalf : public SlowHalf {
 public:
  virtual void step(const Feedback& feedback, Model& model, StepReport& report) = 0;

  void step_bytes(const std::byte* feedback, std::byte* model, StepReport& report) final {
    step(*std::launder(reinterpret_cast<const Feedback*>(feedback)), *std::launder(reinterpret_cast<Model*>(model)),
         report);
  }

  virtual void show(const Model& /*model*/, ModelView& /*view*/) const noexcept {}

  void show_bytes(const std::byte* model, ModelView& view) const noexcept final {
    show(*std::launder(reinterpret_cast<const Model*>(model)), view);
  }
};

}  // namespace palpate
