#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "driver_table.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/haptics/velocity.h"
#include "shared_library.h"
#include "vendor_devices.h"

// Force Dimension's omega, delta and sigma, and what else its library opens (Novint's Falcon). The library is polled;
// its calls are a round trip over USB each, so a thread of ours makes them. Declarations are our own, of the few
// functions used.
//
// Its frame is x towards the operator, y to the operator's right, z up; metres, newtons. A result below 0 is an error,
// 0 is good, 1 means that the last values were given again because less time had passed than the device needs, 2 that a
// motor is at its limit.

namespace palpate {
namespace {

constexpr double kDhdPeriod = 5e-4;     // [s]
constexpr int kDhdStatusEvery = 100;    // exchanges between two looks at the status
constexpr double kDhdGripAngle = 0.52;  // [rad]; of an open gripper, about 30°
constexpr int kDhdMostErrors = 5;       // in a row
constexpr double kDhdReach = 1.0;       // [m]; farther out the numbers are no positions
constexpr int kDhdMostDevices = 16;     // an index beyond is a mistake
enum DhdStatus { kDhdPower = 0, kDhdConnected = 1, kDhdForceOn = 5, kDhdError = 9, kDhdStatusSize = 64 };

OpenDevices open_dhd_devices;

/// The library's functions.
struct DhdLibrary {
  explicit DhdLibrary(const std::string& where)
      : file(where.empty() ? std::vector<std::string>{"libdrd.so.3", "libdrd.so", "libdhd.so.3", "libdhd.so"}
                           : std::vector<std::string>{where}) {
    file.find("dhdOpen", open);
    file.find("dhdOpenID", open_index);
    file.find("dhdClose", close);
    file.find("dhdGetPosition", get_position);
    file.find("dhdGetOrientationFrame", get_frame);
    file.find("dhdGetButtonMask", get_buttons);
    file.find("dhdSetForceAndTorqueAndGripperForce", set_wrench);
    file.find("dhdEnableForce", enable_force);
    file.find("dhdGetStatus", get_status);
    file.find("dhdErrorGetLastStr", last_error);
    file.find("dhdGetDeviceCount", count);
    file.find("dhdGetSystemName", name);
    file.find_optional("dhdOpenSerial", open_serial);
    file.find_optional("dhdGetSerialNumber", get_serial);
    file.find_optional("dhdGetGripperAngleRad", get_grip);
    file.find_optional("dhdHasGripper", has_gripper);
    file.find_optional("dhdHasWrist", has_wrist);
    file.find_optional("dhdHasActiveWrist", has_active_wrist);
    file.find_optional("dhdGetSDKVersion", version);
  }
  bool is_usable() const { return file.is_open() && file.missing().empty(); }
  std::string problem() const {
    return file.is_open() ? file.path() + " has no " + file.missing()
                          : "the library is not found (" + file.error() + ")";
  }

  SharedLibrary file;
  int (*open)() = nullptr;
  int (*open_index)(char) = nullptr;
  int (*open_serial)(int) = nullptr;
  int (*get_serial)(unsigned short*, char) = nullptr;
  int (*close)(char) = nullptr;
  int (*get_position)(double*, double*, double*, char) = nullptr;
  int (*get_frame)(double[3][3], char) = nullptr;
  unsigned (*get_buttons)(char) = nullptr;
  int (*set_wrench)(double, double, double, double, double, double, double, char) = nullptr;
  int (*enable_force)(unsigned char, char) = nullptr;
  int (*get_status)(int*, char) = nullptr;
  const char* (*last_error)() = nullptr;
  int (*count)() = nullptr;
  const char* (*name)(char) = nullptr;
  int (*get_grip)(double*, char) = nullptr;
  bool (*has_gripper)(char) = nullptr;
  bool (*has_wrist)(char) = nullptr;
  bool (*has_active_wrist)(char) = nullptr;
  void (*version)(int*, int*, int*, int*) = nullptr;
};

/// From the device's axes (towards, right, up) to the world's (right, up, towards), and back.
Vec3 from_dhd(const Vec3& v) noexcept {
  return {v.y(), v.z(), v.x()};
}
Vec3 to_dhd(const Vec3& v) noexcept {
  return {v.z(), v.x(), v.y()};
}

/// Makers' figures where we know them; less where we do not.
DeviceInfo describe_dhd(const DhdLibrary& dhd, char id) {
  const auto has = [id](bool (*what)(char)) { return what && what(id); };
  const char* told = dhd.name(id);
  DeviceInfo info;
  info.name = told ? told : "Force Dimension";
  std::string lower = info.name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool omega = lower.find("omega") != std::string::npos;
  info.max_force = omega ? 12.0 : 8.0;
  info.max_stiffness = omega ? 5000.0 : 2000.0;
  info.input_dof = has(dhd.has_wrist) ? 6 : 3;
  info.output_dof = has(dhd.has_active_wrist) ? 6 : 3;
  info.max_torque = info.output_dof == 6 ? 0.3 : 0.0;
  if (omega) {
    info.workspace_min = Vec3::Constant(-0.075);
    info.workspace_max = Vec3::Constant(0.075);
  }
  return info;
}

/// The device that is meant, as the library counts them; none: the first that is free.
std::optional<char> read_dhd_index(const std::string& text) {
  if (text.empty()) return std::nullopt;
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index < 0 || index >= kDhdMostDevices)
    fail_input("#{}: must be a number from 0 to {}, as the library counts its devices", text, kDhdMostDevices - 1);
  return static_cast<char>(index);
}

class ForceDimensionProtocol final : public DriverProtocol {
 public:
  explicit ForceDimensionProtocol(const VendorPlace& place)
      : dhd_(place.library), index_(read_dhd_index(place.which)) {}

  Loss run(DriverSeat& seat) override {
    if (!dhd_.is_usable()) {
      seat.note(dhd_.problem());
      return Loss::kNotConnected;
    }
    const int opened = open();
    if (opened < 0) {
      seat.note(fmt::format("no device can be opened ({})", dhd_.last_error()));
      return Loss::kNotConnected;
    }
    // A device that is open already is given again by the library. It is then not ours to close.
    if (!open_dhd_devices.take(opened)) {
      seat.note("the device is another tool's already; name another one, as force-dimension:#1");
      return Loss::kNotConnected;
    }
    id_ = static_cast<char>(opened);
    Loss why = Loss::kNotConnected;
    if (is_same_as_before()) {
      seat.describe(describe_dhd(dhd_, id_));
      why = exchange(seat);
      dhd_.set_wrench(0, 0, 0, 0, 0, 0, 0, id_);
    } else {
      seat.note(fmt::format("device {} is gone, and another is in its place", serial_));
    }
    dhd_.close(id_);
    open_dhd_devices.give_back(opened);
    return why;
  }

 private:
  enum class Answer { kFresh, kAgain, kError };

  /// The index of a device changes when another is unplugged, its serial number does not: what was opened once is
  /// opened by that. Not all models can be.
  int open() const {
    const int known = serial_ != 0 && dhd_.open_serial ? dhd_.open_serial(serial_) : -1;
    if (known >= 0) return known;
    return index_ ? dhd_.open_index(*index_) : dhd_.open();
  }

  /// The left hand's device must not come back as the right one's.
  bool is_same_as_before() {
    unsigned short serial = 0;
    if (!dhd_.get_serial || dhd_.get_serial(&serial, id_) < 0 || serial == 0) return true;
    if (serial_ == 0) serial_ = serial;
    return serial == serial_;
  }

  Answer read(HandleSample& s) {
    double x = 0.0, y = 0.0, z = 0.0;
    const int position = dhd_.get_position(&x, &y, &z, id_);
    double frame[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int turned = dhd_.get_frame(frame, id_);
    if (position < 0 || turned < 0) return Answer::kError;
    if (!(Vec3(x, y, z).norm() < kDhdReach)) return Answer::kError;
    if (position == 1) return Answer::kAgain;
    s.at_ns = monotonic_ns();
    s.pose.position = from_dhd({x, y, z});
    Mat3 R;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) R(i, k) = frame[i][k];
    }
    const Quat q(R);
    const Vec3 v = from_dhd(q.vec());
    s.pose.rotation = Quat(q.w(), v.x(), v.y(), v.z());
    if (!(std::abs(s.pose.rotation.norm() - 1.0) < 1e-3)) return Answer::kError;
    s.pose.rotation.normalize();
    s.buttons = dhd_.get_buttons(id_);
    double angle = 0.0;
    if (dhd_.get_grip && dhd_.has_gripper && dhd_.has_gripper(id_) && dhd_.get_grip(&angle, id_) >= 0)
      s.grip = std::clamp(1.0 - angle / kDhdGripAngle, 0.0, 1.0);
    return Answer::kFresh;
  }

  /// Forces off are a person's wish, by the button on the device: they are not switched on again from here.
  Loss look_at_status() const {
    int status[kDhdStatusSize] = {};
    if (dhd_.get_status(status, id_) < 0) return Loss::kClosed;
    if (!status[kDhdConnected]) return Loss::kClosed;
    if (!status[kDhdPower] || status[kDhdError]) return Loss::kNotReady;
    return status[kDhdForceOn] ? Loss::kNone : Loss::kBraked;
  }

  Loss exchange(DriverSeat& seat) {
    DeviceExchange& exchange = seat.exchange();
    VelocityEstimator velocity({});
    std::int64_t last = monotonic_ns(), next = last;
    bool connected = false;
    int errors = 0;
    dhd_.enable_force(1, id_);
    for (int i = 0; !seat.stop_wanted(); ++i) {
      if (i % kDhdStatusEvery == 0) {
        const Loss status = look_at_status();
        if (status == Loss::kClosed) return status;
        const bool good = status == Loss::kNone;
        if (good != connected) good ? exchange.connect() : exchange.disconnect(status);
        connected = good;
      }
      HandleSample sample;
      const std::int64_t began = monotonic_ns();
      const Answer answer = read(sample);
      errors = answer == Answer::kError ? errors + 1 : 0;
      if (errors > kDhdMostErrors) return Loss::kClosed;
      if (answer == Answer::kFresh) {
        sample.velocity = velocity.update(sample.pose, 1e-9 * static_cast<double>(sample.at_ns - last));
        last = sample.at_ns;
        exchange.publish(sample);
      }
      const Wrench w = exchange.wrench_to_send(monotonic_ns());
      const Vec3 f = to_dhd(w.force), t = to_dhd(w.torque);
      if (dhd_.set_wrench(f.x(), f.y(), f.z(), t.x(), t.y(), t.z(), 0.0, id_) < 0) ++errors;
      seat.count_round_trip(monotonic_ns() - began);
      next = std::max(next + static_cast<std::int64_t>(1e9 * kDhdPeriod), monotonic_ns());
      sleep_until_ns(next);
    }
    return Loss::kNone;
  }

  DhdLibrary dhd_;
  std::optional<char> index_;
  int serial_ = 0;  ///< from the first time on; 0: not known
  char id_ = -1;    ///< while it is open
};

}  // namespace

std::unique_ptr<DriverProtocol> make_force_dimension(const DriverOptions& options) {
  return std::make_unique<ForceDimensionProtocol>(VendorPlace(options.where));
}

DriverProbe probe_force_dimension(const DriverOptions& options) {
  DriverProbe probe;
  const VendorPlace place(options.where);
  const DhdLibrary dhd(place.library);
  probe.steps.push_back(
      {dhd.is_usable(), dhd.is_usable() ? "the maker's library is found" : dhd.problem(),
       "install the Force Dimension SDK and put its lib folder into LD_LIBRARY_PATH, or name the file: "
       "force-dimension:/path/to/libdhd.so"});
  if (!dhd.is_usable()) return probe;
  probe.found = dhd.file.path();
  if (dhd.version) {
    int a = 0, b = 0, c = 0, d = 0;
    dhd.version(&a, &b, &c, &d);
    probe.version = fmt::format("SDK {}.{}.{}.{}", a, b, c, d);
  }
  const int count = dhd.count();
  const int index = read_dhd_index(place.which).value_or(0);
  for (int i = 0; i < std::min(count, kDhdMostDevices); ++i) {
    const int id = dhd.open_index(static_cast<char>(i));
    if (id < 0 || open_dhd_devices.has(id)) continue;
    probe.devices.push_back({fmt::format("#{}", i), describe_dhd(dhd, static_cast<char>(id))});
    dhd.close(static_cast<char>(id));
  }
  std::string seen = count == 0   ? "no device is seen"
                     : count == 1 ? "1 device is connected"
                                  : fmt::format("{} devices are connected, #0 to #{}", count, count - 1);
  if (index > 0 && index >= count) seen += fmt::format("; #{} is not there", index);
  probe.steps.push_back(
      {count > index, seen,
       "switch it on and plug it in; as an ordinary user it needs a udev rule: SUBSYSTEM==\"usb\", "
       "ATTR{idVendor}==\"1451\", MODE=\"0666\" in a file of /etc/udev/rules.d, then plug it in again"});
  return probe;
}

}  // namespace palpate
