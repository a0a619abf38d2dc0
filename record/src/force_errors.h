#pragma once

#include "palpate/record/metrics.h"

namespace palpate {

/// Fills in what compares the forces of a run with those of the truth, and how stiff the world feels. `reference` null:
/// only the latter, contact being where the run's own force is.
void compute_force_errors(const RunData& run, const RunData* reference, Metrics& metrics);

}  // namespace palpate
