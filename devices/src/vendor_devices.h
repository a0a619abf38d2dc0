#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace palpate {

/// Where a vendor's device is: `LIBRARY#WHICH`. Without a library the usual ones are tried; without a `#` it is the
/// first device.
struct VendorPlace {
  explicit VendorPlace(const std::string& where) : library(where.substr(0, where.rfind('#'))) {
    if (library.size() < where.size()) which = where.substr(library.size() + 1);
  }

  std::string library;
  std::string which;
};

/// The devices of one vendor that this process has open. A library may give the same device to two who ask for it, and
/// each would then send it a force: the second is refused.
///
/// Threads: any. has() and count() are wait-free, the others lock.
class OpenDevices {
 public:
  /// False if somebody has it, or if there are sixteen already. `device` is the library's own number of it.
  bool take(std::int64_t device) {
    const std::lock_guard lock(mutex_);
    if (has(device)) return false;
    for (auto& slot : open_) {
      if (slot.load(std::memory_order_relaxed) != 0) continue;
      slot.store(device + 1, std::memory_order_relaxed);
      return true;
    }
    return false;
  }
  void give_back(std::int64_t device) {
    const std::lock_guard lock(mutex_);
    for (auto& slot : open_) {
      if (slot.load(std::memory_order_relaxed) == device + 1) slot.store(0, std::memory_order_relaxed);
    }
  }
  bool has(std::int64_t device) const noexcept {
    for (const auto& slot : open_) {
      if (slot.load(std::memory_order_relaxed) == device + 1) return true;
    }
    return false;
  }
  int count() const noexcept {
    int n = 0;
    for (const auto& slot : open_) n += slot.load(std::memory_order_relaxed) != 0;
    return n;
  }

 private:
  std::mutex mutex_;
  std::array<std::atomic<std::int64_t>, 16> open_{};  ///< the device's number plus one; 0: free
};

}  // namespace palpate
