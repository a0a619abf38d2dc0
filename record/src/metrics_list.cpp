#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "palpate/core/error.h"
#include "palpate/record/metrics.h"

namespace palpate {

std::vector<MetricValue> list_metrics(const Metrics& m) {
  using enum Better;
  using enum MetricGroup;
  return {
      {"force_error_relative", "Force error, relative", "%", m.force_error_relative, kLow, kForce},
      {"force_error_rms", "Force error, RMS", "N", m.force_error_rms, kLow, kForce},
      {"force_error_max", "Force error, largest", "N", m.force_error_max, kLow, kForce},
      {"force_error_contact", "Error in contact", "%", m.force_error_contact, kLow, kForce},
      {"noticeable_share", "Time it can be noticed", "%", m.noticeable_share, kLow, kForce},
      {"direction_error", "Direction off by", "°", m.direction_error, kLow, kForce},
      {"force_delay", "Delay", "s", m.force_delay, kNone, kForce},
      {"stiffness_felt", "Stiffness felt", "N/m", m.stiffness_felt, kTruth, kForce},
      {"torque_error_rms", "Torque error, RMS", "N·m", m.torque_error_rms, kLow, kForce},
      {"torque_error_relative", "Torque error, relative", "%", m.torque_error_relative, kLow, kForce},
      {"force_peak", "Peak force", "N", m.force_peak, kTruth, kForce},
      {"force_jump_max", "Largest jump in a tick", "N", m.force_jump_max, kTruth, kForce},
      {"force_rms_high", "Force above 100 Hz, RMS", "N", m.force_rms_high, kTruth, kForce},
      {"proxy_distance_mean", "Proxy off surface, mean", "m", m.proxy_distance_mean, kLow, kContact},
      {"proxy_distance_max", "Proxy off surface, largest", "m", m.proxy_distance_max, kLow, kContact},
      {"penetration_mean", "Penetration, mean", "m", m.penetration_mean, kLow, kContact},
      {"penetration_max", "Penetration, deepest", "m", m.penetration_max, kLow, kContact},
      {"overlap_max", "Bodies overlap, deepest", "m", m.overlap_max, kLow, kContact},
      {"energy_final", "Energy given, final", "J", m.energy_final, kTruth, kContact},
      {"energy_max", "Energy given, largest", "J", m.energy_max, kTruth, kContact},
      {"safety_events", "Ticks with safety events", "", m.safety_events, kLow, kContact},
      {"tick_time_p50", "Tick, median", "s", m.tick_time_p50, kLow, kTime},
      {"tick_time_p99", "Tick, 99 %", "s", m.tick_time_p99, kLow, kTime},
      {"tick_time_max", "Tick, longest", "s", m.tick_time_max, kLow, kTime},
      {"deadline_misses", "Ticks over their period", "", m.deadline_misses, kLow, kTime},
      {"step_time_p50", "Slow step, median", "s", m.step_time_p50, kLow, kTime},
      {"step_time_p99", "Slow step, 99 %", "s", m.step_time_p99, kLow, kTime},
      {"step_time_max", "Slow step, longest", "s", m.step_time_max, kLow, kTime},
      {"model_age_max", "Model age, largest", "s", m.model_age_max, kLow, kTime},
  };
}

std::string format_quantity(double value, std::string_view unit) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  const bool count = unit.empty();
  if (count && value == std::round(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  if (value == 0.0) return count ? "0" : fmt::format("0 {}", unit);
  // Round to three digits first, so that 999.96 becomes 1.00 k and not 1000.
  const double rounded = std::stod(fmt::format("{:.2e}", value));
  int exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-9));
  int group = 0;
  if (!count && unit != "%" && unit != "°") group = std::clamp(static_cast<int>(std::floor(exponent / 3.0)), -4, 2);
  constexpr std::string_view kPrefixes[] = {"p", "n", "µ", "m", "", "k", "M"};
  const double scaled = rounded * std::pow(10.0, -3 * group);
  exponent -= 3 * group;
  const std::string number = exponent < -3 || exponent > 5 ? fmt::format("{:.2e}", scaled)
                                                           : fmt::format("{:.{}f}", scaled, std::max(0, 2 - exponent));
  return count ? number : fmt::format("{} {}{}", number, kPrefixes[group + 4], unit);
}

std::string_view event_name(std::size_t bit) noexcept {
  constexpr std::string_view kNames[] = {"not_finite",     "clamped",          "slew_limited",  "ramping",
                                         "stale_model",    "passivity_damped", "sample_broken", "sample_out_of_order",
                                         "sample_too_far", "input_lost"};
  return bit < std::size(kNames) ? kNames[bit] : "unknown";
}

std::string make_metrics_json(const std::vector<NamedMetrics>& runs) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array(), units = Json::object();
  for (const NamedMetrics& run : runs) {
    Json values = Json::object(), events = Json::object();
    for (const MetricValue& metric : list_metrics(run.metrics)) {
      values[std::string(metric.key)] = std::isfinite(metric.value) ? Json(metric.value) : Json(nullptr);
      units[std::string(metric.key)] = metric.unit;
    }
    for (std::size_t bit = 0; bit < run.metrics.event_counts.size(); ++bit) {
      if (run.metrics.event_counts[bit] > 0) events[std::string(event_name(bit))] = run.metrics.event_counts[bit];
    }
    Json entry = {{"name", run.name}};
    if (!run.tool.empty()) entry["tool"] = run.tool;
    entry.update({{"truth", run.truth}, {"metrics", values}, {"event_counts", events}});
    list.push_back(std::move(entry));
  }
  return Json{{"runs", list}, {"units", units}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace palpate
