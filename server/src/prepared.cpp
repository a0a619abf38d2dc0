#include "prepared.h"

#include <algorithm>

#include "catalogue.h"
#include "palpate/experiments/auto_period.h"
#include "shown_tool.h"

namespace palpate {
namespace {

/// With this method for all tools, or each with its own if that is empty.
bool settle_period_of(Scene& scene, const std::string& method, const std::atomic<bool>* stop) {
  Scene tried = scene;
  for (HeldTool& held : tried.tools) {
    if (!method.empty()) held.method = method;
  }
  if (!settle_period(tried, {.stop = stop})) return false;
  for (std::size_t i = 0; i < tried.tools.size(); ++i) tried.tools[i].method = scene.tools[i].method;
  scene = std::move(tried);
  return true;
}

}  // namespace

Prepared prepare(Scene scene, std::vector<Pose> starts, const std::string& method, const std::atomic<bool>* stop) {
  settle_auto(scene, true, {.stop = stop});
  Prepared out;
  out.world = std::make_unique<World>(make_world(scene, {.starts = std::move(starts)}));
  out.method = find_common_method(scene.tools);
  if (!method.empty() && refuse_method(scene, method, *out.world).empty()) out.method = method;
  out.adapts = settle_period_of(scene, out.method, stop);
  std::vector<std::vector<Finger>> fingers;
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    const ToolSettings tool = make_tool_settings(scene, i);
    const auto* held = tool.as<HeldFingers>();
    fingers.push_back(held ? held->fingers : std::vector<Finger>());
  }
  out.watch = std::make_unique<WorldWatch>(*out.world, std::move(fingers));
  out.watch->set_ways(find_ways(scene));
  out.catalogue = make_catalogue(scene, *out.world);  // tries methods, and resets the world
  out.scene = std::move(scene);
  return out;
}

std::vector<Vec3> find_ways(const Scene& scene) {
  // A simulated device must be read as often as the loop would; half a minute tells enough.
  constexpr double kMost = 30.0, kPlaces = 100.0;
  const double seconds = std::min(scene.run.seconds, kMost);
  std::vector<Vec3> ways;
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    const auto device = make_device(scene, i);
    double next = 0.0;
    for (double t = 0.0; t <= seconds; t += scene.run.dt) {
      const Vec3 p = device->read(t).pose.position;
      if (t < next) continue;
      next += seconds / kPlaces;
      ways.push_back(p);
    }
  }
  return ways;
}

}  // namespace palpate
