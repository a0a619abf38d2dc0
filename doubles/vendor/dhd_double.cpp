// Stands in for Force Dimension's library: the functions that the driver uses, with their documented behaviour. Forces
// are ignored until they are enabled; a result of 1 says that values are those of before, 2 that a motor is at its
// limit, −1 that it failed.
#include <algorithm>
#include <limits>
#include <mutex>

#include "vendor_double.h"

namespace {

constexpr double kMotorLimit = 12.0;  // [N]
constexpr double kOpenGrip = 0.52;    // [rad]

struct Dhd {
  std::mutex mutex;
  bool open = false;
  bool force_on = false;
  bool dropped = false;  ///< until it is opened again
  double again_until = 0.0;
  double x = 0.0, y = 0.0, z = 0.0;  ///< told last, in the device's axes
};
Dhd dhd;

bool answers() {
  return dhd.open && !dhd.dropped && vendor_double::is_plugged();
}

}  // namespace

#define DHD_EXPORT extern "C" __attribute__((visibility("default")))

DHD_EXPORT int dhdGetDeviceCount() {
  return vendor_double::is_plugged() ? 1 : 0;
}

DHD_EXPORT int dhdOpen() {
  const std::lock_guard lock(dhd.mutex);
  if (!vendor_double::is_plugged()) return -1;
  dhd.open = true;
  dhd.dropped = dhd.force_on = false;
  return 0;
}

DHD_EXPORT int dhdClose(char) {
  const std::lock_guard lock(dhd.mutex);
  dhd.open = dhd.force_on = false;
  vendor_double::let_go();
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

DHD_EXPORT int dhdEnableForce(unsigned char on, char) {
  const std::lock_guard lock(dhd.mutex);
  if (!answers()) return -1;
  dhd.force_on = on != 0;
  if (!dhd.force_on) vendor_double::let_go();
  return 0;
}

DHD_EXPORT int dhdGetStatus(int status[], char) {
  const std::lock_guard lock(dhd.mutex);
  for (int i = 0; i < 16; ++i) status[i] = 0;
  status[0] = 1;
  status[1] = answers();
  status[2] = status[3] = 1;
  status[5] = dhd.force_on;
  return dhd.open ? 0 : -1;
}

DHD_EXPORT int dhdGetPosition(double* x, double* y, double* z, char) {
  const std::lock_guard lock(dhd.mutex);
  double seconds = 0.0;
  const int fault = answers() ? vendor_double::next_fault(seconds) : -1;
  if (fault == vendor_double::kDrop) {
    dhd.dropped = true;
    vendor_double::let_go();
  }
  if (fault == vendor_double::kDelay) vendor_double::sleep_for(seconds);
  if (fault == vendor_double::kMute) dhd.again_until = vendor_double::seconds() + 0.06;
  if (!answers()) return -1;
  const bool again = fault == vendor_double::kDuplicate || vendor_double::seconds() < dhd.again_until;
  if (!again) {
    const vendor_double::Handle h = vendor_double::look();
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

DHD_EXPORT int dhdGetOrientationFrame(double frame[3][3], char) {
  const std::lock_guard lock(dhd.mutex);
  if (!answers()) return -1;
  double world[3][3];
  const vendor_double::Handle h = vendor_double::look();
  vendor_double::to_matrix(h.rotation, world);
  // Axis i of the device is axis `of[i]` of the world: towards the operator, right, up.
  constexpr int of[3] = {2, 0, 1};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) frame[i][k] = world[of[i]][of[k]];
  }
  return 0;
}

DHD_EXPORT int dhdGetGripperAngleRad(double* angle, char) {
  const std::lock_guard lock(dhd.mutex);
  if (!answers()) return -1;
  *angle = kOpenGrip * (1.0 - vendor_double::look().grip);
  return 0;
}

DHD_EXPORT unsigned dhdGetButtonMask(char) {
  const std::lock_guard lock(dhd.mutex);
  return answers() ? vendor_double::look().buttons : 0;
}

DHD_EXPORT int dhdSetForceAndTorqueAndGripperForce(double fx, double fy, double fz, double tx, double ty, double tz,
                                                   double, char) {
  const std::lock_guard lock(dhd.mutex);
  if (!answers()) return -1;
  if (!dhd.force_on) return 0;
  const double force[3] = {fy, fz, fx}, torque[3] = {ty, tz, tx};
  vendor_double::push(force, torque);
  return std::max({std::abs(fx), std::abs(fy), std::abs(fz)}) > kMotorLimit ? 2 : 0;
}
