#pragma once

#include <vector>

#include "palpate/experiments/experiment.h"
#include "palpate/experiments/scene_run.h"

// The vibrations of the fast beam of Dervaux et al. 2013, section V: the upper of the scene `two-beams`, plucked.
namespace palpate::dervaux {

constexpr double kLength = 0.12;    ///< of each beam [m]
constexpr double kPlucked = 0.506;  ///< the plucking hand is back at rest [s]

struct Pluck {
  RunData data;
  std::vector<double> x;  ///< sideways force on the hand after the pluck, less its mean [N]
  double dt = 0.0;        ///< between two of them [s]
};
/// The lower beam sixty times as stiff and as heavy, so that the upper is clamped at both ends; the hand plucks.
Pluck run_pluck(double dt, const ExperimentOptions& options);

/// Bending frequency of the upper beam clamped at both ends [Hz]: (βL)² / 2πL² √(EI/ρA). Modes from 0 to 3.
double clamped_frequency(int mode);
/// What backward Euler with steps of `dt` [s] makes of a frequency [Hz]: z = 1/(1 ∓ iωh) turns by atan(ωh) a step.
double seen_at(double frequency, double dt);
/// The frequency of the largest peak of samples every `dt` [s] within ±20 % of `expected` [Hz].
double find_peak(const std::vector<double>& x, double dt, double expected);

Plot make_spectrum(const Pluck& pluck);

}  // namespace palpate::dervaux
