#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "palpate/core/latest_value.h"
#include "palpate/haptics/device.h"

namespace palpate {

/// What a driver read of its device at one instant. World frame and SI, as in DeviceState.
struct HandleSample {
  std::int64_t at_ns = 0;  ///< when it came, on the monotonic clock
  Pose pose;
  Twist velocity;
  std::uint32_t buttons = 0;  ///< bit i: button i is down
  double grip = 0.0;          ///< 0 open, 1 closed
  double grip_rate = 0.0;     ///< [1/s]
};

/// Why a device cannot be used at the moment.
enum class Loss : int {
  kNone,          ///< it can
  kNotConnected,  ///< nobody answers
  kClosed,        ///< the other side ended the connection
  kSilent,        ///< no answer in time
  kNonsense,      ///< too many answers in a row that mean nothing
  kNotReady,      ///< the device says that it is not calibrated, not powered or in use
  kBraked,        ///< the device braked itself for safety
};
/// One or two plain words.
std::string_view name_of(Loss loss) noexcept;

/// When the two sides of an exchange no longer believe each other.
struct ExchangeSettings {
  /// A sample older than this counts for nothing, and the device is lost [s]. Thirty exchanges at 1 kHz: an ordinary
  /// kernel keeps a thread waiting for ten milliseconds now and then, and a hand moves a few millimetres meanwhile.
  double stale_after = 0.03;
  /// A wrench older than this is not sent; zero is sent in its place [s]. Then the fast loop stands still.
  double wrench_valid_for = 0.02;
  bool operator==(const ExchangeSettings&) const = default;
};

/// Throws InputError naming the field, its value and the allowed range.
void validate(const ExchangeSettings& settings);

/// Where a driver's thread and the fast loop meet. Samples go one way, wrenches the other, the newest counts.
///
/// Every connection has a number. A wrench carries that of the sample it was computed from, and is sent only while the
/// same connection lasts and only while it is young. So after any loss the first thing sent is zero, and a wrench of
/// before the loss is never sent again.
///
/// Threads: one driver's and the fast loop's, as said at each function. Both sides are wait-free.
class DeviceExchange {
 public:
  explicit DeviceExchange(const ExchangeSettings& settings);

  // The driver's thread.

  /// A connection stands. Samples and wrenches from before belong to another one.
  void connect() noexcept;
  /// The device is lost: from now on the fast loop sees no sample, and wrench_to_send() is zero.
  void disconnect(Loss why) noexcept;
  /// The newest sample, of the present connection; without a connection it is dropped.
  void publish(const HandleSample& sample) noexcept;
  /// What may go to the device now: the fast loop's newest wrench, or zero (see above).
  Wrench wrench_to_send(std::int64_t now_ns) noexcept;

  // The fast loop's thread.

  /// True and the newest sample while there is a connection and the sample is young.
  bool take(HandleSample& sample, std::int64_t now_ns) noexcept;
  /// Hands a wrench on. It counts only if the last take() gave a sample.
  void give(const SafeWrench& wrench, std::int64_t now_ns) noexcept;

  // Any thread.

  Loss loss() const noexcept { return static_cast<Loss>(loss_.load(std::memory_order_relaxed)); }
  /// How often a connection stood, and how many wrenches were replaced by zero.
  std::uint32_t connections() const noexcept { return connections_.load(std::memory_order_relaxed); }
  std::uint64_t withheld() const noexcept { return withheld_.load(std::memory_order_relaxed); }
  std::uint64_t samples() const noexcept { return samples_.load(std::memory_order_relaxed); }
  /// How many wrenches other than zero wrench_to_send() has given, and the `now_ns` of the last such call; 0: none.
  /// What reaches a hand later was on its way then.
  std::uint64_t handed() const noexcept { return handed_.load(std::memory_order_acquire); }
  std::int64_t handed_at() const noexcept { return handed_at_.load(std::memory_order_acquire); }

 private:
  /// Plain arrays: a message must be trivially copyable.
  struct SampleMessage {
    std::int64_t at_ns;
    std::uint32_t connection;
    std::uint32_t buttons;
    double position[3], rotation[4], linear[3], angular[3];
    double grip, grip_rate;
  };
  struct WrenchMessage {
    std::int64_t at_ns;
    std::uint32_t connection;  ///< 0: of none
    double force[3], torque[3];
  };

  std::int64_t stale_ns_;
  std::int64_t valid_ns_;
  LatestValue<SampleMessage> sample_slot_;
  LatestValue<WrenchMessage> wrench_slot_;
  std::atomic<std::uint32_t> connection_{0};  ///< the present one's number; 0: none
  std::atomic<std::uint32_t> connections_{0};
  std::atomic<int> loss_{static_cast<int>(Loss::kNotConnected)};
  std::atomic<std::uint64_t> withheld_{0};
  std::atomic<std::uint64_t> samples_{0};
  std::atomic<std::uint64_t> handed_{0};
  std::atomic<std::int64_t> handed_at_{0};
  SampleMessage sample_{};    ///< fast loop's: the newest taken
  std::uint32_t served_ = 0;  ///< fast loop's: the connection that the last take() gave a sample of; 0: none
  WrenchMessage wrench_{};    ///< driver's: the newest taken
};

}  // namespace palpate
