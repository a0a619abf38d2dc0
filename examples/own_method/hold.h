#pragma once

#include "palpate/methods/registry.h"

namespace own {

/// Of method `hold`.
struct HoldSettings {
  double stiffness = 200.0;  ///< of the spring that holds the hand [N/m]
  double damping = 2.0;      ///< beside it [N·s/m]
  double after = 0.5;  ///< the hand is held where it is at this time since the start [s]; button 0 holds it sooner
  bool operator==(const HoldSettings&) const = default;
};

/// Every setting with its meaning, unit, standard value and range: what scene files and checks go by.
void describe(palpate::Fields& fields, HoldSettings& settings);

/// Method `hold`: the hand is free until a moment, and from then on a spring and a damper hold it where it was. It
/// feels nothing of the world.
palpate::MethodInfo make_hold_info();

}  // namespace own
