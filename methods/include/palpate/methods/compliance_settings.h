#pragma once

namespace palpate {

/// Of method `compliance` (Dervaux et al. 2013).
struct ComplianceSettings {};

}  // namespace palpate
