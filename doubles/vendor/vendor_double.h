#pragma once

#include <atomic>
#include <cmath>
#include <ctime>

#include "palpate/doubles/vendor_hooks.h"

// What the doubles of vendors' libraries share. Compiled into each.
namespace vendor_double {

constexpr int kDevices = 2;

/// Hidden: a process that has loaded two of these libraries has hands for each.
__attribute__((visibility("hidden"))) inline std::atomic<const PalpateDoubleHand*> the_hands[kDevices]{};

inline const PalpateDoubleHand* hand_of(int device) {
  return the_hands[device].load();
}

struct Handle {
  double position[3] = {0, 0, 0};
  double rotation[4] = {1, 0, 0, 0};  ///< w, x, y, z
  double velocity[3] = {0, 0, 0};
  unsigned buttons = 0;
  double grip = 0.0;
};

inline double seconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline void sleep_for(double s) {
  const timespec t{static_cast<time_t>(s), static_cast<long>(1e9 * (s - std::floor(s)))};
  nanosleep(&t, nullptr);
}

/// The hand as it is now, or one that goes round in 4 s with a radius of 2 cm; the second is opposite the first.
inline Handle look(int device) {
  Handle h;
  if (const PalpateDoubleHand* hand = hand_of(device)) {
    hand->now(hand->context, h.position, h.rotation, h.velocity, &h.buttons, &h.grip);
    return h;
  }
  const double w = 1.5707963, r = 0.02, a = w * (seconds() + 2.0 * device);
  h.position[0] = r * std::cos(a);
  h.position[1] = r * std::sin(a);
  h.velocity[0] = -r * w * std::sin(a);
  h.velocity[1] = r * w * std::cos(a);
  return h;
}

inline bool is_plugged(int device) {
  if (const PalpateDoubleHand* hand = hand_of(device)) return hand->is_plugged(hand->context);
  for (const auto& other : the_hands) {
    if (other.load()) return false;
  }
  return true;
}

inline void push(int device, const double force[3], const double torque[3]) {
  if (const PalpateDoubleHand* hand = hand_of(device)) hand->push(hand->context, force, torque);
}

inline void let_go(int device) {
  if (const PalpateDoubleHand* hand = hand_of(device)) hand->let_go(hand->context);
}

/// The numbers of a Fault.
enum { kDrop, kDelay, kMute, kGarbage, kOutOfRange, kDuplicate };

inline int next_fault(int device, double& s) {
  const PalpateDoubleHand* hand = hand_of(device);
  return hand ? hand->next_fault(hand->context, &s) : -1;
}

/// The rotation as a matrix, row by row.
inline void to_matrix(const double q[4], double m[3][3]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double all[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) m[i][k] = all[i][k];
  }
}

}  // namespace vendor_double

extern "C" __attribute__((visibility("default"))) void palpate_double_use(int device, const PalpateDoubleHand* hand) {
  vendor_double::the_hands[device].store(hand);
}
