#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "palpate/core/histogram.h"
#include "palpate/scene/real_hand.h"
#include "palpate/scene/scene.h"
#include "palpate/server/web_server.h"

namespace palpate {

struct ViewerSettings {
  WebServerSettings server;
  double seconds = 0.0;  ///< ends after so long [s]; 0: when asked to
  /// A new file for a recording of this scene and method.
  std::function<std::string(const std::string& scene, const std::string& method)> make_recording_path;
  std::function<void(const std::string& url)> ready;  ///< called once pages can connect
  const std::atomic<bool>* stop = nullptr;            ///< set from any thread: end soon
  /// Real devices that are the hands of the first tools, in whatever scene; null: the scene's own hand. They outlive
  /// the viewer.
  std::span<const std::unique_ptr<RealHand>> hands;
};

/// What a viewer did.
struct ViewerSummary {
  double seconds = 0.0;
  std::uint64_t ticks = 0, steps = 0;
  Histogram tick_times, step_times;  ///< of what ran in real time
  std::uint64_t tick_misses = 0;
  std::uint64_t malformed = 0;  ///< messages from pages that were not understood, and dropped
  WebServerCounters server;
};

/// Runs a scene, in real time or slower, while pages watch it, hold its tool and change what is run; returns when asked
/// to. Pages choose among `scene` and the built-in ones. Thread: the caller's is the viewer's.
ViewerSummary run_viewer(const Scene& scene, const std::string& method, const ViewerSettings& settings);

}  // namespace palpate
