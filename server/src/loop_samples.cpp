#include "loop_samples.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace palpate {
namespace loop_samples {

double percentile(std::vector<float>& values, double share) {
  if (values.empty()) return 0.0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

template <typename Sample>
std::vector<Sample> newest(const std::deque<Sample>& all, std::size_t count) {
  const std::size_t skip = all.size() > count ? all.size() - count : 0;
  return {all.begin() + static_cast<std::ptrdiff_t>(skip), all.end()};
}

template <typename Sample>
double rate(const std::deque<Sample>& s) {
  return s.size() < 2 || s.back().time <= s.front().time
             ? 0.0
             : static_cast<double>(s.size() - 1) / (s.back().time - s.front().time);
}

}  // namespace loop_samples

TickSample make_sample(const TickRow& row, double time) noexcept {
  const Vec3 &f = row.sent.force, &m = row.sent.torque;
  return {static_cast<float>(time),
          {static_cast<float>(f.x()), static_cast<float>(f.y()), static_cast<float>(f.z())},
          {static_cast<float>(m.x()), static_cast<float>(m.y()), static_cast<float>(m.z())},
          static_cast<float>(1e6 * row.tick_time),
          static_cast<float>(row.events)};
}

StepSample make_sample(const StepRow& row, double time) noexcept {
  StepSample s{static_cast<float>(time), static_cast<float>(1e3 * row.step_time), {}};
  for (std::size_t i = 0; i < kStageCount; ++i) {
    const double t = row.stage_time[i];
    s.stages_ms[i] = std::isnan(t) ? 0.0F : static_cast<float>(1e3 * t);
  }
  return s;
}

void LoopSamples::add(const TickSample& sample, std::size_t tool) {
  ticks_[tool].push_back(sample);
  if (ticks_[tool].size() > kTicks) ticks_[tool].pop_front();
}

void LoopSamples::add(const StepSample& sample) {
  steps_.push_back(sample);
  if (steps_.size() > kSteps) steps_.pop_front();
}

void LoopSamples::clear() {
  for (auto& ticks : ticks_) ticks.clear();
  steps_.clear();
}

std::vector<TickSample> LoopSamples::newest_ticks(std::size_t count, std::size_t tool) const {
  return loop_samples::newest(ticks_[tool], count);
}

std::vector<StepSample> LoopSamples::newest_steps(std::size_t count) const {
  return loop_samples::newest(steps_, count);
}

nlohmann::ordered_json LoopSamples::make_json(double dt, double slow_period) const {
  using loop_samples::percentile;
  std::vector<float> ticks, steps;
  for (const TickSample& s : ticks_.front()) {
    if (!std::isnan(s.tick_us)) ticks.push_back(s.tick_us);
  }
  for (const StepSample& s : steps_) {
    if (!std::isnan(s.total_ms)) steps.push_back(s.total_ms);
  }
  return {{"fast",
           {{"rate", loop_samples::rate(ticks_.front())},
            {"wanted", 1.0 / dt},
            {"p50_us", percentile(ticks, 0.5)},
            {"p99_us", percentile(ticks, 0.99)},
            {"load", 1e-6 * percentile(ticks, 0.5) / dt}}},
          {"slow",
           {{"rate", loop_samples::rate(steps_)},
            {"wanted", 1.0 / slow_period},
            {"p50_ms", percentile(steps, 0.5)},
            {"p99_ms", percentile(steps, 0.99)},
            {"load", 1e-3 * percentile(steps, 0.5) / slow_period}}}};
}

}  // namespace palpate
