#include "prepared.h"

#include <algorithm>

#include "catalogue.h"
#include "palpate/experiments/advise.h"
#include "shown_tool.h"

namespace palpate {

Prepared prepare(Scene scene, std::vector<Pose> starts, const std::string& method, const std::atomic<bool>* stop) {
  settle_auto(scene, true, {.stop = stop});
  Prepared out;
  out.world = std::make_unique<World>(make_world(scene, {.starts = std::move(starts)}));
  out.method = find_common_method(scene.tools);
  if (!method.empty() && refuse_method(scene, method, *out.world).empty()) out.method = method;
  std::vector<std::vector<Finger>> fingers;
  for (std::size_t i = 0; i < scene.tools.size(); ++i) fingers.push_back(make_tool_settings(scene, i).fingers);
  out.watch = std::make_unique<WorldWatch>(*out.world, std::move(fingers));
  out.watch->set_reach(find_reach(scene));
  out.catalogue = make_catalogue(scene, *out.world);  // tries methods, and resets the world
  out.scene = std::move(scene);
  return out;
}

BoundingBox find_reach(const Scene& scene) {
  // A simulated device must be read as often as the loop would; half a minute tells enough.
  constexpr double kMost = 30.0;
  BoundingBox reach;
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    const auto device = make_device(scene, i);
    for (double t = 0.0; t <= std::min(scene.run.seconds, kMost); t += scene.run.dt)
      reach.add(device->read(t).pose.position);
  }
  return reach;
}

}  // namespace palpate
