#include "knott_scenes.h"

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "palpate/scene/builtin.h"

namespace palpate {

Scene make_knott_scene(const std::string& name, const std::string& description, double seconds) {
  Scene scene = load_builtin_scene("sine-static");
  scene.name = name;
  scene.description = description;
  scene.first().method = "limited";
  scene.bodies.clear();
  scene.run.seconds = seconds;
  scene.world.gravity = Vec3::Zero();  // the paper's bodies rest as they were modelled
  return scene;
}

namespace {

/// Heights of a mesh over the line of a sweep, seen from where it is up, and the line's own places [m].
struct Profile {
  std::vector<double> at, height;

  double smooth(int i, int half) const {
    double sum = 0.0;
    const int last = static_cast<int>(height.size()) - 1;
    for (int k = -half; k <= half; ++k) sum += height[as_size(std::clamp(i + k, 0, last))];
    return sum / (2 * half + 1);
  }
};

constexpr double kSpacing = 0.0005;

Profile find_profile(const TriangleTree& mesh, const SweepSettings& sweep) {
  const double far = compute_bounding_box(mesh.mesh().vertices).size().norm();
  Profile out;
  for (double at = sweep.from; at <= sweep.to; at += kSpacing) {
    SegmentHit hit;
    const Vec3 middle = sweep.through + at * sweep.along;
    const bool met = mesh.find_first_hit(middle + far * sweep.up, middle - far * sweep.up, hit);
    out.at.push_back(at);
    // Over a hole the hand stays at the height it has.
    const double last = out.height.empty() ? 0.0 : out.height.back();
    out.height.push_back(met ? far - 2.0 * far * hit.t : last);
  }
  return out;
}

}  // namespace

void add_sweep(Scene& scene, const TriangleTree& mesh, const SweepSettings& sweep) {
  const Profile profile = find_profile(mesh, sweep);
  const int half = static_cast<int>(std::lround(sweep.smoothing / kSpacing));
  const int count = static_cast<int>(profile.at.size());
  const auto place = [&](int i, double above) {
    return Vec3(sweep.through + profile.at[as_size(i)] * sweep.along + (profile.smooth(i, half) + above) * sweep.up);
  };
  std::vector<int> way;
  for (int i = 0; i < count; i += 4) way.push_back(i);
  if (sweep.back) way.insert(way.end(), way.rbegin() + 1, way.rend());
  SceneKeyframePath path;
  const double ramp = 0.25;
  path.keyframes.push_back({.time = 0.0, .position = place(way.front(), sweep.above)});
  double time = ramp;
  for (std::size_t k = 0; k < way.size(); ++k) {
    path.keyframes.push_back({.time = time, .position = place(way[k], -sweep.depth)});
    // At even speed along the path, not along the line: a cliff would be taken at any speed.
    const int next = k + 1 < way.size() ? way[k + 1] : std::min(way[k] + 4, count - 1);
    time += std::max((place(next, 0.0) - place(way[k], 0.0)).norm(), 1e-6) / sweep.speed;
  }
  path.keyframes.push_back(
      {.time = time + ramp, .position = path.keyframes.back().position + (sweep.depth + sweep.above) * sweep.up});
  scene.run.seconds = std::ceil(1e3 * (time + ramp)) * 1e-3;
  scene.first().hand.kind = SceneScriptedHand{.path = std::move(path)};
}

KnottMesh load_or_make(const std::string& file, double scale, const SceneShape& own, const ExperimentOptions& options) {
  KnottMesh out;
  SceneShape shape = own;
  if (!options.quick && find_data(file)) {
    out.file = file;
    shape.kind = MeshShape{.file = "data:" + file, .scale = scale};
  } else if (!options.quick) {
    out.notes.push_back(describe_stand_in(file, kind_name(own)));
  }
  out.mesh = make_surface(shape, "");
  return out;
}

Statue load_statue(const ExperimentOptions& options) {
  Statue out;
  static_cast<KnottMesh&>(out) =
      load_or_make("fertility_10k.off", 0.001, {.kind = FigureShape{.size = 0.145, .resolution = 40}}, options);
  if (out.file.empty()) {
    // The taller of the two people, where the skirt meets the disc.
    out.foot = Vec3(-0.0288, 0.010, 0.018);
    out.side = Vec3::UnitZ();
    return out;
  }
  // The file's statue leans: the flat below its base looks along this, 19.4° from straight down.
  const Quat upright = Quat::FromTwoVectors(Vec3(0.33109, -0.94347, -0.01566), -Vec3::UnitY());
  for (Vec3& p : out.mesh.vertices) p = upright * p;
  // Where a leg goes over into the base.
  out.foot = Vec3(0.084, -0.040, -0.018);
  out.side = -Vec3::UnitZ();
  return out;
}

SweepSettings sweep_over_top(const Statue& statue, double reach) {
  const BoundingBox box = compute_bounding_box(statue.mesh.vertices);
  SweepSettings sweep;
  sweep.through.z() = box.center().z();
  sweep.from = box.center().x() - reach * box.size().x();
  sweep.to = box.center().x() + reach * box.size().x();
  return sweep;
}

SweepSettings sweep_onto_base(const Statue& statue) {
  SweepSettings sweep;
  sweep.through = statue.foot;
  sweep.up = (Vec3::UnitY() + statue.side).normalized();
  sweep.along = (statue.side - Vec3::UnitY()).normalized();
  sweep.from = -0.025;
  sweep.to = 0.005;
  sweep.smoothing = 0.001;
  sweep.back = true;
  return sweep;
}

}  // namespace palpate
