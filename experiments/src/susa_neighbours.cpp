#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiments.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/methods/accelerance_settings.h"
#include "susa_run.h"

// Many bodies touched at once, where the paper's method broke at eight; and bodies with joints.
namespace palpate {
namespace susa {
namespace {

/// So many touching cubes of 2 cm under a plate that presses on all of them and then slides.
Scene make_plate(int columns, int rows, double stiffness) {
  const int count = columns * rows;
  Scene scene;
  scene.name = "susa-neighbours";
  scene.first().method = "accelerance";
  scene.run.seconds = 3.0;
  set_slow_period(scene, 0.05);
  SceneRigidTool plate;
  plate.shape.kind = BoxShape{.size = Vec3(0.02 * columns + 0.03, 0.01, 0.02 * rows + 0.03)};
  plate.mass = 0.1;
  scene.first().tool.kind = plate;
  scene.first().tool.friction = 0.3;
  scene.first().tool.coupling.stiffness = stiffness;
  scene.first().tool.coupling.damping = std::min(2.0, 64.0 / count);
  scene.world.solver.tolerance = 1e-7;
  SceneRigid cube;
  cube.shape.kind = BoxShape{.size = Vec3::Constant(0.02)};
  cube.copies = {.x = columns, .y = 1, .z = rows, .spacing = Vec3::Constant(0.02)};
  scene.bodies = {{.name = "table", .kind = ScenePlane{}, .friction = 0.5},
                  {.name = "cube",
                   .kind = cube,
                   .position = Vec3(-0.01 * (columns - 1), 0.01, -0.01 * (rows - 1)),
                   .friction = 0.5}};
  SceneSimulatedHand hand;
  hand.preset = "ideal";
  const Vec3 above(0.0, 0.028, 0.0), pressed(0.0, 0.015, 0.0), aside(0.01, 0.015, 0.005);
  hand.path = SceneKeyframePath{.keyframes = {{.time = 0.0, .position = above},
                                              {.time = 0.2, .position = above},
                                              {.time = 0.8, .position = pressed},
                                              {.time = 1.5, .position = pressed},
                                              {.time = 2.5, .position = aside},
                                              {.time = 3.0, .position = aside}}};
  scene.first().hand.kind = hand;
  scene.first().guards.safety.ramp_time = 0.0;
  return scene;
}

/// RMS of the vertical force above 20 Hz while the hand holds still [N].
double compute_ripple(const RunData& run, double from, double to) {
  std::vector<double> force;
  for (const TickRow& row : run.ticks) {
    if (row.time >= from && row.time < to) force.push_back(row.wanted.force.y());
  }
  return compute_rms_above(force, 0.001, 20.0);
}

double compute_mean_force(const RunData& run, double from, double to) {
  double sum = 0.0, count = 0.0;
  for (const TickRow& row : run.ticks) {
    if (row.time < from || row.time >= to) continue;
    sum += row.wanted.force.y();
    count += 1.0;
  }
  return sum / count;
}

int most_contacts(const RunData& run) {
  int out = 0;
  for (const TickRow& row : run.ticks) out = std::max(out, row.contacts);
  return out;
}

}  // namespace
}  // namespace susa

ExperimentResult run_susa_neighbours(const ExperimentOptions& options) {
  using namespace susa;
  using Relation = MeasuredClaim::Relation;
  Table table;
  table.title = "Ripple of the force above 20 Hz, pressing and sliding, and energy given to the hand";
  table.columns = {"direct",
                   "direct, contacts held",
                   "the same, not coupled",
                   "tests, not coupled",
                   "the paper to the letter",
                   "energy, direct",
                   "tick, direct: processor time / wall clock",
                   "contacts"};
  double letter = kNotMeasured, ripple = kNotMeasured, energy = kNotMeasured, force = kNotMeasured;
  BothTimes ticks;
  Plot plot;
  const std::string of_most = options.choose<std::string>("32 cubes", "4 cubes");
  plot.title = of_most + " under the plate: vertical force";
  plot.x_label = "time";
  plot.x_unit = "s";
  plot.y_label = "force on the hand";
  plot.y_unit = "N";
  for (const auto& [columns, rows] : {std::pair{2, 1}, {2, 2}, {4, 2}, {4, 4}, {8, 4}}) {
    if (options.quick && columns * rows > 4) continue;
    Scene scene = make_plate(columns, rows, 1000.0);
    World world = make_world(scene);
    const auto run = [&](const char* name) {
      return run_timed(scene, world, "accelerance", fmt::format("{} cubes, {}", columns * rows, name), options);
    };
    const TimedRun direct = run("direct");
    scene.methods.get<AcceleranceSettings>("accelerance").local_contacts = false;
    const TimedRun held = run("contacts held");
    scene.methods.get<AcceleranceSettings>("accelerance").coupled = false;
    const TimedRun single = run("not coupled");
    scene.methods.get<AcceleranceSettings>("accelerance").way = AcceleranceSettings::Way::kTests;
    // Three test simulations a neighbour: beyond the paper's eight they take minutes.
    std::optional<TimedRun> tests;
    if (columns * rows <= 8) tests = run("tests");
    scene.methods.get<AcceleranceSettings>("accelerance").literal = true;
    std::optional<TimedRun> literal;
    if (columns * rows <= 8) literal = run("to the letter");
    const auto ripple_of = [](const TimedRun& r) {
      return std::max(compute_ripple(r.run.data, 1.0, 1.5), compute_ripple(r.run.data, 1.5, 3.0));
    };
    const auto describe = [&](const TimedRun& r) {
      const bool lost = !(compute_mean_force(r.run.data, 1.0, 3.0) > 0.0);
      return lost ? std::string("contact lost") : format_quantity(ripple_of(r), "N");
    };
    table.rows.push_back({fmt::format("{} cubes", columns * rows),
                          {{format_quantity(ripple_of(direct), "N")},
                           {format_quantity(ripple_of(held), "N")},
                           {format_quantity(ripple_of(single), "N")},
                           {tests ? describe(*tests) : "–"},
                           {literal ? describe(*literal) : "–"},
                           {format_quantity(direct.run.summary.hand().energy, "J")},
                           {format_times(direct.ticks, TimeOf::kMean)},
                           {fmt::format("{}", most_contacts(direct.run.data))}}});
    if (columns * rows == options.choose(8, 4)) letter = ripple_of(*literal);
    if (columns * rows < options.choose(32, 4)) continue;
    ripple = ripple_of(direct);
    energy = 0.0;
    for (const TickRow& row : direct.run.data.ticks) energy = std::max(energy, row.energy);
    ticks = direct.ticks;
    force = compute_mean_force(direct.run.data, 1.0, 1.5);
    for (const TimedRun* r : {&direct, &single})
      plot.series.push_back(make_series(r->run.data, [](const TickRow& row) { return row.wanted.force.y(); }));
  }
  ExperimentResult out;
  out.claims = {
      {of_most + " at once: ripple of the force above 20 Hz", "unstable \"when interact with 8 cubes at once\"", ripple,
       0.05, Relation::kAtMost, "N"},
      {of_most + " at once: mean force while pressing", "there is contact", force, 1.0, Relation::kAtLeast, "N"},
      {of_most + " at once: most energy ever given to the hand", "stable", energy, 1e-4, Relation::kAtMost, "J"},
  };
  add_time_claims(of_most + " at once: tick, 99th percentile", "1 ms", ticks, TimeOf::kP99, 1e-3, out.claims);
  out.claims.push_back({options.choose<std::string>("8 cubes", "4 cubes") +
                            " at once, the paper to the letter: ripple of the force above 20 Hz",
                        "\"unstable … when interact with 8 cubes at once\"", letter, 1.0, Relation::kAtLeast, "N"});
  out.report.title = "2 to " + of_most + " touched at once";
  out.report.paragraphs = {
      fmt::format("A plate in a hand that feels presses on all cubes, which touch each other, and then slides over "
                  "them. Each pointer has 1 kN/m, so that {0:g} together have {0:g} kN/m. The paper reports that eight "
                  "at once were unstable.",
                  options.choose(32.0, 4.0))};
  out.report.tables.push_back(std::move(table));
  out.report.plots.push_back(std::move(plot));
  return out;
}

ExperimentResult run_susa_stand(const ExperimentOptions& options) {
  using namespace susa;
  using Relation = MeasuredClaim::Relation;
  Scene scene = load_at("susa-stand", 0.05);
  if (options.quick) scene.run.seconds = 2.5;
  World world = make_world(scene);
  double joint_error = 0.0, lowest = 1.0;
  const auto find = [&](std::string_view name) {
    for (const WorldBody& b : world.bodies()) {
      if (b.name == name) return b.body.get();
    }
    throw std::logic_error("no such body");
  };
  const Body* lamp = find("lamp");
  const Body* top_die = find("die 8");
  const double die_height = top_die->compute_point({}).y();
  const TimedRun ours =
      run_timed(scene, world, "accelerance", "accelerance, 20 Hz", options, [&](const SeenStep& step) {
        World& w = step.world;
        lowest = std::min(lowest, lamp->compute_point({}).y());
        for (const Joint& j : w.joints()) {
          const auto body = [&](int i) { return i < 0 ? nullptr : w.bodies()[as_size(i)].body.get(); };
          joint_error = std::max(joint_error, compute_joint_error(j, body(j.body_a), body(j.body_b)));
        }
      });
  const double fallen = die_height - top_die->compute_point({}).y();
  const TimedRun truth = run_timed(scene, world, "reference", "single rate, 1 ms", options);
  const TimedRun impulse = run_timed(scene, world, "impulse", "impulse, 20 Hz", options);
  const auto most_energy = [](const TimedRun& r) {
    double most = 0.0;
    for (const TickRow& row : r.run.data.ticks) most = std::max(most, row.energy);
    return most;
  };
  const auto peak_of = [](const TimedRun& r, double until) {
    double peak = 0.0;
    for (const TickRow& row : r.run.data.ticks) {
      if (row.time < until) peak = std::max(peak, row.wanted.force.norm());
    }
    return peak;
  };
  ExperimentResult out;
  out.claims = {
      {"lamp pushed down by", "felt through its joints", 0.17 - lowest, 0.01, Relation::kAtLeast, "m"},
      {"joints apart, at most", "they hold", joint_error, 2e-3, Relation::kAtMost, "m"},
      {"peak force on the lamp against single rate, each with its own hand", "\"stable dynamic haptic interaction\"",
       100.0 * std::abs(peak_of(ours, 3.0) / peak_of(truth, 3.0) - 1.0), 10.0, Relation::kAtMost, "%"},
      {"peak force over the whole, dice included, against single rate", "\"stable dynamic haptic interaction\"",
       100.0 * std::abs(peak_of(ours, HUGE_VAL) / peak_of(truth, HUGE_VAL) - 1.0), 10.0, Relation::kAtMost, "%"},
      {"most energy ever given to the hand", "stable", most_energy(ours), 1e-4, Relation::kAtMost, "J"},
      {"uppermost die fell by", "knocked over", fallen, 0.01, Relation::kAtLeast, "m"},
  };
  out.report.title = "A jointed light stand and dice";
  out.report.paragraphs = {
      "After Susa, Sato & Hasegawa 2011, Fig. 8. A ball presses the lamp of a stand down, whose two hinges have dry "
      "friction, and lets it go; then it pushes over two towers of dice. Each method has its own copy of a hand that "
      "feels."};
  Plot plot;
  plot.title = "Force on the hand";
  plot.x_label = "time";
  plot.x_unit = "s";
  plot.y_label = "force";
  plot.y_unit = "N";
  plot.series.push_back(make_series(
      truth.run.data, [](const TickRow& row) { return row.wanted.force.norm(); }, SeriesStyle::kReference));
  plot.series.push_back(make_series(ours.run.data, [](const TickRow& row) { return row.wanted.force.norm(); }));
  plot.series.push_back(make_series(impulse.run.data, [](const TickRow& row) { return row.wanted.force.norm(); }));
  out.report.plots.push_back(std::move(plot));
  return out;
}

}  // namespace palpate
