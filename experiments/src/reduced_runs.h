#pragma once

#include <map>
#include <string>

#include "otaduy_runs.h"
#include "palpate/experiments/experiment.h"

// What the experiments on Palpate's own method `reduced` share.
namespace palpate::reduced_runs {

inline constexpr double kPerceived = 7.0;  ///< a force off by less than this cannot be told from the truth's [%]
inline constexpr double kAtFifty = 3.0;    ///< wanted of a slow loop of 50 Hz [%]

/// What a method's force was like beside the truth's, over the same hand.
struct Cell {
  double error = kNotAvailable;   ///< RMS, of the truth's RMS [%]
  double jump = kNotAvailable;    ///< largest change of the force in a tick [N]
  double energy = kNotAvailable;  ///< most that the hand was ever given [J]
};
Cell make_cell(const RunData& run, const RunData& truth);

/// By method.
using Cells = std::map<std::string, Cell>;
/// The least error of any method but `reduced` [%]; infinite if there is none.
double find_best_other(const Cells& cells);

/// The limit that is claimed of an error: `wanted`, or twice the truth's own error where that is larger. The truth is
/// run with half its tick only where the error is above what is wanted.
double choose_limit(double error, double wanted, otaduy::Rig& rig);

/// A cell of a map of errors, coloured from what a hand does not notice to as much as the force itself.
TableCell make_map_cell(double error, bool best);
/// An empty plot of errors against the slow rate.
Plot make_error_plot(std::string title);
/// Adds a line at what a hand can just notice.
void add_noticeable(Plot& plot, const std::vector<double>& rates);

}  // namespace palpate::reduced_runs
