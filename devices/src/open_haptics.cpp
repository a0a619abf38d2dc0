#include <fmt/format.h>
#include <cmath>
#include <mutex>

#include "driver_table.h"
#include "palpate/core/clock.h"
#include "shared_library.h"
#include "vendor_devices.h"

// 3D Systems' Touch, Touch X and PHANToM through OpenHaptics' HDAPI. The vendor's scheduler has the 1 kHz thread and
// calls us in it: there one frame is read, handed over, and answered with a force. A runtime that lets itself be driven
// (TickSource) computes that force in between, in the same period; otherwise it is the newest that the fast loop's
// thread has given.
//
// Its frame is ours: x right, y up, z towards the user; but in millimetres. Force only.

namespace palpate {
namespace {

using HdHandle = unsigned;
constexpr HdHandle kHdNoDevice = 0xFFFFFFFFu;
constexpr unsigned short kHdPriority = 32767;
constexpr unsigned kHdDone = 0, kHdContinue = 1;
constexpr double kMillimetre = 1e-3;              // [m]
constexpr double kHdReach = 1.0;                  // [m]
constexpr int kHdMostErrors = 5;                  // frames in a row
constexpr std::int64_t kHdSilence = 300'000'000;  // [ns]; a scheduler that does not call for so long is dead

/// HDAPI's numbers.
enum HdName : unsigned {
  kHdButtons = 0x2000,
  kHdVelocity = 0x2051,
  kHdTransform = 0x2052,
  kHdVersion = 0x2500,
  kHdModel = 0x2501,
  kHdUsableWorkspace = 0x2551,
  kHdMaxStiffness = 0x2602,
  kHdMaxForce = 0x2603,
  kHdForce = 0x2700,
  kHdForceOutput = 0x4000,
};

struct HdError {
  unsigned code;
  int internal;
  HdHandle device;
};

OpenDevices open_hd_devices;
std::mutex hd_scheduler;  ///< held while a device is opened or closed, never in the vendor's thread

struct HdLibrary {
  explicit HdLibrary(const std::string& where)
      : file(where.empty() ? std::vector<std::string>{"libHD.so.3.4", "libHD.so.3", "libHD.so"}
                           : std::vector<std::string>{where}) {
    file.find("hdInitDevice", init);
    file.find("hdDisableDevice", disable);
    file.find("hdMakeCurrentDevice", make_current);
    file.find("hdEnable", enable);
    file.find("hdScheduleAsynchronous", schedule);
    file.find("hdUnschedule", unschedule);
    file.find("hdStartScheduler", start);
    file.find("hdStopScheduler", stop);
    file.find("hdBeginFrame", begin_frame);
    file.find("hdEndFrame", end_frame);
    file.find("hdGetDoublev", get_doubles);
    file.find("hdSetDoublev", set_doubles);
    file.find("hdGetIntegerv", get_integers);
    file.find("hdGetError", error);
    file.find("hdGetString", get_string);
  }
  bool is_usable() const { return file.is_open() && file.missing().empty(); }
  std::string problem() const {
    return file.is_open() ? file.path() + " has no " + file.missing()
                          : "the library is not found (" + file.error() + ")";
  }
  /// Takes all errors off the stack; the first, or 0. There is one stack for all devices: `other` says whether an error
  /// is another's.
  template <typename Other>
  unsigned take_error(const Other& other) const {
    unsigned first = 0;
    for (int i = 0; i < 16; ++i) {
      const HdError e = error();
      if (e.code == 0) break;
      if (first == 0 && !other(e.device)) first = e.code;
    }
    return first;
  }
  unsigned take_error() const {
    return take_error([](HdHandle) { return false; });
  }

  SharedLibrary file;
  HdHandle (*init)(const char*) = nullptr;
  void (*disable)(HdHandle) = nullptr;
  void (*make_current)(HdHandle) = nullptr;
  void (*enable)(unsigned) = nullptr;
  unsigned long (*schedule)(unsigned (*)(void*), void*, unsigned short) = nullptr;
  void (*unschedule)(unsigned long) = nullptr;
  void (*start)() = nullptr;
  void (*stop)() = nullptr;
  void (*begin_frame)(HdHandle) = nullptr;
  void (*end_frame)(HdHandle) = nullptr;
  void (*get_doubles)(unsigned, double*) = nullptr;
  void (*set_doubles)(unsigned, const double*) = nullptr;
  void (*get_integers)(unsigned, int*) = nullptr;
  HdError (*error)() = nullptr;
  const char* (*get_string)(unsigned) = nullptr;
};

DeviceInfo describe_hd(const HdLibrary& hd) {
  DeviceInfo info;
  const char* model = hd.get_string(kHdModel);
  info.name = model ? model : "OpenHaptics device";
  info.input_dof = 6;
  info.output_dof = 3;
  info.max_torque = 0.0;
  double force = 0.0, stiffness = 0.0, box[6] = {};
  hd.get_doubles(kHdMaxForce, &force);
  hd.get_doubles(kHdMaxStiffness, &stiffness);  // [N/mm]
  hd.get_doubles(kHdUsableWorkspace, box);
  hd.take_error();
  info.max_force = force > 0.0 && force < 100.0 ? force : 3.3;  // else the Touch's
  info.max_stiffness = stiffness > 0.0 ? 1e3 * stiffness : 500.0;
  const Vec3 low(box[0], box[1], box[2]), high(box[3], box[4], box[5]);
  if (((high - low).array() > 0.0).all()) {
    info.workspace_min = kMillimetre * low;
    info.workspace_max = kMillimetre * high;
  }
  return info;
}

class OpenHapticsProtocol final : public DriverProtocol {
 public:
  explicit OpenHapticsProtocol(const VendorPlace& place) : hd_(place.library), name_(place.which) {}

  TickSource* tick_source() noexcept override { return &source_; }

  Loss run(DriverSeat& seat) override {
    if (!hd_.is_usable()) {
      seat.note(hd_.problem());
      return Loss::kNotConnected;
    }
    seat_ = &seat;
    if (!open()) return Loss::kNotConnected;
    const Loss why = watch(seat);
    close();
    return why;
  }

 private:
  /// Makes the device known to the scheduler, which is the vendor's and one for all devices. Whether a device can be
  /// opened while it runs is not documented, so the first time it is stopped: nobody touches anything yet. Later that
  /// would take the force from the hand that holds another device.
  bool open() {
    const std::lock_guard lock(hd_scheduler);
    if (!described_ && open_hd_devices.count() > 0) hd_.stop();
    const bool good = init();
    if (good) {
      errors_ = 0;
      enabled_ = false;
      over_.store(false);
      seat_->exchange().connect();
      task_ = hd_.schedule(&OpenHapticsProtocol::on_frame, this, kHdPriority);
    }
    if (open_hd_devices.count() > 0) hd_.start();
    return good;
  }

  bool init() {
    take_own_error();
    device_ = hd_.init(name_.empty() ? nullptr : name_.c_str());
    const unsigned failed = take_own_error();
    if (failed != 0 || device_ == kHdNoDevice) {
      seat_->note(fmt::format("no device {}can be opened (error 0x{:04x})", name_.empty() ? "" : name_ + " ", failed));
      return false;
    }
    if (!open_hd_devices.take(device_)) {
      seat_->note("the device is another tool's already; name another one, as open-haptics:#NAME");
      return false;
    }
    if (!described_) {
      hd_.make_current(device_);
      seat_->describe(describe_hd(hd_));
    }
    described_ = true;
    return true;
  }

  void close() {
    const std::lock_guard lock(hd_scheduler);
    if (open_hd_devices.count() == 1) hd_.stop();
    hd_.unschedule(task_);
    hd_.disable(device_);
    open_hd_devices.give_back(device_);
  }

  /// An error that is not another open device's. Wait-free.
  unsigned take_own_error() const noexcept {
    return hd_.take_error([this](HdHandle of) { return of != device_ && open_hd_devices.has(of); });
  }

  /// Until the task has ended itself, or is no longer called.
  Loss watch(const DriverSeat& seat) {
    std::uint64_t last = 0;
    std::int64_t called_at = monotonic_ns();
    while (!over_.load(std::memory_order_acquire)) {
      sleep_until_ns(monotonic_ns() + 1'000'000);
      const std::uint64_t frames = frames_.load(std::memory_order_relaxed);
      if (frames != last) called_at = monotonic_ns();
      last = frames;
      if (monotonic_ns() - called_at > kHdSilence) return Loss::kSilent;
    }
    return seat.stop_wanted() ? Loss::kNone : Loss::kClosed;
  }

  /// One period, in the vendor's thread.
  static unsigned on_frame(void* self) { return static_cast<OpenHapticsProtocol*>(self)->frame(); }

  unsigned frame() noexcept {
    frames_.fetch_add(1, std::memory_order_relaxed);
    hd_.make_current(device_);
    if (!enabled_) hd_.enable(kHdForceOutput);
    enabled_ = true;
    hd_.begin_frame(device_);
    const bool stop = seat_->stop_wanted();
    const bool good = read();
    if (good) source_.run_tick();
    const Wrench w = stop ? Wrench{} : seat_->exchange().wrench_to_send(monotonic_ns());
    const double force[3] = {w.force.x(), w.force.y(), w.force.z()};
    hd_.set_doubles(kHdForce, force);
    hd_.end_frame(device_);
    errors_ = take_own_error() != 0 || !good ? errors_ + 1 : 0;
    if (!stop && errors_ <= kHdMostErrors) return kHdContinue;
    seat_->exchange().disconnect(stop ? Loss::kNone : Loss::kClosed);
    over_.store(true, std::memory_order_release);
    return kHdDone;
  }

  bool read() noexcept {
    double m[16] = {}, v[3] = {};
    int buttons = 0;
    hd_.get_doubles(kHdTransform, m);
    hd_.get_doubles(kHdVelocity, v);
    hd_.get_integers(kHdButtons, &buttons);
    if (take_own_error() != 0) return false;
    HandleSample s;
    s.at_ns = monotonic_ns();
    s.pose.position = kMillimetre * Vec3(m[12], m[13], m[14]);
    s.velocity.linear = kMillimetre * Vec3(v[0], v[1], v[2]);
    Mat3 R;  // column by column
    for (int column = 0; column < 3; ++column) {
      for (int row = 0; row < 3; ++row) R(row, column) = m[4 * column + row];
    }
    const Quat q(R);
    if (!(s.pose.position.norm() < kHdReach) || !s.velocity.linear.allFinite() || !(std::abs(q.norm() - 1.0) < 1e-2))
      return false;
    s.pose.rotation = q.normalized();
    s.buttons = static_cast<std::uint32_t>(buttons);
    seat_->exchange().publish(s);
    return true;
  }

  HdLibrary hd_;
  TickSource source_;
  DriverSeat* seat_ = nullptr;
  const std::string name_;  ///< as the maker's Touch_Setup has it; empty: the default device
  bool described_ = false;
  unsigned long task_ = 0;
  HdHandle device_ = kHdNoDevice;
  bool enabled_ = false;  ///< the vendor's thread's: all that concerns "the current device" is done there
  int errors_ = 0;        ///< the vendor's thread's
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> frames_{0};
};

}  // namespace

std::unique_ptr<DriverProtocol> make_open_haptics(const DriverOptions& options) {
  return std::make_unique<OpenHapticsProtocol>(VendorPlace(options.where));
}

DriverProbe probe_open_haptics(const DriverOptions& options) {
  DriverProbe probe;
  const VendorPlace place(options.where);
  const HdLibrary hd(place.library);
  probe.steps.push_back(
      {hd.is_usable(), hd.is_usable() ? "the maker's library is found" : hd.problem(),
       "install OpenHaptics and the Touch device driver, or name the file: open-haptics:/path/to/libHD.so"});
  if (!hd.is_usable()) return probe;
  probe.found = hd.file.path();
  hd.take_error();
  const HdHandle device = hd.init(place.which.empty() ? nullptr : place.which.c_str());
  const unsigned failed = hd.take_error();
  const bool good = failed == 0 && device != kHdNoDevice;
  probe.steps.push_back(
      {good, good ? "a device can be opened" : fmt::format("no device can be opened (error 0x{:04x})", failed),
       "run the maker's Touch_Setup and Touch_Diagnostic, and see that you may write to the device's file; one of "
       "several "
       "is named as Touch_Setup names it: open-haptics:#NAME"});
  if (!good) return probe;
  hd.make_current(device);
  probe.devices.push_back({place.which.empty() ? "" : "#" + place.which, describe_hd(hd)});
  if (const char* version = hd.get_string(kHdVersion)) probe.version = fmt::format("HDAPI {}", version);
  hd.disable(device);
  return probe;
}

}  // namespace palpate
