#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/methods/accelerance_settings.h"
#include "susa_run.h"

// What things weigh in the hand: pushed over a table, and lifted by two fingers.
namespace palpate {
namespace susa {
namespace {

constexpr double kWeightG = 9.81;
constexpr double kPushFriction = 0.4, kPushFrom = 0.6, kPushTo = 1.6;

const RigidBody& find_rigid(const World& world, std::string_view name) {
  for (const WorldBody& b : world.bodies()) {
    if (b.name == name) return dynamic_cast<const RigidBody&>(*b.body);
  }
  throw std::logic_error("no such body");
}

/// A cube pushed by a hand that feels.
struct Push {
  RunData data;
  std::vector<double> times, speeds;  ///< of the cube in the fast loop, when slow steps begin
  double acceleration_error =
      0.0;           ///< against force and friction over its mass, relative to what the force alone gives
  double way = 0.0;  ///< of the cube [m]
};

Push push_cube(double period, AcceleranceSettings::Way way, const std::string& name, const ExperimentOptions& options) {
  Scene scene = load_at("susa-push", period);
  scene.methods.get<AcceleranceSettings>("accelerance").way = way;
  World world = make_world(scene);
  const RigidBody& cube = find_rigid(world, "cube");
  Push out;
  out.data = run_timed(scene, world, "accelerance", name, options, [&](const SeenStep& step) {
               for (std::int32_t k = 0; k < step.fast->bodies && step.fast->header.sequence > 0; ++k) {
                 const accelerance::Feedback::Body& f = step.fast->body[as_size(k)];
                 if (step.world.bodies()[as_size(f.body)].body.get() != &cube) continue;
                 out.times.push_back(step.fast->header.time + scene.run.dt);
                 out.speeds.push_back(f.velocity.x());
               }
             }).run.data;
  out.way = cube.centre_pose().position.x();
  const auto push_at = [&](std::size_t tick) { return -out.data.ticks[tick].wanted.force.x(); };
  double impulse = 0.0, from = kNotMeasured, to = kNotMeasured, first = 0.0, last = 0.0;
  for (std::size_t i = 0; i < out.times.size(); ++i) {
    if (out.times[i] < kPushFrom - 1e-9 || out.times[i] > kPushTo + 1e-9) continue;
    if (!std::isfinite(from)) {
      from = out.speeds[i];
      first = out.times[i];
    }
    to = out.speeds[i];
    last = out.times[i];
  }
  for (std::size_t i = 0; i < out.data.ticks.size(); ++i) {
    const double t = out.data.ticks[i].time;
    if (t > first - 1e-9 && t < last - 1e-9) impulse += push_at(i) * scene.run.dt;
  }
  const double duration = last - first;
  const double expected = impulse / cube.mass() - kPushFriction * kWeightG * duration;
  out.acceleration_error = std::abs(to - from - expected) / (impulse / cube.mass());
  return out;
}

}  // namespace
}  // namespace susa

ExperimentResult run_susa_weight(const ExperimentOptions& options) {
  using namespace susa;
  using Relation = MeasuredClaim::Relation;
  using Way = AcceleranceSettings::Way;
  ExperimentResult out;
  Table table;
  table.title = "Half a kilogram pushed over a table, μ = 0.4";
  table.columns = {"acceleration off by", "the cube's way"};
  Plot speeds;
  speeds.title = "Speed of the pushed cube";
  speeds.x_label = "time";
  speeds.x_unit = "s";
  speeds.y_label = "speed";
  speeds.y_unit = "m/s";
  for (const Way way : {Way::kDirect, Way::kTests}) {
    for (const double rate : {10.0, 20.0, 50.0}) {
      if (options.quick && (rate != 20.0 || way == Way::kTests)) continue;
      const std::string name = fmt::format("{}, {:.0f} Hz", way == Way::kDirect ? "direct" : "tests", rate);
      const Push push = push_cube(1.0 / rate, way, name, options);
      table.rows.push_back({name,
                            {{format_quantity(100.0 * push.acceleration_error, "%")}, {format_quantity(push.way, "m")}},
                            way == Way::kTests});
      Series series;
      series.name = name;
      series.x = push.times;
      series.y = push.speeds;
      speeds.series.push_back(std::move(series));
      if (way == Way::kDirect)
        out.claims.push_back({fmt::format("pushed at {:.0f} Hz: acceleration off, of the force over the mass", rate),
                              "the weight that it has", 100.0 * push.acceleration_error, 2.0, Relation::kAtMost, "%"});
    }
  }
  const Scene lift = load_at("susa-lift", 0.05);
  World world = make_world(lift);
  const TimedRun lifted = run_timed(lift, world, "accelerance", "accelerance", options);
  double weight = 0.0, count = 0.0;
  for (const TickRow& row : lifted.run.data.ticks) {
    if (row.time < 3.5) continue;
    weight -= row.wanted.force.y();
    count += 1.0;
  }
  const RigidBody& cube = find_rigid(world, "cube");
  const double exact = cube.mass() * kWeightG;
  out.claims.push_back({"lifted by two fingers: weight off", "m g", 100.0 * std::abs(weight / count / exact - 1.0), 1.0,
                        Relation::kAtMost, "%"});
  out.claims.push_back({"lifted: height of the cube's centre at the end", "it does not slip out of the fingers",
                        cube.centre_pose().position.y(), 0.12, Relation::kAtLeast, "m"});
  out.report.title = "Weight in the hand, pushed and lifted";
  out.report.paragraphs = {
      "A hand that feels pushes a cube with a flat pointer; what the cube does from 0.6 s to 1.6 s is compared with "
      "the "
      "impulse of the hand less that of friction. Two fingers then take a cube of 200 g, lift it by 100 mm and hold "
      "it. "
      "By tests, as in the paper, contacts are part of the accelerance, so that the cube stands like a wall until the "
      "slow loop has found that it slips, and is dragged on until it has found that it stops."};
  out.report.tables.push_back(std::move(table));
  out.report.plots.push_back(std::move(speeds));
  Plot weight_plot;
  weight_plot.title = "Vertical force of the lifted cube on the hand";
  weight_plot.x_label = "time";
  weight_plot.x_unit = "s";
  weight_plot.y_label = "force";
  weight_plot.y_unit = "N";
  weight_plot.series.push_back(make_series(lifted.run.data, [](const TickRow& row) { return row.wanted.force.y(); }));
  out.report.plots.push_back(std::move(weight_plot));
  return out;
}

}  // namespace palpate
