#pragma once

#include "fields.h"
#include "palpate/methods/settings.h"

// The key "methods" of a scene: one function a method, each in a file of its own name.
namespace palpate {

void visit_limited(Fields& f, LimitedSettings& settings);
void visit_compliance(Fields& f, ComplianceSettings& settings);
void visit_accelerance(Fields& f, AcceleranceSettings& settings);
void visit_jacobian(Fields& f, JacobianSettings& settings);
void visit_interpolation(Fields& f, InterpolationSettings& settings);

}  // namespace palpate
