#include <algorithm>

#include "catalogue.h"
#include "live_viewer.h"
#include "viewer_channels.h"

// What pages are told.
namespace palpate {
namespace {

constexpr double kStatePeriod = 0.25;  // [s]
/// Ticks in a frame: as many as a page may miss without a gap in its plots.
constexpr std::size_t kTicksInFrame = 250;
constexpr std::size_t kStepsInFrame = 16;

}  // namespace

void LiveViewer::publish_scene() {
  Scene now = scene_;
  if (period_) {
    set_slow_period(now, RunSettings{}.slow_period);
    now.run.auto_period = true;
  }
  for (HeldTool& held : now.tools) {
    if (!method_name_.empty()) held.method = method_name_;
  }
  server_.publish_file("/scene.json", "application/json; charset=utf-8", write_scene(now));
}

void LiveViewer::publish_geometry() {
  server_.publish_binary(kGeometry, watch_->make_geometry(++geometry_, scene_.name));
  watch_->refresh();
  server_.publish_binary(kSurface, watch_->make_surface(geometry_));
}

void LiveViewer::want() noexcept {
  const bool watched = server_.counters().clients > 0;
  watch_->want(watched, watched && stress_);
}

void LiveViewer::publish_live(double time) {
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

void LiveViewer::publish_state(double time, double seconds) {
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
  state["auto_period"] = period_.has_value();
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

}  // namespace palpate
