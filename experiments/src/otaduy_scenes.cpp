#include <fmt/format.h>

#include <algorithm>

#include "experiments.h"
#include "otaduy_runs.h"
#include "palpate/scene/builtin.h"

// Otaduy & Gross 2007, Fig. 2: a liver, and a polyp bent far. The paper shows pictures and gives no numbers; what is
// claimed here is that the force follows the truth better than what the slow loop alone gives.
namespace palpate {
namespace {

using namespace otaduy;
using Relation = MeasuredClaim::Relation;

ExperimentResult compare_on(Scene scene, const ExperimentOptions& options, double rate, int lateral) {
  Rig rig(std::move(scene), options);
  std::vector<RunData> runs;
  runs.push_back(rig.run("jacobian", "jacobian", rate));
  runs.push_back(rig.run("jacobian, paper's form", "jacobian", rate, &choose_paper_form));
  runs.push_back(rig.run("double_coupling", "double_coupling", rate));
  runs.push_back(rig.run("direct", "direct", rate));
  runs.push_back(rig.run("compliance", "compliance", rate));
  const RunData& truth = rig.truth();
  std::vector<Metrics> metrics;
  for (const RunData& run : runs) metrics.push_back(compute_metrics(run, &truth));
  const double end = rig.scene().run.seconds;
  ExperimentResult out;
  out.claims = {
      {"force error of jacobian, of direct's", "transparent rendering",
       metrics[0].force_error_rms / metrics[3].force_error_rms, 1.0, Relation::kAtMost, ""},
      {"force error of jacobian, of double_coupling's", "transparent rendering",
       metrics[0].force_error_rms / metrics[2].force_error_rms, 0.5, Relation::kAtMost, ""},
      {"largest jump of jacobian's force in a tick, of direct's", "no steps at the slow rate",
       metrics[0].force_jump_max / metrics[3].force_jump_max, 0.5, Relation::kAtMost, ""},
      {"energy given to the hand", "stable", metrics[0].energy_final, 0.0, Relation::kAtMost, "J"},
  };
  out.report.tables = {make_error_table(fmt::format("Slow loop at {:.0f} Hz", rate), truth, runs, lateral, 0.0, end)};
  for (const int axis : {0, 1}) {
    out.report.plots.push_back(make_component_plot(axis == 0 ? "Force along x" : "Force along y",
                                                   {&truth, &runs[0], &runs[1], &runs[2], &runs[3], &runs[4]}, axis));
  }
  return out;
}

/// The organ's scene with another surface of about its size in its place, touched at its highest point.
Scene put_liver(Scene scene, const std::string& file, double scale) {
  auto& organ = find_body<SceneSoft>(scene, "organ");
  organ.shape = SceneShape{.kind = MeshShape{.file = "data:" + file, .scale = scale}};
  const TriangleMesh mesh = make_surface(*organ.shape, scene.source.file);
  Vec3 top = mesh.vertices.front();
  double bottom = top.y();
  for (const Vec3& v : mesh.vertices) {
    if (v.y() > top.y()) top = v;
    bottom = std::min(bottom, v.y());
  }
  organ.fixed.front().max.y() = bottom + 0.2 * (top.y() - bottom);
  // The rod's tip is 48 mm below its handle.
  std::get<ScenePressAndSlidePath>(*find_path(scene.first().hand)).start = Vec3(top.x(), top.y() + 0.068, top.z());
  return scene;
}

}  // namespace

ExperimentResult run_otaduy_liver(const ExperimentOptions& options) {
  const std::string file = "liver-smooth.obj";
  Scene scene = load_builtin_scene("otaduy-organ");
  const bool real = find_data(file).has_value();
  if (real) scene = put_liver(std::move(scene), file, 0.03);
  ExperimentResult out = compare_on(std::move(scene), options, 20.0, 0);
  out.report.title = "A soft liver under a rod";
  if (real)
    out.report.paragraphs = {"The liver of the data folder (SOFA's), filled with tetrahedra."};
  else
    out.notes = {describe_stand_in(file, "organ")};
  return out;
}

ExperimentResult run_otaduy_polyp(const ExperimentOptions& options) {
  ExperimentResult out = compare_on(load_builtin_scene("otaduy-polyp"), options, 20.0, 0);
  out.report.title = "A thin polyp bent far";
  out.report.paragraphs = {
      "A soft stalk in a cavity between two walls, bent to the side by a rod across it and let go, after the "
      "hysteroscopy of Otaduy & Gross 2007, Fig. 2. The light stalk leaves the rod and comes back within milliseconds "
      "while it slides, which the truth shows and nothing at 20 Hz can."};
  return out;
}

}  // namespace palpate
