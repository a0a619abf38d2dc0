#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

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
  return fmt::format("{:.3f} ({:.3f}; {:.3f})", run.duty, run.worst_duty, run.wall_duty);
}

/// The paper's method: test simulations for one neighbour, nothing of ours.
void choose_letter(AcceleranceSettings& settings) {
  settings.way = AcceleranceSettings::Way::kTests;
  settings.coupled = settings.local_contacts = false;
  settings.literal = true;
  settings.max_neighbours = 1;
}

/// The duty factor of single steps against time, as in the paper's Figs. 6 and 7: single rate is method 1, the paper to
/// the letter method 2, impulse method 3.
Plot make_duty_plot(const std::string& title, const TimedRun* single, const TimedRun& letter, const TimedRun& impulse,
                    const RunSettings& run) {
  Plot plot;
  plot.title = title;
  plot.x_label = "time";
  plot.x_unit = "s";
  plot.y_label = "duty factor";
  if (single) {
    Series series{"single rate, 1 ms", {}, {}, SeriesStyle::kReference};
    for (const Stopwatch::Sample& s : single->tick_samples) {
      series.x.push_back(s.time);
      series.y.push_back(s.processor / run.dt);
    }
    plot.series.push_back(std::move(series));
  }
  Series with{"accelerance, to the letter", {}, {}}, without{"the same without test simulations", {}, {}};
  for (const TimedStep& s : letter.steps) {
    with.x.push_back(s.sample.time);
    with.y.push_back(s.sample.processor / run.slow_period);
    without.x.push_back(s.sample.time);
    without.y.push_back((s.sample.processor - s.stage(Stage::kModel)) / run.slow_period);
  }
  Series third{"impulse", {}, {}};
  for (const TimedStep& s : impulse.steps) {
    third.x.push_back(s.sample.time);
    third.y.push_back(s.sample.processor / run.slow_period);
  }
  for (Series* s : {&with, &without, &third}) plot.series.push_back(std::move(*s));
  plot.note = "Processor time of each step over its period.";
  return plot;
}

/// All methods on one pile.
struct PileRuns {
  int cubes = 0;
  std::string name;
  TimedRun single, impulse, direct, tests;
  TimedRun letter;                       ///< where the paper has it: up to ten cubes
  TimedRun letter_whole, impulse_whole;  ///< likewise, of steps that are not divided however far cubes turn in them
  TimedRun direct_equal, tests_equal;    ///< with as many sweeps in each tried step
};

/// Sweeps of each tried step where both ways have the same: a third of the world's, as direct has by itself.
constexpr int kEqualSweeps = 67;

/// As far as a scene may allow bodies to turn in a step before it is divided [rad].
constexpr double kAnyTurn = 10.0;

PileRuns run_pile(const std::array<int, 3>& count, const ExperimentOptions& options) {
  PileRuns out;
  out.cubes = count[0] * count[1] * count[2];
  out.name = out.cubes == 1 ? "1 cube" : fmt::format("{} cubes", out.cubes);
  Scene scene = make_pile(count);
  World world = make_world(scene);
  AcceleranceSettings& settings = scene.methods.get<AcceleranceSettings>("accelerance");
  const AcceleranceSettings standard = settings;
  const auto run = [&](const char* method) {
    return run_timed(scene, world, method, fmt::format("{}, {}", out.name, method), options);
  };
  out.direct = run("accelerance");
  out.impulse = run("impulse");
  settings.way = AcceleranceSettings::Way::kTests;
  out.tests = run("accelerance");
  settings.tried_sweeps = kEqualSweeps;
  out.tests_equal = run("accelerance");
  settings.way = AcceleranceSettings::Way::kDirect;
  out.direct_equal = run("accelerance");
  if (out.cubes <= 10) {
    settings = standard;
    choose_letter(settings);
    out.letter = run("accelerance");
    const double most_turn = std::exchange(scene.world.max_turn, kAnyTurn);
    World whole = make_world(scene);
    const auto run_whole = [&](const char* method) {
      return run_timed(scene, whole, method, fmt::format("{}, {}, undivided", out.name, method), options);
    };
    out.letter_whole = run_whole("accelerance");
    out.impulse_whole = run_whole("impulse");
    scene.world.max_turn = most_turn;
  } else {
    scene.run.seconds = 1.2;  // single rate takes its time
  }
  settings = standard;
  out.single = run("reference");
  return out;
}

void add_duty_claims(const std::string& name, const std::string& paper, double processor, double wall, double limit,
                     MeasuredClaim::Relation relation, std::vector<MeasuredClaim>& claims) {
  claims.push_back({name + ", processor time", paper, processor, limit, relation, "", true});
  claims.push_back({name + ", wall clock", paper, wall, limit, relation, "", true});
}

double model_ratio(const TimedRun& tests, const TimedRun& direct) {
  return tests.stage(Stage::kModel) / direct.stage(Stage::kModel);
}

/// Largest duty factor of a single tick, or of a single slow step: what the paper's Figs. 6 and 7 show, by the
/// processor's clock, as there.
double largest_of_ticks(const TimedRun& run) {
  double largest = 0.0;
  for (const Stopwatch::Sample& s : run.tick_samples) largest = std::max(largest, s.processor / 0.001);
  return run.tick_samples.empty() ? kNotMeasured : largest;
}
double largest_of_steps(const TimedRun& run) {
  double largest = 0.0;
  for (const TimedStep& s : run.steps) largest = std::max(largest, s.sample.processor / 0.05);
  return run.steps.empty() ? kNotMeasured : largest;
}

/// Duty factor of all but the test simulations.
double without_tests(const TimedRun& run) {
  return run.duty - run.stage(Stage::kModel) / 0.05;
}

/// What section 7.3.2 says of its three methods with one cube and with ten.
void add_figure_claims(const PileRuns& one, const PileRuns& ten, std::vector<MeasuredClaim>& out) {
  using Relation = MeasuredClaim::Relation;
  out.push_back({"1 cube: largest duty factor of a tick of single rate", "\"below 0.15\" (Fig. 6)",
                 largest_of_ticks(one.single), 0.15, Relation::kAtMost, "", true});
  out.push_back({"10 cubes: largest duty factor of a tick of single rate", "\"goes beyond 1\" (Fig. 7)",
                 largest_of_ticks(ten.single), 1.0, Relation::kAtLeast, "", true});
  out.push_back({"10 cubes: largest duty factor of a step of impulse", "\"less than 0.25\"",
                 largest_of_steps(ten.impulse), 0.25, Relation::kAtMost, "", true});
  out.push_back({"10 cubes, one neighbour, the paper to the letter: slow step over that of impulse, at most",
                 "\"did not reach 5 times\"", ten.letter.duty / ten.impulse.duty, 5.0, Relation::kAtMost, "", true});
}

/// Of the pile that is largest for this form, and of the paper's one and ten cubes.
std::vector<MeasuredClaim> make_duty_claims(const PileRuns& most, const PileRuns& one, const PileRuns& ten) {
  using Relation = MeasuredClaim::Relation;
  std::vector<MeasuredClaim> out;
  add_duty_claims(most.name + ", six neighbours: duty factor of accelerance, direct",
                  "below 0.25 (the paper, with 10 cubes)", most.direct.duty, most.direct.wall_duty, 0.25,
                  Relation::kAtMost, out);
  out.push_back({most.name + ": test simulations over the direct way", "tests make the step 3 to 4 times dearer",
                 model_ratio(most.tests, most.direct), 3.0, Relation::kAtLeast, "", true});
  out.push_back({most.name + ", equal sweeps: test simulations over the direct way",
                 "tests make the step 3 to 4 times dearer", model_ratio(most.tests_equal, most.direct_equal), 3.0,
                 Relation::kAtLeast, "", true});
  out.push_back({most.name + ": duty factor of single rate over that",
                 "single rate \"goes beyond 1\", at ten on the paper's machine", most.single.duty / most.direct.duty,
                 3.0, Relation::kAtLeast, "", true});
  add_duty_claims("10 cubes, one neighbour, the paper to the letter: slow step over that of impulse",
                  "\"3-4 times as large as for Method 3\"", ten.letter.duty / ten.impulse.duty,
                  ten.letter.wall_duty / ten.impulse.wall_duty, 3.0, Relation::kAtLeast, out);
  out.push_back({"10 cubes, one neighbour, the paper to the letter: largest duty factor of a step",
                 "\"less than 0.25\"", largest_of_steps(ten.letter), 0.25, Relation::kAtMost, "", true});
  out.push_back({"10 cubes, the same without test simulations, over that of impulse", "\"no noticeable differences\"",
                 without_tests(ten.letter) / ten.impulse.duty, 1.5, Relation::kAtMost, "", true});
  add_figure_claims(one, ten, out);
  return out;
}

/// What the report shows of all piles.
class DutyReport {
 public:
  DutyReport() {
    duty_.title =
        "Duty factor: mean processor time over the period (in brackets its 95th percentile; the mean by the wall "
        "clock)";
    duty_.columns = {"single rate, 1 ms", "impulse", "accelerance, direct", "accelerance, tests"};
    models_.title = "Model alone, as a duty factor";
    models_.columns = {"direct", "tests", "direct, equal sweeps", "tests, equal sweeps"};
    models_.note = fmt::format(
        "Processor time. Tests are given as many sweeps as a step of the world (200), direct a third of that; equal "
        "sweeps: {} in each tried step of both.",
        kEqualSweeps);
    stages_.title = "Slow step of accelerance, direct";
    stages_.columns = {"free motion", "detection", "rows", "solver", "correction", "model", "tick"};
    stages_.note = fmt::format("Stages: their share of the step's processor time. Tick: {}.", kBothClocks);
    curves_.title = "Mean duty factor against the number of cubes";
    curves_.kind = PlotKind::kLines;
    curves_.x_label = "cubes";
    curves_.y_label = "duty factor";
    for (const std::string& name : duty_.columns) curves_.series.push_back({name, {}, {}});
  }

  void add(const PileRuns& pile, const RunSettings& settings) {
    const TimedRun* of_method[] = {&pile.single, &pile.impulse, &pile.direct, &pile.tests};
    TableRow duty{pile.name, {}}, model{pile.name, {}}, stage{pile.name, {}};
    for (std::size_t m = 0; m < curves_.series.size(); ++m) {
      duty.cells.push_back({format_duty(*of_method[m])});
      curves_.series[m].x.push_back(pile.cubes);
      curves_.series[m].y.push_back(of_method[m]->duty);
    }
    for (const TimedRun* r : {&pile.direct, &pile.tests, &pile.direct_equal, &pile.tests_equal})
      model.cells.push_back({fmt::format("{:.3f}", r->stage(Stage::kModel) / settings.slow_period)});
    for (std::size_t s = 0; s < kStageCount; ++s)
      stage.cells.push_back({format_quantity(pile.direct.stage(static_cast<Stage>(s)), "s")});
    stage.cells.push_back({format_times(pile.direct.ticks, TimeOf::kMean)});
    duty_.rows.push_back(std::move(duty));
    models_.rows.push_back(std::move(model));
    stages_.rows.push_back(std::move(stage));
    const auto plot = [&](const char* title, const TimedRun* single) {
      series_.push_back(make_duty_plot(title, single, pile.letter, pile.impulse, settings));
    };
    if (pile.cubes == 1) plot("One cube (the paper's Fig. 6)", &pile.single);
    if (pile.cubes == 10) plot("Ten cubes (the paper's Fig. 7 (a))", &pile.single);
    if (pile.cubes == 10) plot("Ten cubes, methods 2 and 3 (the paper's Fig. 7 (b))", nullptr);
  }

  void finish(Report& report) && {
    report.tables = {std::move(duty_), std::move(models_), std::move(stages_)};
    report.plots = std::move(series_);
    report.plots.push_back(std::move(curves_));
  }

 private:
  Table duty_, models_, stages_;
  Plot curves_;
  std::vector<Plot> series_;
};

}  // namespace
}  // namespace susa

ExperimentResult run_susa_duty(const ExperimentOptions& options) {
  using namespace susa;
  DutyReport report;
  PileRuns most, one, ten;
  for (const std::array<int, 3>& count : {std::array{1, 1, 1}, {5, 1, 2}, {5, 2, 3}, {5, 4, 4}, {10, 4, 5}}) {
    if (options.stopped() || (options.quick && count[0] * count[1] * count[2] > 10)) continue;
    PileRuns pile = run_pile(count, options);
    report.add(pile, make_pile(count).run);
    if (pile.cubes == 10) ten = pile;
    if (pile.cubes == 1) one = pile;
    if (pile.cubes == options.choose(80, 10)) most = std::move(pile);
  }
  ExperimentResult out;
  out.claims = make_duty_claims(most, one, ten);
  out.report.title = "What the methods cost with 1 to 200 cubes";
  out.report.paragraphs = {
      "After Susa, Sato & Hasegawa 2011, section 7.3 and Figs. 6 and 7: a ball in a hand that feels is pushed through "
      "blocks of cubes; slow period 50 ms, fast 1 ms, six neighbours at most. Times are of this machine: of its "
      "processor (the paper, too, \"used a CPU clock\") and, where it says so, by the clock on the wall.",
      fmt::format(
          "Steps in which bodies turn far are divided, and cubes that the paper's form throws about do. With ten cubes "
          "a slow step of the paper to the letter takes {:.1f} times that of impulse, and {:.1f} times with steps that "
          "are not divided, its largest duty factor being {:.2f} and {:.2f}; without test simulations it is {:.1f} "
          "times and {:.1f} times.",
          ten.letter.duty / ten.impulse.duty, ten.letter_whole.duty / ten.impulse_whole.duty,
          largest_of_steps(ten.letter), largest_of_steps(ten.letter_whole),
          without_tests(ten.letter) / ten.impulse.duty, without_tests(ten.letter_whole) / ten.impulse_whole.duty)};
  std::move(report).finish(out.report);
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
      {"deepest overlap after synchronisation, median over the steps", "\"such penetrations are little\"", typical,
       1e-3, Relation::kAtMost, "m"},
      {"deepest overlap after synchronisation, worst of the steps", "\"such penetrations are little\"",
       sorted.empty() ? kNotMeasured : sorted.back(), 1e-3, Relation::kAtMost, "m"},
      {"energy that a single slow step adds beyond the hand's work, worst", "none gained", jump, 0.01,
       Relation::kAtMost, "J"},
      {"deepest overlap at the end", "\"solved gradually\"", depths.empty() ? kNotMeasured : depths.back(), 1e-3,
       Relation::kAtMost, "m"},
  };
  add_duty_claims("duty factor of the slow loop", "below 0.25", run.duty, run.wall_duty, 0.25, Relation::kAtMost,
                  out.claims);
  add_time_claims("tick, 99th percentile", "1 ms", run.ticks, TimeOf::kP99, 1e-3, out.claims);
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
