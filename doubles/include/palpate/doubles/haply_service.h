#pragma once

#include <memory>
#include <string>

#include "palpate/doubles/double_hand.h"

namespace palpate {

struct HaplyServiceSettings {
  std::uint16_t port = 0;  ///< on 127.0.0.1; 0: any that is free. Events are 19 above it
  std::string device_id = "049D";
  enum class Grip { kNone, kWired, kWireless } grip = Grip::kWireless;
  /// The names of the force that it understands.
  bool knows_values = true;
  bool knows_vector = true;
  /// Silence after which the device goes idle [s].
  double idle_after = 0.02;
};

/// Behaves as Haply's Inverse Service does, on loopback: an inventory on connecting, then one state for every message;
/// a force holds until the next message and not for long; events on a port of their own.
///
/// Any thread; a thread of its own serves one client at a time.
class HaplyService {
 public:
  /// `hand` outlives it. Throws InputError if the port cannot be had.
  HaplyService(DoubleHand& hand, const HaplyServiceSettings& settings);
  ~HaplyService();

  std::uint16_t port() const noexcept;
  /// `127.0.0.1:PORT`
  std::string address() const;
  /// With the next answer.
  void inject(Fault fault, double seconds = 0.0);
  std::uint64_t faults_done() const noexcept;
  void set_ready(bool ready);
  /// The device brakes itself: an event, and the force is off.
  void brake();

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace palpate
