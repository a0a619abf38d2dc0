#include "palpate/record/metrics.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <unsupported/Eigen/FFT>

#include "force_errors.h"
#include "palpate/haptics/safety.h"

namespace palpate {
namespace {

void compute_force_shape(const std::vector<TickRow>& ticks, Metrics& m) {
  m.force_peak = 0.0;
  m.force_jump_max = 0.0;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    m.force_peak = std::max(m.force_peak, ticks[i].sent.force.norm());
    if (i > 0) m.force_jump_max = std::max(m.force_jump_max, (ticks[i].sent.force - ticks[i - 1].sent.force).norm());
  }
  if (ticks.size() < 2) return;
  const double dt = (ticks.back().time - ticks.front().time) / static_cast<double>(ticks.size() - 1);
  double sum = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double> values(ticks.size());
    for (std::size_t i = 0; i < ticks.size(); ++i) values[i] = ticks[i].sent.force[axis];
    const double rms = compute_rms_above(values, dt, kHighFrequency);
    sum += rms * rms;
  }
  m.force_rms_high = std::sqrt(sum);
}

void compute_contact(const RunData& run, const SignedDistance& distance, Metrics& m) {
  for (const StepRow& row : run.steps) m.overlap_max = std::fmax(m.overlap_max, row.penetration);
  if (!distance) return;
  double sum = 0.0, largest = 0.0, depth_sum = 0.0, deepest = 0.0;
  std::size_t inside = 0;
  for (const TickRow& row : run.ticks) {
    const double d = distance(row.tool.position);
    depth_sum += std::max(0.0, -d);
    deepest = std::max(deepest, -d);
    if (distance(row.device.position) >= 0.0) continue;
    sum += std::abs(d);
    largest = std::max(largest, std::abs(d));
    ++inside;
  }
  if (!run.ticks.empty()) {
    m.penetration_mean = depth_sum / static_cast<double>(run.ticks.size());
    m.penetration_max = deepest;
  }
  if (inside > 0) {
    m.proxy_distance_mean = sum / static_cast<double>(inside);
    m.proxy_distance_max = largest;
  }
}

void compute_counts(const std::vector<TickRow>& ticks, Metrics& m) {
  std::uint64_t with_event = 0;
  m.model_age_max = 0.0;
  m.energy_max = 0.0;
  m.energy_final = ticks.back().energy;
  for (const TickRow& row : ticks) {
    with_event += (row.events & ~static_cast<std::uint32_t>(kRamping)) != 0 ? 1 : 0;
    for (std::size_t bit = 0; bit < m.event_counts.size(); ++bit) m.event_counts[bit] += (row.events >> bit) & 1u;
    m.model_age_max = std::max(m.model_age_max, row.model_age);
    m.energy_max = std::max(m.energy_max, row.energy);
  }
  m.safety_events = static_cast<double>(with_event);
}

void read_times(const Histogram& times, double& p50, double& p99, double& max) {
  if (times.count() == 0) return;
  p50 = 1e-9 * times.compute_percentile_ns(0.50);
  p99 = 1e-9 * times.compute_percentile_ns(0.99);
  max = 1e-9 * static_cast<double>(times.max_ns());
}

}  // namespace

Metrics compute_metrics(const RunData& run, const RunData* reference, const SignedDistance& distance) {
  Metrics m;
  compute_force_errors(run, reference, m);
  compute_contact(run, distance, m);
  read_times(run.tick_times, m.tick_time_p50, m.tick_time_p99, m.tick_time_max);
  read_times(run.step_times, m.step_time_p50, m.step_time_p99, m.step_time_max);
  if (run.ticks.empty()) return m;
  compute_force_shape(run.ticks, m);
  compute_counts(run.ticks, m);
  m.deadline_misses = static_cast<double>(run.deadline_misses);
  return m;
}

double compute_rms_above(const std::vector<double>& values, double dt, double cutoff) {
  if (values.empty() || !(dt > 0.0)) return kNotAvailable;
  std::size_t N = 2;
  while (N < values.size()) N *= 2;
  // DCT-II from one FFT of the same length (Makhoul 1980): even samples forwards, odd samples backwards, then a quarter
  // sample's turn of phase.
  std::vector<double> folded(N);
  for (std::size_t i = 0; i < N; ++i) {
    const double x = values[std::min(i, values.size() - 1)];
    folded[i % 2 == 0 ? i / 2 : N - 1 - i / 2] = x;
  }
  Eigen::FFT<double> fft;
  std::vector<std::complex<double>> spectrum;
  fft.fwd(spectrum, folded);
  double energy = 0.0;
  for (std::size_t k = 1; k < N; ++k) {
    if (static_cast<double>(k) / (2.0 * static_cast<double>(N) * dt) <= cutoff) continue;
    const double turn = -std::numbers::pi * static_cast<double>(k) / (2.0 * static_cast<double>(N));
    const double X = (std::polar(1.0, turn) * spectrum[k]).real();
    energy += 2.0 / static_cast<double>(N) * X * X;
  }
  return std::sqrt(energy / static_cast<double>(values.size()));
}

}  // namespace palpate
