#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/record/metrics.h"
#include "palpate/runtime/run.h"
#include "palpate/scene/scene.h"

namespace palpate {

/// How to run a scene once.
struct SceneRunOptions {
  std::string method{};  ///< of all tools; empty: each tool's own
  bool lockstep = true;
  RealtimeSettings realtime{};  ///< if not lockstep
  std::string recording{};      ///< file to write; empty: none
  bool keep_rows = true;        ///< rows in SceneRun::data; off for long runs that are only recorded
  RunControl control{};
  LoopWatch* watch = nullptr;  ///< sees the loops from inside
  /// Real time: another slow period is taken while the run goes on, whenever the machine asks for it and no hand
  /// moves or touches anything (auto_period.h). The summary's notes say when.
  bool adapt_period = false;
  std::vector<bool> waits{};  ///< ToolParts::waits of the tools; false where there are fewer
};

/// A run and what it gave.
struct SceneRun {
  RunData data;                   ///< of the first tool, named after its method
  std::vector<RunData> others{};  ///< of the other tools, in the scene's order
  RunSummary summary;

  RunData& data_of(std::size_t tool) { return tool == 0 ? data : others.at(tool - 1); }
  /// Of every tool.
  std::vector<const RunData*> all() const;
};

/// Runs `scene` on `world` (made from it). `devices` are those of its tools, in their order; where one is null or there
/// are fewer, a new one of the scene's is made.
SceneRun run_scene(const Scene& scene, World& world, const SceneRunOptions& options, std::vector<Device*> devices = {});

/// Signed distance to the nearest surface of the world, positive outside. Empty where something can move, or where
/// there is no surface: what is known of a tool that lies among bodies is where it is, not how far from theirs.
SignedDistance make_surface_distance(const World& world);

}  // namespace palpate
