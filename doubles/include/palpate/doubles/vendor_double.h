#pragma once

#include <memory>
#include <string>

#include "palpate/doubles/double_hand.h"

namespace palpate {

/// Puts a hand behind one of the shared objects that stand in for vendors' libraries (libdhd_double.so,
/// libhd_double.so). One at a time for each of them. Any thread.
class VendorDouble {
 public:
  /// `hand` outlives it. Throws InputError if the shared object cannot be loaded.
  VendorDouble(DoubleHand& hand, const std::string& path);
  ~VendorDouble();

  void plug(bool in);
  void inject(Fault fault, double seconds = 0.0);
  std::uint64_t faults_done() const noexcept;

 private:
  struct Hooks;
  std::unique_ptr<Hooks> hooks_;
};

}  // namespace palpate
