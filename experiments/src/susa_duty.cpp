#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments.h"
#include "palpate/methods/accelerance_settings.h"
#include "palpate/scene/builtin.h"
#include "susa_run.h"

// The paper's section 7.3: what the methods cost with more and more cubes; and a long run among eighty.
namespace palpate {
namespace susa {
namespace {

std::vector<SceneKeyframe>& keyframes_of(Scene& scene) {
  return std::get<SceneKeyframePath>(*find_path(scene.first().hand)).keyframes;
}

/// So many cubes in a block, pushed through by the ball at the height of the lowest.
Scene make_pile(const std::array<int, 3>& count) {
  Scene scene = load_builtin_scene("susa-eighty");
  SceneBody& cube = find_body(scene, "cube");
  SceneCopies& copies = std::get<SceneRigid>(cube.kind).copies;
  copies.x = count[0];
  copies.y = count[1];
  copies.z = count[2];
  cube.position.z() = -0.0205 * (count[2] - 1);
  // From outside right through the block, instead of over it.
  for (SceneKeyframe& k : keyframes_of(scene)) {
    if (k.position == Vec3(-0.2, 0.06, 0.0)) k.position = Vec3(-0.15, 0.03, 0.0);
    if (k.position == Vec3(0.05, 0.06, 0.02)) k.position = Vec3(0.1, 0.03, 0.0);
  }
  scene.run.seconds = 2.5;
  scene.first().guards.safety.ramp_time = 0.0;
  return scene;
}

std::string format_duty(const TimedRun& run) {
  return fmt::format("{:.3f} ({:.3f})", run.duty, run.worst_duty);
}

}  // namespace
}  // namespace susa

ExperimentResult run_susa_duty(const ExperimentOptions& options) {
  using namespace susa;
  using Relation = MeasuredClaim::Relation;
  Table duty, stages;
  duty.title = "Duty factor: mean computing time over the period (in brackets its 95th percentile)";
  duty.columns = {"single rate, 1 ms",   "impulse",           "accelerance, direct", "accelerance, tests",
                  "direct, model alone", "tests, model alone"};
  stages.title = "Slow step of accelerance, direct";
  stages.columns = {"free motion", "detection", "rows", "solver", "correction", "model", "tick"};
  double direct_eighty = kNotMeasured, ratio = kNotMeasured, single_eighty = kNotMeasured, dearer = kNotMeasured;
  Plot curves;
  curves.title = "Duty factor against the number of cubes (the paper's Figs. 6 and 7)";
  curves.x_label = "cubes";
  curves.y_label = "duty factor";
  curves.series = {{"single rate, 1 ms", {}, {}},
                   {"impulse", {}, {}},
                   {"accelerance, direct", {}, {}},
                   {"accelerance, tests", {}, {}}};
  for (const std::array<int, 3>& count : {std::array{1, 1, 1}, {5, 1, 2}, {5, 2, 3}, {5, 4, 4}, {10, 4, 5}}) {
    const int cubes = count[0] * count[1] * count[2];
    if (options.quick && cubes > 10) continue;
    const std::string name = cubes == 1 ? "1 cube" : fmt::format("{} cubes", cubes);
    Scene scene = make_pile(count);
    World world = make_world(scene);
    const auto run = [&](const char* method) {
      return run_timed(scene, world, method, fmt::format("{}, {}", name, method), options);
    };
    const TimedRun direct = run("accelerance"), impulse = run("impulse");
    scene.methods.get<AcceleranceSettings>("accelerance").way = AcceleranceSettings::Way::kTests;
    const TimedRun tests = run("accelerance");
    if (cubes == 10) {
      // One neighbour, as most of the paper's: what test simulations add to a slow step that has none.
      AcceleranceSettings& settings = scene.methods.get<AcceleranceSettings>("accelerance");
      const AcceleranceSettings before = settings;
      settings.coupled = settings.local_contacts = false;
      settings.literal = true;
      settings.max_neighbours = 1;
      dearer = run("accelerance").duty / impulse.duty;
      settings = before;
    }
    scene.run.seconds = 1.2;  // single rate takes its time
    const TimedRun single = run("reference");
    duty.rows.push_back({name,
                         {{format_duty(single)},
                          {format_duty(impulse)},
                          {format_duty(direct)},
                          {format_duty(tests)},
                          {fmt::format("{:.3f}", direct.stage(Stage::kModel) / scene.run.slow_period)},
                          {fmt::format("{:.3f}", tests.stage(Stage::kModel) / scene.run.slow_period)}}});
    const TimedRun* of_method[] = {&single, &impulse, &direct, &tests};
    for (std::size_t m = 0; m < curves.series.size(); ++m) {
      curves.series[m].x.push_back(cubes);
      curves.series[m].y.push_back(of_method[m]->duty);
    }
    TableRow row{name, {}};
    for (std::size_t s = 0; s < kStageCount; ++s)
      row.cells.push_back({format_quantity(direct.stage(static_cast<Stage>(s)), "s")});
    row.cells.push_back({format_quantity(1e-9 * direct.ticks.mean_ns(), "s")});
    stages.rows.push_back(std::move(row));
    if (cubes == options.choose(80, 10)) {
      direct_eighty = direct.duty;
      single_eighty = single.duty;
      ratio = tests.stage(Stage::kModel) / direct.stage(Stage::kModel);
    }
  }
  const std::string of_most = options.choose<std::string>("80 cubes", "10 cubes");
  ExperimentResult out;
  out.claims = {
      {of_most + ", six neighbours: duty factor of accelerance, direct", "below 0.25 (the paper, with 10 cubes)",
       direct_eighty, 0.25, Relation::kAtMost, "", true},
      {of_most + ": test simulations over the direct way", "tests make the step 3 to 4 times dearer", ratio, 3.0,
       Relation::kAtLeast, "", true},
      {of_most + ": duty factor of single rate over that",
       "single rate \"goes beyond 1\", at ten on the paper's machine", single_eighty / direct_eighty, 3.0,
       Relation::kAtLeast, "", true},
  };
  out.claims.push_back({"10 cubes, one neighbour, the paper to the letter: slow step over that of impulse",
                        "\"3 or 4 times\"", dearer, 3.0, Relation::kAtLeast, "", true});
  out.report.title = "What the methods cost with 1 to 200 cubes";
  out.report.paragraphs = {
      "After Susa, Sato & Hasegawa 2011, section 7.3 and Figs. 6 and 7: a ball in a hand that feels is pushed through "
      "blocks of cubes; slow period 50 ms, fast 1 ms, six neighbours at most. Times are of this machine, and of "
      "everything else that runs on it."};
  out.report.tables = {std::move(duty), std::move(stages)};
  out.report.plots = {std::move(curves)};
  return out;
}

ExperimentResult run_susa_eighty(const ExperimentOptions& options) {
  using namespace susa;
  using Relation = MeasuredClaim::Relation;
  Scene scene = load_builtin_scene("susa-eighty");
  // The way of twelve seconds, five times.
  std::vector<SceneKeyframe>& keys = keyframes_of(scene);
  keys.clear();
  for (int lap = 0; lap < 3; ++lap) {
    const std::array<std::array<double, 4>, 8> way = {{{0.0, -0.2, 0.06, 0.0},
                                                       {0.5, -0.2, 0.06, 0.0},
                                                       {2.5, 0.05, 0.06, 0.02},
                                                       {4.0, -0.15, 0.2, 0.05},
                                                       {6.0, 0.0, 0.03, 0.0},
                                                       {8.0, 0.15, 0.03, -0.05},
                                                       {10.0, 0.0, 0.05, -0.15},
                                                       {11.9, -0.2, 0.06, 0.0}}};
    for (const auto& k : way)
      keys.push_back({.time = 12.0 * lap + k[0], .position = Vec3(k[1], k[2], k[3] + 0.02 * lap)});
  }
  // Then the ball is shaken through what is left of the block, at half a metre a second.
  for (double time = 36.5; time < 60.0; time += 0.6)
    keys.push_back({.time = time, .position = Vec3(keys.back().position.x() < 0.0 ? 0.15 : -0.15, 0.03, 0.02)});
  scene.run.seconds = options.choose(60.0, 1.6);
  scene.first().guards.safety.ramp_time = 0.0;
  World world = make_world(scene);
  EnergyAtSteps energy(world, scene.first().tool.coupling.stiffness);
  std::vector<double> energies, depths;  // at the beginning of each slow step; after it
  int unsolved = 0;
  const TimedRun run = run_timed(scene, world, "accelerance", "accelerance", options, [&](const SeenStep& step) {
    energies.push_back(energy.add(step));
    depths.push_back(step.report.penetration);
    unsolved += !step.report.converged;
  });
  const RunData& data = run.run.data;
  double work = 0.0, excess = 0.0, largest = 0.0, jump = 0.0;
  std::size_t step = 0;
  Series gained{"bodies and coupling", {}, {}}, given{"hand's work", {}, {}}, deep{"deepest overlap", {}, {}};
  for (const TickRow& row : data.ticks) {
    if (step < energies.size() && row.time > static_cast<double>(step) * scene.run.slow_period - 0.5 * scene.run.dt) {
      const double gain = energies[step] - energies[0];
      if (step > 0) jump = std::max(jump, gain - gained.y.back() - (work - given.y.back()));
      excess = std::max(excess, gain - work);
      gained.x.push_back(row.time);
      gained.y.push_back(gain);
      given.x.push_back(row.time);
      given.y.push_back(work);
      deep.x.push_back(row.time);
      deep.y.push_back(depths[step]);
      ++step;
    }
    work -= row.wanted.force.dot(row.device_velocity.linear) * scene.run.dt;
    largest = std::max(largest, row.wanted.force.norm());
  }
  std::vector<double> sorted = depths;
  std::sort(sorted.begin(), sorted.end());
  const double typical = sorted.empty() ? kNotMeasured : sorted[sorted.size() / 2];
  ExperimentResult out;
  out.claims = {
      {"energy of the bodies beyond the hand's work, at most", "none gained", excess, 0.01, Relation::kAtMost, "J"},
      {"duty factor of the slow loop", "below 0.25", run.duty, 0.25, Relation::kAtMost, "", true},
      {"tick, 99th percentile", "1 ms", 1e-9 * run.ticks.compute_percentile_ns(0.99), 1e-3, Relation::kAtMost, "s",
       true},
      {"deepest overlap after synchronisation, median over the steps", "\"such penetrations are little\"", typical,
       1e-3, Relation::kAtMost, "m"},
      {"deepest overlap after synchronisation, worst of the steps", "\"such penetrations are little\"",
       sorted.empty() ? kNotMeasured : sorted.back(), 1e-3, Relation::kAtMost, "m"},
      {"energy that a single slow step adds beyond the hand's work, worst", "none gained", jump, 0.01,
       Relation::kAtMost, "J"},
      {"deepest overlap at the end", "\"solved gradually\"", depths.empty() ? kNotMeasured : depths.back(), 1e-3,
       Relation::kAtMost, "m"},
  };
  out.report.title = "Eighty cubes, pushed around for a minute";
  out.report.paragraphs = {fmt::format(
      "After Susa, Sato & Hasegawa 2011, section 7.3. A ball in a hand that feels goes through a block of eighty cubes "
      "three times and is then shaken through it at 0.5 m/s; the six nearest cubes move at 1 kHz, all others at 20 Hz. "
      "Largest force {:.1f} N; {} of {} slow "
      "steps ended before the solver's tolerance. Of these steps the worst gained {:.1f} mJ more than the hand gave, "
      "which friction took away after it.",
      largest, unsolved, depths.size(), 1e3 * jump)};
  const auto make_plot = [](const char* title, const char* unit, std::vector<Series> series) {
    Plot plot;
    plot.title = title;
    plot.x_label = "time";
    plot.x_unit = "s";
    plot.y_label = title;
    plot.y_unit = unit;
    plot.series = std::move(series);
    return plot;
  };
  out.report.plots = {make_plot("Force on the hand", "N",
                                {make_series(data, [](const TickRow& row) { return row.wanted.force.norm(); })}),
                      make_plot("Energy", "J", {std::move(gained), std::move(given)}),
                      make_plot("Deepest overlap", "m", {std::move(deep)})};
  return out;
}

}  // namespace palpate
