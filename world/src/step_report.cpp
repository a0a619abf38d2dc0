#include "palpate/world/step_report.h"

#include <cmath>

#include "palpate/core/clock.h"
#include "palpate/core/index.h"

namespace palpate {

StageTimer::StageTimer(StepReport& report, Stage stage) noexcept
    : total_(report.stage_time[as_size(stage)]), start_ns_(monotonic_ns()) {}

StageTimer::~StageTimer() {
  const double elapsed = 1e-9 * static_cast<double>(monotonic_ns() - start_ns_);
  total_ = std::isnan(total_) ? elapsed : total_ + elapsed;
}

}  // namespace palpate
