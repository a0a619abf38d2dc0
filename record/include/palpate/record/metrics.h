#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/core/histogram.h"
#include "palpate/core/math.h"
#include "palpate/runtime/run_rows.h"

namespace palpate {

/// Everything that is known of one tool of a run, as metrics and reports take it.
struct RunData {
  std::string name;  ///< shown in tables and legends, usually the method's short name
  std::string tool;  ///< its name; empty if it was the only one
  std::vector<TickRow> ticks;
  std::vector<StepRow> steps;  ///< of the world, which all tools of the run share
  Histogram tick_times;        ///< computing times of the ticks; apart from the rows, which have none in lockstep
  Histogram step_times;        ///< of the slow steps
  std::uint64_t deadline_misses = 0;  ///< ticks that were not done, or in lockstep would not have been, in their period
};

/// Signed distance of a point to the true surface [m]: positive outside, negative inside. For a tool with a radius the
/// caller offsets the surface.
using SignedDistance = std::function<double(const Vec3&)>;

/// A value that could not be computed (no reference, no surface, no samples).
inline constexpr double kNotAvailable = std::numeric_limits<double>::quiet_NaN();

/// What a run is judged by (docs/design.md, "What every run records"). Forces are those sent to the hand. NaN: not
/// available.
struct Metrics {
  double force_error_rms = kNotAvailable;       ///< sqrt(mean |f − f_ref|²) [N]
  double force_error_max = kNotAvailable;       ///< max |f − f_ref| [N]
  double force_error_relative = kNotAvailable;  ///< force_error_rms over the RMS of |f_ref| on the same ticks [%]
  double force_error_contact = kNotAvailable;   ///< the same over the ticks in which the truth is in contact [%]
  double noticeable_share = kNotAvailable;      ///< of those ticks, where a hand can notice the error [%]; kNoticeable
  double direction_error = kNotAvailable;       ///< mean angle between f and f_ref in contact, weighted by |f_ref| [°]
  double force_delay = kNotAvailable;           ///< by which f comes after f_ref, compute_delay() [s]
  double stiffness_felt = kNotAvailable;        ///< compute_stiffness_felt() [N/m]
  double torque_error_rms = kNotAvailable;  ///< sqrt(mean |τ − τ_ref|²) [N·m]; not available if both are without torque
  double torque_error_relative = kNotAvailable;  ///< torque_error_rms over the RMS of |τ_ref| [%]
  double force_peak = kNotAvailable;             ///< max |f| [N]
  double force_jump_max = kNotAvailable;         ///< max |f_i − f_{i−1}| [N]
  double force_rms_high = kNotAvailable;         ///< RMS of what the force holds above 100 Hz [N]
  double proxy_distance_mean = kNotAvailable;    ///< mean |distance(tool)| over ticks whose device is inside [m]
  double proxy_distance_max = kNotAvailable;     ///< and its maximum [m]
  double penetration_mean = kNotAvailable;  ///< mean depth of the tool below the surface, all ticks, 0 if outside [m]
  double penetration_max = kNotAvailable;   ///< deepest [m]
  double overlap_max = kNotAvailable;       ///< deepest overlap of any two bodies at the start of a slow step [m]
  double energy_final = kNotAvailable;      ///< given to the hand by the end; positive means active [J]
  double energy_max = kNotAvailable;        ///< largest at any time [J]; 0 for a passive run
  /// Ticks in which the safety stage changed or counted something. That the force comes in by a ramp is none of it.
  double safety_events = kNotAvailable;
  double deadline_misses = kNotAvailable;  ///< ticks that took longer than their period
  double model_age_max = kNotAvailable;    ///< [s]
  double tick_time_p50 = kNotAvailable;    ///< [s], here and below; percentiles to 2.2 % (Histogram)
  double tick_time_p99 = kNotAvailable;
  double tick_time_max = kNotAvailable;
  double step_time_p50 = kNotAvailable;
  double step_time_p99 = kNotAvailable;
  double step_time_max = kNotAvailable;
  std::array<std::uint64_t, 32> event_counts{};  ///< ticks in which bit i of TickRow::events was set
};

inline constexpr double kHighFrequency = 100.0;  ///< where force_rms_high begins [Hz]

/// The smallest change of a force that a hand can just tell, over the force: 7 % (Jones 1989, and others after; 5 to
/// 10 % between 0.5 and 200 N).
inline constexpr double kNoticeable = 0.07;

/// A truth whose peak is below this [N] is a touch so light that an error in percent of it says nothing: such errors
/// are not available, those in newtons are. A choice: a twentieth of a newton is what dry friction of a good device
/// has.
inline constexpr double kLightTouch = 0.05;

/// The truth is in contact where its force is above this share of its peak, and above kContactForce [N].
inline constexpr double kContactShare = 0.02;
inline constexpr double kContactForce = 0.01;

/// Computes all metrics of `run`. `reference` may be null; its forces are interpolated linearly to the run's times, and
/// ticks outside its span are left out. `distance` may be empty. Allocates; not for loops.
Metrics compute_metrics(const RunData& run, const RunData* reference, const SignedDistance& distance = {});

/// The time [s] by which `late` comes after `early`: where the cross-correlation of the two signals, their means taken
/// off, is largest, between ticks by a parabola. Samples are `dt` [s] apart, as many in both. Not available where no
/// delay up to `longest` [s] makes them alike (correlation below 0.5), or where one does not change.
double compute_delay(const std::vector<Vec3>& early, const std::vector<Vec3>& late, double dt, double longest = 0.25);

/// How stiff what a hand touches feels [N/m]: the slope of the force against how far the hand has gone into it, along
/// the mean direction of the force, by least squares over `forces` and `positions` in contact. A spring gives its
/// stiffness. Not available where force and depth hardly go together (r² below 0.5): a stroke, or a light touch.
double compute_stiffness_felt(const std::vector<Vec3>& positions, const std::vector<Vec3>& forces);

/// Amplitude spectral density of a force [N/√Hz] by Welch's method: Hann windows of 1024 samples that overlap by half
/// (one shorter window where there are fewer), the three axes together, means taken off. ∫ density² df is the variance.
struct Spectrum {
  std::vector<double> frequency;  ///< [Hz], from the first above zero to half the rate of the samples
  std::vector<double> density;    ///< [N/√Hz]
};
Spectrum compute_spectrum(const std::vector<Vec3>& forces, double dt);

/// RMS over `values` of their part above `cutoff` [Hz]; samples are `dt` [s] apart.
///
/// Orthonormal DCT-II, X_k at frequency k/(2 N dt), so by Parseval Σ x² = Σ X² and the result is
/// sqrt(Σ_{f_k > cutoff} X_k² / n). The cosine transform sees the signal mirrored at its ends, where a DFT would see a
/// jump from the last sample back to the first and count it as high frequency. The signal is padded to N = 2^m by its
/// last value. What remains is the corner where a smooth part meets its mirror image: slopes D₀, D₁ [1/s] at the two
/// ends add at most (D₀ + D₁)² / (12 π⁴ cutoff³ T) to the square of the result, T = n·dt, cutoff well below 1/(2 dt).
double compute_rms_above(const std::vector<double>& values, double dt, double cutoff);

/// Which value of a metric is the best: none, the lowest, or that nearest to the truth's.
enum class Better : std::uint8_t { kNone, kLow, kTruth };
enum class MetricGroup : std::uint8_t { kForce, kContact, kTime };
inline constexpr std::array<std::string_view, 3> kMetricGroupNames = {"Force", "Contact and energy", "Computing time"};

/// One metric with all that a table, a JSON file or a terminal needs to print it.
struct MetricValue {
  std::string_view key;    ///< as in Metrics and in JSON
  std::string_view label;  ///< for people
  std::string_view unit;   ///< SI, "%", "°" or "" for counts
  double value = kNotAvailable;
  Better better = Better::kNone;
  MetricGroup group = MetricGroup::kForce;
};

/// The one list of metrics, in order of display.
std::vector<MetricValue> list_metrics(const Metrics& metrics);

/// `value` with three significant digits and an SI prefix: 0.00123 "m" → "1.23 mm", 4.5e-05 "s" → "45.0 µs".
/// "%", "°" and counts ("") take no prefix; NaN gives "–".
std::string format_quantity(double value, std::string_view unit);

struct NamedMetrics {
  std::string name;
  Metrics metrics;
  bool truth = false;  ///< the reference itself: shown, but not in the running for the best value
  std::string tool{};  ///< whose metrics these are; empty if the run had only one tool
};

/// What happened in a tick, by the bits of TickRow::events: "clamped", "slew_limited", …
std::string_view event_name(std::size_t bit) noexcept;

/// JSON text: {"runs": [{"name", "truth", "metrics": {key: number or null}, "event_counts": {event_name(): n}}],
/// "units": {key: unit}}. Of runs with several tools there is an entry for each, with the key "tool" after "name".
std::string make_metrics_json(const std::vector<NamedMetrics>& runs);

}  // namespace palpate
