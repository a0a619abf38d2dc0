#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "experiments.h"
#include "palpate/experiments/scene_run.h"
#include "wanted_metrics.h"

// A rod goes at 0.3 m/s over a corner of a soft block and over a static mesh of 102,400 triangles, slid or rolled, with
// a slow loop of 10 Hz. In a slow period it goes 30 mm, four of its radii, so that contacts which the slow loop found
// are not those that the fast loop meets.
namespace palpate {
namespace {

constexpr double kRadius = 0.008, kSpeed = 0.3, kRamp = 0.1, kSlowPeriod = 0.1;

/// Presses down from `above` by `depth`, if that is not zero, and goes from `from` along `direction` by `distance`.
struct Stroke {
  Vec3 from = Vec3::Zero();
  Vec3 direction = Vec3::UnitX();  ///< unit, level
  double distance = 0.0;           ///< [m]
  double depth = 0.0;              ///< [m]
  double begin = 0.0;              ///< when it begins to go; at rest for 0.2 s before, and pressed within 0.4 s [s]
};

/// The way after so long: up to kSpeed within kRamp, and down likewise [m].
double find_way(double time, double distance) {
  const double whole = distance / kSpeed + kRamp, t = std::clamp(time, 0.0, whole);
  const double fall = std::max(0.0, t - (whole - kRamp)), rise = std::min(t, kRamp);
  return kSpeed * (0.5 * rise * rise / kRamp + std::max(0.0, t - kRamp) - 0.5 * fall * fall / kRamp);
}

/// A keyframe for every tick, so that the hand rolls as evenly as it goes.
SceneKeyframePath make_path(const Stroke& stroke, bool rolled, double seconds) {
  const Vec3 axis = Vec3::UnitY().cross(stroke.direction);
  const Quat lies = Quat::FromTwoVectors(Vec3::UnitY(), axis);
  SceneKeyframePath path;
  path.interpolation = PathInterpolation::kLinear;
  for (int i = 0; i <= static_cast<int>(std::lround(1000.0 * seconds)); ++i) {
    const double time = 0.001 * i, way = find_way(time - stroke.begin, stroke.distance);
    const double press = std::clamp((time - (stroke.begin - 0.6)) / 0.4, 0.0, 1.0);
    const Quat turn = rotation_from_vector((rolled ? way / kRadius : 0.0) * axis);
    path.keyframes.push_back({.time = time,
                              .position = stroke.from + way * stroke.direction -
                                          stroke.depth * (3.0 - 2.0 * press) * press * press * Vec3::UnitY(),
                              .rotation = rotation_vector(turn * lies)});
  }
  return path;
}

Scene make_rod_scene(const std::string& name, double seconds) {
  Scene scene;
  scene.name = name;
  scene.run.seconds = seconds;
  set_slow_period(scene, kSlowPeriod);
  SceneTool& tool = scene.first().tool;
  tool.kind = SceneRigidTool{
      .shape = SceneShape{.kind = CylinderShape{.radius = kRadius, .height = 0.05, .around = 24, .along = 4}},
      .mass = 0.03};
  tool.coupling = {.stiffness = 300.0, .damping = 0.5, .rotational_stiffness = 0.2, .rotational_damping = 1e-3};
  return scene;
}

/// 6 mm into the middle of a soft block, and along its diagonal over the corner.
Scene make_corner_scene(bool rolled) {
  Scene scene = make_rod_scene(rolled ? "rod-corner-rolled" : "rod-corner-slid", 1.6);
  SceneSoft block{.shape = SceneShape{.kind = BoxShape{.size = Vec3(0.08, 0.05, 0.08)}}, .cell = 0.01};
  block.material = {.young_modulus = 1e4, .poisson_ratio = 0.35, .density = 1000.0, .stiffness_damping = 0.005};
  block.fixed = {{.min = Vec3::Constant(-1.0), .max = Vec3(1.0, -0.0499, 1.0)}};
  scene.bodies.push_back({.name = "block", .kind = block, .position = Vec3(0.0, -0.025, 0.0), .friction = 0.3});
  const Vec3 diagonal = Vec3(1.0, 0.0, 1.0).normalized();
  const Stroke stroke{.from = kRadius * Vec3::UnitY() - 0.02 * diagonal + 0.001 * Vec3::UnitY(),
                      .direction = diagonal,
                      .distance = 0.12,
                      .depth = 0.007,
                      .begin = 0.9};
  scene.first().hand.kind = SceneScriptedHand{.path = make_path(stroke, rolled, scene.run.seconds)};
  return scene;
}

/// Onto the outside of a lying torus, over its tube, through the hole and over the tube again, 4 mm deep at the top.
Scene make_mesh_scene(bool rolled) {
  Scene scene = make_rod_scene(rolled ? "rod-mesh-rolled" : "rod-mesh-slid", 1.1);
  SceneStatic torus{.shape =
                        SceneShape{.kind = TorusShape{
                                       .major_radius = 0.05, .minor_radius = 0.02, .around = 320, .around_tube = 160}}};
  scene.bodies.push_back({.name = "torus", .kind = torus, .friction = 0.3});
  const Stroke stroke{
      .from = Vec3(-0.1, 0.024, 0.0), .direction = Vec3::UnitX(), .distance = 0.2, .depth = 0.0, .begin = 0.3};
  scene.first().hand.kind = SceneScriptedHand{.path = make_path(stroke, rolled, scene.run.seconds)};
  return scene;
}

/// How deep the tool was in others at the beginning of any tick, of a method that steps the world itself.
class DepthWatch final : public LoopWatch {
 public:
  explicit DepthWatch(const World& world) : world_(world) {}
  void after_tick(std::span<const TickRow>) noexcept override {
    for (const Contact& c : world_.memory().contacts) deepest = std::max(deepest, -c.gap);
  }
  double deepest = 0.0;  ///< [m]

 private:
  const World& world_;
};

struct RodRun {
  RunData data;
  double deepest = 0.0;  ///< [m]
  double jump = 0.0;     ///< largest between two ticks [N]
};

RodRun run_once(const Scene& scene, const char* method, const ExperimentOptions& options) {
  World world = make_world(scene);
  DepthWatch watch(world);
  const bool is_truth = std::string_view(method) == "reference";
  SceneRunOptions once{.method = method, .watch = is_truth ? &watch : nullptr};
  once.control.stop = options.stop;
  if (options.progress)
    once.control.progress = [&](double t) {
      options.progress(fmt::format("{}, {}", scene.name, method), t / scene.run.seconds);
    };
  RodRun out{.data = run_scene(scene, world, once).data};
  const Metrics metrics = compute_wanted_metrics(out.data, nullptr);
  out.deepest = is_truth ? watch.deepest : metrics.overlap_max;
  out.jump = metrics.force_jump_max;
  return out;
}

void add_series(const RunData& run, SeriesStyle style, Plot& plot) {
  Series series{run.name, {}, {}, style};
  for (const TickRow& tick : run.ticks) {
    series.x.push_back(tick.time);
    series.y.push_back(tick.wanted.force.norm());
  }
  plot.series.push_back(std::move(series));
}

}  // namespace

ExperimentResult run_rod(const ExperimentOptions& options) {
  const std::array scenes = {make_corner_scene(false), make_corner_scene(true), make_mesh_scene(false),
                             make_mesh_scene(true)};
  ExperimentResult out;
  out.report.title = "A rod over a corner and over a mesh, at 0.3 m/s with a slow loop of 10 Hz";
  out.report.paragraphs = {
      "Depth is that of the fast loop's tool below the surface that the fast loop has, at the beginning of any tick; "
      "of "
      "reduced, of the last tick before each slow step only."};
  for (const Scene& scene : scenes) {
    if (options.stopped()) break;
    if (options.quick && &scene != &scenes[1]) continue;
    const RodRun truth = run_once(scene, "reference", options);
    Plot plot;
    plot.title = fmt::format("Force, {}", scene.name);
    plot.x_label = "time";
    plot.x_unit = "s";
    plot.y_label = "force";
    plot.y_unit = "N";
    add_series(truth.data, SeriesStyle::kReference, plot);
    Table table;
    table.title = scene.name;
    table.columns = {"deepest", "largest jump", "force error"};
    table.rows.push_back(
        {"reference", {{format_quantity(truth.deepest, "m")}, {format_quantity(truth.jump, "N")}, {"–"}}, true});
    for (const char* method : {"jacobian", "compliance", "reduced"}) {
      const RodRun run = run_once(scene, method, options);
      const double error = compute_wanted_metrics(run.data, &truth.data).force_error_relative;
      out.claims.push_back({fmt::format("{}, {}: deeper than in the truth by", scene.name, method), "our own",
                            run.deepest - truth.deepest, 2e-4, MeasuredClaim::Relation::kAtMost, "m"});
      out.claims.push_back({fmt::format("{}, {}: largest jump of force, of the truth's", scene.name, method), "our own",
                            run.jump / truth.jump, 2.0, MeasuredClaim::Relation::kAtMost, ""});
      table.rows.push_back(
          {method,
           {{format_quantity(run.deepest, "m")}, {format_quantity(run.jump, "N")}, {format_quantity(error, "%")}}});
      add_series(run.data, SeriesStyle::kMethod, plot);
    }
    out.report.plots.push_back(std::move(plot));
    out.report.tables.push_back(std::move(table));
  }
  return out;
}

}  // namespace palpate
