#pragma once

#include <memory>
#include <string>

#include "palpate/doubles/double_hand.h"

namespace palpate {

/// Puts a hand behind a device of the shared objects that stand in for vendors' libraries (libdhd_double.so,
/// libhd_double.so). Each has two devices, 0 and 1, with one hand at a time. Any thread.
class VendorDouble {
 public:
  /// `hand` outlives it. Throws InputError if the shared object cannot be loaded.
  VendorDouble(DoubleHand& hand, const std::string& path, int device = 0);
  ~VendorDouble();

  void plug(bool in);
  void inject(Fault fault, double seconds = 0.0);
  std::uint64_t faults_done() const noexcept;

 private:
  struct Hooks;
  std::unique_ptr<Hooks> hooks_;
};

}  // namespace palpate
