#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "palpate/record/metrics.h"
#include "palpate/runtime/run.h"
#include "palpate/scene/scene.h"

namespace palpate {

/// How to run a scene once.
struct SceneRunOptions {
  std::string method;  ///< empty: the scene's
  bool lockstep = true;
  RealtimeSettings realtime;  ///< if not lockstep
  std::string recording;      ///< file to write; empty: none
  bool keep_rows = true;      ///< rows in SceneRun::data; off for long runs that are only recorded
  RunControl control;
};

/// A run and what it gave.
struct SceneRun {
  RunData data;  ///< named after the method
  RunSummary summary;
};

/// Runs `scene` on `world` (made from it) with `device`, or with a new one of the scene's if that is null.
SceneRun run_scene(const Scene& scene, World& world, const SceneRunOptions& options, Device* device = nullptr);

/// Signed distance to the nearest surface of the world, positive outside.
SignedDistance make_surface_distance(const World& world);

}  // namespace palpate
