#pragma once

#include "palpate/experiments/experiment.h"

namespace palpate::dervaux {

/// A wire half around a soft cylinder with a weight at its end (scene capstan), pulled and yielded to, in `reference`
/// and in `compliance`: claims that its tensions stand in the ratio of the capstan equation, and a plot.
void add_capstan(ExperimentResult& out, const ExperimentOptions& options);

}  // namespace palpate::dervaux
