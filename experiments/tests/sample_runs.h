#pragma once

#include <cmath>
#include <functional>
#include <string>

#include "palpate/record/metrics.h"

// Runs that were never run: rows with known values, to try figures and tables on.
namespace palpate::testing {

/// `ticks` ticks of `dt` [s] whose force on the hand, wanted and sent, is `force(time)` [N].
inline RunData make_run(const std::string& name, int ticks, double dt, const std::function<Vec3(double)>& force) {
  RunData run;
  run.name = name;
  for (int i = 0; i < ticks; ++i) {
    TickRow row;
    row.time = i * dt;
    row.wanted.force = row.sent.force = force(row.time);
    run.ticks.push_back(row);
  }
  return run;
}

inline RunData make_still_run(const std::string& name, int ticks, const Vec3& force) {
  return make_run(name, ticks, 1e-3, [force](double) { return force; });
}

}  // namespace palpate::testing
