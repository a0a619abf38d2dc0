#include <cmath>

#include "live_viewer.h"
#include "palpate/core/error.h"
#include "palpate/methods/registry.h"
#include "palpate/record/replay_hand.h"
#include "viewer_assets.h"
#include "viewer_channels.h"

namespace palpate {
namespace {

constexpr double kFramePeriod = 1.0 / 60.0;   // [s]
constexpr double kDevicePeriod = 1.0 / 30.0;  // [s]
constexpr double kForever = 1e6;              // [s]

WebServerSettings with_uploads(WebServerSettings settings) {
  settings.max_upload = kMaxOpenedBytes;
  return settings;
}

}  // namespace

LiveViewer::LiveViewer(const Scene& scene, const std::string& method, const ViewerSettings& settings)
    : settings_(settings),
      given_(scene),
      server_(with_uploads(settings.server), viewer_assets()),
      devices_(settings.hands) {
  load(scene, method);
  if (settings_.ready) settings_.ready(server_.url());
}

ViewerSummary LiveViewer::run() {
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

void LiveViewer::add(const TickRow& row) {
  last_clock_ = clock_ + row.time;
  recorder_.add(row, last_clock_);
  last_[row.tool_number] = row;
  samples_.add(make_sample(row, row.time), row.tool_number);
  if (row.tool_number == 0) ++summary_.ticks;
}

void LiveViewer::add(const StepRow& row) {
  samples_.add(make_sample(row, row.time));
  ++summary_.steps;
  recorder_.add(row, clock_ + row.time);
}

Hands::Maker LiveViewer::hand_maker() const {
  return [this](std::size_t tool) -> std::unique_ptr<Device> {
    if (!replay_.empty()) return make_replay_device(replay_, {}, tool);
    return is_real(tool) ? devices_.find(tool)->make_device(scene_, tool) : make_device(scene_, tool);
  };
}

std::vector<std::string> LiveViewer::own_scenes() const {
  std::vector<std::string> out{given_.name};
  if (desk_.scene() && desk_.scene()->name != given_.name) out.push_back(desk_.scene()->name);
  return out;
}

void LiveViewer::load(const Scene& wanted, const std::string& method) {
  const Scene scene = devices_.with_devices(wanted, given_);
  std::vector<Pose> starts;
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    RealHand* real = devices_.find(i);
    starts.push_back((real ? real->make_device(scene, i) : make_device(scene, i))->read(0.0).pose);
  }
  install(prepare(scene, std::move(starts), method, settings_.stop));
}

void LiveViewer::install(Prepared prepared) {
  scene_ = std::move(prepared.scene);
  replay_.clear();
  methods_.clear();
  watch_ = std::move(prepared.watch);
  world_ = std::move(prepared.world);
  catalogue_ = std::move(prepared.catalogue);
  period_.reset();
  if (prepared.adapts) period_.emplace(scene_, watch_.get(), &segment_stop_);
  choose(prepared.method);
  publish_geometry();
  next_state_ = 0.0;
}

void LiveViewer::choose(const std::string& name) {
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

void LiveViewer::change_method(const std::string& name) {
  try {
    choose(name);
  } catch (const InputError&) {
    choose(method_name_);
    throw;
  }
}

void LiveViewer::change_period() {
  Scene next = scene_;
  next.run.slow_period = period_->wanted();
  period_->go_on(scene_.run.slow_period);  // if there are no such methods
  methods_ = renew_methods(next, method_name_, *world_, period_->last_rows(), memory_);
  scene_ = std::move(next);
  period_->go_on(scene_.run.slow_period);
  for (Json& slider : catalogue_["sliders"]) {
    if (slider["name"] == "slow_rate") slider["value"] = 1.0 / scene_.run.slow_period;
  }
  next_state_ = 0.0;
}

void LiveViewer::run_segment() {
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
  const bool adapts = period_ && segment_realtime_;
  if (adapts) {
    period_->resume();
    parts.watch = &*period_;
    control.stop = &period_->stop();
  }
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
  if (adapts && period_->wants_change()) change_period();
  if (end_of_hand_) {
    end_of_hand_ = false;
    base_ = -memory_.time;
    hands_.replace(hand_maker(), memory_.time);
    if (!replay_.empty()) wish_.restart = true;
  }
}

void LiveViewer::on_progress(double t) {
  attend(t);
  if (segment_realtime_) return;
  // Lockstep runs as fast as it can; here it waits until the wall says so.
  while (!segment_stop_.load() && (paused_ ? t >= step_until_ : since_start() < segment_wall_ + t / speed_)) {
    sleep_until_ns(monotonic_ns() + 4'000'000);
    if (paused_) segment_wall_ = since_start() - t / speed_;
    attend(t);
  }
}

void LiveViewer::attend(double t) {
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

void LiveViewer::run_film() {
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

ViewerSummary run_viewer(const Scene& scene, const std::string& method, const ViewerSettings& settings) {
  return LiveViewer(scene, method, settings).run();
}

}  // namespace palpate
