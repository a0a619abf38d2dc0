#pragma once

#include "palpate/bodies/material.h"
#include "palpate/bodies/nonlinear_tets.h"

// Constants of the energies that HyperelasticModel describes.
namespace palpate {

inline constexpr double kNeoHookeanRest = 0.75;  ///< (a − 1) λ/μ, which makes the rest shape free of stress

/// The part of the St. Venant–Kirchhoff energy that turns inverted elements back.
inline constexpr double kCrushedBelow = 0.3;    ///< J
inline constexpr double kCrushedModulus = 3.0;  ///< of μ

/// λ and μ of a model's energy, with which small strain is Hooke's law.
struct Moduli {
  double lambda, mu;
};
inline Moduli moduli_of(const Material& material, HyperelasticModel model) {
  const double lambda = material.lame_lambda(), mu = material.lame_mu();
  if (model == HyperelasticModel::kStVenantKirchhoff) return {lambda, mu};
  return {lambda + 5.0 / 6.0 * mu, 4.0 / 3.0 * mu};
}

}  // namespace palpate
