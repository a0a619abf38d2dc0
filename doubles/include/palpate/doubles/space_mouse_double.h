#pragma once

#include <memory>
#include <string>

#include "palpate/doubles/double_hand.h"

namespace palpate {

/// Behaves as spacenavd does at its socket, with one client. How fast the hand moves is how far the cap is pushed: 0.15
/// m/s and 1.5 rad/s are 350 counts. Any thread; a thread of its own serves, 125 times a second.
class SpaceMouseDouble {
 public:
  /// `hand` outlives it. Throws InputError if the socket cannot be made.
  SpaceMouseDouble(DoubleHand& hand, std::string path);
  ~SpaceMouseDouble();

  void inject(Fault fault, double seconds = 0.0);
  std::uint64_t faults_done() const noexcept;

 private:
  struct Daemon;
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace palpate
