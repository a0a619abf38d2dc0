#pragma once

namespace palpate {

/// Of method `jacobian` (Otaduy & Gross 2007).
struct JacobianSettings {};

}  // namespace palpate
