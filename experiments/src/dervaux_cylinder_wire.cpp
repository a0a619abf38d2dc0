#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dervaux_run.h"
#include "experiments.h"
#include "palpate/experiments/compare.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/scene/builtin.h"

// Dervaux et al. 2013, section V, second experiment: a tet cylinder at 50 Hz on a plane, a wire of ten beams at 1 kHz
// tied to its top. "The simulation remains stable for any admissible configuration: the position of the cylinder on the
// plane can be changed by pulling the wire, or the cylinder can be even pulled out of the plane, so it's hanging
// freely." The paper gives no numbers; limits are Palpate's own.
namespace palpate {
namespace {

using dervaux::run_watched;
using dervaux::WatchedRun;

constexpr double kGravity = 9.81, kFriction = 0.3;
constexpr double kWireMass = 1500.0 * M_PI * 1e-6 * 0.12;

using dervaux::cylinder_of;
using dervaux::mass_of;

/// Mean position of the nodes that it stands on.
Vec3 base_of(const FemBody& body) {
  double lowest = HUGE_VAL;
  for (const Vec3& x : body.rest_positions()) lowest = std::min(lowest, x.y());
  Vec3 sum = Vec3::Zero();
  int count = 0;
  for (std::size_t i = 0; i < body.positions().size(); ++i) {
    if (body.rest_positions()[i].y() > lowest + 1e-4) continue;
    sum += body.positions()[i];
    ++count;
  }
  return sum / count;
}

// Friction.

/// What the wire pulls at the cylinder, of what friction can hold: |F_t| / μN, by the force in the hand at rest.
double friction_ratio(const TickRow& tick, double weight) {
  const Vec3 on_hand = tick.wanted.force;
  const double lifted = -on_hand.y() - kWireMass * kGravity;
  return std::hypot(on_hand.x(), on_hand.z()) / (kFriction * (weight - lifted));
}

struct Drag {
  SceneRun run;
  std::vector<double> time, base;  ///< of the cylinder's foot, along the pull [m]
};

/// The wire is laid down to the side, then pulled at 1 mm/s from 3 s on, until the hand is at `until`.
Drag run_drag(const std::string& method, double until, double seconds, const ExperimentOptions& options) {
  Scene scene = load_builtin_scene("cylinder-wire");
  scene.run.seconds = seconds;
  constexpr double kStart = 0.115, kSpeed = 0.001;
  KeyframePathSettings path;
  path.interpolation = PathInterpolation::kLinear;
  path.times = {0.0, 0.3, 1.5, 3.0, 3.0 + (until - kStart) / kSpeed};
  path.positions = {Vec3(0, 0.16, 0), Vec3(0, 0.16, 0), Vec3(kStart, 0.062, 0), Vec3(kStart, 0.062, 0),
                    Vec3(until, 0.062, 0)};
  World world = make_world(scene);
  Drag out;
  WatchedRun run{method, fmt::format("{}, pulled to {:.2f} mm", method, 1e3 * until), {}, true};
  run.watch = [&](double time, World& w, const StepReport&) {
    if (!out.time.empty() && time < out.time.back() + 0.0199) return;
    out.time.push_back(time);
    out.base.push_back(base_of(cylinder_of(w)).x());
  };
  out.run = run_watched(scene, world, path, run, options);
  return out;
}

double base_at(const Drag& drag, double time) {
  const auto at = std::lower_bound(drag.time.begin(), drag.time.end(), time) - drag.time.begin();
  return drag.base[std::min(as_size(at), drag.base.size() - 1)];
}

const TickRow& tick_at(const RunData& data, double time) {
  return data.ticks[std::min(as_size(std::lround(time / 0.001)), data.ticks.size() - 1)];
}

struct Friction {
  double at_onset = kNotAvailable;  ///< ratio when the foot has gone 0.1 mm
  double sliding = kNotAvailable;   ///< mean ratio while it slides
  double crept = kNotAvailable;     ///< in 5 s at 95 % of the friction force [m]
  double followed = kNotAvailable;  ///< way of the foot over that of the hand while it slides
  Drag pulled;
};

Friction measure_friction(const ExperimentOptions& options) {
  Friction out;
  const double weight = [] {
    const World world = make_world(load_builtin_scene("cylinder-wire"));
    return mass_of(cylinder_of(world)) * kGravity;
  }();
  out.pulled = run_drag("compliance", 0.135, 20.0, options);
  const RunData& data = out.pulled.run.data;
  const double start = base_at(out.pulled, 3.0);
  double hold_at = 0.0;
  for (std::size_t i = 0; i < out.pulled.time.size(); ++i) {
    const double t = out.pulled.time[i], ratio = friction_ratio(tick_at(data, t), weight);
    if (t < 3.0) continue;
    if (hold_at == 0.0 && ratio >= 0.95) hold_at = tick_at(data, t).device.position.x();
    if (std::isnan(out.at_onset) && out.pulled.base[i] > start + 1e-4) out.at_onset = ratio;
  }
  double sum = 0.0;
  int count = 0;
  for (double t = 14.0; t < 20.0; t += 0.01, ++count) sum += friction_ratio(tick_at(data, t), weight);
  out.sliding = sum / count;
  out.followed = (base_at(out.pulled, 19.9) - base_at(out.pulled, 14.0)) /
                 (tick_at(data, 19.9).device.position.x() - tick_at(data, 14.0).device.position.x());
  if (hold_at == 0.0) return out;
  const double reached = 3.0 + (hold_at - 0.115) / 0.001;
  const Drag held = run_drag("compliance", hold_at, reached + 6.0, options);
  out.crept = std::abs(base_at(held, reached + 5.98) - base_at(held, reached + 1.0));
  return out;
}

// The whole story.

struct Story {
  Comparison comparison;
  double hang_force = 0.0, weight = 0.0;  ///< [N]
  double reaction_error = 0.0;            ///< fast knot force against slow, relative RMS
  Plot energy;
};

/// Force at the knot: what the slow loop gives the cylinder against what the hand feels, wire's weight taken off, each
/// over a slow period.
void measure_reaction(const Scene& scene, World& world, Story& story, const ExperimentOptions& options) {
  std::vector<std::pair<double, Vec3>> slow;
  Series kinetic, elastic;
  kinetic.name = "kinetic";
  elastic.name = "elastic";
  const auto device = make_device(scene);
  KeyframePathSettings path;
  for (double t = 0.0; t <= scene.run.seconds; t += 0.01) {
    path.times.push_back(t);
    path.positions.push_back(device->read(t).pose.position);
  }
  path.interpolation = PathInterpolation::kLinear;
  WatchedRun run{"compliance", "action and reaction", {}, true};
  run.watch = [&](double time, World& w, const StepReport&) {
    // The knot is the only joint; its rows are along x, y, z and push the tool (body a) apart from the cylinder.
    const std::vector<double>& knot = w.memory().joint_forces;
    slow.emplace_back(time, -Vec3(knot[0], knot[1], knot[2]));
    const BodyEnergy e = w.compute_energy();
    kinetic.x.push_back(time);
    kinetic.y.push_back(e.kinetic);
    elastic.x.push_back(time);
    elastic.y.push_back(e.elastic);
  };
  const RunData data = run_watched(scene, world, path, run, options).data;
  double error = 0.0, size = 0.0;
  for (const auto& [time, force] : slow) {
    // A step begun at t uses the hand at its end: compare with what the hand felt in the period after t.
    Vec3 felt = Vec3::Zero();
    int count = 0;
    for (double t = time; t < time + scene.run.slow_period - 1e-6; t += scene.run.dt, ++count)
      felt -= tick_at(data, t).wanted.force;
    felt = felt / count - Vec3(0.0, kWireMass * kGravity, 0.0);
    error += (felt - force).squaredNorm();
    size += force.squaredNorm();
  }
  story.reaction_error = std::sqrt(error / size);
  story.energy.title = "Energy of the world";
  story.energy.x_label = "time";
  story.energy.x_unit = "s";
  story.energy.y_label = "energy";
  story.energy.y_unit = "J";
  story.energy.series = {std::move(kinetic), std::move(elastic)};
}

Story tell(const ExperimentOptions& options, const Scene& scene, World& world) {
  Story story;
  CompareOptions compare;
  compare.methods = {"compliance", "direct"};
  compare.progress = options.progress;
  compare.stop = options.stop;
  story.comparison = compare_methods(scene, world, compare);
  for (const double lookahead : {1.0, 0.0}) {
    Scene other = scene;
    other.methods.get<ComplianceSettings>("compliance").lookahead = lookahead;
    SceneRunOptions once;
    once.method = "compliance";
    once.control.stop = options.stop;
    SceneRun run = run_scene(other, world, once);
    run.data.name = lookahead > 0.0 ? "compliance, lookahead 1" : "compliance, held (the paper)";
    story.comparison.metrics.push_back({run.data.name, compute_metrics(run.data, &story.comparison.reference.data)});
    story.comparison.runs.push_back(std::move(run));
  }
  const FemBody& cylinder = cylinder_of(world);
  story.weight = (mass_of(cylinder) + kWireMass) * kGravity;
  const auto& ticks = story.comparison.runs[0].data.ticks;
  int count = 0;
  for (const TickRow& row : ticks) {
    if (row.time < 5.5 || row.time >= 6.5) continue;
    story.hang_force -= row.wanted.force.y();
    ++count;
  }
  story.hang_force /= std::max(1, count);
  measure_reaction(scene, world, story, options);
  return story;
}

}  // namespace

ExperimentResult run_dervaux_cylinder_wire(const ExperimentOptions& options) {
  const Scene scene = load_builtin_scene("cylinder-wire");
  World world = make_world(scene);
  const Story story = tell(options, scene, world);
  const Friction friction = measure_friction(options);
  ExperimentResult out;
  using Relation = MeasuredClaim::Relation;
  const std::string pulls = "\"the position of the cylinder on the plane can be changed by pulling the wire\"";
  const std::string hangs = "\"hanging freely in the space been hung on the wire\"";
  out.claims = {
      {"pull when the cylinder begins to slide, off from μN by", pulls, 100.0 * std::abs(friction.at_onset - 1.0), 5.0,
       Relation::kAtMost, "%"},
      {"pull while it slides, off from μN by", pulls, 100.0 * std::abs(friction.sliding - 1.0), 5.0, Relation::kAtMost,
       "%"},
      {"it follows the hand: its way over the hand's", pulls, friction.followed, 0.95, Relation::kAtLeast, ""},
      {"pulled with 95 % of μN it stays: creep in 5 s", pulls, friction.crept, 1e-5, Relation::kAtMost, "m"},
      {"force in the hand while it hangs, off from the weight of both by", hangs,
       100.0 * std::abs(story.hang_force / story.weight - 1.0), 1.0, Relation::kAtMost, "%"},
      {"force error against reference, over the whole", "none given",
       story.comparison.metrics[1].metrics.force_error_relative,
       story.comparison.metrics[2].metrics.force_error_relative, Relation::kAtMost, "%"},
      {"action and reaction: knot force of the slow loop against the fast, RMS",
       "\"the action-reaction principle is well preserved\"", 100.0 * story.reaction_error, 20.0, Relation::kAtMost,
       "%"},
  };

  out.report = make_comparison_report(scene, world, story.comparison);
  out.report.title = "A soft cylinder on a wire";
  Plot drag;
  drag.title = "Pulled at 1 mm/s: pull over μN";
  drag.x_label = "time";
  drag.x_unit = "s";
  drag.y_label = "pull / μN";
  Series ratio;
  ratio.name = "compliance";
  const double weight = story.weight - kWireMass * kGravity;
  for (const TickRow& row : friction.pulled.run.data.ticks) {
    if (row.time < 3.0) continue;
    ratio.x.push_back(row.time);
    ratio.y.push_back(friction_ratio(row, weight));
  }
  drag.series.push_back(std::move(ratio));
  out.report.plots.push_back(std::move(drag));
  out.report.plots.push_back(story.energy);
  return out;
}

}  // namespace palpate
