#pragma once

#include <fmt/format.h>

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "palpate/devices/driver.h"
#include "palpate/devices/mapping.h"
#include "palpate/doubles/double_hand.h"

/// What every driver must do, checked against a double of its device. The checks return what is wrong as text, so that
/// a double with a flaw can be shown to fail them.
namespace palpate::testing {

/// What a kind of device can do.
struct DeviceTraits {
  bool turns = true;          ///< tells its rotation
  bool pushes = true;         ///< gives force
  bool twists = false;        ///< gives torque
  bool is_rate = false;       ///< tells how fast to go, not where it is (a 3D mouse)
  int buttons = 1;            ///< how many
  bool grips = false;         ///< tells how far it is closed
  double least_rate = 500.0;  ///< samples a second, on a busy machine
  double resolution = 2e-4;   ///< [m]
  double force_share = 0.01;  ///< of a force may be lost on the way: rounding in the protocol
  double loss_time = 0.15;    ///< until a loss is known [s]
};

/// A driver with the double that it is to talk to.
class DriverBench {
 public:
  explicit DriverBench(Flaw flaw) : hand(flaw) {}
  virtual ~DriverBench() = default;
  /// `NAME:WHERE`
  virtual std::string name() const = 0;
  virtual DeviceTraits traits() const = 0;
  virtual void unplug() = 0;
  virtual void plug() = 0;
  /// At the next chance; `seconds`: how long a delay is.
  virtual void inject(Fault fault, double seconds) = 0;
  /// How many of them have happened.
  virtual std::uint64_t faults_done() const = 0;

  DoubleHand hand;
};

/// Opens the bench's device in a mapping that changes nothing, and ticks it at 1 kHz in the calling thread.
class Touch {
 public:
  explicit Touch(DriverBench& bench, double open_timeout = 3.0);

  DeviceState tick();
  DeviceState run(double seconds);
  /// Ticks until `done(state)` or for `seconds`. Times are counted in ticks of 1 ms: those in which the computer stood
  /// still, the driver did as well.
  bool run_until(const std::function<bool(const DeviceState&)>& done, double seconds);
  /// The longest time between two ticks since the last call [ns].
  std::int64_t take_longest_gap() { return std::exchange(longest_gap_, 0); }
  Wrench wrench;        ///< written in every tick
  bool silent = false;  ///< nothing is written
  bool hasty = false;   ///< the first thing that is wrong is enough

  DriverDevice& driver() { return *driver_; }
  MappedDevice& device() { return *device_; }

 private:
  static int ticks_in(double seconds) { return std::max(1, static_cast<int>(std::lround(1e3 * seconds))); }

  DriverDevice* driver_ = nullptr;
  std::unique_ptr<MappedDevice> device_;
  std::int64_t start_ns_ = 0;
  std::int64_t next_ns_ = 0;
  std::int64_t ticked_at_ = 0;
  std::int64_t longest_gap_ = 0;
};

/// Units, frame, signs, rates, buttons, limits, loss and return, all of them or until something is wrong. Empty: the
/// driver conforms.
enum class HowFar { kAll, kUntilWrong };
std::vector<std::string> find_nonconformities(DriverBench& bench, HowFar how_far = HowFar::kAll);

/// The lines as one text, for messages.
std::string joined(const std::vector<std::string>& lines);

struct FaultResult {
  int faults = 0;
  std::uint32_t connections = 0;
  double peak_force = 0.0;
  std::uint64_t under_way = 0;  ///< forces that reached the hand when the loss was known, and had been sent before
  std::vector<std::string> wrong;
};
/// Injects random faults while the device is held and pushed, and looks at what reaches the hand.
FaultResult run_faults(DriverBench& bench, int count, unsigned seed);

}  // namespace palpate::testing
