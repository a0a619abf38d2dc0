#include <fmt/format.h>

#include <array>

#include "experiments.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/methods/registry.h"

namespace palpate {
namespace embedded {
extern const std::string_view scene_rest_block_across, scene_rest_jelly_point, scene_rest_needle_tissue,
    scene_rest_ball_on_block, scene_rest_organ_stroke;
}  // namespace embedded
namespace {

/// Over the 0.2 s that end so long before the run does [N].
Vec3 compute_mean_force(const RunData& run, double before_end) {
  const auto end = run.ticks.size() - as_size(static_cast<int>(before_end / 0.001));
  constexpr std::size_t kTicks = 200;
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = end - kTicks; i < end; ++i) sum += run.ticks[i].wanted.force;
  return sum / static_cast<double>(kTicks);
}

struct RestScene {
  const char* name;
  const std::string_view* text;
  bool quick;
};

}  // namespace

// A hand presses, strokes 10 mm and rests for 3 s, slow loop at 20 Hz. What friction bears then is what the stroke
// left, and must neither be forgotten nor creep away.
ExperimentResult run_rest(const ExperimentOptions& options) {
  ExperimentResult out;
  const std::array scenes = {RestScene{"block-across", &embedded::scene_rest_block_across, true},
                             RestScene{"jelly-point", &embedded::scene_rest_jelly_point, false},
                             RestScene{"needle-tissue", &embedded::scene_rest_needle_tissue, true},
                             RestScene{"ball-on-block", &embedded::scene_rest_ball_on_block, false},
                             RestScene{"organ-stroke", &embedded::scene_rest_organ_stroke, false}};
  for (const RestScene& s : scenes) {
    if (options.quick && !s.quick) continue;
    if (options.stopped()) break;
    const Scene scene = parse_scene(std::string(*s.text), fmt::format("rest-{}.json", s.name));
    Vec3 truth = Vec3::Zero();
    for (const char* method : {"reference", "compliance", "jacobian"}) {
      World world = make_world(scene);
      if (!find_method(method).refuse({world, make_tool_settings(scene), 0}).empty()) continue;
      SceneRunOptions once{.method = method};
      once.control.stop = options.stop;
      if (options.progress)
        once.control.progress = [&](double t) {
          options.progress(fmt::format("{}, {}", s.name, method), t / scene.run.seconds);
        };
      const SceneRun run = run_scene(scene, world, once);
      if (run.summary.stopped) return out;
      const Vec3 force = compute_mean_force(run.data, 0.0);
      if (std::string_view(method) == "reference") {
        truth = force;
        continue;
      }
      const double whole = truth.norm();
      const Vec3 before = compute_mean_force(run.data, 2.0);
      out.claims.push_back({fmt::format("{}, {}: force at rest, off from the truth's by", s.name, method), "our own",
                            100.0 * (force - truth).norm() / whole, 3.0, MeasuredClaim::Relation::kAtMost, "%"});
      out.claims.push_back({fmt::format("{}, {}: change of the force in the last 2 s", s.name, method), "our own",
                            100.0 * (force - before).norm() / whole, 1.0, MeasuredClaim::Relation::kAtMost, "%"});
    }
  }
  return out;
}

}  // namespace palpate
