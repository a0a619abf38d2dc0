#include "palpate/bodies/material.h"

#include <cmath>

#include "palpate/core/error.h"

namespace palpate {

namespace {

void require(const std::string& name, const char* field, double value, double lowest, double highest) {
  if (value >= lowest && value <= highest) return;
  fail_input("{}.{} is {}, must be {} to {}", name, field, value, lowest, highest);
}

}  // namespace

void validate(const Material& m, const std::string& name) {
  require(name, "young_modulus", m.young_modulus, 1e-3, 1e13);
  require(name, "poisson_ratio", m.poisson_ratio, 0.0, 0.495);
  require(name, "density", m.density, 1e-3, 1e5);
  require(name, "mass_damping", m.mass_damping, 0.0, 1e6);
  require(name, "stiffness_damping", m.stiffness_damping, 0.0, 1e3);
}

void validate(std::span<const Material> materials, int largest_region) {
  if (static_cast<int>(materials.size()) <= largest_region) {
    fail_input("materials: {} given, but the mesh names region {}", materials.size(), largest_region);
  }
  for (std::size_t i = 0; i < materials.size(); ++i) validate(materials[i], fmt::format("materials[{}]", i));
}

}  // namespace palpate
