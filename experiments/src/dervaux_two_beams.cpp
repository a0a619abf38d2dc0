#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "dervaux_run.h"
#include "experiments.h"
#include "palpate/bodies/beam_chain.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/scene/builtin.h"

// Dervaux et al. 2013, section V, first experiment: two equal beams in a line, one a loop, joined in the middle; one
// end fixed, the other in the hand. "Although being computed on different frequencies, the beams undergo symmetric
// deformations for an arbitrary position of the haptic device after the simulation is stabilized. Moreover, the
// dynamics of the high rate beam allows for high rate vibrations." The paper gives no numbers.
namespace palpate {
namespace {

using dervaux::run_watched;
using dervaux::WatchedRun;

constexpr int kPositions = 20;
constexpr double kMove = 0.5, kRest = 3.0;  // [s]
constexpr double kLength = 0.12;            // of each beam [m]
constexpr double kPlucked = 0.506;          // the hand is back at rest [s]
constexpr double kDensity = 1500.0, kRadius = 0.001, kYoungModulus = 1e8;

/// Twenty places sideways of the line. Both ends are clamped along it, so the middle line is an S that takes 0.6 d²/2L
/// of the length; half of that is given, so that the beams are pulled a little and do not buckle, which would be a
/// second, lopsided answer.
KeyframePathSettings make_places() {
  KeyframePathSettings path;
  dervaux::Numbers numbers;
  path.times = {0.0};
  path.positions = {Vec3(0.0, 2.0 * kLength, 0.0)};
  for (int i = 0; i < kPositions; ++i) {
    const double d = numbers.between(0.005, 0.03), angle = numbers.between(0.0, 2.0 * std::numbers::pi);
    const Vec3 place(d * std::cos(angle), 2.0 * kLength - 0.5 * 0.6 * d * d / (2.0 * kLength), d * std::sin(angle));
    for (const double t : {kMove, kRest}) {
      path.times.push_back(path.times.back() + t);
      path.positions.push_back(place);
    }
  }
  return path;
}

struct AtRest {
  double asymmetry = 0.0;        ///< of the deflection
  double force_mismatch = 0.0;   ///< between hand and wall, of the force
  double handle_mismatch = 0.0;  ///< between the beam of the fast loop and its proxy in the slow one [m]
  double force = 0.0;            ///< [N]
};

/// The shape is symmetric about its middle: opposite nodes have the same sum.
AtRest measure(World& world, const TickRow& tick) {
  const auto& upper = dynamic_cast<const BeamChain&>(*world.body(world.tools()[0]));
  const auto& lower = dynamic_cast<const BeamChain&>(*world.bodies()[0].body);
  const int n = upper.node_count();
  const Vec3 ends = upper.node_pose(0).position + lower.node_pose(n - 1).position;
  AtRest out;
  for (int i = 0; i < n; ++i) {
    const Vec3 sum = upper.node_pose(i).position + lower.node_pose(n - 1 - i).position;
    out.asymmetry = std::max(out.asymmetry, (sum - ends).norm());
  }
  const Vec3 way = tick.device.position - Vec3(0.0, 2.0 * kLength, 0.0);
  out.asymmetry /= way.norm();
  std::vector<Vec3> forces(as_size(lower.block_count()));
  lower.compute_elastic_forces(forces);
  const Vec3 wall = -forces[as_size(2 * (n - 1))];
  out.force = wall.norm();
  out.force_mismatch = (tick.wanted.force - wall).norm() / wall.norm();
  out.handle_mismatch = (tick.tool.position - upper.node_pose(0).position).norm();
  return out;
}

struct Settled {
  SceneRun run;
  std::vector<AtRest> at_rest;
};

Settled run_places(const Scene& base, const std::string& method, const std::string& name,
                   const ExperimentOptions& options) {
  Scene scene = base;
  const KeyframePathSettings path = make_places();
  scene.run.seconds = path.times.back();
  World world = make_world(scene);
  Settled out;
  double next = kMove + kRest;
  std::vector<std::pair<double, WorldState>> kept;
  WatchedRun run{method, name, {}, true};
  run.watch = [&](double time, World& w, const StepReport&) {
    if (time < next - 1.5 * scene.run.slow_period) return;
    kept.emplace_back(time, WorldState{});
    w.save_state(kept.back().second);
    next += kMove + kRest;
  };
  out.run = run_watched(scene, world, path, run, options);
  for (const auto& [time, state] : kept) {
    world.restore_state(state);
    const auto tick = std::min(as_size(std::lround(time / scene.run.dt)), out.run.data.ticks.size() - 1);
    out.at_rest.push_back(measure(world, out.run.data.ticks[tick]));
  }
  return out;
}

double worst(const Settled& s, double AtRest::*what) {
  double out = s.at_rest.size() == kPositions ? 0.0 : kNotAvailable;
  for (const AtRest& r : s.at_rest) out = std::max(out, r.*what);
  return out;
}

/// |Σ x e^(−2πi f t)|² of the samples.
double power_at(const std::vector<double>& x, double dt, double f) {
  std::complex<double> sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += x[i] * std::polar(1.0, -2.0 * std::numbers::pi * f * dt * static_cast<double>(i));
  return std::norm(sum);
}

/// The frequency of the largest peak within ±20 % of `expected` [Hz].
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

/// Bending frequency of a beam clamped at both ends [Hz]: (βL)² / 2πL² √(EI/ρA).
double clamped_frequency(int mode) {
  constexpr double kRoots[] = {4.730041, 7.853205, 10.995608, 14.137165};
  const double area = std::numbers::pi * kRadius * kRadius, inertia = 0.25 * area * kRadius * kRadius;
  return kRoots[mode] * kRoots[mode] / (2.0 * std::numbers::pi * kLength * kLength) *
         std::sqrt(kYoungModulus * inertia / (kDensity * area));
}

/// What backward Euler makes of it: z = 1/(1 ∓ iωh) turns by atan(ωh) a step.
double seen_at(double frequency, double dt) {
  return std::atan(2.0 * std::numbers::pi * frequency * dt) / (2.0 * std::numbers::pi * dt);
}

struct Pluck {
  RunData data;
  std::vector<double> x;  ///< sideways force on the hand after the pluck, less its mean [N]
  double dt = 0.0;
};

/// The lower beam sixty times as stiff and as heavy, so that the upper is clamped at both ends; the hand plucks.
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

Plot make_shape_plot(const Scene& base, const ExperimentOptions& options) {
  Scene scene = base;
  scene.run.seconds = 3.0;
  KeyframePathSettings path;
  path.times = {0.0, 0.5};
  path.positions = {Vec3(0.0, 2.0 * kLength, 0.0), Vec3(0.03, 0.239, 0.0)};
  World world = make_world(scene);
  run_watched(scene, world, path, {"compliance", "shape", {}, false}, options);
  Plot plot;
  plot.title = "Shape at rest with the hand 30 mm aside (the paper's Fig. 2)";
  plot.kind = PlotKind::kPath;
  plot.x_label = "sideways";
  plot.x_unit = "m";
  plot.y_label = "along";
  plot.y_unit = "m";
  plot.half_width = true;
  for (const std::size_t body : {as_size(world.tools()[0]), std::size_t{0}}) {
    const auto& chain = dynamic_cast<const BeamChain&>(*world.bodies()[body].body);
    Series s;
    s.name = body == 0 ? "lower beam, slow loop" : "upper beam, fast loop";
    for (int i = 0; i < chain.node_count(); ++i) {
      s.x.push_back(chain.node_pose(i).position.x());
      s.y.push_back(chain.node_pose(i).position.y());
    }
    plot.series.push_back(std::move(s));
  }
  return plot;
}

}  // namespace

ExperimentResult run_dervaux_two_beams(const ExperimentOptions& options) {
  const Scene scene = load_builtin_scene("two-beams");
  Scene held = scene;
  held.methods.get<ComplianceSettings>("compliance").lookahead = 0.0;
  std::vector<Settled> runs;
  runs.push_back(run_places(scene, "compliance", "compliance", options));
  runs.push_back(run_places(held, "compliance", "compliance, held (the paper)", options));
  runs.push_back(run_places(scene, "direct", "direct", options));
  runs.push_back(run_places(scene, "reference", "reference", options));
  const Pluck fine = run_pluck(1e-4, options), usual = run_pluck(1e-3, options);

  ExperimentResult out;
  using Relation = MeasuredClaim::Relation;
  const auto percent = [](double x) { return 100.0 * x; };
  const std::string symmetric = "\"symmetric deformations for an arbitrary position of the haptic device\"";
  out.claims = {
      {"asymmetry at rest, worst of 20 hand positions, of the deflection", symmetric,
       percent(worst(runs[0], &AtRest::asymmetry)), 0.1, Relation::kAtMost, "%"},
      {"the same with the lower beam held between slow steps, as in the paper", symmetric,
       percent(worst(runs[1], &AtRest::asymmetry)), 0.1, Relation::kAtMost, "%"},
      {"force at the hand against that at the wall, worst", "\"the action-reaction principle\"",
       percent(worst(runs[0], &AtRest::force_mismatch)), 0.1, Relation::kAtMost, "%"},
      {"the same, held", "\"the action-reaction principle\"", percent(worst(runs[1], &AtRest::force_mismatch)), 0.1,
       Relation::kAtMost, "%"},
      {"handle in the fast loop against its proxy in the slow, worst",
       "\"deformations are the same at low rates and at high rates\"", worst(runs[0], &AtRest::handle_mismatch), 1e-6,
       Relation::kAtMost, "m"},
  };
  Table modes;
  modes.title = "Vibration of the fast beam, clamped at both ends";
  modes.columns = {"analytic", "tick 0.1 ms: expected", "measured", "off", "tick 1 ms: expected", "measured", "off"};
  modes.note =
      "Expected: the analytic frequency as backward Euler shows it, atan(2πfh)/2πh. At 1 kHz its damping, ζ ≈ πfh, "
      "leaves "
      "the first mode only.";
  for (int mode = 0; mode < 3; ++mode) {
    const double f = clamped_frequency(mode);
    TableRow row;
    row.name = fmt::format("mode {}", mode + 1);
    row.cells.push_back({format_quantity(f, "Hz")});
    for (const Pluck* pluck : {&fine, &usual}) {
      const double expected = seen_at(f, pluck->dt), measured = find_peak(pluck->x, pluck->dt, expected);
      const double off = 100.0 * std::abs(measured - expected) / expected;
      row.cells.push_back({format_quantity(expected, "Hz")});
      row.cells.push_back({format_quantity(measured, "Hz")});
      row.cells.push_back({fmt::format("{:.2f} %", off)});
      if (mode < (pluck == &fine ? 2 : 1))
        out.claims.push_back(
            {fmt::format("mode {} of the fast beam at {:.4g} kHz ({:.1f} Hz analytic), frequency off by", mode + 1,
                         1e-3 / pluck->dt, f),
             "\"high rate vibrations\": above the 25 Hz that a loop of 50 Hz can show", off, pluck == &fine ? 2.0 : 5.0,
             Relation::kAtMost, "%"});
    }
    modes.rows.push_back(std::move(row));
  }
  Table rest;
  rest.title = "At rest, worst of 20 hand positions";
  rest.columns = {"asymmetry", "hand against wall", "largest force"};
  for (const Settled& s : runs) {
    TableRow row;
    row.name = s.run.data.name;
    row.muted = row.name == "reference";
    row.cells.push_back({fmt::format("{:.2e} %", percent(worst(s, &AtRest::asymmetry)))});
    row.cells.push_back({fmt::format("{:.2e} %", percent(worst(s, &AtRest::force_mismatch)))});
    row.cells.push_back({format_quantity(worst(s, &AtRest::force), "N")});
    rest.rows.push_back(std::move(row));
  }
  out.report.title = "Two beams at two rates";
  out.report.paragraphs = {scene.description,
                           "The hand goes to 20 places and rests 3 s at each. Symmetry is that about the middle: "
                           "opposite nodes have the same sum of positions."};
  out.report.tables = {std::move(rest), std::move(modes)};
  std::vector<const RunData*> all;
  for (const Settled& s : runs) all.push_back(&s.run.data);
  out.report.plots = {
      make_shape_plot(scene, options), make_spectrum(fine),
      dervaux::make_tick_plot("Force on the hand, over the 20 places", "force", "N", all,
                              [](const TickRow& r) { return r.wanted.force.norm(); }),
      dervaux::make_tick_plot("Sideways force after a pluck", "force", "N", {&fine.data, &usual.data},
                              [](const TickRow& r) { return r.time > kPlucked ? r.wanted.force.x() : kNotAvailable; })};
  return out;
}

}  // namespace palpate
