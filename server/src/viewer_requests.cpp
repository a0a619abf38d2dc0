#include <utility>

#include "live_viewer.h"
#include "palpate/scene/builtin.h"
#include "scene_settings.h"
#include "viewer_channels.h"

// What pages ask for: at once where the loops can go on, else noted as a wish that ends the segment and is then
// granted.
namespace palpate {

void LiveViewer::receive_all(double t) {
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

void LiveViewer::receive_files() {
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

bool LiveViewer::handle(const PageRequest& r, std::uint64_t page) {
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

void LiveViewer::let_go_all() {
  hands_.let_go_all();
  holders_.clear(since_start());
}

bool LiveViewer::control(const PageRequest& r, double t, std::uint64_t page) {
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

bool LiveViewer::switch_devices(bool on) {
  on ? devices_.resume(DeviceDesk::kByHand) : devices_.stop(DeviceDesk::kByHand);
  next_devices_ = 0.0;
  return devices_.any();
}

bool LiveViewer::is_choice(const PageRequest& r) const {
  return r.kind != Kind::kMethod || !r.name.empty() || find_common_method(scene_.tools).empty();
}

bool LiveViewer::direct_film(const PageRequest& r) {
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

Scene LiveViewer::find_scene(const std::string& name) const {
  if (desk_.scene() && name == desk_.scene()->name) return *desk_.scene();
  return name == given_.name ? given_ : load_builtin_scene(name);
}

void LiveViewer::start_recording() {
  if (recorder_.is_on() || !settings_.make_recording_path) return;
  const std::string path = settings_.make_recording_path(scene_.name, tools_.front().method);
  recorder_.start(make_recording_header(scene_, method_name_, false),
                  Film(path, scene_.name, method_name_, watch_->make_geometry(0, scene_.name), tools_),
                  watch_->make_surface(0), last_clock_);
}

void LiveViewer::grant() {
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
    Scene changed = apply_sliders(scene_, {*wish.slider});
    changed.run.auto_period = period_ && changed.run.slow_period == scene_.run.slow_period;
    load(changed, method_name_);
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

}  // namespace palpate
