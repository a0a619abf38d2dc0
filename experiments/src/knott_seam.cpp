#include <fmt/format.h>

#include <array>

#include "experiments.h"
#include "knott_scenes.h"
#include "palpate/methods/limited_settings.h"
#include "wanted_metrics.h"

// Knott & Kuhlen 2015, eqs. 9 to 11: every constraint has its own rows of the two response matrices. `limited` takes
// the compliance of one place, where the point stands, for all constraints that it touches at once. That is the same as
// long as they are of one surface that yields there as one. Where a point goes from one body over to another that
// touches it, they are not.
namespace palpate {
namespace {

/// Two soft blocks side by side, both held from below, and a hand that presses and strokes from `from` to `to` (x,
/// [m]).
Scene make_seam_scene(const std::string& name, double from, double to, double slow_period) {
  Scene scene = make_knott_scene(name, "", 1.6);
  SceneSoft block{.shape = SceneShape{.kind = BoxShape{.size = Vec3(0.04, 0.03, 0.04)}}, .cell = 0.01};
  block.material = {.young_modulus = 2e4, .poisson_ratio = 0.35, .density = 1000.0, .stiffness_damping = 0.005};
  block.fixed = {{.min = Vec3::Constant(-1.0), .max = Vec3(1.0, -0.0299, 1.0)}};
  for (const double side : {-1.0, 1.0})
    scene.bodies.push_back({.name = side < 0.0 ? "left" : "right",
                            .kind = block,
                            .position = Vec3(0.02 * side, -0.015, 0.0),
                            .friction = kKnottFriction});
  const double above = 0.003, depth = -0.003, z = 0.0013;
  SceneKeyframePath path;
  path.keyframes = {{.time = 0.0, .position = Vec3(from, above, z)}, {.time = 0.1, .position = Vec3(from, above, z)},
                    {.time = 0.4, .position = Vec3(from, depth, z)}, {.time = 0.6, .position = Vec3(from, depth, z)},
                    {.time = 1.4, .position = Vec3(to, depth, z)},   {.time = 1.6, .position = Vec3(to, depth, z)}};
  scene.first().hand.kind = SceneScriptedHand{.path = std::move(path)};
  set_slow_period(scene, slow_period);
  if (slow_period <= scene.run.dt) scene.run.latency = 0.0;
  auto& limited = scene.methods.get<LimitedSettings>("limited");
  limited.look_ahead = limited.blend = false;
  return scene;
}

}  // namespace

ExperimentResult run_knott_seam(const ExperimentOptions& options) {
  struct Stroke {
    const char* name;
    double from, to;
  };
  constexpr std::array<Stroke, 2> kStrokes = {{{"within a block", 0.01, 0.03}, {"over the seam", -0.01, 0.01}}};
  ExperimentResult out;
  Table table;
  table.title = "Force error against the truth";
  table.columns = {"equal rates, 1 ms", "33 ms, one period late"};
  for (const Stroke& stroke : kStrokes) {
    TableRow row{stroke.name, {}};
    Plot plot;
    plot.title = fmt::format("Force, {}", stroke.name);
    plot.x_label = "time";
    plot.x_unit = "s";
    plot.y_label = "force";
    plot.y_unit = "N";
    RunData truth;
    for (const double period : {0.001, 0.033}) {
      if (options.stopped() || (options.quick && period > 0.001)) continue;
      Scene scene = make_seam_scene("knott-seam", stroke.from, stroke.to, period);
      if (options.quick) scene.run.seconds = 1.1;  // past the seam
      World world = make_world(scene);
      const auto run = [&](const char* method, const std::string& name) {
        SceneRunOptions once;
        once.method = method;
        once.control.stop = options.stop;
        if (options.progress) once.control.progress = [&](double t) { options.progress(name, t / scene.run.seconds); };
        RunData data = run_scene(scene, world, once).data;
        data.name = name;
        return data;
      };
      const auto add_series = [&](const RunData& data, SeriesStyle style) {
        Series series{data.name, {}, {}, style};
        for (const TickRow& tick : data.ticks) {
          series.x.push_back(tick.time);
          series.y.push_back(tick.wanted.force.norm());
        }
        plot.series.push_back(std::move(series));
      };
      if (truth.ticks.empty()) {
        truth = run("reference", "reference");
        add_series(truth, SeriesStyle::kReference);
      }
      const RunData limited = run("limited", period > 0.001 ? "limited, 33 ms" : "limited, equal rates");
      add_series(limited, SeriesStyle::kMethod);
      const double error = compute_wanted_metrics(limited, &truth).force_error_relative;
      row.cells.push_back({format_quantity(error, "%")});
      if (period == 0.001)
        out.claims.push_back({fmt::format("{}, equal rates: force error of limited", stroke.name),
                              "eqs. 9 to 11: A_ψ and A_τ \"reflect the complete dynamics\"", error, 2.0,
                              MeasuredClaim::Relation::kAtMost, "%"});
    }
    row.cells.resize(table.columns.size(), {"–"});
    table.rows.push_back(std::move(row));
    out.report.plots.push_back(std::move(plot));
  }
  out.report.title = "One place's compliance for all contacts: what is lost at a seam";
  out.report.paragraphs = {
      "Two soft blocks (E = 20 kPa) side by side, touching, stroked 3 mm deep by a point: within the right one, and "
      "from "
      "the left one over the seam. With both loops at 1 kHz and no delay nothing is left that could differ from the "
      "truth but what a tick makes of its constraints. Knott & Kuhlen give each constraint its own rows of A_ψ and "
      "A_τ; "
      "limited takes the compliance where the point stands for all that it touches at once."};
  out.report.tables = {std::move(table)};
  return out;
}

}  // namespace palpate
