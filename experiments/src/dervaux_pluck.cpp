#include "dervaux_pluck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "dervaux_run.h"
#include "palpate/scene/builtin.h"

namespace palpate::dervaux {
namespace {

constexpr double kDensity = 1500.0, kRadius = 0.001, kYoungModulus = 1e8;

/// |Σ x e^(−2πi f t)|² of the samples.
double power_at(const std::vector<double>& x, double dt, double f) {
  std::complex<double> sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += x[i] * std::polar(1.0, -2.0 * std::numbers::pi * f * dt * static_cast<double>(i));
  return std::norm(sum);
}

}  // namespace

double find_peak(const std::vector<double>& x, double dt, double expected) {
  double best = 0.0, most = -1.0;
  for (double f = 0.8 * expected; f <= 1.2 * expected; f *= 1.001) {
    const double p = power_at(x, dt, f);
    if (p > most) {
      most = p;
      best = f;
    }
  }
  return best;
}

double clamped_frequency(int mode) {
  constexpr double kRoots[] = {4.730041, 7.853205, 10.995608, 14.137165};
  const double area = std::numbers::pi * kRadius * kRadius, inertia = 0.25 * area * kRadius * kRadius;
  return kRoots[mode] * kRoots[mode] / (2.0 * std::numbers::pi * kLength * kLength) *
         std::sqrt(kYoungModulus * inertia / (kDensity * area));
}

double seen_at(double frequency, double dt) {
  return std::atan(2.0 * std::numbers::pi * frequency * dt) / (2.0 * std::numbers::pi * dt);
}

Pluck run_pluck(double dt, const ExperimentOptions& options) {
  Scene scene = load_builtin_scene("two-beams");
  Material& lower = find_body<SceneChain>(scene, "lower").material;
  lower.young_modulus = 6e9;
  lower.density = 90000.0;
  scene.run.dt = dt;
  scene.run.seconds = 1.5;
  const Vec3 at(0.0, 2.0 * kLength, 0.0);
  KeyframePathSettings path;
  path.interpolation = PathInterpolation::kLinear;
  path.times = {0.0, 0.5, 0.502, 0.504};
  path.positions = {at, at, at + Vec3(0.001, 0.0, 0.0), at};
  World world = make_world(scene);
  Pluck out;
  out.dt = dt;
  const std::string name = fmt::format("compliance, tick {:.4g} ms", 1e3 * dt);
  out.data = run_watched(scene, world, path, {"compliance", name, {}, true}, options).data;
  double mean = 0.0;
  for (const TickRow& row : out.data.ticks) {
    if (row.time > kPlucked) out.x.push_back(row.wanted.force.x());
  }
  for (const double f : out.x) mean += f / static_cast<double>(out.x.size());
  for (double& f : out.x) f -= mean;
  return out;
}

Plot make_spectrum(const Pluck& pluck) {
  Plot plot;
  plot.title = fmt::format("Spectrum of the force after a pluck, fast loop at {:.4g} kHz", 1e-3 / pluck.dt);
  plot.x_label = "frequency";
  plot.x_unit = "Hz";
  plot.y_label = "amplitude, of the largest";
  plot.half_width = true;
  Series s;
  s.name = "compliance";
  double most = 0.0;
  for (double f = 5.0; f <= 350.0; f += 1.0) {
    s.x.push_back(f);
    s.y.push_back(std::sqrt(power_at(pluck.x, pluck.dt, f)));
    most = std::max(most, s.y.back());
  }
  for (double& y : s.y) y /= most;
  plot.series.push_back(std::move(s));
  Series marks;
  marks.name = "clamped at both ends, analytic";
  marks.style = SeriesStyle::kReference;
  for (int mode = 0; mode < 4; ++mode) {
    const double f = clamped_frequency(mode);
    const double spike[][2] = {{-0.5, 0.0}, {0.0, 1.0}, {0.5, 0.0}, {0.6, kNotAvailable}};
    for (const auto& [x, y] : spike) {
      marks.x.push_back(f + x);
      marks.y.push_back(y);
    }
  }
  plot.series.push_back(std::move(marks));
  return plot;
}

}  // namespace palpate::dervaux
