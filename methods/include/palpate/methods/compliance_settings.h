#pragma once

#include <cstdint>

namespace palpate {

class Fields;

/// Settings of method `compliance` (Dervaux et al. 2013).
struct ComplianceSettings {
  /// What the hand is given.
  enum class Force : std::uint8_t {
    kGrip,         ///< what the coupling feels, so also the tool's weight, inertia and vibration
    kConstraints,  ///< the paper's Σ Jᵀλ over the tool, which leaves those out
  };
  Force force = Force::kGrip;
  /// How far the other bodies move on as the last slow step moved them, in slow periods from its beginning. 0: held
  /// where it began (the paper). 1: to its end, which is known. 2: carried on through the period in which its model is
  /// used, which takes the lag out where they are heavy beside the tool; light and very soft ones begin to
  /// shake.
  double lookahead = 1.0;
  double tolerance = 1e-8;   ///< of the fast contact solve [m]
  int max_iterations = 60;   ///< of the fast contact solve: the bound on a tick's work
  double max_seconds = 0.0;  ///< time limit of the fast contact solve [s]; 0: none. Breaks repeatability
  /// Live: every tick finds its contacts anew, on bodies that are where the model has them, in worlds that allow it:
  /// one tool, nothing soft tied, else only soft and up to 8 rigid bodies. Held: the paper's, those that the slow step
  /// found.
  enum class Contacts : std::uint8_t { kLive, kHeld };
  Contacts contacts = Contacts::kLive;
  int environment_rows = 60;  ///< of constraints that the tool has no part in; what is beyond keeps its slow force
  bool operator==(const ComplianceSettings&) const = default;
};

/// Every setting with its meaning, unit and range: what scene files and checks go by.
void describe(Fields& fields, ComplianceSettings& settings);

}  // namespace palpate
