// Stands in for OpenHaptics' libHD: the functions that the driver uses, with their documented behaviour. A thread of
// its own calls the scheduled task every millisecond; the state is read and a force set between begin and end of a
// frame only, and the force is given at the frame's end, once force output is enabled. Errors go on a stack.
#include <pthread.h>

#include <deque>
#include <limits>
#include <mutex>

#include "vendor_double.h"

namespace {

using Task = unsigned (*)(void*);
constexpr unsigned kNoDevice = 0xFFFFFFFFu;
enum Error : unsigned { kInvalidEnum = 0x0100, kInvalidOperation = 0x0102, kCommError = 0x0302, kDeviceFault = 0x0300 };

struct ErrorInfo {
  unsigned code;
  int internal;
  unsigned device;
};

struct Hd {
  std::recursive_mutex mutex;
  bool open = false;
  bool force_output = false;
  bool dropped = false;
  bool in_frame = false;
  double force[3] = {0, 0, 0};
  vendor_double::Handle handle;  ///< of this frame
  int fault = -1;                ///< of this frame
  std::deque<unsigned> errors;
  Task task = nullptr;
  void* data = nullptr;
  std::atomic<bool> running{false};
  pthread_t thread{};
};
Hd hd;

bool answers() {
  return hd.open && !hd.dropped && vendor_double::is_plugged();
}

void complain(unsigned code) {
  if (hd.errors.size() < 64) hd.errors.push_back(code);
}

/// On a grid of 1 kHz, as the vendor's; periods that were missed are not made up for.
void* serve(void*) {
  const double period = 1e-3;
  double next = vendor_double::seconds();
  while (hd.running) {
    Task task = nullptr;
    void* data = nullptr;
    {
      const std::lock_guard lock(hd.mutex);
      task = hd.task;
      data = hd.data;
    }
    if (task && task(data) == 0) {
      const std::lock_guard lock(hd.mutex);
      hd.task = nullptr;
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

HD_EXPORT unsigned hdInitDevice(const char*) {
  const std::lock_guard lock(hd.mutex);
  if (!vendor_double::is_plugged()) {
    complain(kDeviceFault);
    return kNoDevice;
  }
  hd.open = true;
  hd.dropped = hd.force_output = hd.in_frame = false;
  return 0;
}

HD_EXPORT void hdDisableDevice(unsigned) {
  const std::lock_guard lock(hd.mutex);
  hd.open = hd.force_output = false;
  vendor_double::let_go();
}

HD_EXPORT void hdEnable(unsigned what) {
  const std::lock_guard lock(hd.mutex);
  if (what == 0x4000) hd.force_output = true;
}

HD_EXPORT unsigned long hdScheduleAsynchronous(Task task, void* data, unsigned short) {
  const std::lock_guard lock(hd.mutex);
  hd.task = task;
  hd.data = data;
  return 1;
}

HD_EXPORT void hdUnschedule(unsigned long) {
  const std::lock_guard lock(hd.mutex);
  hd.task = nullptr;
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

HD_EXPORT void hdBeginFrame(unsigned) {
  const std::lock_guard lock(hd.mutex);
  double seconds = 0.0;
  hd.fault = answers() ? vendor_double::next_fault(seconds) : -1;
  if (hd.fault == vendor_double::kDrop) {
    hd.dropped = true;
    vendor_double::let_go();
  }
  if (hd.fault == vendor_double::kDelay) vendor_double::sleep_for(seconds);
  if (hd.fault == vendor_double::kMute) vendor_double::sleep_for(0.06);
  if (!answers()) return complain(kCommError);
  hd.in_frame = true;
  if (hd.fault != vendor_double::kDuplicate) hd.handle = vendor_double::look();
  hd.force[0] = hd.force[1] = hd.force[2] = 0.0;
}

HD_EXPORT void hdEndFrame(unsigned) {
  const std::lock_guard lock(hd.mutex);
  if (!hd.in_frame) return complain(kInvalidOperation);
  hd.in_frame = false;
  if (!answers()) return complain(kCommError);
  const double none[3] = {0, 0, 0};
  if (hd.force_output) vendor_double::push(hd.force, none);
}

HD_EXPORT void hdGetDoublev(unsigned what, double* out) {
  const std::lock_guard lock(hd.mutex);
  if (what == 0x2602) {  // nominal stiffness [N/mm]
    *out = 0.5;
  } else if (what == 0x2603) {  // nominal force [N]
    *out = 3.3;
  } else if (what == 0x2551) {  // usable workspace [mm]
    const double box[6] = {-80, -60, -35, 80, 60, 35};
    for (int i = 0; i < 6; ++i) out[i] = box[i];
  } else if (!hd.in_frame || !answers()) {
    complain(hd.in_frame ? kCommError : kInvalidOperation);
  } else if (what == 0x2051) {
    for (int i = 0; i < 3; ++i) out[i] = 1e3 * hd.handle.velocity[i];
    if (hd.fault == vendor_double::kGarbage) out[1] = std::numeric_limits<double>::quiet_NaN();
  } else if (what == 0x2052) {
    double m[3][3];
    vendor_double::to_matrix(hd.handle.rotation, m);
    for (int column = 0; column < 3; ++column) {
      for (int row = 0; row < 3; ++row) out[4 * column + row] = m[row][column];
      out[4 * column + 3] = 0.0;
      out[12 + column] = 1e3 * hd.handle.position[column];
    }
    out[15] = 1.0;
    if (hd.fault == vendor_double::kOutOfRange) out[13] = 1e9;
  } else {
    complain(kInvalidEnum);
  }
}

HD_EXPORT void hdSetDoublev(unsigned what, const double* in) {
  const std::lock_guard lock(hd.mutex);
  if (what != 0x2700 || !hd.in_frame) return complain(what != 0x2700 ? kInvalidEnum : kInvalidOperation);
  for (int i = 0; i < 3; ++i) hd.force[i] = in[i];
}

HD_EXPORT void hdGetIntegerv(unsigned what, int* out) {
  const std::lock_guard lock(hd.mutex);
  if (what != 0x2000 || !hd.in_frame) return complain(kInvalidOperation);
  *out = static_cast<int>(hd.handle.buttons);
}

HD_EXPORT ErrorInfo hdGetError() {
  const std::lock_guard lock(hd.mutex);
  ErrorInfo info{0, 0, 0};
  if (hd.errors.empty()) return info;
  info.code = hd.errors.back();
  hd.errors.pop_back();
  return info;
}

HD_EXPORT const char* hdGetString(unsigned what) {
  return what == 0x2501 ? "Touch (double)" : what == 0x2500 ? "3.4" : nullptr;
}
