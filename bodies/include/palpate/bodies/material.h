#pragma once

#include <span>
#include <string>

namespace palpate {

/// Isotropic elastic material with Rayleigh damping. Defaults: soft tissue, lightly damped.
struct Material {
  double young_modulus = 1e4;      ///< E [Pa], > 0
  double poisson_ratio = 0.4;      ///< ν, 0 ≤ ν ≤ 0.495 (the volumetric stiffness grows without bound at ½)
  double density = 1000.0;         ///< ρ [kg/m³], > 0
  double mass_damping = 0.0;       ///< Rayleigh α [1/s], ≥ 0: force −αMv
  double stiffness_damping = 0.0;  ///< Rayleigh β [s], ≥ 0: force −βK₊v

  /// Lamé's λ = Eν / ((1 + ν)(1 − 2ν)) [Pa].
  double lame_lambda() const noexcept {
    return young_modulus * poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio));
  }
  /// Lamé's μ, the shear modulus E / (2 (1 + ν)) [Pa].
  double lame_mu() const noexcept { return young_modulus / (2.0 * (1.0 + poisson_ratio)); }
};

/// Throws InputError naming `name`, field, value and allowed range.
void validate(const Material& material, const std::string& name = "material");

/// Validates one material for each region and that there are enough of them for `largest_region`.
void validate(std::span<const Material> materials, int largest_region);

}  // namespace palpate
