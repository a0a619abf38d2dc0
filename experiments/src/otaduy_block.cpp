#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "otaduy_runs.h"
#include "palpate/core/clock.h"
#include "palpate/geometry/shapes.h"
#include "palpate/haptics/scripted.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/scene/builtin.h"

// Otaduy & Gross 2007, section 6: the block of 2,560 tetrahedra under a cylinder of 160 triangles, Fig. 3. The paper's
// hand pressed and then moved sideways; so does ours: along the cylinder's axis,
// x, and once more across it, z.
namespace palpate {
namespace {

using namespace otaduy;
using Relation = MeasuredClaim::Relation;

/// When the hand of the scene slides, and when it draws back [s].
constexpr double kSlideFrom = 1.3, kSlideTo = 2.35, kRetractFrom = 2.65, kRetractTo = 3.45;

/// Most pulling force while the hand draws back [N]. The hand feels the tool's own inertia too.
double compute_pull(const RunData& run) {
  const std::vector<double> f = force_of(run, 1, kRetractFrom, kRetractTo);
  return f.empty() ? kNotAvailable : std::max(0.0, -*std::min_element(f.begin(), f.end()));
}

/// Times of the slow step and the tick while the hand of the truth presses and slides.
struct Times {
  struct Bin {
    int steps = 0;
    double response = 0.0, model = 0.0, all = 0.0;  ///< sums [s]
  };
  std::array<Bin, 41> bins;  ///< by number of contacts that push
  Bin most;                  ///< steps of 20 contacts or more
  Histogram tick;
};

Times measure_times(Rig& rig) {
  Scene scene = rig.scene();
  scene.world.contacts.max_contacts_per_soft_pair = 25;
  World world = make_world(scene);
  ScriptedDevice still(make_path(KeyframePathSettings{
      {0.0}, {rig.truth().ticks.front().device.position}, {rig.truth().ticks.front().device.rotation}}));
  HandDriven driver(make_method(scene, "jacobian", world, still));
  Times out;
  std::size_t i = 0;
  for (const TickRow& row : rig.truth().ticks) {
    if (rig.stopped()) break;
    // Every 20 ms, so that there are steps enough to average over.
    if (i++ % 20 == 0) {
      const std::int64_t start = monotonic_ns();
      const StepReport report = driver.step();
      const double all = 1e-9 * static_cast<double>(monotonic_ns() - start);
      const auto time = [&](Stage s) {
        const double t = report.stage_time[as_size(s)];
        return std::isnan(t) ? 0.0 : t;
      };
      const auto found = as_size(std::min<std::size_t>(world.memory().contacts.size(), 40));
      for (Times::Bin* bin : {&out.bins[found], found >= 20 ? &out.most : nullptr}) {
        if (!bin) continue;
        ++bin->steps;
        bin->response += time(Stage::kCompliance) + time(Stage::kSolve) + time(Stage::kCorrect);
        bin->model += time(Stage::kModel);
        bin->all += all;
      }
    }
    DeviceState device;
    device.time = row.time;
    device.pose = row.device;
    device.velocity = row.device_velocity;
    const std::int64_t start = monotonic_ns();
    driver.tick(device);
    out.tick.add(monotonic_ns() - start);
  }
  return out;
}

Table make_times_table(const Times& times) {
  Table table;
  table.title = "Slow step against number of contacts";
  table.columns = {"steps", "collision response", "linear model", "whole step", "model's share"};
  for (std::size_t c = 0; c < times.bins.size(); ++c) {
    const Times::Bin& b = times.bins[c];
    if (b.steps < 3) continue;
    const double n = b.steps;
    table.rows.push_back({fmt::format("{} contacts", c),
                          {{fmt::format("{}", b.steps)},
                           {format_quantity(b.response / n, "s")},
                           {format_quantity(b.model / n, "s")},
                           {format_quantity(b.all / n, "s")},
                           {format_quantity(100.0 * b.model / b.all, "%")}}});
  }
  table.note = "The paper, on a Pentium 4: up to 80 ms for the response, at most 0.4 ms for the model, at 25 contacts.";
  return table;
}

/// How far the haptic tool's wrench is from the visual tool's when both loops have the same rate and the same input,
/// relative to it: zero but for rounding, whichever form. The tool falls from its start onto a hand that stands pressed
/// in, so that input and state of both are the same in every step.
double compare_equal_rates(const Scene& original, const RunData& truth, bool paper) {
  Scene scene = original;
  scene.run.dt = scene.run.slow_period = 0.01;
  scene.world.solver_name = "direct";
  scene.world.solver.tolerance = 1e-16;
  if (paper) choose_paper_form(scene);
  JacobianSettings& jacobian = scene.methods.get<JacobianSettings>("jacobian");
  jacobian.track = true;
  jacobian.tolerance = 1e-16;
  jacobian.max_iterations = 2000;
  jacobian.max_contacts = JacobianSettings::kMost;
  scene.world.contacts.max_contacts_per_soft_pair = JacobianSettings::kMost;
  scene.world.contacts.max_contacts = 100;  // the direct solver's memory grows with their square
  World world = make_world(scene);
  const TickRow& first = truth.ticks.front();
  ScriptedDevice still(make_path(KeyframePathSettings{{0.0}, {first.device.position}, {first.device.rotation}}));
  HandDriven driver(make_method(scene, "jacobian", world, still));
  DeviceState device;
  device.pose = {Vec3(0.0, 0.01, 0.0), first.device.rotation};
  driver.tick(device);
  double worst = 0.0, largest = 0.0;
  for (int i = 0; i < 40; ++i) {
    driver.step();
    const TickResult fast = driver.tick(device);
    const Wrench visual = world.body(world.tools()[0])->compute_grip();
    worst = std::max(worst, (fast.wrench.force + visual.force).norm());
    largest = std::max(largest, visual.force.norm());
  }
  return worst / largest;
}

/// A ball on an arm of 30 mm, pressed into the block: statics demands the torque of the contacts' forces about the
/// handle. Those are the slow loop's, the torque in the hand is the fast loop's; both are averaged over the last half
/// second, because contacts change from step to step. Returns the difference relative to it.
double compare_torque(const Scene& original) {
  Scene scene = original;
  const Vec3 arm(0.03, 0.0, 0.0);
  auto& tool = std::get<SceneRigidTool>(scene.first().tool.kind);
  tool.shape.kind = SphereShape{.radius = 0.015, .subdivisions = 6};
  tool.offset = arm;
  const Pose start{Vec3(-0.03, 0.02, 0.0), Quat::Identity()};
  scene.first().hand.kind = SceneScriptedHand{.path = SceneKeyframePath{.keyframes = {{.position = start.position}}}};
  World world = make_world(scene);
  const std::unique_ptr<Device> hand = make_device(scene);
  HandDriven driver(make_method(scene, "jacobian", world, *hand));
  Vec3 felt = Vec3::Zero(), borne = Vec3::Zero();
  const auto every = static_cast<int>(std::lround(scene.run.slow_period / scene.run.dt));
  for (int i = 0; i < 25 * every; ++i) {
    const double down = std::min(1.0, i / 800.0);
    DeviceState device;
    device.pose = start;
    device.pose.position.y() -= 0.018 * down;
    if (down < 1.0) device.velocity.linear.y() = -0.018 / 0.8;
    if (i % every == 0) driver.step();
    const TickResult out = driver.tick(device);
    if (i < 20 * every) continue;
    felt += out.wrench.torque / (5.0 * every);
    if (i % every != 0) continue;
    for (std::size_t k = 0; k < world.memory().contacts.size(); ++k) {
      const Contact& c = world.memory().contacts[k];
      const bool is_a = c.body_a == world.tools()[0];
      const Vec3 f = (is_a ? 1.0 : -1.0) * c.normal.dot(world.memory().contact_forces[k]) * c.normal;
      borne += ((is_a ? c.point_a : c.point_b) - out.tool.position).cross(f) / 5.0;
    }
  }
  return (felt - borne).norm() / borne.norm();
}

/// Root mean square above 20 Hz of the whole force while the hand holds still [N].
double compute_unrest_in_hold(const RunData& run) {
  double sum = 0.0;
  for (const int axis : {0, 1, 2}) sum += std::pow(compute_oscillation(run, axis, 1.1, 1.3), 2);
  return std::sqrt(sum);
}

Scene with_light_tool(Scene scene) {
  std::get<SceneRigidTool>(scene.first().tool.kind).mass = 0.001;
  return scene;
}

/// The hand's way turned by a quarter about y: across the cylinder's axis.
Scene with_slide_across(Scene scene) {
  auto& path = std::get<ScenePressAndSlidePath>(*find_path(scene.first().hand));
  path.start = Vec3(0.0, 0.03, -0.02);
  path.slide_direction = Vec3(0.0, 0.0, 1.0);
  return scene;
}

std::vector<RunData> run_all(Rig& rig, double rate) {
  std::vector<RunData> runs;
  runs.push_back(rig.run("jacobian", "jacobian", rate));
  runs.push_back(rig.run("jacobian, paper's form", "jacobian", rate, &choose_paper_form));
  runs.push_back(rig.run("double_coupling", "double_coupling", rate));
  runs.push_back(rig.run("direct", "direct", rate));
  runs.push_back(rig.run("compliance", "compliance", rate));
  return runs;
}

double compare_oscillation(const RunData& run, const RunData& doubled, int axis) {
  return compute_oscillation(run, axis, kSlideFrom, kSlideTo) /
         compute_oscillation(doubled, axis, kSlideFrom, kSlideTo);
}

}  // namespace

ExperimentResult run_otaduy_block(const ExperimentOptions& options) {
  Rig rig(load_builtin_scene("otaduy-block"), options);
  ExperimentResult out;
  std::vector<RunData> at_ten;
  for (const double rate : {10.0, 20.0, 60.0}) {
    std::vector<RunData> runs = run_all(rig, rate);
    out.report.tables.push_back(
        make_error_table(fmt::format("Slow loop at {:.0f} Hz", rate), rig.truth(), runs, 0, kSlideFrom, kSlideTo));
    if (rate == 10.0) at_ten = std::move(runs);
  }
  const RunData filtered = rig.run("paper's form, filtered", "jacobian", 10.0, [](Scene& scene) {
    choose_paper_form(scene);
    scene.methods.get<JacobianSettings>("jacobian").filter_time = 0.1;
  });
  Rig across_rig(with_slide_across(rig.scene()), options);
  const std::vector<RunData> across = run_all(across_rig, 10.0);
  out.report.tables.push_back(make_error_table("Slow loop at 10 Hz, sliding across the cylinder's axis",
                                               across_rig.truth(), across, 2, kSlideFrom, kSlideTo));
  const RunData light = rig.run_closed("jacobian, tool of 1 g", "jacobian", with_light_tool(rig.scene()));
  const Times times = measure_times(rig);
  const Times::Bin& most = times.most;
  const RunData &ours = at_ten[0], &paper = at_ten[1], &doubled = at_ten[2];
  out.claims = {
      {"equal rates: default form against the constrained solve (relative)", "the model is exact there (eq. 12)",
       compare_equal_rates(rig.scene(), rig.truth(), false), 1e-9, Relation::kAtMost, ""},
      {"equal rates: paper's form against its constrained solve (relative)", "the model is exact there (eq. 12)",
       compare_equal_rates(rig.scene(), rig.truth(), true), 1e-9, Relation::kAtMost, ""},
      {"lateral oscillation at 10 Hz, of double_coupling's",
       "\"double-coupling suffers from large force oscillations\"", compare_oscillation(ours, doubled, 0), 0.1,
       Relation::kAtMost, ""},
      {"the same of the paper's form", "\"this problem does not arise with our linear contact model\"",
       compare_oscillation(paper, doubled, 0), 0.1, Relation::kAtMost, ""},
      {"the same of the default form, across the axis", "\"this problem does not arise with our linear contact model\"",
       compare_oscillation(across[0], across[2], 2), 0.1, Relation::kAtMost, ""},
      {"tool of 1 g in a hand that yields, 10 Hz: unrest above 20 Hz while it holds", "stable with very low mass",
       compute_unrest_in_hold(light), 0.02, Relation::kAtMost, "N"},
      {"the same: energy given to the hand", "stable", light.ticks.empty() ? kNotAvailable : light.ticks.back().energy,
       0.0, Relation::kAtMost, "J"},
      {"receding at 10 Hz: most pull of the default form, beyond the truth's (the tool's inertia)", "none (inequality)",
       compute_pull(ours) - compute_pull(rig.truth()), 0.01, Relation::kAtMost, "N"},
      {"receding at 10 Hz: pull of the paper's form", "\"known to produce sticking effects\"", compute_pull(paper),
       0.05, Relation::kAtLeast, "N"},
      {"torque of a tool pressed off-centre (error, relative)", "statics", compare_torque(rig.scene()), 0.01,
       Relation::kAtMost, ""},
      {"slow step at 20 to 25 contacts", "30 Hz or more", most.all / most.steps, 1.0 / 30.0, Relation::kAtMost, "s"},
      {"linear model's share of it", "below 5 %; \"far from being the bottleneck\"", 100.0 * most.model / most.all, 5.0,
       Relation::kAtMost, "%"},
      {"tick, mean", "below 2 % of the period; the paper's 250 µs", 1e-9 * times.tick.mean_ns(), 20e-6,
       Relation::kAtMost, "s"},
  };
  out.report.title = "A soft block under a cylinder: normal and lateral force";
  out.report.paragraphs = {
      "After Otaduy & Gross 2007, Fig. 3: the hand presses a cylinder of 160 triangles into a block of 2,560 "
      "tetrahedra "
      "and moves it sideways, along its axis and once across it. There is no friction. Every method gets the hand of "
      "the reference run; the slow loop's results are one period late. Times are of this machine, and of everything "
      "else that runs on it."};
  out.report.tables.push_back(make_times_table(times));
  const RunData& truth = rig.truth();
  const std::vector<const RunData*> all = {&truth, &at_ten[0], &at_ten[1], &at_ten[2], &at_ten[3]};
  out.report.plots = {make_component_plot("Normal force, slow loop at 10 Hz", all, 1),
                      make_component_plot("Lateral force, slow loop at 10 Hz, along the axis", all, 0),
                      make_component_plot("Lateral force, slow loop at 10 Hz, across the axis",
                                          {&across_rig.truth(), &across[0], &across[1], &across[2], &across[3]}, 2),
                      make_component_plot("Normal force of the paper's form with its model filtered (0.1 s)",
                                          {&truth, &at_ten[1], &filtered}, 1)};
  out.report.plots[0].note =
      "From 2.65 s the hand draws back: the paper's equality contacts pull until the next model.";
  out.report.plots[2].note =
      "Contacts keep their normals until the next model: a round tool that moves across them by a fifth of its radius "
      "feels a lateral force that is not there.";
  return out;
}

}  // namespace palpate
