#pragma once

#include <memory>
#include <optional>
#include <string>

#include "palpate/devices/hand_side.h"
#include "palpate/doubles/double_hand.h"

namespace palpate {

/// A network between a hand and the engine, in both directions.
struct PoorNetwork {
  double delay = 0.0;   ///< each way [s]
  double jitter = 0.0;  ///< up to so much more: datagrams overtake each other [s]
  double loss = 0.0;    ///< share of datagrams that do not arrive
};

struct NetworkHandDoubleSettings {
  std::uint16_t port = 10101;  ///< of the engine, on 127.0.0.1
  PoorNetwork network;
  std::optional<std::string> key;
  std::optional<WaveSettings> waves, turn_waves;
  unsigned seed = 1;
};

/// A program that is a hand on the network, at 1 kHz in a thread of its own, with a network as poor as is wished.
class NetworkHandDouble {
 public:
  /// `hand` outlives it.
  NetworkHandDouble(DoubleHand& hand, const NetworkHandDoubleSettings& settings);
  ~NetworkHandDouble();

  /// The next thing that it sends suffers.
  void inject(Fault fault, double seconds = 0.0);
  std::uint64_t faults_done() const noexcept;
  /// The cable is out: nothing is sent or received.
  void unplug(bool out);

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace palpate
