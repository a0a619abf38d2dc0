#pragma once

namespace palpate {

class Fields;

/// Of method `direct`.
struct DirectSettings {
  /// The hand is put where it will be at the end of the slow step, as `compliance` and `jacobian` do: then what is
  /// compared with them is the contact model alone. Off: where it is when the step begins.
  bool predict = false;
  bool operator==(const DirectSettings&) const = default;
};
void describe(Fields& fields, DirectSettings& settings);

/// Of method `double_coupling`: the second coupling, as multiples of the first, which is the tool's.
struct DoubleCouplingSettings {
  double stiffness = 1.0;  ///< also of the turn
  double damping = 1.0;    ///< also of the turn
  bool operator==(const DoubleCouplingSettings&) const = default;
};
void describe(Fields& fields, DoubleCouplingSettings& settings);

}  // namespace palpate
