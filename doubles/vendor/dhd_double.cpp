// Stands in for Force Dimension's library: the functions that the driver uses, with their documented behaviour, and two
// devices. Forces are ignored until they are enabled; a result of 1 says that values are those of before, 2 that a
// motor is at its limit, −1 that it failed. Devices are counted as they are plugged in: without the first, the second
// is the one with the index 0, so that only a serial number tells for sure which is which.
#include <algorithm>
#include <limits>
#include <mutex>

#include "vendor_double.h"

namespace {

constexpr double kMotorLimit = 12.0;           // [N]
constexpr double kOpenGrip = 0.52;             // [rad]
constexpr unsigned short kFirstSerial = 4711;  // of device 0; the second's is one more

struct Dhd {
  std::mutex mutex;
  bool open = false;
  bool force_on = false;
  bool dropped = false;  ///< until it is opened again
  double again_until = 0.0;
  double x = 0.0, y = 0.0, z = 0.0;  ///< told last, in the device's axes
};
Dhd dhds[vendor_double::kDevices];
std::mutex opening;
std::atomic<int> opened_last{0};  ///< meant by the identifier −1

/// Which device an identifier means.
int which(char id) {
  return id >= 0 && id < vendor_double::kDevices ? id : opened_last.load();
}

bool answers(int device) {
  return dhds[device].open && !dhds[device].dropped && vendor_double::is_plugged(device);
}

int open_device(int device) {
  if (!vendor_double::is_plugged(device)) return -1;
  Dhd& dhd = dhds[device];
  const std::lock_guard lock(dhd.mutex);
  if (!dhd.open || dhd.dropped) dhd.dropped = dhd.force_on = false;
  dhd.open = true;
  opened_last = device;
  return device;
}

}  // namespace

#define DHD_EXPORT extern "C" __attribute__((visibility("default")))

DHD_EXPORT int dhdGetDeviceCount() {
  int count = 0;
  for (int i = 0; i < vendor_double::kDevices; ++i) count += vendor_double::is_plugged(i);
  return count;
}

/// The first that is not open yet.
DHD_EXPORT int dhdOpen() {
  const std::lock_guard lock(opening);
  const auto is_free = [](int device) {
    const std::lock_guard own(dhds[device].mutex);
    return vendor_double::is_plugged(device) && !answers(device);
  };
  for (int i = 0; i < vendor_double::kDevices; ++i) {
    if (is_free(i)) return open_device(i);
  }
  return -1;
}

/// The one with this index among those that are plugged in; if it is open already, its identifier.
DHD_EXPORT int dhdOpenID(char index) {
  const std::lock_guard lock(opening);
  for (int i = 0, k = 0; i < vendor_double::kDevices; ++i) {
    if (vendor_double::is_plugged(i) && k++ == index) return open_device(i);
  }
  return -1;
}

DHD_EXPORT int dhdOpenSerial(int serial) {
  const std::lock_guard lock(opening);
  const int device = serial - kFirstSerial;
  return device >= 0 && device < vendor_double::kDevices ? open_device(device) : -1;
}

DHD_EXPORT int dhdGetSerialNumber(unsigned short* serial, char id) {
  *serial = static_cast<unsigned short>(kFirstSerial + which(id));
  return 0;
}

DHD_EXPORT int dhdClose(char id) {
  const int device = which(id);
  const std::lock_guard lock(dhds[device].mutex);
  dhds[device].open = dhds[device].force_on = false;
  vendor_double::let_go(device);
  return 0;
}

DHD_EXPORT const char* dhdGetSystemName(char) {
  return "omega.7 (double)";
}
DHD_EXPORT const char* dhdErrorGetLastStr() {
  return "no device found";
}
DHD_EXPORT bool dhdHasGripper(char) {
  return true;
}
DHD_EXPORT bool dhdHasWrist(char) {
  return true;
}
DHD_EXPORT bool dhdHasActiveWrist(char) {
  return true;
}
DHD_EXPORT void dhdGetSDKVersion(int* major, int* minor, int* release, int* revision) {
  *major = 3;
  *minor = *release = *revision = 0;
}

DHD_EXPORT int dhdEnableForce(unsigned char on, char id) {
  const int device = which(id);
  const std::lock_guard lock(dhds[device].mutex);
  if (!answers(device)) return -1;
  dhds[device].force_on = on != 0;
  if (!dhds[device].force_on) vendor_double::let_go(device);
  return 0;
}

DHD_EXPORT int dhdGetStatus(int status[], char id) {
  const int device = which(id);
  const std::lock_guard lock(dhds[device].mutex);
  for (int i = 0; i < 16; ++i) status[i] = 0;
  status[0] = 1;
  status[1] = answers(device);
  status[2] = status[3] = 1;
  status[5] = dhds[device].force_on;
  return dhds[device].open ? 0 : -1;
}

DHD_EXPORT int dhdGetPosition(double* x, double* y, double* z, char id) {
  const int device = which(id);
  const std::lock_guard lock(dhds[device].mutex);
  Dhd& dhd = dhds[device];
  double seconds = 0.0;
  const int fault = answers(device) ? vendor_double::next_fault(device, seconds) : -1;
  if (fault == vendor_double::kDrop) {
    dhd.dropped = true;
    vendor_double::let_go(device);
  }
  if (fault == vendor_double::kDelay) vendor_double::sleep_for(seconds);
  if (fault == vendor_double::kMute) dhd.again_until = vendor_double::seconds() + 0.06;
  if (!answers(device)) return -1;
  const bool again = fault == vendor_double::kDuplicate || vendor_double::seconds() < dhd.again_until;
  if (!again) {
    const vendor_double::Handle h = vendor_double::look(device);
    const double right = h.position[0], up = h.position[1], towards_operator = h.position[2];
    dhd.x = towards_operator;
    dhd.y = right;
    dhd.z = up;
  }
  *x = dhd.x;
  *y = dhd.y;
  *z = dhd.z;
  if (fault == vendor_double::kGarbage) *y = std::numeric_limits<double>::quiet_NaN();
  if (fault == vendor_double::kOutOfRange) *z = 1e6;
  return again ? 1 : 0;
}

DHD_EXPORT int dhdGetOrientationFrame(double frame[3][3], char id) {
  const int device = which(id);
  const std::lock_guard lock(dhds[device].mutex);
  if (!answers(device)) return -1;
  double world[3][3];
  const vendor_double::Handle h = vendor_double::look(device);
  vendor_double::to_matrix(h.rotation, world);
  // Axis i of the device is axis `of[i]` of the world: towards the operator, right, up.
  constexpr int of[3] = {2, 0, 1};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) frame[i][k] = world[of[i]][of[k]];
  }
  return 0;
}

DHD_EXPORT int dhdGetGripperAngleRad(double* angle, char id) {
  const int device = which(id);
  const std::lock_guard lock(dhds[device].mutex);
  if (!answers(device)) return -1;
  *angle = kOpenGrip * (1.0 - vendor_double::look(device).grip);
  return 0;
}

DHD_EXPORT unsigned dhdGetButtonMask(char id) {
  const int device = which(id);
  const std::lock_guard lock(dhds[device].mutex);
  return answers(device) ? vendor_double::look(device).buttons : 0;
}

DHD_EXPORT int dhdSetForceAndTorqueAndGripperForce(double fx, double fy, double fz, double tx, double ty, double tz,
                                                   double, char id) {
  const int device = which(id);
  const std::lock_guard lock(dhds[device].mutex);
  if (!answers(device)) return -1;
  if (!dhds[device].force_on) return 0;
  const double force[3] = {fy, fz, fx}, torque[3] = {ty, tz, tx};
  vendor_double::push(device, force, torque);
  return std::max({std::abs(fx), std::abs(fy), std::abs(fz)}) > kMotorLimit ? 2 : 0;
}
