#pragma once

#include "palpate/methods/accelerance_settings.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/methods/interpolation_settings.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/methods/limited_settings.h"

namespace palpate {

/// What users may choose about each method; a scene's "methods".
struct MethodSettings {
  LimitedSettings limited;
  ComplianceSettings compliance;
  JacobianSettings jacobian;
  InterpolationSettings interpolation;
  AcceleranceSettings accelerance;
  bool operator==(const MethodSettings&) const = default;
};

}  // namespace palpate
