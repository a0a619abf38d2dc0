#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dervaux_pluck.h"
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

using namespace dervaux;

constexpr double kMove = 0.5, kRest = 3.0;  // [s]

/// What the hand does at a place, and by which symmetry the two beams then mirror each other.
enum class Family {
  kAside,  ///< goes aside and does not turn: an S, symmetric about its middle; pulled a little, so that nothing buckles
  kTurned,   ///< goes aside and turns so that its end mirrors the clamped one: a C, symmetric about a plane
  kTwisted,  ///< turns about the beams' axis: each point of the upper beam turned by as much as is left to the lower
  kBuckled,  ///< goes aside and comes nearer than the beams are long: an S or what becomes of it
};
constexpr std::array kFamilies = {Family::kAside, Family::kTurned, Family::kTwisted, Family::kBuckled};
constexpr std::array<const char*, 4> kFamilyNames = {"aside", "aside and turned", "twisted", "buckled"};

struct Place {
  Family family = Family::kAside;
  Pose hand;
};

/// Repeatable places, chosen before they were tried.
std::vector<Place> make_places(const ExperimentOptions& options) {
  std::vector<Place> out;
  dervaux::Numbers numbers;
  const Vec3 start(0.0, 2.0 * kLength, 0.0);
  const auto pick = [&](double low, double high) {
    const double d = numbers.between(low, high), angle = numbers.between(0.0, 2.0 * std::numbers::pi);
    return Vec3(d * std::cos(angle), 0.0, d * std::sin(angle));
  };
  for (int i = 0; i < options.choose(20, 2); ++i) {
    // Both ends are clamped along the line, so the middle line is an S that takes 0.6 d²/2L of the length; half of that
    // is given.
    const Vec3 aside = pick(0.005, 0.03);
    const Vec3 nearer(0.0, 0.5 * 0.6 * aside.squaredNorm() / (2.0 * kLength), 0.0);
    out.push_back({Family::kAside, {start + aside - nearer, Quat::Identity()}});
  }
  for (int i = 0; i < options.choose(10, 2); ++i) {
    const Vec3 place = start + pick(0.005, 0.03);
    // The upper beam's end looks back along the mirror image of the direction in which the lower one leaves the wall.
    const Vec3 n = place.normalized(), mirrored = Vec3::UnitY() - 2.0 * n.y() * n;
    out.push_back({Family::kTurned, {place, Quat::FromTwoVectors(-Vec3::UnitY(), mirrored)}});
  }
  for (int i = 0; i < options.choose(5, 1); ++i) {
    const double angle = numbers.between(0.2, 1.5);
    out.push_back({Family::kTwisted, {start, Quat(Eigen::AngleAxisd(angle, Vec3::UnitY()))}});
  }
  for (int i = 0; i < options.choose(10, 1); ++i) {
    const Vec3 aside = pick(0.005, 0.03);
    out.push_back({Family::kBuckled, {start + aside - Vec3(0.0, numbers.between(0.005, 0.02), 0.0), Quat::Identity()}});
  }
  return out;
}

KeyframePathSettings make_way(const std::vector<Place>& places) {
  KeyframePathSettings path;
  path.times = {0.0};
  path.positions = {Vec3(0.0, 2.0 * kLength, 0.0)};
  path.rotations = {Quat::Identity()};
  for (const Place& place : places) {
    for (const double t : {kMove, kRest}) {
      path.times.push_back(path.times.back() + t);
      path.positions.push_back(place.hand.position);
      path.rotations.push_back(place.hand.rotation);
    }
  }
  return path;
}

struct AtRest {
  Family family = Family::kAside;
  double asymmetry = 0.0;  ///< of the beam in the hand against the other, of the hand's way (of its turn, if twisted)
  double force_mismatch = 0.0;  ///< between hand and wall, of the force (of the torque, if twisted)
  double knot_mismatch = 0.0;   ///< between the knot's forces of the two loops, likewise
  double force = 0.0;           ///< of the wall [N]
};

/// How far opposite nodes are from being each other's images.
double measure_asymmetry(const BeamChain& upper, const BeamChain& lower, const Place& place) {
  const int n = upper.node_count();
  const Pose hand = upper.node_pose(0), wall = lower.node_pose(n - 1);
  const Vec3 normal = (hand.position - wall.position).normalized();
  double worst = 0.0;
  for (int i = 0; i < n; ++i) {
    const Pose u = upper.node_pose(i), l = lower.node_pose(n - 1 - i);
    if (place.family == Family::kTwisted) {
      const auto turn = [](const Pose& now, const Pose& from) {
        return rotation_vector(now.rotation * from.rotation.conjugate()).y();
      };
      // What the upper beam has been turned back by is what the lower has been turned by.
      const double total = turn(hand, wall);
      worst = std::max(worst, std::abs(turn(u, wall) + turn(l, wall) - total) / std::abs(total));
      continue;
    }
    const Vec3 from_hand = u.position - hand.position, from_wall = l.position - wall.position;
    const Vec3 image =
        place.family == Family::kTurned ? Vec3(from_wall - 2.0 * normal.dot(from_wall) * normal) : Vec3(-from_wall);
    worst = std::max(worst, (from_hand - image).norm());
  }
  const Vec3 way = place.hand.position - Vec3(0.0, 2.0 * kLength, 0.0);
  return place.family == Family::kTwisted ? worst : worst / way.norm();
}

/// λ of the knot's rows: three forces, and three torques over the joint's arm.
using KnotForce = Eigen::Matrix<double, 6, 1>;

AtRest measure(World& world, const TickRow& tick, const KnotForce& fast, const Place& place) {
  const auto& upper = dynamic_cast<const BeamChain&>(*world.body(world.tools()[0]));
  const auto& lower = dynamic_cast<const BeamChain&>(*world.bodies()[0].body);
  const int n = upper.node_count();
  AtRest out;
  out.family = place.family;
  out.asymmetry = measure_asymmetry(upper, lower, place);
  std::vector<Vec3> forces(as_size(lower.block_count()));
  lower.compute_elastic_forces(forces);
  const bool turns = place.family == Family::kTwisted;
  const Vec3 wall = -forces[as_size(2 * (n - 1) + (turns ? 1 : 0))];
  const Vec3 hand = turns ? tick.wanted.torque : tick.wanted.force;
  out.force = forces[as_size(2 * (n - 1))].norm();
  out.force_mismatch = (hand - wall).norm() / wall.norm();
  KnotForce slow = KnotForce::Zero();
  const std::vector<double>& rows = world.memory().joint_forces;
  for (std::size_t i = 0; i < 6 && i < rows.size(); ++i) slow[static_cast<Eigen::Index>(i)] = rows[i];
  out.knot_mismatch = (fast - slow).norm() / slow.norm();
  return out;
}

struct Settled {
  SceneRun run;
  std::vector<AtRest> at_rest;
};

/// The beam in the hand is taken as its own loop has it: that of the fast loop in `compliance`, the world's in methods
/// that have no other.
Settled run_places(const Scene& base, const std::string& method, const std::string& name,
                   const ExperimentOptions& options) {
  Scene scene = base;
  const std::vector<Place> places = make_places(options);
  const KeyframePathSettings path = make_way(places);
  scene.run.seconds = path.times.back();
  World world = make_world(scene);
  struct Kept {
    double time = 0.0;
    WorldState state;
    std::vector<double> fast_tool;
    KnotForce fast_knot = KnotForce::Constant(kNotAvailable);
  };
  Settled out;
  double next = kMove + kRest;
  std::vector<Kept> kept;
  Kept fast;
  KnotForce last_impulse = KnotForce::Zero();
  WatchedRun run{method, name, {}, true};
  run.watch_fast = [&](double, World& w, const compliance::Feedback& f) {
    const auto size = w.body(w.tools()[0])->state_size();
    fast.fast_tool.assign(f.tool.begin(), f.tool.begin() + size);
    for (Eigen::Index i = 0; i < 6; ++i) {
      const double impulse = i < f.tie_rows ? f.tie_impulse[as_size(i)] : kNotAvailable;
      fast.fast_knot[i] = (impulse - last_impulse[i]) / scene.run.slow_period;
      last_impulse[i] = impulse;
    }
  };
  run.watch = [&](double time, World& w, const StepReport&) {
    if (time < next - 1.5 * scene.run.slow_period) return;
    kept.push_back(fast);
    kept.back().time = time;
    w.save_state(kept.back().state);
    next += kMove + kRest;
  };
  out.run = run_watched(scene, world, path, run, options);
  for (std::size_t i = 0; i < kept.size() && i < places.size(); ++i) {
    world.restore_state(kept[i].state);
    if (!kept[i].fast_tool.empty()) world.body(world.tools()[0])->restore_state(kept[i].fast_tool);
    const auto tick = std::min(as_size(std::lround(kept[i].time / scene.run.dt)), out.run.data.ticks.size() - 1);
    out.at_rest.push_back(measure(world, out.run.data.ticks[tick], kept[i].fast_knot, places[i]));
  }
  return out;
}

double worst(const Settled& s, Family family, double AtRest::*what) {
  double out = kNotAvailable;
  for (const AtRest& r : s.at_rest) {
    // A value that is none spoils the whole, as it should.
    if (r.family == family) out = std::isnan(out) ? r.*what : std::isnan(r.*what) ? r.*what : std::max(out, r.*what);
  }
  return out;
}

Plot make_shape_plot(const Scene& base, const ExperimentOptions& options) {
  Scene scene = base;
  scene.run.seconds = 3.0;
  KeyframePathSettings path;
  path.times = {0.0, 0.5};
  path.positions = {Vec3(0.0, 2.0 * kLength, 0.0), Vec3(0.03, 0.239, 0.0)};
  World world = make_world(scene);
  std::vector<double> fast;
  WatchedRun run{"compliance", "shape", {}, false};
  run.watch_fast = [&](double, World& w, const compliance::Feedback& f) {
    fast.assign(f.tool.begin(), f.tool.begin() + w.body(w.tools()[0])->state_size());
  };
  run_watched(scene, world, path, run, options);
  world.body(world.tools()[0])->restore_state(fast);
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
  for (std::size_t f = 0; f < kFamilies.size(); ++f) {
    for (const std::size_t form : {0u, 1u}) {
      const char* name = form == 0 ? "" : " (held, the paper)";
      out.claims.push_back({fmt::format("hand {}{}: asymmetry of the fast beam at rest, worst, of the hand's way",
                                        kFamilyNames[f], name),
                            "\"symmetric deformations for an arbitrary position of the haptic device\"",
                            percent(worst(runs[form], kFamilies[f], &AtRest::asymmetry)), 0.1, Relation::kAtMost, "%"});
      out.claims.push_back(
          {fmt::format("hand {}{}: knot force of the fast loop against the slow one's, worst", kFamilyNames[f], name),
           "\"the action-reaction principle\"", percent(worst(runs[form], kFamilies[f], &AtRest::knot_mismatch)), 0.1,
           Relation::kAtMost, "%"});
    }
  }
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
  rest.title = "At rest, worst of the places of a kind";
  for (const char* name : kFamilyNames) rest.columns.push_back(fmt::format("{}: asymmetry", name));
  for (const char* name : kFamilyNames) rest.columns.push_back(fmt::format("{}: hand against wall", name));
  rest.columns.push_back("largest force");
  for (const Settled& s : runs) {
    TableRow row;
    row.name = s.run.data.name;
    row.muted = row.name == "reference";
    double force = 0.0;
    for (const Family f : kFamilies)
      row.cells.push_back({fmt::format("{:.2e} %", percent(worst(s, f, &AtRest::asymmetry)))});
    for (const Family f : kFamilies) {
      row.cells.push_back({fmt::format("{:.2e} %", percent(worst(s, f, &AtRest::force_mismatch)))});
      force = std::max(force, worst(s, f, &AtRest::force));
    }
    row.cells.push_back({format_quantity(force, "N")});
    rest.rows.push_back(std::move(row));
  }
  out.report.title = "Two beams at two rates";
  out.report.paragraphs = {
      scene.description,
      "The hand goes to places and rests 3 s at each: aside, aside and turned, turned about the beams' "
      "axis, and nearer than the beams are long, so that they buckle. Each kind has its own "
      "symmetry: about the middle, about a plane, of the twist. The upper beam is that of the "
      "fast loop."};
  out.report.tables = {std::move(rest), std::move(modes)};
  std::vector<const RunData*> all;
  for (const Settled& s : runs) all.push_back(&s.run.data);
  out.report.plots = {
      make_shape_plot(scene, options), make_spectrum(fine),
      dervaux::make_tick_plot("Force on the hand, over the places", "force", "N", all,
                              [](const TickRow& r) { return r.wanted.force.norm(); }),
      dervaux::make_tick_plot("Sideways force after a pluck", "force", "N", {&fine.data, &usual.data},
                              [](const TickRow& r) { return r.time > kPlucked ? r.wanted.force.x() : kNotAvailable; })};
  return out;
}

}  // namespace palpate
