#pragma once

#include <cstdint>

namespace palpate {

class Fields;

/// Settings of method `accelerance` (Susa, Sato & Hasegawa 2011) and, where they apply, of its baseline `impulse`.
struct AcceleranceSettings {
  /// How the slow loop finds how neighbours answer to the hand.
  enum class Way : std::uint8_t {
    kDirect,  ///< from the solver's own matrices, contacts and joints held as the last solve left them
    kTests,   ///< the paper's: test simulations, one without force and three with a force on each neighbour
  };
  Way way = Way::kDirect;
  /// A force on one neighbour moves the others too. Off, as in the paper: each is moved by its own alone.
  bool coupled = true;
  /// Direct: contacts of neighbours with each other and with what does not move are done in every tick. Off: they are
  /// held in the accelerance, as the paper holds all contacts.
  bool local_contacts = true;
  /// To the letter of the paper where we depart from it for stability: eq. 7 explicit, without what the force itself
  /// does within a tick; the last tick's force held through the slow step; the nonlinear part (eq. 14) whole, and
  /// overlaps at once. With `way` tests, not `coupled` and no `local_contacts` that is the paper's method, to see where
  /// it fails.
  bool literal = false;
  /// Bodies nearer than this to a pointer are its neighbours [m]; to it comes what both may move in two slow periods.
  double reach = 0.02;
  int max_neighbours = 40;  ///< at most kMostNeighbours; the nearest are kept
  double test_force = 0.1;  ///< least force of a test simulation [N]: the last force may have been none
  int max_bodies = 32;      ///< direct: whose contacts are felt through, counted from the neighbours outward
  /// Most sweeps of the solver in each tried step, for both ways alike. 0: tests as many as a step of the world,
  /// direct, whose contacts are found anew and so are guesses, a third of that.
  int tried_sweeps = 0;
  double tolerance = 1e-7;  ///< of the tick's contact forces, over the coupling's stiffness [m]
  int max_iterations = 12;  ///< sweeps of a tick over its contacts
  static constexpr int kMostNeighbours = 40;
  bool operator==(const AcceleranceSettings&) const = default;
};

/// Every setting with its meaning, unit and range: what scene files and checks go by.
void describe(Fields& fields, AcceleranceSettings& settings);

}  // namespace palpate
