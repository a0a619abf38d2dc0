#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "otaduy_runs.h"
#include "palpate/geometry/shapes.h"
#include "palpate/haptics/scripted.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/scene/builtin.h"
#include "stopwatch.h"
#include "wanted_metrics.h"

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
    double response = 0.0, model = 0.0, all = 0.0;  ///< sums [s], by the wall clock
    double processor = 0.0;                         ///< of all [s]
  };
  std::array<Bin, 41> bins;  ///< by number of contacts that push
  Bin most;                  ///< steps of 20 contacts or more
  std::size_t contacts = 0;  ///< that push, most of a step
  BothTimes tick;
};

/// Contacts of the tool that bear force.
std::size_t count_pushing(const World& world) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < world.memory().contacts.size(); ++i) {
    const Contact& c = world.memory().contacts[i];
    const bool tool = world.is_tool(c.body_a) || world.is_tool(c.body_b);
    count += tool && !world.memory().contact_forces[i].isZero(0.0) ? 1 : 0;
  }
  return count;
}

Times measure_times(Rig& rig, bool paper) {
  Scene scene = rig.scene();
  scene.world.contacts.max_contacts_per_soft_pair = 25;
  if (paper) choose_paper_form(scene);
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
      const ClockReading start = read_clocks();
      const StepReport report = driver.step();
      const ClockReading end = read_clocks();
      const auto time = [&](Stage s) {
        const double t = report.stage_time[as_size(s)];
        return std::isnan(t) ? 0.0 : t;
      };
      const auto found = as_size(std::min<std::size_t>(count_pushing(world), 40));
      out.contacts = std::max(out.contacts, found);
      for (Times::Bin* bin : {&out.bins[found], found >= 20 ? &out.most : nullptr}) {
        if (!bin) continue;
        ++bin->steps;
        bin->response += time(Stage::kCompliance) + time(Stage::kSolve) + time(Stage::kCorrect);
        bin->model += time(Stage::kModel);
        bin->all += 1e-9 * static_cast<double>(end.wall - start.wall);
        bin->processor += 1e-9 * static_cast<double>(end.processor - start.processor);
      }
    }
    DeviceState device;
    device.time = row.time;
    device.pose = row.device;
    device.velocity = row.device_velocity;
    const ClockReading start = read_clocks();
    driver.tick(device);
    out.tick.add(start);
  }
  return out;
}

Table make_times_table(const std::string& form, const Times& times) {
  Table table;
  table.title = fmt::format("Slow step against number of contacts that push, {}", form);
  table.columns = {"steps",      "collision response",         "linear model",
                   "whole step", "whole step, processor time", "model's share"};
  for (std::size_t c = 0; c < times.bins.size(); ++c) {
    const Times::Bin& b = times.bins[c];
    if (b.steps < 3) continue;
    const double n = b.steps;
    table.rows.push_back({fmt::format("{} contacts", c),
                          {{fmt::format("{}", b.steps)},
                           {format_quantity(b.response / n, "s")},
                           {format_quantity(b.model / n, "s")},
                           {format_quantity(b.all / n, "s")},
                           {format_quantity(b.processor / n, "s")},
                           {format_quantity(100.0 * b.model / b.all, "%")}}});
  }
  table.note =
      "By the wall clock, where it does not say otherwise. The paper, on a Pentium 4: up to 80 ms for the response, at "
      "most 0.4 ms for the model, at 25 contacts.";
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

/// Root mean square above 20 Hz of the whole force over the whole run [N].
double compute_unrest(const RunData& run) {
  double sum = 0.0;
  for (const int axis : {0, 1, 2}) sum += std::pow(compute_oscillation(run, axis, 0.0, HUGE_VAL), 2);
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

/// The hand presses and then tilts the cylinder, about z by ±20°, so that one end digs in and then the other.
Scene with_turning_hand(Scene scene) {
  const double lying = 1.5707963, tilt = 0.35;
  SceneKeyframePath path;
  const auto add = [&](double time, double y, double turn) {
    path.keyframes.push_back({.time = time, .position = Vec3(0.0, y, 0.0), .rotation = Vec3(0.0, 0.0, lying + turn)});
  };
  add(0.0, 0.03, 0.0);
  add(1.0, 0.0, 0.0);
  add(1.3, 0.0, 0.0);
  add(1.8, 0.0, tilt);
  add(2.6, 0.0, -tilt);
  add(3.1, 0.0, 0.0);
  add(3.6, 0.03, 0.0);
  std::get<SceneSimulatedHand>(scene.first().hand.kind).path = path;
  return scene;
}

/// The hand comes down on the block from 60 mm above it, at up to 0.47 m/s, and stays.
Scene with_tapping_hand(Scene scene) {
  SceneKeyframePath path;
  const auto add = [&](double time, double y) {
    path.keyframes.push_back({.time = time, .position = Vec3(0.0, y, 0.0), .rotation = Vec3(0.0, 0.0, 1.5707963)});
  };
  add(0.0, 0.08);
  add(0.5, 0.08);
  add(0.8, 0.005);
  std::get<SceneSimulatedHand>(scene.first().hand.kind).path = path;
  scene.run.seconds = 1.2;
  return scene;
}

/// When the hand is first pushed up with half a newton, five times what the tool's inertia gives it on the way [s].
double find_impact(const RunData& run) {
  const auto felt = std::ranges::find_if(run.ticks, [](const TickRow& row) { return row.wanted.force.y() > 0.5; });
  return felt == run.ticks.end() ? kNotAvailable : felt->time;
}

/// Section 7: "slow updates of the linear contact model may confuse the perception of time-of-impact during fast tool
/// motion". Five milliseconds are what a hand can just tell.
void claim_impact(const Scene& block, double rate, const ExperimentOptions& options,
                  std::vector<MeasuredClaim>& claims) {
  Rig rig(with_tapping_hand(block), options);
  const double truth = find_impact(rig.truth());
  const auto off = [&](const char* name, const std::function<void(Scene&)>& change = {}) {
    return std::abs(find_impact(rig.run(name, "jacobian", rate, change)) - truth);
  };
  const std::string at = fmt::format("tapped at {:.0f} Hz: ", rate);
  claims.push_back({at + "time of impact of jacobian, off from the truth's", "\"time-of-impact\"",
                    off("jacobian, tapped"), 0.005, Relation::kAtMost, "s"});
  claims.push_back({at + "the same of the paper's form with its filter", "\"may confuse the perception\" of it",
                    off("jacobian, paper's form, tapped", &choose_filtered_form), 0.005, Relation::kAtLeast, "s"});
}

/// What is compared at a rate: ours, the paper's form bare and with its filter, the best double coupling, the best
/// direct, compliance.
std::vector<RunData> run_all(Rig& rig, double rate) {
  std::vector<RunData> runs;
  runs.push_back(rig.run("jacobian", "jacobian", rate));
  runs.push_back(rig.run("jacobian, paper's form", "jacobian", rate, &choose_paper_form));
  runs.push_back(rig.run("jacobian, paper's form, filtered", "jacobian", rate, &choose_filtered_form));
  runs.push_back(rig.run_best_double(rate));
  runs.push_back(rig.run_best_direct(rate));
  runs.push_back(rig.run("compliance", "compliance", rate));
  return runs;
}

/// What a hand can just tell: forces that differ by about a tenth.
constexpr double kNoticed = 10.0;  ///< [%]

void claim_errors(const std::string& where, double rate, const RunData& truth, const std::vector<RunData>& runs,
                  bool torque, std::vector<MeasuredClaim>& claims) {
  const std::string at = fmt::format("{}, {:.0f} Hz", where, rate);
  const auto error = [&](std::size_t i) { return compute_wanted_metrics(runs[i], &truth).force_error_relative; };
  claims.push_back(
      {at + ": force error of jacobian", "transparent rendering", error(0), kNoticed, Relation::kAtMost, "%"});
  claims.push_back({at + ": force error of the paper's form with its filter", "transparent rendering", error(2),
                    kNoticed, Relation::kAtMost, "%"});
  claims.push_back({at + ": force error of jacobian, limit: direct's", "transparent rendering", error(0), error(4),
                    Relation::kAtMost, "%"});
  if (torque)
    claims.push_back({at + ": torque error of jacobian", "transparent rendering", compare_torques(runs[0], truth),
                      kNoticed, Relation::kAtMost, "%"});
}

double compare_oscillation(const RunData& run, const RunData& doubled, int axis) {
  return compute_oscillation(run, axis, kSlideFrom, kSlideTo) /
         compute_oscillation(doubled, axis, kSlideFrom, kSlideTo);
}

/// In the quick form of fewer elements.
Scene load_block(const ExperimentOptions& options) {
  Scene scene = with_held_contacts(load_builtin_scene("otaduy-block"));
  if (options.quick) find_body<SceneSoft>(scene, "block").cell = 0.034;
  return scene;
}

}  // namespace

ExperimentResult run_otaduy_block(const ExperimentOptions& options) {
  Rig rig(load_block(options), options), across_rig(with_slide_across(rig.scene()), options),
      turning_rig(with_turning_hand(rig.scene()), options);
  struct Case {
    const char* name;
    Rig& rig;
    int lateral;
    std::vector<RunData> at_ten{};
  };
  Case cases[] = {{"along the axis", rig, 0}, {"across the axis", across_rig, 2}, {"turning", turning_rig, 0}};
  ExperimentResult out;
  for (Case& c : cases) {
    for (const double rate : {10.0, 20.0, 60.0}) {
      if (options.quick && rate != 20.0) continue;
      std::vector<RunData> runs = run_all(c.rig, rate);
      out.report.tables.push_back(make_error_table(fmt::format("{}, slow loop at {:.0f} Hz", c.name, rate),
                                                   c.rig.truth(), runs, c.lateral, kSlideFrom, kSlideTo));
      claim_errors(c.name, rate, c.rig.truth(), runs, &c.rig == &turning_rig, out.claims);
      if (rate == options.choose(10.0, 20.0)) c.at_ten = std::move(runs);
    }
  }
  const std::vector<RunData>& along = cases[0].at_ten;
  const std::vector<RunData>& across = cases[1].at_ten;
  const RunData light = rig.run_closed("jacobian, tool of 1 g", "jacobian", with_light_tool(rig.scene()));
  const Times times = measure_times(rig, false), paper_times = measure_times(rig, true);
  const Times::Bin &most = times.most, &paper_most = paper_times.most;
  const std::string oscillates =
      "\"double-coupling suffers from large force oscillations … this problem does not arise\"";
  const std::vector<MeasuredClaim> others = {
      {"equal rates: default form against the constrained solve (relative)", "the model is exact there (eq. 12)",
       compare_equal_rates(rig.scene(), rig.truth(), false), 1e-9, Relation::kAtMost, ""},
      {"equal rates: paper's form against its constrained solve (relative)", "the model is exact there (eq. 12)",
       compare_equal_rates(rig.scene(), rig.truth(), true), 1e-9, Relation::kAtMost, ""},
      {"along the axis: lateral oscillation, of the best double_coupling's", oscillates,
       compare_oscillation(along[0], along[3], 0), 0.1, Relation::kAtMost, ""},
      {"along the axis: the same of the paper's form with its filter", oscillates,
       compare_oscillation(along[2], along[3], 0), 0.1, Relation::kAtMost, ""},
      {"across the axis: lateral oscillation, of the best double_coupling's", oscillates,
       compare_oscillation(across[0], across[3], 2), 0.1, Relation::kAtMost, ""},
      {"tool of 1 g in a hand that yields: unrest above 20 Hz over the whole run", "stable with very low mass",
       compute_unrest(light), 0.02, Relation::kAtMost, "N"},
      {"tool of 1 g: most energy ever given to the hand", "stable", compute_energy_peak(light), 1e-4, Relation::kAtMost,
       "J"},
      {"receding: most pull of the default form, beyond the truth's (the tool's inertia)", "none (inequality)",
       compute_pull(along[0]) - compute_pull(rig.truth()), 0.01, Relation::kAtMost, "N"},
      {"receding: pull of the paper's form", "\"known to produce sticking effects\"", compute_pull(along[1]), 0.05,
       Relation::kAtLeast, "N"},
      {"torque of a tool pressed off-centre (error, relative)", "statics", compare_torque(rig.scene()), 0.01,
       Relation::kAtMost, ""},
      {"contacts that push at once, most", "\"as high as 25\"", static_cast<double>(times.contacts), 25.0,
       Relation::kAtLeast, ""},
      {"slow step at 20 contacts that push or more, processor time", "30 Hz or more", most.processor / most.steps,
       1.0 / 30.0, Relation::kAtMost, "s", true},
      {"slow step at 20 contacts that push or more, wall clock", "30 Hz or more", most.all / most.steps, 1.0 / 30.0,
       Relation::kAtMost, "s", true},
      {"default model's share of it", "\"far from being the bottleneck\"", 100.0 * most.model / most.all, 5.0,
       Relation::kAtMost, "%", true},
      // Stages are timed by the wall clock alone; what the processor spends is their share of it.
      {"the paper's linear model by itself, at 20 contacts that push or more, processor time",
       "\"a maximum of 400 µs\", 25 contacts",
       paper_most.model / paper_most.all * paper_most.processor / paper_most.steps, 400e-6, Relation::kAtMost, "s",
       true},
      {"the paper's linear model by itself, at 20 contacts that push or more, wall clock",
       "\"a maximum of 400 µs\", 25 contacts", paper_most.model / paper_most.steps, 400e-6, Relation::kAtMost, "s",
       true},
  };
  out.claims.insert(out.claims.end(), others.begin(), others.end());
  claim_impact(rig.scene(), options.choose(10.0, 20.0), options, out.claims);
  add_time_claims("tick, mean", "\"250 µs in average\"; asked: 2 % of the period", times.tick, TimeOf::kMean, 20e-6,
                  out.claims);
  out.report.title = "A soft block under a cylinder: normal and lateral force";
  out.report.paragraphs = {
      "After Otaduy & Gross 2007, Fig. 3: the hand presses a cylinder of 160 triangles into a block of 2,560 "
      "tetrahedra "
      "and moves it sideways, along its axis and across it, and turns it. There is no friction. Every method gets the "
      "hand of the reference run; the slow loop's results are one period late. double_coupling is the best of six "
      "second "
      "couplings, direct the better of two aims. Times are of this machine, and of everything else that runs on it."};
  out.report.tables.push_back(make_times_table("default form", times));
  out.report.tables.push_back(make_times_table("the paper's form", paper_times));
  const auto plot = [](const std::string& title, const Case& c, int axis) {
    std::vector<const RunData*> all = {&c.rig.truth()};
    for (const RunData& run : c.at_ten) all.push_back(&run);
    return make_component_plot(title, all, axis);
  };
  out.report.plots = {plot("Normal force, along the axis", cases[0], 1),
                      plot("Lateral force, along the axis", cases[0], 0),
                      plot("Lateral force, across the axis", cases[1], 2), plot("Normal force, turning", cases[2], 1)};
  out.report.plots[0].note =
      "Slow loop at 10 Hz. From 2.65 s the hand draws back: the paper's equality contacts pull until the next model.";
  out.report.plots[2].note =
      "Contacts keep their normals until the next model: a round tool that moves across them by a fifth of its radius "
      "feels a lateral force that is not there.";
  return out;
}

}  // namespace palpate
