#pragma once

#include <optional>
#include <string>

#include "palpate/core/math.h"
#include "palpate/haptics/device.h"

namespace palpate {

class Fields;

/// The spring and damper between the device's handle and the simulated tool:
///   F = k (x_tool − x_device) + b (v_tool − v_device)
///   τ = k_r rotation_vector(q_tool q_device⁻¹) + b_r (ω_tool − ω_device)
/// on the device, and the opposite on the tool. Each force acts at its own origin: the spring's part runs through both,
/// so it turns neither; the damper's moment about the other origin is left out, as in a bushing. The tool's body
/// computes it (Grip).
struct VirtualCouplingSettings {
  double stiffness = 1000.0;  ///< [N/m]; Knott & Kuhlen 2015's value, felt as firm and passive on most devices
  double damping = 0.8;       ///< [N·s/m]
  /// [N·m/rad]; 0 together with rotational_damping: a 3-DoF coupling. The default is what `stiffness` makes of
  /// a 2 cm lever: k r².
  double rotational_stiffness = 0.4;
  double rotational_damping = 3.2e-4;  ///< [N·m·s/rad]; b r²
  bool operator==(const VirtualCouplingSettings&) const = default;
};

void describe(Fields& fields, VirtualCouplingSettings& settings);
void validate(const VirtualCouplingSettings& settings);

/// Largest virtual stiffness K [N/m] that stays passive on this device.
///
/// Sampled-data passivity (Colgate & Schenkel 1997): b > K·T/2 + |B|, solved for K.
///   b  device damping [N·s/m]    B  virtual damping [N·s/m]    T  tick period [s]
/// Returns 0 if b ≤ |B|: no spring is safe, so lower B first.
double max_passive_stiffness(double b, double B, double T) noexcept;

/// One sentence in plain words when the coupling is stiffer than the device's maker allows, or than stays passive on it
/// at tick period `dt` [s] by itself; nothing when all is well. A hand adds damping, so a warning is no refusal.
std::optional<std::string> find_coupling_warning(const VirtualCouplingSettings& settings, const DeviceInfo& device,
                                                 double dt);

}  // namespace palpate
