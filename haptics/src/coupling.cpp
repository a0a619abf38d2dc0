#include "palpate/haptics/coupling.h"

#include <cmath>

#include "checks.h"

namespace palpate {

void describe(Fields& f, VirtualCouplingSettings& s) {
  const VirtualCouplingSettings d;
  f.number({.name = "stiffness", .doc = "of the spring", .unit = "N/m"}, s.stiffness, d.stiffness, {0.0, 1e6, true});
  f.number({.name = "damping", .doc = "of the damper", .unit = "N·s/m"}, s.damping, d.damping, {0.0, 1e4});
  f.number({.name = "rotational_stiffness", .doc = "of the rotational spring", .unit = "N·m/rad"},
           s.rotational_stiffness, d.rotational_stiffness, {0.0, 1e4});
  f.number({.name = "rotational_damping", .doc = "of the rotational damper", .unit = "N·m·s/rad"}, s.rotational_damping,
           d.rotational_damping, {0.0, 1e3});
}

void validate(const VirtualCouplingSettings& s) {
  check_member("coupling", s);
}

double max_passive_stiffness(double b, double B, double T) noexcept {
  const double spare = b - std::abs(B);
  return spare > 0.0 ? 2.0 * spare / T : 0.0;
}

std::optional<std::string> find_coupling_warning(const VirtualCouplingSettings& s, const DeviceInfo& device,
                                                 double dt) {
  if (s.stiffness > device.max_stiffness) {
    return fmt::format("coupling.stiffness is {} N/m, but {} shows at most {} N/m: lower it to that", s.stiffness,
                       device.name, device.max_stiffness);
  }
  const double limit = max_passive_stiffness(device.damping, s.damping, dt);
  if (s.stiffness <= limit) return std::nullopt;
  if (limit == 0.0) {
    return fmt::format(
        "coupling.damping is {} N·s/m, not below the {} N·s/m of {} itself: no stiffness is passive on it without the "
        "hand's help, so lower coupling.damping first",
        s.damping, device.damping, device.name);
  }
  return fmt::format(
      "coupling.stiffness is {} N/m, but only {:.0f} N/m stay passive on {} at {:.0f} Hz: it may vibrate when held "
      "loosely; lower coupling.stiffness or raise the fast rate",
      s.stiffness, limit, device.name, 1.0 / dt);
}

}  // namespace palpate
