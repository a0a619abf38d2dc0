#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "palpate/core/histogram.h"
#include "palpate/devices/exchange.h"
#include "palpate/devices/round_trips.h"
#include "palpate/haptics/tick_source.h"

namespace palpate {

class DriverDevice;

/// What a driver's thread is given to work with.
class DriverSeat {
 public:
  /// Set when the device is to be closed: return soon (within 0.1 s), after a last zero force.
  bool stop_wanted() const noexcept { return stop_.load(std::memory_order_relaxed); }
  DeviceExchange& exchange() noexcept { return exchange_; }

  /// What the device is and can do. To be told before the first sample; later calls change nothing, because the loops
  /// were set up by the first.
  void describe(const DeviceInfo& info);
  /// A sentence about what went wrong last, for people.
  void note(std::string text);
  /// Time from sending a force to the answer. The driver's thread.
  void count_round_trip(std::int64_t ns) noexcept {
    round_trips_.add(ns);
    live_round_trips_.add(ns);
  }
  /// Sleeps, but not beyond the moment at which stop_wanted() becomes true by more than a few milliseconds.
  void pause(double seconds) const;

 private:
  friend class DriverDevice;
  explicit DriverSeat(const ExchangeSettings& settings) : exchange_(settings) {}

  DeviceExchange exchange_;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;  ///< for what is told once or seldom: never taken in the fast loop
  DeviceInfo info_;
  bool described_ = false;
  std::string note_;
  Histogram round_trips_;
  RoundTripBins live_round_trips_;
};

/// One kind of device's protocol: all that differs between devices.
///
/// Thread: run() is called in the driver's own thread and may block, allocate and throw. Everything it says of the
/// handle and everything it sends to the device is in the device's own frame and units at the device, and in the world
/// frame and SI at the exchange.
class DriverProtocol {
 public:
  virtual ~DriverProtocol() = default;
  /// Connects, calls connect() of the exchange, and exchanges samples and wrenches until the device is lost or
  /// stop_wanted(). Returns why it ended. Called again after a pause, for ever: a device that comes back is found.
  /// std::exception means the same as a return, with its text as the note.
  virtual Loss run(DriverSeat& seat) = 0;
  /// Of a device whose vendor has the fast thread; null of all others. The same for the protocol's whole life.
  virtual TickSource* tick_source() noexcept { return nullptr; }
};

struct DriverDeviceSettings {
  ExchangeSettings exchange;
  /// Opening waits for the first sample for so long [s]; some devices calibrate themselves first.
  double open_timeout = 3.0;
  /// Between two attempts to connect [s].
  double retry_pause = 0.25;
  /// SCHED_FIFO of the driver's thread, 1 to 99, where the system permits; 0: leave as it is. Just below the fast
  /// loop's 80, which waits for nobody.
  int priority = 79;
};

/// A device behind a driver that runs in a thread of its own.
///
/// Threads: read() and write() in the fast loop's, wait-free, without system calls; the others in any. While the device
/// is lost, read() says so (`present` is false) and nothing that is written arrives. It returns by itself.
class DriverDevice final : public Device {
 public:
  /// Returns once there is a sample. Throws InputError with the driver's own explanation when there is none in time.
  DriverDevice(std::unique_ptr<DriverProtocol> protocol, const DriverDeviceSettings& settings);
  /// A last zero force, then the end of the thread.
  ~DriverDevice() override;

  const DeviceInfo& info() const noexcept override { return info_; }
  DeviceState read(double time) noexcept override;
  void write(const SafeWrench& wrench) noexcept override;

  /// See TickSource; null: the runtime's own thread ticks.
  TickSource* tick_source() noexcept { return protocol_->tick_source(); }
  Loss loss() const noexcept { return seat_.exchange_.loss(); }
  std::uint32_t connections() const noexcept { return seat_.exchange_.connections(); }
  std::uint64_t samples() const noexcept { return seat_.exchange_.samples(); }
  std::uint64_t withheld() const noexcept { return seat_.exchange_.withheld(); }
  /// See DeviceExchange.
  std::uint64_t handed() const noexcept { return seat_.exchange_.handed(); }
  std::int64_t handed_at() const noexcept { return seat_.exchange_.handed_at(); }
  std::string last_note() const;
  /// Ends the driver's thread; the device is then lost for good.
  void close();
  /// From sending a force to the device's answer, coarsely, while it runs.
  const RoundTripBins& live_round_trips() const noexcept { return seat_.live_round_trips_; }
  /// The same in all its fineness. After close().
  const Histogram& round_trips() const noexcept { return seat_.round_trips_; }

 private:
  void serve();

  DriverDeviceSettings settings_;
  std::unique_ptr<DriverProtocol> protocol_;
  DriverSeat seat_;
  DeviceInfo info_;
  std::thread thread_;
  HandleSample sample_;     ///< fast loop's: the last good one
  double last_read_ = 0.0;  ///< fast loop's [s]
  double last_time_ = 0.0;  ///< fast loop's: of the last sample given [s]
};

}  // namespace palpate
