#include "palpate/server/viewer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "catalogue.h"
#include "device_watch.h"
#include "file_desk.h"
#include "hands.h"
#include "holders.h"
#include "page_request.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/methods/registry.h"
#include "palpate/record/replay_hand.h"
#include "palpate/scene/builtin.h"
#include "palpate/server/world_watch.h"
#include "prepared.h"
#include "recorder.h"
#include "scene_settings.h"
#include "shown_tool.h"
#include "viewer_assets.h"
#include "wish.h"

namespace palpate {
namespace {

using Json = nlohmann::ordered_json;
using Kind = PageRequest::Kind;

enum Channel : std::size_t { kGeometry, kState, kSurface, kFrame, kDevices };

constexpr double kFramePeriod = 1.0 / 60.0;   // [s]
constexpr double kStatePeriod = 0.25;         // [s]
constexpr double kDevicePeriod = 1.0 / 30.0;  // [s]
/// Ticks in a frame: as many as a page may miss without a gap in its plots.
constexpr std::size_t kTicksInFrame = 250;
constexpr std::size_t kStepsInFrame = 16;
constexpr double kForever = 1e6;  // [s]

WebServerSettings with_uploads(WebServerSettings settings) {
  settings.max_upload = kMaxOpenedBytes;
  return settings;
}

class Viewer final : public RunSink {
 public:
  Viewer(const Scene& scene, const std::string& method, const ViewerSettings& settings)
      : settings_(settings),
        given_(scene),
        server_(with_uploads(settings.server), viewer_assets()),
        devices_(settings.hands) {
    load(scene, method);
    if (settings_.ready) settings_.ready(server_.url());
  }

  ViewerSummary run() {
    start_ns_ = monotonic_ns();
    while (!is_over()) {
      try {
        show_ ? run_film() : run_segment();
        grant();
      } catch (const InputError& error) {
        // A page asked for something that cannot be: say so, and go on as before.
        // A recording that cannot be written is given up, or the next run would end on it too.
        error_ = error.what();
        recorder_.give_up();
        if (methods_.empty()) load(given_, {});
      }
    }
    recorder_.give_up();
    summary_.seconds = since_start();
    summary_.server = server_.counters();
    return summary_;
  }

  void add(const TickRow& row) override {
    last_clock_ = clock_ + row.time;
    recorder_.add(row, last_clock_);
    last_[row.tool_number] = row;
    samples_.add(make_sample(row, row.time), row.tool_number);
    if (row.tool_number == 0) ++summary_.ticks;
  }

  void add(const StepRow& row) override {
    samples_.add(make_sample(row, row.time));
    ++summary_.steps;
    recorder_.add(row, clock_ + row.time);
  }

 private:
  double since_start() const noexcept { return 1e-9 * static_cast<double>(monotonic_ns() - start_ns_); }
  bool is_over() const noexcept {
    return (settings_.stop && settings_.stop->load(std::memory_order_relaxed)) ||
           (settings_.seconds > 0.0 && since_start() >= settings_.seconds);
  }

  Hands::Maker hand_maker() const {
    return [this](std::size_t tool) -> std::unique_ptr<Device> {
      if (!replay_.empty()) return make_replay_device(replay_, {}, tool);
      return is_real(tool) ? devices_.find(tool)->make_device(scene_, tool) : make_device(scene_, tool);
    };
  }

  /// A real device has the tool, and pages leave it alone.
  bool is_real(std::size_t tool) const noexcept { return replay_.empty() && devices_.find(tool); }
  bool any_real() const noexcept { return replay_.empty() && devices_.any(); }

  /// Names of scenes that pages may choose besides the built-in ones.
  std::vector<std::string> own_scenes() const {
    std::vector<std::string> out{given_.name};
    if (desk_.scene() && desk_.scene()->name != given_.name) out.push_back(desk_.scene()->name);
    return out;
  }

  /// Makes everything of a scene anew. Throws InputError, and leaves what there was if so.
  void load(const Scene& wanted, const std::string& method) {
    const Scene scene = devices_.with_devices(wanted, given_);
    std::vector<Pose> starts;
    for (std::size_t i = 0; i < scene.tools.size(); ++i) {
      RealHand* real = devices_.find(i);
      starts.push_back((real ? real->make_device(scene, i) : make_device(scene, i))->read(0.0).pose);
    }
    install(prepare(scene, std::move(starts), method, settings_.stop));
  }

  void install(Prepared prepared) {
    scene_ = std::move(prepared.scene);
    replay_.clear();
    methods_.clear();
    watch_ = std::move(prepared.watch);
    world_ = std::move(prepared.world);
    catalogue_ = std::move(prepared.catalogue);
    choose(prepared.method);
    publish_geometry();
    next_state_ = 0.0;
  }

  /// The world from its start, with this method for all tools; empty: each with its own.
  void choose(const std::string& name) {
    Hands hands(scene_.tools.size(), hand_maker());
    methods_ = make_methods(scene_, name, *world_, hands.devices());
    hands_ = std::move(hands);
    clock_ += memory_.time;
    memory_ = {};
    method_name_ = name;
    tools_ = make_shown_tools(scene_, name);
    watch_->set_moves_in_ticks(methods_.front().sharing == Sharing::kTick);
    watch_->copy_out();
    base_ = 0.0;
    samples_.clear();
    error_.clear();
    publish_scene();
  }

  /// Throws InputError if that method cannot be had, and starts again with the one there was: a world on which methods
  /// were tried is no longer what its own left.
  void change_method(const std::string& name) {
    try {
      choose(name);
    } catch (const InputError&) {
      choose(method_name_);
      throw;
    }
  }

  /// The scene with all that pages have changed, for them to save.
  void publish_scene() {
    Scene now = scene_;
    for (HeldTool& held : now.tools) {
      if (!method_name_.empty()) held.method = method_name_;
    }
    server_.publish_file("/scene.json", "application/json; charset=utf-8", write_scene(now));
  }

  void publish_geometry() {
    server_.publish_binary(kGeometry, watch_->make_geometry(++geometry_, scene_.name));
    watch_->refresh();
    server_.publish_binary(kSurface, watch_->make_surface(geometry_));
  }

  /// Runs until a page wants something else, or the scene's hand has come to its end and begins again.
  void run_segment() {
    segment_stop_.store(false);
    segment_realtime_ = speed_ == 1.0 && !paused_;
    segment_wall_ = since_start();
    RunSettings run = scene_.run;
    run.seconds = kForever;
    RunControl control;
    control.stop = &segment_stop_;
    control.progress = [this](double t) { on_progress(t); };
    control.progress_period = scene_.run.dt;
    RunParts parts(std::vector<ToolParts>{}, this);
    for (std::size_t i = 0; i < methods_.size(); ++i) {
      // The scene's hands and the mouse wait while it is paused, and go on as if nothing had been. A person's hand does
      // not: the force leaves it as it came.
      parts.tools.push_back({methods_[i], hands_[i], scene_.tools[i].guards, !is_real(i)});
    }
    parts.watch = watch_.get();
    parts.memory = &memory_;
    // A real hand keeps real time: while the world stands still or creeps it feels nothing.
    segment_realtime_ ? devices_.resume(DeviceDesk::kByPause) : devices_.stop(DeviceDesk::kByPause);
    RealtimeSettings realtime;
    if (any_real()) realtime.ticks = devices_.tick_source();
    const RunSummary done =
        segment_realtime_ ? run_realtime(run, realtime, parts, control) : run_lockstep(run, parts, control);
    if (segment_realtime_) {
      summary_.tick_times.merge(done.tick_times);
      summary_.step_times.merge(done.step_times);
      summary_.tick_misses += done.tick_misses;
    }
    notes_ = done.notes;
    if (end_of_hand_) {
      end_of_hand_ = false;
      base_ = -memory_.time;
      hands_.replace(hand_maker(), memory_.time);
      if (!replay_.empty()) wish_.restart = true;
    }
  }

  /// In the scene's hand's time, `t` since the segment began [s].
  double scene_time(double t) const noexcept { return base_ + memory_.time + t; }

  void end_segment() noexcept { segment_stop_.store(true); }

  /// Between ticks, never in the fast thread: `t` since the segment began [s].
  void on_progress(double t) {
    attend(t);
    if (segment_realtime_) return;
    // Lockstep runs as fast as it can; here it waits until the wall says so.
    while (!segment_stop_.load() && (paused_ ? t >= step_until_ : since_start() < segment_wall_ + t / speed_)) {
      sleep_until_ns(monotonic_ns() + 4'000'000);
      if (paused_) segment_wall_ = since_start() - t / speed_;
      attend(t);
    }
  }

  void attend(double t) {
    receive_all(t);
    receive_files();
    // The scene's own hands have nothing more to do, and nobody holds a tool: from the beginning.
    if (!hands_.any_held() && !any_real() && !paused_ && scene_time(t) >= scene_.run.seconds) {
      end_of_hand_ = true;
      end_segment();
    }
    const double now = since_start();
    if (now >= next_frame_) {
      next_frame_ = now + kFramePeriod;
      publish_live(scene_time(t));
    }
    if (now >= next_state_) publish_state(scene_time(t), scene_.run.seconds);
    if (any_real() && now >= next_devices_) {
      next_devices_ = now + kDevicePeriod;
      server_.publish_text(kDevices, devices_.make_message(now));
    }
  }

  /// Shows a film until a page wants something else. The loops stand still.
  void run_film() {
    segment_stop_.store(false);
    double last = since_start();
    while (!segment_stop_.load()) {
      sleep_until_ns(monotonic_ns() + static_cast<std::int64_t>(1e9 * kFramePeriod));
      receive_all(0.0);
      receive_files();
      const double now = since_start();
      if (!paused_) show_->seek(show_->time() + speed_ * (now - last));
      if (show_->is_at_end()) paused_ = true;
      last = now;
      if (std::string frame = show_->take_frame(); !frame.empty()) server_.publish_binary(kFrame, std::move(frame));
      if (std::string surface = show_->take_surface(); !surface.empty()) {
        WorldWatch::renumber_surface(surface, geometry_);
        server_.publish_binary(kSurface, std::move(surface));
      }
      if (now >= next_state_) publish_state(show_->time(), show_->film().seconds());
    }
  }

  void receive_all(double t) {
    PageMessage message;
    while (server_.take(message)) {
      const auto request = parse_request(message.text);
      if (!request || !(show_ ? direct_film(*request) : control(*request, t, message.page)) ||
          !note_wish(*request, own_scenes(), recorder_, wish_))
        ++summary_.malformed;
      if (wish_.any()) end_segment();
      next_state_ = 0.0;
    }
    if (is_over()) end_segment();
  }

  /// Files that pages have sent, and what has become of earlier ones.
  void receive_files() {
    const double now = since_start();
    Upload upload;
    if (!desk_.is_busy() && server_.take_upload(upload)) {
      desk_.open(std::move(upload), settings_.stop, now);
      next_state_ = 0.0;
    }
    if (desk_.is_busy() && !ready_) {
      ready_ = desk_.take(now);
      if (!desk_.is_busy()) next_state_ = 0.0;
    }
    if (!ready_) return;
    wish_.opened = true;  // until it is granted: another wish may come between
    end_segment();
  }

  /// What pages do with the tools. What another page holds is not theirs to move; that it was tried is no mistake.
  bool handle(const PageRequest& r, std::uint64_t page) {
    if (r.tool >= hands_.size() || is_real(r.tool)) return r.kind == Kind::kLetGo && r.tool < hands_.size();
    const double now = since_start();
    switch (r.kind) {
      case Kind::kHold:
        return !holders_.hold(r.tool, page, now) || hands_.hold(r.tool, r.pose, r.grip);
      case Kind::kAsk:
        holders_.ask(r.tool, page, now);
        return true;
      case Kind::kKeep:
        holders_.keep(r.tool, page, now);
        return true;
      default:
        if (r.kind == Kind::kGive ? holders_.give(r.tool, page, now) : holders_.let_go(r.tool, page, now))
          hands_.let_go(r.tool);
        return true;
    }
  }

  void let_go_all() {
    hands_.let_go_all();
    holders_.clear(since_start());
  }

  /// What is done while the loops run. False: it makes no sense.
  bool control(const PageRequest& r, double t, std::uint64_t page) {
    switch (r.kind) {
      case Kind::kHold:
      case Kind::kLetGo:
      case Kind::kAsk:
      case Kind::kGive:
      case Kind::kKeep:
        return handle(r, page);
      case Kind::kPause:
        paused_ = true;
        step_until_ = t;
        if (segment_realtime_) end_segment(), step_until_ = 0.0;
        return true;
      case Kind::kResume:
        paused_ = false;
        segment_wall_ = since_start() - t / speed_;
        if (speed_ == 1.0) end_segment();
        return true;
      case Kind::kStep:
        step_until_ = t + scene_.run.slow_period;
        return paused_;
      case Kind::kSpeed:
        if (!(r.value >= 0.01 && r.value <= 1.0)) return false;
        if ((r.value == 1.0) != (speed_ == 1.0)) end_segment();
        speed_ = r.value;
        segment_wall_ = since_start() - t / speed_;
        return true;
      case Kind::kRecord:
        r.on ? start_recording() : recorder_.stop();
        return true;
      case Kind::kStress:
        stress_ = r.on;
        // In lockstep this is the thread that moves the world: a paused page sees it at once.
        want();
        if (!segment_realtime_) watch_->copy_out();
        return true;
      case Kind::kDevice:
        return switch_devices(r.on);
      case Kind::kMake:
        return desk_.is_busy() || desk_.choose(r.mesh, settings_.stop, since_start());
      case Kind::kSeek:
      case Kind::kLive:
        return false;
      default:
        return is_choice(r);
    }
  }

  bool switch_devices(bool on) {
    on ? devices_.resume(DeviceDesk::kByHand) : devices_.stop(DeviceDesk::kByHand);
    next_devices_ = 0.0;
    return devices_.any();
  }

  /// Where all tools have the same method, there is none that is each one's own.
  bool is_choice(const PageRequest& r) const {
    return r.kind != Kind::kMethod || !r.name.empty() || find_common_method(scene_.tools).empty();
  }

  /// The same while a film is shown.
  bool direct_film(const PageRequest& r) {
    switch (r.kind) {
      case Kind::kPause:
        paused_ = true;
        return true;
      case Kind::kResume:
        if (show_->is_at_end()) show_->seek(0.0);
        paused_ = false;
        return true;
      case Kind::kStep:
        show_->seek(show_->film().next_time(show_->time()));
        return paused_;
      case Kind::kSeek:
        show_->seek(r.value);
        return true;
      case Kind::kSpeed:
        if (!(r.value >= 0.01 && r.value <= 1.0)) return false;
        speed_ = r.value;
        return true;
      case Kind::kStress:
        stress_ = r.on;
        return true;
      case Kind::kDevice:
        return switch_devices(r.on);
      case Kind::kHold:
      case Kind::kRecord:
      case Kind::kMake:
        return false;
      case Kind::kLetGo:
      case Kind::kAsk:
      case Kind::kGive:
      case Kind::kKeep:
        return r.tool < hands_.size();
      default:
        return is_choice(r);
    }
  }

  Scene find_scene(const std::string& name) const {
    if (desk_.scene() && name == desk_.scene()->name) return *desk_.scene();
    return name == given_.name ? given_ : load_builtin_scene(name);
  }

  void start_recording() {
    if (recorder_.is_on() || !settings_.make_recording_path) return;
    const std::string path = settings_.make_recording_path(scene_.name, tools_.front().method);
    recorder_.start(make_recording_header(scene_, method_name_, false),
                    Film(path, scene_.name, method_name_, watch_->make_geometry(0, scene_.name), tools_),
                    watch_->make_surface(0), last_clock_);
  }

  /// Does what pages asked for, now that the loops stand still.
  void grant() {
    const Wish wish = std::exchange(wish_, {});
    if (!wish.any()) return;
    const auto film = wish.film ? recorder_.find_film(*wish.film) : nullptr;  // before stop() lets an old one go
    recorder_.stop();                                                         // a recording is of one scene and method
    let_go_all();
    if (show_) {
      show_.reset();
      paused_ = false;
      publish_geometry();
    }
    if (film) {
      show_.emplace(film);
      paused_ = false;
      std::string geometry = show_->film().geometry();
      WorldWatch::renumber_geometry(geometry, ++geometry_);
      server_.publish_binary(kGeometry, std::move(geometry));
    } else if (wish.opened) {
      // A real hand is where it is, and only this thread may ask where.
      Prepared ready = *std::exchange(ready_, {});
      devices_.any() ? load(ready.scene, {}) : install(std::move(ready));
    } else if (wish.scene) {
      load(find_scene(*wish.scene), {});
    } else if (wish.slider) {
      load(apply_sliders(scene_, {*wish.slider}), method_name_);
    } else if (wish.repeat) {
      const Recording recording = read_recording(*wish.repeat);
      load(parse_scene(recording.header.scene, *wish.repeat), find_common_method(recording.header.tools));
      scene_.run.seconds = recording.ticks().empty() ? 1.0 : recording.ticks().back().time;
      replay_ = *wish.repeat;
    } else if (wish.method) {
      change_method(*wish.method);
    } else if (wish.restart) {
      choose(method_name_);
    }
  }

  void want() noexcept {
    const bool watched = server_.counters().clients > 0;
    watch_->want(watched, watched && stress_);
  }

  void publish_live(double time) {
    std::vector<Snapshot> now;
    std::vector<std::vector<TickSample>> ticks;
    std::vector<ToolFrame> tools;
    for (std::size_t i = 0; i < hands_.size(); ++i) {
      now.push_back(make_snapshot(last_[i], time, hands_.is_held(i), watch_->fingers(i)));
      ticks.push_back(samples_.newest_ticks(kTicksInFrame, i));
    }
    for (std::size_t i = 0; i < hands_.size(); ++i) tools.push_back({now[i], ticks[i]});
    server_.publish_binary(kFrame, make_frame(tools, samples_.newest_steps(kStepsInFrame)));
    recorder_.add(now, last_clock_);
    if (!watch_->refresh()) return;
    std::string surface = watch_->make_surface(geometry_);
    recorder_.add_surface(surface, last_clock_);
    server_.publish_binary(kSurface, std::move(surface));
  }

  void publish_state(double time, double seconds) {
    next_state_ = since_start() + kStatePeriod;
    want();
    const WebServerCounters server = server_.counters();
    holders_.update(
        since_start(), [&](std::uint64_t page) { return server_.is_connected(page); },
        [&](std::size_t tool) { hands_.let_go(tool); });
    Json film;
    if (show_) {
      const Film& f = show_->film();
      film = {{"name", f.recording()}, {"scene", f.scene()}, {"method", f.method()}};
    }
    Json state = catalogue_;
    for (const std::string& name : own_scenes()) {
      if (!is_builtin(name)) state["scenes"].insert(state["scenes"].begin(), name);
    }
    state["method"] = method_name_;
    state["tools"] = make_json(show_ ? show_->film().tools() : tools_);
    for (std::size_t i = 0; i < state["tools"].size() && i < kMaxTools; ++i) {
      const auto [holder, asker, reserved] = holders_[i];
      state["tools"][i].update({{"holder", holder}, {"asker", asker}, {"reserved", reserved}});
    }
    state["all_fast"] = std::all_of(methods_.begin(), methods_.end(), [](const Method& m) { return !m.slow; });
    state["file"] = desk_.make_json(since_start());
    state["paused"] = paused_;
    state["speed"] = speed_;
    state["realtime"] = segment_realtime_ && !show_;
    state["time"] = time;
    state["seconds"] = seconds;
    state["stress"] = stress_;
    state["recording"] = recorder_.is_on();
    state["recordings"] = recorder_.make_json();
    state["repeating"] = replay_;
    state["film"] = film;
    state["error"] = error_;
    state["notes"] = notes_;
    state["loops"] = samples_.make_json(scene_.run.dt, scene_.run.slow_period);
    state["pages"] = server.clients;
    state["dropped"] = server.dropped + summary_.malformed;
    // Names of files come from elsewhere and may be anything.
    server_.publish_text(kState, state.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

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

}  // namespace

ViewerSummary run_viewer(const Scene& scene, const std::string& method, const ViewerSettings& settings) {
  return Viewer(scene, method, settings).run();
}

}  // namespace palpate
