// Stands in for OpenHaptics' libHD: the functions that the driver uses, with their documented behaviour, and two
// devices, "Left Device" (the default) and "Right Device". A thread of its own calls the scheduled tasks every
// millisecond, one after the other; the state of the current device is read and a force set between begin and end of
// its frame only, and the force is given at the frame's end, once force output is enabled. Errors go on one stack.
#include <pthread.h>

#include <deque>
#include <limits>
#include <mutex>
#include <string_view>
#include <vector>

#include "vendor_double.h"

namespace {

using Task = unsigned (*)(void*);
constexpr unsigned kNoDevice = 0xFFFFFFFFu;
constexpr std::string_view kNames[vendor_double::kDevices] = {"Left Device", "Right Device"};
enum Error : unsigned { kInvalidEnum = 0x0100, kInvalidOperation = 0x0102, kCommError = 0x0302, kDeviceFault = 0x0300 };

struct ErrorInfo {
  unsigned code;
  int internal;
  unsigned device;
};

struct HdDevice {
  bool open = false;
  bool force_output = false;
  bool dropped = false;
  bool in_frame = false;
  double force[3] = {0, 0, 0};
  vendor_double::Handle handle;  ///< of this frame
  int fault = -1;                ///< of this frame
};

struct Scheduled {
  unsigned long number;
  Task task;
  void* data;
};

struct Hd {
  std::recursive_mutex mutex;
  HdDevice devices[vendor_double::kDevices];
  unsigned current = 0;
  std::deque<ErrorInfo> errors;

  std::mutex tasks_mutex;  ///< held while tasks run: who unschedules one waits until it is not running
  std::vector<Scheduled> tasks;
  unsigned long scheduled = 0;
  std::atomic<bool> running{false};
  pthread_t thread{};
};
Hd hd;

bool answers(unsigned device) {
  return hd.devices[device].open && !hd.devices[device].dropped && vendor_double::is_plugged(static_cast<int>(device));
}

void complain(unsigned code, unsigned device = hd.current) {
  if (hd.errors.size() < 64) hd.errors.push_back({code, 0, device});
}

/// On a grid of 1 kHz, as the vendor's; periods that were missed are not made up for.
void* serve(void*) {
  const double period = 1e-3;
  double next = vendor_double::seconds();
  while (hd.running) {
    {
      const std::lock_guard lock(hd.tasks_mutex);
      std::erase_if(hd.tasks, [](const Scheduled& s) { return s.task(s.data) == 0; });
    }
    next += period;
    const double now = vendor_double::seconds();
    if (next > now)
      vendor_double::sleep_for(next - now);
    else
      next = now;
  }
  return nullptr;
}

}  // namespace

#define HD_EXPORT extern "C" __attribute__((visibility("default")))

HD_EXPORT unsigned hdInitDevice(const char* name) {
  const std::lock_guard lock(hd.mutex);
  for (unsigned i = 0; i < vendor_double::kDevices; ++i) {
    if (name && name != kNames[i]) continue;
    if (!vendor_double::is_plugged(static_cast<int>(i))) break;
    HdDevice& device = hd.devices[i];
    device.open = true;
    device.dropped = device.force_output = device.in_frame = false;
    return hd.current = i;
  }
  complain(kDeviceFault, kNoDevice);
  return kNoDevice;
}

HD_EXPORT void hdMakeCurrentDevice(unsigned device) {
  const std::lock_guard lock(hd.mutex);
  if (device >= vendor_double::kDevices) return complain(kInvalidOperation, kNoDevice);
  hd.current = device;
}

HD_EXPORT void hdDisableDevice(unsigned device) {
  const std::lock_guard lock(hd.mutex);
  if (device >= vendor_double::kDevices) return complain(kInvalidOperation, kNoDevice);
  hd.devices[device].open = hd.devices[device].force_output = false;
  vendor_double::let_go(static_cast<int>(device));
}

HD_EXPORT void hdEnable(unsigned what) {
  const std::lock_guard lock(hd.mutex);
  if (what == 0x4000) hd.devices[hd.current].force_output = true;
}

HD_EXPORT unsigned long hdScheduleAsynchronous(Task task, void* data, unsigned short) {
  const std::lock_guard lock(hd.tasks_mutex);
  hd.tasks.push_back({++hd.scheduled, task, data});
  return hd.scheduled;
}

HD_EXPORT void hdUnschedule(unsigned long number) {
  const std::lock_guard lock(hd.tasks_mutex);
  std::erase_if(hd.tasks, [number](const Scheduled& s) { return s.number == number; });
}

HD_EXPORT void hdStartScheduler() {
  if (hd.running.exchange(true)) return;
  pthread_create(&hd.thread, nullptr, serve, nullptr);
  // The vendor's thread has priority over all others; here as far as the system grants it.
  const sched_param priority{80};
  pthread_setschedparam(hd.thread, SCHED_FIFO, &priority);
}

HD_EXPORT void hdStopScheduler() {
  if (!hd.running.exchange(false)) return;
  pthread_join(hd.thread, nullptr);
}

HD_EXPORT void hdBeginFrame(unsigned number) {
  const std::lock_guard lock(hd.mutex);
  if (number >= vendor_double::kDevices) return complain(kInvalidOperation, kNoDevice);
  HdDevice& device = hd.devices[number];
  const int own = static_cast<int>(number);
  double seconds = 0.0;
  device.fault = answers(number) ? vendor_double::next_fault(own, seconds) : -1;
  if (device.fault == vendor_double::kDrop) {
    device.dropped = true;
    vendor_double::let_go(own);
  }
  if (device.fault == vendor_double::kDelay) vendor_double::sleep_for(seconds);
  if (device.fault == vendor_double::kMute) vendor_double::sleep_for(0.06);
  if (!answers(number)) return complain(kCommError, number);
  device.in_frame = true;
  if (device.fault != vendor_double::kDuplicate) device.handle = vendor_double::look(own);
  device.force[0] = device.force[1] = device.force[2] = 0.0;
}

HD_EXPORT void hdEndFrame(unsigned number) {
  const std::lock_guard lock(hd.mutex);
  if (number >= vendor_double::kDevices) return complain(kInvalidOperation, kNoDevice);
  HdDevice& device = hd.devices[number];
  if (!device.in_frame) return complain(kInvalidOperation, number);
  device.in_frame = false;
  if (!answers(number)) return complain(kCommError, number);
  const double none[3] = {0, 0, 0};
  if (device.force_output) vendor_double::push(static_cast<int>(number), device.force, none);
}

HD_EXPORT void hdGetDoublev(unsigned what, double* out) {
  const std::lock_guard lock(hd.mutex);
  const HdDevice& device = hd.devices[hd.current];
  if (what == 0x2602) {  // nominal stiffness [N/mm]
    *out = 0.5;
  } else if (what == 0x2603) {  // nominal force [N]
    *out = 3.3;
  } else if (what == 0x2551) {  // usable workspace [mm]
    const double box[6] = {-80, -60, -35, 80, 60, 35};
    for (int i = 0; i < 6; ++i) out[i] = box[i];
  } else if (!device.in_frame || !answers(hd.current)) {
    complain(device.in_frame ? kCommError : kInvalidOperation);
  } else if (what == 0x2051) {
    for (int i = 0; i < 3; ++i) out[i] = 1e3 * device.handle.velocity[i];
    if (device.fault == vendor_double::kGarbage) out[1] = std::numeric_limits<double>::quiet_NaN();
  } else if (what == 0x2052) {
    double m[3][3];
    vendor_double::to_matrix(device.handle.rotation, m);
    for (int column = 0; column < 3; ++column) {
      for (int row = 0; row < 3; ++row) out[4 * column + row] = m[row][column];
      out[4 * column + 3] = 0.0;
      out[12 + column] = 1e3 * device.handle.position[column];
    }
    out[15] = 1.0;
    if (device.fault == vendor_double::kOutOfRange) out[13] = 1e9;
  } else {
    complain(kInvalidEnum);
  }
}

HD_EXPORT void hdSetDoublev(unsigned what, const double* in) {
  const std::lock_guard lock(hd.mutex);
  HdDevice& device = hd.devices[hd.current];
  if (what != 0x2700 || !device.in_frame) return complain(what != 0x2700 ? kInvalidEnum : kInvalidOperation);
  for (int i = 0; i < 3; ++i) device.force[i] = in[i];
}

HD_EXPORT void hdGetIntegerv(unsigned what, int* out) {
  const std::lock_guard lock(hd.mutex);
  const HdDevice& device = hd.devices[hd.current];
  if (what != 0x2000 || !device.in_frame) return complain(kInvalidOperation);
  *out = static_cast<int>(device.handle.buttons);
}

HD_EXPORT ErrorInfo hdGetError() {
  const std::lock_guard lock(hd.mutex);
  ErrorInfo info{0, 0, 0};
  if (hd.errors.empty()) return info;
  info = hd.errors.back();
  hd.errors.pop_back();
  return info;
}

HD_EXPORT const char* hdGetString(unsigned what) {
  return what == 0x2501 ? "Touch (double)" : what == 0x2500 ? "3.4" : nullptr;
}
