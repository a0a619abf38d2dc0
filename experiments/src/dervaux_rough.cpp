#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dervaux_run.h"
#include "experiments.h"
#include "palpate/methods/compliance_settings.h"

// Dervaux et al. 2013, section V: "the simulation remains stable for any admissible configuration". Put to the test
// with the cylinder on the wire and a hand that does not care, on a body a hundred times as stiff and as soft too.
namespace palpate {
namespace {

using dervaux::cylinder_of;
using dervaux::mass_of;
using dervaux::run_watched;
using dervaux::WatchedRun;

Vec3 centre_of(const FemBody& body) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = 0; i < body.masses().size(); ++i) sum += body.masses()[i] * body.positions()[i];
  return sum / mass_of(body);
}

double rest_of(const ExperimentOptions& options) {
  return options.choose(20.0, 4.0);
}
double seconds_of(const ExperimentOptions& options) {
  return options.choose(600.0, 8.0);
}

struct Rough {
  std::string name;
  double farthest = 0.0;  ///< of the cylinder's centre from the hand [m]
  double deepest = 0.0;   ///< penetration [m]
  double energy = 0.0;    ///< largest of the world [J]
  double force = 0.0;     ///< largest asked for [N]
  double unrest = 0.0;    ///< RMS of the force about its mean over the last two seconds, when the hand rests [N]
  std::uint64_t not_finite = 0;
  BothTimes ticks, steps;
};

/// Ten minutes in which the hand goes somewhere else every 0.4 s, then rests.
Rough run_rough(const std::string& name, const std::string& method, double young_modulus, double lookahead,
                const ExperimentOptions& options) {
  constexpr double kEvery = 0.4;
  const double kRest = rest_of(options), kSeconds = seconds_of(options);
  Scene scene = dervaux::load_cylinder_wire(young_modulus);
  scene.methods.get<ComplianceSettings>("compliance").lookahead = lookahead;
  scene.run.seconds = kSeconds;
  KeyframePathSettings path;
  path.times = {0.0};
  path.positions = {Vec3(0, 0.16, 0)};
  dervaux::Numbers numbers;
  while (path.times.back() < kSeconds - kRest) {
    path.times.push_back(path.times.back() + kEvery);
    path.positions.emplace_back(numbers.between(-0.1, 0.1), numbers.between(0.05, 0.25), numbers.between(-0.1, 0.1));
  }
  path.times.push_back(path.times.back() + 1.0);
  path.positions.emplace_back(0.0, 0.25, 0.0);
  World world = make_world(scene);
  Rough out;
  out.name = name;
  const auto hand = make_path(path);
  WatchedRun run{method, name, {}, false};
  run.ticks = &out.ticks;
  run.steps = &out.steps;
  Vec3 sum = Vec3::Zero();
  double squares = 0.0;
  int count = 0;
  run.on_tick = [&](const TickRow& row) {
    out.not_finite += is_finite(row.wanted) ? 0 : 1;
    out.force = std::max(out.force, row.wanted.force.norm());
    if (row.time < kSeconds - 2.0) return;
    sum += row.wanted.force;
    squares += row.wanted.force.squaredNorm();
    ++count;
  };
  run.watch = [&](double time, World& w, const StepReport& report) {
    const FemBody& cylinder = cylinder_of(w);
    const double distance = (centre_of(cylinder) - hand->at(time).pose.position).norm();
    out.not_finite += std::isfinite(distance) ? 0 : 1;
    out.farthest = std::max(out.farthest, distance);
    out.deepest = std::max(out.deepest, report.penetration);
    out.energy = std::max(out.energy, w.compute_energy().total());
  };
  run_watched(scene, world, path, run, options);
  out.unrest = std::sqrt(std::max(0.0, squares / count - (sum / count).squaredNorm()));
  return out;
}

}  // namespace

ExperimentResult run_dervaux_rough(const ExperimentOptions& options) {
  std::vector<Rough> rough;
  const auto run = [&](const std::string& name, double young_modulus, double lookahead,
                       const std::string& method = "compliance") {
    rough.push_back(run_rough(name, method, young_modulus, lookahead, options));
  };
  run("E ×1", 2e4, 1.0);
  run("E ×0.01", 2e2, 1.0);
  if (!options.quick) {
    run("E ×0.01, direct", 2e2, 1.0, "direct");
    run("E ×100", 2e6, 1.0);
    run("E ×1, held (the paper)", 2e4, 0.0);
    run("E ×0.01, held (the paper)", 2e2, 0.0);
    run("E ×1, lookahead 2", 2e4, 2.0);
    run("E ×0.01, lookahead 2", 2e2, 2.0);
  }

  ExperimentResult out;
  using Relation = MeasuredClaim::Relation;
  const std::string stable = "\"remains stable for any admissible configuration\"";
  for (const Rough& r : rough) {
    out.claims.push_back({r.name + ", 10 minutes: values not finite", stable, static_cast<double>(r.not_finite), 0.0,
                          Relation::kAtMost, ""});
    out.claims.push_back(
        {r.name + ": cylinder's farthest from the hand", stable, r.farthest, 0.5, Relation::kAtMost, "m"});
    out.claims.push_back(
        {r.name + ": unrest of the force after it ends", stable, r.unrest, 0.01, Relation::kAtMost, "N"});
    // A coupling of 500 N/m whose hand goes 0.1 m to either side; four times what direct's world has.
    out.claims.push_back({r.name + ": largest force asked for", stable, r.force, 50.0, Relation::kAtMost, "N"});
    out.claims.push_back(
        {r.name + ": most energy that the world ever has", stable, r.energy, 20.0, Relation::kAtMost, "J"});
  }
  Table table;
  table.title = "Rough handling";
  table.columns = {"farthest from the hand", "deepest overlap", "largest force", "largest energy",
                   "unrest at the end",      "tick p99",        "step p99"};
  table.note = fmt::format("Times: {}.", kBothClocks);
  for (const Rough& r : rough) {
    TableRow row;
    row.name = r.name;
    row.cells = {{format_quantity(r.farthest, "m")},   {format_quantity(r.deepest, "m")},
                 {format_quantity(r.force, "N")},      {format_quantity(r.energy, "J")},
                 {format_quantity(r.unrest, "N")},     {format_times(r.ticks, TimeOf::kP99)},
                 {format_times(r.steps, TimeOf::kP99)}};
    table.rows.push_back(std::move(row));
  }
  out.report.title = "Rough handling of a cylinder on a wire";
  out.report.paragraphs = {
      fmt::format(
          "The hand goes somewhere else every 0.4 s, then holds the cylinder up and rests for {:g} s, in all {:g} s.",
          rest_of(options), seconds_of(options)),
      "Lookahead 1, the default, where nothing else is said. At E ×0.01 (200 Pa) "
      "its weight stretches the cylinder to more than twice its length, and its own steps, of one linearisation each, "
      "go round in a cycle of three: that trembling is there too without the table and without any contact."};
  out.report.tables = {std::move(table)};
  return out;
}

}  // namespace palpate
