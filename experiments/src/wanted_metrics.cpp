#include "wanted_metrics.h"

namespace palpate {
namespace {

RunData before_safety(RunData run) {
  for (TickRow& row : run.ticks) row.sent = row.wanted;
  return run;
}

}  // namespace

Metrics compute_wanted_metrics(const RunData& run, const RunData* truth) {
  if (!truth) return compute_metrics(before_safety(run), nullptr);
  const RunData reference = before_safety(*truth);
  return compute_metrics(before_safety(run), &reference);
}

}  // namespace palpate
