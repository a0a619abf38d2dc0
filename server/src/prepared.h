#pragma once

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "palpate/scene/scene.h"
#include "palpate/server/world_watch.h"

namespace palpate {

/// A scene with all that takes time made: what the viewer needs to run it.
struct Prepared {
  Scene scene;         ///< its methods and its slow period settled
  bool adapts;         ///< the slow period was "auto", and follows the machine
  std::string method;  ///< of all tools; empty: each has its own
  std::unique_ptr<World> world;
  std::unique_ptr<WorldWatch> watch;
  nlohmann::ordered_json catalogue;  ///< what pages may choose
};

/// Makes the world of a scene and tries which methods it may have; `method` is taken if it can be had, or else the
/// scene's own. `starts`: where the first tools are; the others start where the scene's devices do. Throws
/// InputError. Any thread; `stop`: set to end early, may be null.
Prepared prepare(Scene scene, std::vector<Pose> starts, const std::string& method, const std::atomic<bool>* stop);

/// Places where the scene's own hands come while nothing is in their way, a hundred a hand. Throws InputError.
std::vector<Vec3> find_ways(const Scene& scene);

}  // namespace palpate
