#pragma once

#include <any>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "palpate/core/math.h"
#include "palpate/haptics/device.h"
#include "palpate/methods/model_view.h"
#include "palpate/methods/settings.h"
#include "palpate/methods/tool.h"
#include "palpate/world/step_report.h"
#include "palpate/world/world.h"

namespace palpate {

/// What the methods of one world have in common that step it, or a twin of it, in the tick: once for all of them.
struct SharedTick {
  // Fast thread. FastHalf::begin_tick() of any of them says that a tick has begun; the first to tick steps.
  bool stepped = false;  ///< in this tick
  StepReport report;     ///< of the last step
  bool done = false;     ///< it could be done
  // Set-up.
  std::vector<ToolSettings> tools{};  ///< of all tools of the world, in their order; empty: nobody told
  std::any twin{};                    ///< what the first method of a kind has made for the others of its kind
};

/// A tool and the world that it is in. Both outlive it.
struct ToolInWorld {
  const World& world;
  const ToolSettings& tool;
  std::size_t number = 0;  ///< of the tools of the world, if there are several

  /// The tool among the world's bodies. −1: it is none of them, but a point among surfaces that do not move, or
  /// fingers.
  int body() const noexcept { return number < world.tools().size() ? world.tools()[number] : -1; }
};

/// Everything a method is built from. The world outlives the method.
struct MethodContext {
  World& world;  ///< prepared; in its first state
  ToolSettings tool;
  double dt = 0.001;          ///< fast period [s]
  double slow_period = 0.02;  ///< ΔT [s]
  DeviceState start;          ///< of the device before the first tick
  MethodSettings settings{};
  std::size_t tool_number = 0;           ///< of the tools of the world, if there are several
  std::shared_ptr<SharedTick> shared{};  ///< among the methods of one world; none: there is only this one

  ToolInWorld where() const noexcept { return {world, tool, tool_number}; }
  int body() const noexcept { return where().body(); }  ///< see ToolInWorld
};

// Reasons to refuse that several methods have.
inline constexpr const char* kNothingMoves = "nothing in the world can move; there a point is felt by other methods";
inline constexpr const char* kFingersAreNoBody = "fingers are where the hand has them, and no body of the world";
inline constexpr const char* kNoBody = "the tool is not among the bodies of the world";

/// First member of every message between the halves. The runtime stamps it before each step and tick.
struct MessageHeader {
  double time = 0.0;           ///< of the state that the message describes, since the start of the run [s]
  std::uint64_t sequence = 0;  ///< 1, 2, …; 0: nothing was sent yet
};

/// Size and alignment of a method's messages, from which the runtime makes its exchange buffers, and their type, for
/// those who know a method's messages and look into them (MessageView).
struct MessageLayout {
  std::size_t size = sizeof(MessageHeader);
  std::size_t alignment = alignof(MessageHeader);
  const std::type_info* type = &typeid(MessageHeader);
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
  /// Called before any of the methods of a world has its tick, so that those that step the world in a tick all have
  /// their hands in place. `device` is what the tick will get.
  virtual void begin_tick(const DeviceState& /*device*/) noexcept {}
  /// `device` has passed the input guard: finite, in order of time, and where a hand can have gone since the last tick
  /// (or somewhere else altogether, after the force has faded). `model` points to the method's model, whose header has
  /// sequence 0 until the first one arrives; `feedback` to its feedback, to be filled whole.
  virtual TickResult tick_bytes(const DeviceState& device, const std::byte* model, std::byte* feedback) noexcept = 0;
};

/// What a slow half wants of the world's next step.
struct StepWish {
  bool step = true;   ///< false: the world's bodies are not to be stepped; whoever says so moves them by itself
  bool tick = false;  ///< free motion and compliance over a tick of the fast loop too
  const StepRows* rows = nullptr;  ///< further rows; they live until the step is over
  int absent = -1;                 ///< a body to be left out
};

/// The half of a method that runs in the slow step, in the slow thread. It may take its time.
///
/// It does not drive the world: others may share it. It says before the step what it needs, reads the step's stages
/// (world/step.h), and makes its model from them. All calls of a step come in the order in which they stand here, and
/// with the same messages: `feedback` is the newest state sent by the fast half (sequence 0 before its first tick),
/// `model` is to be filled whole by the last of them. Of a world in which nothing can move there is no step: then
/// begin(), read_tick() of a tick in which nothing happens, and finish() are called.
class SlowHalf {
 public:
  virtual ~SlowHalf() = default;
  /// Takes over what the fast loop did, and puts the tool where it is.
  virtual StepWish begin_bytes(const std::byte* feedback, std::byte* model, StepReport& report) = 0;
  /// See StepReader.
  virtual void read_tick_bytes(const FreeTick& tick, std::byte* model, StepReport& report) noexcept = 0;
  virtual bool solve(const StepProblem& /*problem*/, std::vector<double>& /*lambda*/) { return false; }
  virtual void read_solved_bytes(const SolvedStep& step, std::byte* model, StepReport& report) = 0;
  virtual void read_advanced_bytes(const AdvancedStep& step, std::byte* model, StepReport& report) = 0;
  /// The step is over. `done` is false if it could not be done: the model must be one that is safe without it.
  virtual void finish_bytes(bool done, std::byte* model, StepReport& report) = 0;
  /// The model that the last step filled, as people may see it; nothing unless a method has something to show. Slow
  /// thread, after the step, and only while somebody watches. `view` is empty before.
  virtual void show_bytes(const std::byte* /*model*/, ModelView& /*view*/) const noexcept {}
};

/// With whom a method can share a world.
enum class Sharing : std::uint8_t {
  kSlowStep,  ///< it takes part in the common slow step: with all others that do
  kTick,      ///< it steps the world in the tick: only with others that do
  kTwin,      ///< it steps a twin of the world in the tick: only with others of the same name, which have the same twin
  kAlone,     ///< it moves bodies of the world by a law of its own: with nobody
};

/// A method: two halves and the two messages between them.
struct Method {
  MessageLayout model;
  MessageLayout feedback;
  std::unique_ptr<SlowHalf> slow;  ///< null: the method does everything in its fast half
  std::unique_ptr<FastHalf> fast;
  Sharing sharing = Sharing::kSlowStep;
  /// For the user, in plain words, where it is not in the form that its settings ask for; empty if it is.
  std::string note{};
  // What it was made for; make_method() fills them in. Of a method that somebody else made they may be empty: then it
  // is one without a world, for any rates.
  std::string_view name{};
  World* world = nullptr;
  double dt = 0.0;           ///< fast period [s]
  double slow_period = 0.0;  ///< [s]
};

/// A message type: plain data of fixed size with a MessageHeader as its first member `header`. Trivially copyable is
/// too much to ask, because Eigen's fixed vectors spell out their copy constructor, though it only copies bytes.
template <typename T>
concept Message = std::is_trivially_destructible_v<T> && std::is_standard_layout_v<T> && requires(T m) {
  { m.header } -> std::same_as<MessageHeader&>;
};

template <Message T>
MessageLayout layout_of() noexcept {
  return {sizeof(T), alignof(T), &typeid(T)};
}

/// A message as one may read it who did not write it: an experiment, a test. Valid until the half that fills the
/// message runs again.
class MessageView {
 public:
  MessageView() = default;  ///< none
  MessageView(const MessageLayout& layout, const std::byte* bytes) noexcept : type_(layout.type), bytes_(bytes) {}

  const MessageHeader& header() const noexcept { return *std::launder(reinterpret_cast<const MessageHeader*>(bytes_)); }
  /// The message, if its method says that it is of type T; null if it is of another, or if there is none.
  template <Message T>
  const T* as() const noexcept {
    return bytes_ && *type_ == typeid(T) ? std::launder(reinterpret_cast<const T*>(bytes_)) : nullptr;
  }
  const std::byte* bytes() const noexcept { return bytes_; }  ///< for SlowHalf::show_bytes()

 private:
  const std::type_info* type_ = nullptr;
  const std::byte* bytes_ = nullptr;
};

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
  virtual StepWish begin(const Feedback& feedback, Model& model, StepReport& report) = 0;
  virtual void read_tick(const FreeTick& /*tick*/, Model& /*model*/, StepReport& /*report*/) noexcept {}
  virtual void read_solved(const SolvedStep& /*step*/, Model& /*model*/, StepReport& /*report*/) {}
  virtual void read_advanced(const AdvancedStep& /*step*/, Model& /*model*/, StepReport& /*report*/) {}
  virtual void finish(bool done, Model& model, StepReport& report) = 0;
  virtual void show(const Model& /*model*/, ModelView& /*view*/) const noexcept {}

  StepWish begin_bytes(const std::byte* feedback, std::byte* model, StepReport& report) final {
    return begin(*std::launder(reinterpret_cast<const Feedback*>(feedback)), typed(model), report);
  }
  void read_tick_bytes(const FreeTick& tick, std::byte* model, StepReport& report) noexcept final {
    read_tick(tick, typed(model), report);
  }
  void read_solved_bytes(const SolvedStep& step, std::byte* model, StepReport& report) final {
    read_solved(step, typed(model), report);
  }
  void read_advanced_bytes(const AdvancedStep& step, std::byte* model, StepReport& report) final {
    read_advanced(step, typed(model), report);
  }
  void finish_bytes(bool done, std::byte* model, StepReport& report) final { finish(done, typed(model), report); }
  void show_bytes(const std::byte* model, ModelView& view) const noexcept final {
    show(*std::launder(reinterpret_cast<const Model*>(model)), view);
  }

 private:
  static Model& typed(std::byte* model) noexcept { return *std::launder(reinterpret_cast<Model*>(model)); }
};

}  // namespace palpate
