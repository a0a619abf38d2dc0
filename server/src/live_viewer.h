#pragma once

#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>

#include "device_watch.h"
#include "file_desk.h"
#include "hands.h"
#include "holders.h"
#include "page_request.h"
#include "palpate/core/clock.h"
#include "palpate/experiments/auto_period.h"
#include "palpate/server/viewer.h"
#include "palpate/server/world_watch.h"
#include "prepared.h"
#include "recorder.h"
#include "shown_tool.h"
#include "wish.h"

namespace palpate {

/// A scene that runs while pages watch it and have their say. It runs in segments: a segment ends when a page wants
/// something for which the loops must stand still (another scene, method, speed), which is then granted, and the next
/// begins.
///
/// Thread: its own, apart from the two of the loops; what it does between ticks is never in the fast one. In three
/// files: viewer.cpp runs the scene, viewer_requests.cpp does what pages ask for, viewer_messages.cpp tells them.
class LiveViewer final : public RunSink {
 public:
  LiveViewer(const Scene& scene, const std::string& method, const ViewerSettings& settings);

  ViewerSummary run();
  void add(const TickRow& row) override;
  void add(const StepRow& row) override;

 private:
  using Json = nlohmann::ordered_json;
  using Kind = PageRequest::Kind;

  // viewer.cpp
  double since_start() const noexcept { return 1e-9 * static_cast<double>(monotonic_ns() - start_ns_); }
  bool is_over() const noexcept {
    return (settings_.stop && settings_.stop->load(std::memory_order_relaxed)) ||
           (settings_.seconds > 0.0 && since_start() >= settings_.seconds);
  }
  Hands::Maker hand_maker() const;
  /// A real device has the tool, and pages leave it alone.
  bool is_real(std::size_t tool) const noexcept { return replay_.empty() && devices_.find(tool); }
  bool any_real() const noexcept { return replay_.empty() && devices_.any(); }
  /// Names of scenes that pages may choose besides the built-in ones.
  std::vector<std::string> own_scenes() const;
  /// Makes everything of a scene anew. Throws InputError, and leaves what there was if so.
  void load(const Scene& wanted, const std::string& method);
  void install(Prepared prepared);
  /// The world from its start, with this method for all tools; empty: each with its own.
  void choose(const std::string& name);
  /// Throws InputError if that method cannot be had, and starts again with the one there was: a world on which methods
  /// were tried is no longer what its own left.
  void change_method(const std::string& name);
  /// The scene goes on as it is, with the slow period that the machine holds by now.
  void change_period();
  /// Runs until a page wants something else, or the scene's hand has come to its end and begins again.
  void run_segment();
  /// In the scene's hand's time, `t` since the segment began [s].
  double scene_time(double t) const noexcept { return base_ + memory_.time + t; }
  void end_segment() noexcept { segment_stop_.store(true); }
  /// Between ticks, never in the fast thread: `t` since the segment began [s].
  void on_progress(double t);
  void attend(double t);
  /// Shows a film until a page wants something else. The loops stand still.
  void run_film();

  // viewer_requests.cpp
  void receive_all(double t);
  /// Files that pages have sent, and what has become of earlier ones.
  void receive_files();
  /// What pages do with the tools. What another page holds is not theirs to move; that it was tried is no mistake.
  bool handle(const PageRequest& r, std::uint64_t page);
  void let_go_all();
  /// What is done while the loops run. False: it makes no sense.
  bool control(const PageRequest& r, double t, std::uint64_t page);
  bool switch_devices(bool on);
  /// Where all tools have the same method, there is none that is each one's own.
  bool is_choice(const PageRequest& r) const;
  /// The same while a film is shown.
  bool direct_film(const PageRequest& r);
  Scene find_scene(const std::string& name) const;
  void start_recording();
  /// Does what pages asked for, now that the loops stand still.
  void grant();

  // viewer_messages.cpp
  /// The scene with all that pages have changed, for them to save.
  void publish_scene();
  void publish_geometry();
  void want() noexcept;
  void publish_live(double time);
  void publish_state(double time, double seconds);

  const ViewerSettings settings_;
  const Scene given_;
  WebServer server_;
  DeviceWatch devices_;
  Scene scene_;
  std::string replay_;  ///< recording whose hand is repeated; empty: the scene's
  std::unique_ptr<World> world_;
  std::unique_ptr<WorldWatch> watch_;
  Hands hands_;
  Holders holders_;
  FileDesk desk_;
  std::optional<Prepared> ready_;  ///< of the desk's, to be installed
  std::string method_name_;        ///< of all tools; empty: each has its own
  std::vector<Method> methods_;    ///< of the tools
  std::vector<ShownTool> tools_;   ///< with these methods
  RunMemory memory_;
  std::optional<PeriodWatch> period_;  ///< none: the slow period stays what it is
  Json catalogue_;
  std::uint32_t geometry_ = 0;  ///< number of the last one published

  bool paused_ = false;
  double speed_ = 1.0;
  bool stress_ = false;
  bool end_of_hand_ = false;
  Wish wish_;
  double base_ = 0.0;        ///< by which the scene's hand's time, which pages see, is ahead of the run's [s]
  double clock_ = 0.0;       ///< the same of a time that never goes back [s]
  double last_clock_ = 0.0;  ///< of the last tick, in that time
  std::atomic<bool> segment_stop_{false};
  bool segment_realtime_ = true;
  double segment_wall_ = 0.0;  ///< when it would have begun, at its present speed [s]
  double step_until_ = 0.0;    ///< paused: goes on to here [s]
  std::int64_t start_ns_ = monotonic_ns();
  double next_frame_ = 0.0, next_state_ = 0.0, next_devices_ = 0.0;

  std::array<TickRow, kMaxTools> last_;  ///< of the tools
  LoopSamples samples_;
  Recorder recorder_;
  std::optional<FilmShow> show_;  ///< none: live
  std::vector<std::string> notes_;
  std::string error_;
  ViewerSummary summary_;
};

}  // namespace palpate
