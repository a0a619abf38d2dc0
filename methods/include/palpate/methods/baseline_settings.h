#pragma once

namespace palpate {

class Fields;

/// Settings of method `direct`.
struct DirectSettings {
  /// The hand is put where it will be at the end of the slow step, as `compliance` and `jacobian` do: then what is
  /// compared with them is the contact model alone. Off: where it is when the step begins.
  bool predict = false;
  bool operator==(const DirectSettings&) const = default;
};
void describe(Fields& fields, DirectSettings& settings);

/// Settings of method `halfspace`: what `limited` has beyond the paper's contact model, so that the models can be
/// compared alone.
struct HalfspaceSettings {
  /// The plane is that of where the hand will be when the model is in use. Off, as in the paper: of where the proxy is.
  bool look_ahead = false;
  /// A new plane is first shown where the contact was and comes to its place over one slow period. Off: at once.
  bool blend = false;
  bool operator==(const HalfspaceSettings&) const = default;
};
void describe(Fields& fields, HalfspaceSettings& settings);

/// Settings of method `double_coupling`: the second coupling, as multiples of the first, which is the tool's.
struct DoubleCouplingSettings {
  double stiffness = 1.0;  ///< also of the turn
  double damping = 1.0;    ///< also of the turn
  bool operator==(const DoubleCouplingSettings&) const = default;
};
void describe(Fields& fields, DoubleCouplingSettings& settings);

}  // namespace palpate
