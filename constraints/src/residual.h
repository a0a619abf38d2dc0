#pragma once

#include "palpate/constraints/solver.h"

namespace palpate {

/// Raises `r` by one constraint's: its rows' own compliance w (C included), δ' and λ.
void add_residual(const Constraint& c, const double* w, const double* delta, const double* lambda, bool pyramid,
                  Residual& r) noexcept;

}  // namespace palpate
