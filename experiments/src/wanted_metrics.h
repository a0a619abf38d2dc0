#pragma once

#include "palpate/record/metrics.h"

namespace palpate {

/// The metrics of what a method asked for, before the safety stage: what that cuts off is no merit of the method.
Metrics compute_wanted_metrics(const RunData& run, const RunData* truth);

}  // namespace palpate
