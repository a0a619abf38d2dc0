#include "palpate/server/viewer.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "frame.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/core/log.h"
#include "palpate/methods/registry.h"
#include "palpate/record/recording.h"
#include "palpate/record/replay_hand.h"
#include "palpate/scene/builtin.h"
#include "palpate/server/guided_hand.h"
#include "palpate/server/world_watch.h"
#include "scene_settings.h"
#include "viewer_assets.h"

namespace palpate {
namespace {

using Json = nlohmann::ordered_json;

enum Channel : std::size_t { kGeometry, kState, kFrame };

constexpr double kFramePeriod = 1.0 / 60.0;  // [s]
constexpr double kStatePeriod = 0.25;        // [s]
/// Ticks in a frame: as many as a page may miss without a gap in its plots.
constexpr std::size_t kTicksInFrame = 250;
constexpr std::size_t kStepsInFrame = 16;
constexpr std::size_t kPercentileTicks = 2000;
constexpr double kForever = 1e6;  // [s]

struct TickSample {
  float time, force[3], tick_us, events;
};
struct StepSample {
  float time, total_ms, stages_ms[kStageCount];
};

double percentile(std::vector<float>& values, double share) {
  if (values.empty()) return 0.0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// What a page asks for that needs the loops to stop first.
struct Wish {
  bool restart = false;  ///< of the world
  std::optional<std::string> scene, method, recording;
  std::optional<std::pair<std::string, double>> slider;
};

class Viewer final : public RunSink {
 public:
  Viewer(const Scene& scene, const std::string& method, const ViewerSettings& settings)
      : settings_(settings), given_(scene), server_(settings.server, viewer_assets()) {
    load(scene, method);
    if (settings_.ready) settings_.ready(server_.url());
  }

  ViewerSummary run() {
    start_ns_ = monotonic_ns();
    while (!is_over()) {
      try {
        run_segment();
        grant();
      } catch (const InputError& error) {
        // A page asked for something that cannot be: say so, and go on as before.
        // A recording that cannot be written is given up, or the next run would end on it too.
        error_ = error.what();
        writer_.reset();
        if (!method_) load(given_, {});
      }
    }
    writer_.reset();
    summary_.seconds = 1e-9 * static_cast<double>(monotonic_ns() - start_ns_);
    summary_.server = server_.counters();
    return summary_;
  }

  void add(const TickRow& row) override {
    TickRow shifted = row;
    shifted.time += base_;
    if (writer_) writer_->add(shifted);
    last_ = shifted;
    const Vec3& f = row.sent.force;
    ticks_.push_back({static_cast<float>(shifted.time),
                      {static_cast<float>(f.x()), static_cast<float>(f.y()), static_cast<float>(f.z())},
                      static_cast<float>(1e6 * row.tick_time),
                      static_cast<float>(row.events)});
    if (ticks_.size() > kPercentileTicks) ticks_.pop_front();
    ++summary_.ticks;
  }

  void add(const StepRow& row) override {
    StepRow shifted = row;
    shifted.time += base_;
    if (writer_) writer_->add(shifted);
    StepSample s{static_cast<float>(shifted.time), static_cast<float>(1e3 * row.step_time), {}};
    for (std::size_t i = 0; i < kStageCount; ++i) {
      const double t = row.stage_time[i];
      s.stages_ms[i] = std::isnan(t) ? 0.0F : static_cast<float>(1e3 * t);
    }
    steps_.push_back(s);
    if (steps_.size() > 100) steps_.pop_front();
    last_step_ = shifted;
    ++summary_.steps;
  }

 private:
  double since_start() const noexcept { return 1e-9 * static_cast<double>(monotonic_ns() - start_ns_); }
  bool is_over() const noexcept {
    return (settings_.stop && settings_.stop->load(std::memory_order_relaxed)) ||
           (settings_.seconds > 0.0 && since_start() >= settings_.seconds);
  }

  std::unique_ptr<Device> make_hand() const {
    return replay_.empty() ? scene_.make_device() : make_replay_device(replay_);
  }

  /// Makes everything of a scene anew. Throws InputError, and leaves what there was if so.
  void load(const Scene& scene, const std::string& method) {
    auto world = std::make_unique<World>(make_world(scene));
    std::string name = method.empty() ? scene.method : method;
    if (!find_method(name).refuse(*world, scene.tool).empty()) name = scene.method;
    auto watch = std::make_unique<WorldWatch>(*world);
    scene_ = scene;
    replay_.clear();
    method_.reset();
    watch_ = std::move(watch);
    world_ = std::move(world);
    hand_ = std::make_unique<GuidedHand>(make_hand());
    choose(name);
    server_.publish_binary(kGeometry, watch_->make_geometry());
  }

  /// The world from its start, with this method.
  void choose(const std::string& name) {
    Method made = make_method(scene_, name, *world_, *scene_.make_device());
    method_name_ = name;
    method_.emplace(watch_->wrap(std::move(made)));
    watch_->copy_out();
    base_ = 0.0;
    hand_->replace(make_hand());
    forget_samples();
    error_.clear();
  }

  void forget_samples() {
    ticks_.clear();
    steps_.clear();
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
    const RunParts parts{*method_, *hand_, this};
    const RunSummary done =
        segment_realtime_ ? run_realtime(run, {}, parts, control) : run_lockstep(run, parts, control);
    notes_ = done.notes;
    base_ += done.seconds;
    if (end_of_hand_) {
      end_of_hand_ = false;
      base_ = 0.0;
      forget_samples();
      hand_->replace(make_hand());
      if (!replay_.empty()) wish_.restart = true;
    }
    hand_->begin(base_);
  }

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
    std::string message;
    while (server_.take(message)) receive(message, t);
    const double now = since_start();
    if (is_over()) end_segment();
    // The scene's own hand has nothing more to do, and nobody holds the tool: from the beginning.
    if (!held_ && !paused_ && base_ + t >= scene_.run.seconds) {
      end_of_hand_ = true;
      end_segment();
    }
    if (now >= next_frame_) {
      next_frame_ = now + kFramePeriod;
      publish_frame(t);
    }
    if (now >= next_state_) {
      next_state_ = now + kStatePeriod;
      publish_state(t);
    }
  }

  void receive(const std::string& text, double t) {
    const Json m = Json::parse(text, nullptr, false);
    if (!m.is_object() || !understand(m, t)) ++summary_.malformed;
    next_state_ = 0.0;
  }

  bool understand(const Json& m, double t) {
    const auto name_of = [&](const char* key) -> std::string {
      return m.contains(key) && m[key].is_string() ? m[key].get<std::string>() : std::string();
    };
    const auto number_of = [&](const char* key) {
      return m.contains(key) && m[key].is_number() ? m[key].get<double>() : std::nan("");
    };
    const std::string type = name_of("type");
    if (type == "hold") return receive_hold(m);
    if (type == "let_go") {
      held_ = false;
      hand_->let_go();
    } else if (type == "pause") {
      paused_ = true;
      step_until_ = t;
      if (segment_realtime_) end_segment(), step_until_ = 0.0;
    } else if (type == "resume") {
      paused_ = false;
      segment_wall_ = since_start() - t / speed_;
      if (speed_ == 1.0) end_segment();
    } else if (type == "step") {
      if (!paused_) return false;
      step_until_ = t + scene_.run.slow_period;
    } else if (type == "reset") {
      wish_.restart = true;
      end_segment();
    } else if (type == "speed") {
      const double value = number_of("value");
      if (!(value >= 0.01 && value <= 1.0)) return false;
      if ((value == 1.0) != (speed_ == 1.0)) end_segment();
      speed_ = value;
      segment_wall_ = since_start() - t / speed_;
    } else if (type == "method") {
      const std::string name = name_of("name");
      const auto all = registered_methods();
      if (std::none_of(all.begin(), all.end(), [&](const MethodInfo& i) { return i.name == name; })) return false;
      wish_.method = name;
      end_segment();
    } else if (type == "scene") {
      const std::string name = name_of("name");
      if (name != given_.name && !is_builtin(name)) return false;
      wish_.scene = name;
      end_segment();
    } else if (type == "set") {
      const double value = number_of("value");
      const std::string name = name_of("name");
      for (const SceneSlider& s : scene_sliders()) {
        if (s.name != name || !(value >= s.min && value <= s.max)) continue;
        wish_.slider = {name, value};
        end_segment();
        return true;
      }
      return false;
    } else if (type == "record") {
      if (!m.contains("on") || !m["on"].is_boolean()) return false;
      m["on"].get<bool>() ? start_recording() : stop_recording();
    } else if (type == "play") {
      // Only recordings that were made here: a name from a page is never a path.
      const std::string name = name_of("name");
      for (const std::string& file : recordings_) {
        if (file != name) continue;
        wish_.recording = file;
        end_segment();
        return true;
      }
      return false;
    } else {
      return false;
    }
    return true;
  }

  bool receive_hold(const Json& m) {
    const auto numbers = [&](const char* key, std::size_t count, double* out) {
      if (!m.contains(key) || !m[key].is_array() || m[key].size() != count) return false;
      for (std::size_t i = 0; i < count; ++i) {
        if (!m[key][i].is_number()) return false;
        out[i] = m[key][i].get<double>();
        if (!(std::abs(out[i]) <= 100.0)) return false;
      }
      return true;
    };
    double p[3], q[4] = {1.0, 0.0, 0.0, 0.0};
    if (!numbers("position", 3, p)) return false;
    if (m.contains("rotation") && !numbers("rotation", 4, q)) return false;
    const Quat rotation(q[0], q[1], q[2], q[3]);
    if (!(rotation.norm() > 0.1)) return false;
    held_ = true;
    hand_->hold({Vec3(p[0], p[1], p[2]), rotation});
    return true;
  }

  static bool is_builtin(const std::string& name) {
    const auto all = builtin_scenes();
    return std::any_of(all.begin(), all.end(), [&](const BuiltinScene& s) { return s.name == name; });
  }

  void start_recording() {
    if (writer_ || !settings_.make_recording_path) return;
    const std::string path = settings_.make_recording_path(scene_.name, method_name_);
    RecordingHeader header;
    header.scene_name = scene_.name;
    header.scene = scene_.text;
    header.method = method_name_;
    header.lockstep = false;
    header.dt = scene_.run.dt;
    header.slow_period = scene_.run.slow_period;
    writer_.emplace(path, header);
    recordings_.push_back(path);
  }

  void stop_recording() {
    if (writer_) writer_->close();
    writer_.reset();
  }

  /// Does what pages asked for, now that the loops stand still.
  void grant() {
    const Wish wish = std::exchange(wish_, {});
    if (wish.scene || wish.method || wish.slider || wish.recording || wish.restart) {
      stop_recording();  // a recording is of one scene and method
      held_ = false;
      hand_->let_go();
    }
    if (wish.scene) {
      load(*wish.scene == given_.name ? given_ : load_builtin_scene(*wish.scene), {});
    } else if (wish.slider) {
      load(apply_sliders(scene_, {*wish.slider}), method_name_);
    } else if (wish.recording) {
      const Recording recording = read_recording(*wish.recording);
      load(parse_scene(recording.header.scene, *wish.recording), recording.header.method);
      scene_.run.seconds = recording.ticks.empty() ? 1.0 : recording.ticks.back().time;
      replay_ = *wish.recording;
      hand_ = std::make_unique<GuidedHand>(make_hand());
    } else if (wish.method) {
      choose(*wish.method);
    } else if (wish.restart) {
      choose(method_name_);
    }
  }

  void publish_frame(double t) {
    FrameWriter frame;
    const auto put = [](float* to, const Vec3& v) {
      for (int i = 0; i < 3; ++i) to[i] = static_cast<float>(v[i]);
    };
    const auto turn = [](float* to, const Quat& q) {
      to[0] = static_cast<float>(q.w()), to[1] = static_cast<float>(q.x());
      to[2] = static_cast<float>(q.y()), to[3] = static_cast<float>(q.z());
    };
    // time, device (position, rotation), tool, force, torque sent, model age, energy, contacts, held
    float now[26] = {static_cast<float>(base_ + t)};
    put(now + 1, last_.device.position), turn(now + 4, last_.device.rotation);
    put(now + 8, last_.tool.position), turn(now + 11, last_.tool.rotation);
    put(now + 15, last_.sent.force), put(now + 18, last_.sent.torque);
    now[21] = static_cast<float>(last_.model_age);
    now[22] = static_cast<float>(last_.energy);
    now[23] = static_cast<float>(last_.contacts);
    now[24] = held_ ? 1.0F : 0.0F;
    now[25] = static_cast<float>(last_.events);
    frame.add<float>("STAT", now);
    watch_->refresh();
    frame.add<float>("VERT", {watch_->positions(), 3 * watch_->vertex_count()});
    frame.add<WorldWatch::Contact>("CONT", {watch_->contacts(), watch_->contact_count()});
    const std::size_t skip = ticks_.size() > kTicksInFrame ? ticks_.size() - kTicksInFrame : 0;
    const std::vector<TickSample> ticks(ticks_.begin() + static_cast<std::ptrdiff_t>(skip), ticks_.end());
    frame.add<TickSample>("TICK", ticks);
    const std::size_t old = steps_.size() > kStepsInFrame ? steps_.size() - kStepsInFrame : 0;
    const std::vector<StepSample> steps(steps_.begin() + static_cast<std::ptrdiff_t>(old), steps_.end());
    frame.add<StepSample>("STEP", steps);
    server_.publish_binary(kFrame, frame.take());
  }

  void publish_state(double t) {
    Json scenes = Json::array();
    if (!is_builtin(given_.name)) scenes.push_back(given_.name);
    for (const BuiltinScene& s : builtin_scenes()) scenes.push_back(s.name);
    Json methods = Json::array();
    for (const MethodInfo& info : registered_methods()) {
      methods.push_back(
          {{"name", info.name}, {"description", info.description}, {"refused", info.refuse(*world_, scene_.tool)}});
    }
    const SliderValues values = read_sliders(scene_);
    Json sliders = Json::array();
    for (const SceneSlider& s : scene_sliders()) {
      const auto value = values.find(s.name);
      if (value == values.end()) continue;
      sliders.push_back({{"name", s.name},
                         {"label", s.label},
                         {"unit", s.unit},
                         {"min", s.min},
                         {"max", s.max},
                         {"value", value->second}});
    }
    const WebServerCounters server = server_.counters();
    Json state = {{"scene", scene_.name},
                  {"description", scene_.description},
                  {"scenes", scenes},
                  {"method", method_name_},
                  {"methods", methods},
                  {"sliders", sliders},
                  {"paused", paused_},
                  {"speed", speed_},
                  {"realtime", segment_realtime_},
                  {"time", base_ + t},
                  {"seconds", scene_.run.seconds},
                  {"tool", scene_.tool.kind == ToolSettings::Kind::kPoint   ? "point"
                           : scene_.tool.kind == ToolSettings::Kind::kRigid ? "rigid"
                                                                            : "chain"},
                  {"tool_radius", scene_.tool.radius},
                  {"coupling_stiffness", scene_.tool.coupling.stiffness},
                  {"recording", writer_.has_value()},
                  {"recordings", recordings_},
                  {"replaying", replay_},
                  {"error", error_},
                  {"notes", notes_},
                  {"stages", kStageNames},
                  {"loops", loops_json()},
                  {"pages", server.clients},
                  {"dropped", server.dropped + summary_.malformed}};
    server_.publish_text(kState, state.dump());
  }

  Json loops_json() const {
    std::vector<float> ticks, steps;
    for (const TickSample& s : ticks_) {
      if (!std::isnan(s.tick_us)) ticks.push_back(s.tick_us);
    }
    for (const StepSample& s : steps_) {
      if (!std::isnan(s.total_ms)) steps.push_back(s.total_ms);
    }
    const auto rate = [](const auto& samples) {
      return samples.size() < 2 || samples.back().time <= samples.front().time
                 ? 0.0
                 : static_cast<double>(samples.size() - 1) / (samples.back().time - samples.front().time);
    };
    const double dt = scene_.run.dt, slow = scene_.run.slow_period;
    return {{"fast",
             {{"rate", rate(ticks_)},
              {"wanted", 1.0 / dt},
              {"p50_us", percentile(ticks, 0.5)},
              {"p99_us", percentile(ticks, 0.99)},
              {"load", ticks.empty() ? 0.0 : 1e-6 * percentile(ticks, 0.5) / dt}}},
            {"slow",
             {{"rate", rate(steps_)},
              {"wanted", 1.0 / slow},
              {"p50_ms", percentile(steps, 0.5)},
              {"p99_ms", percentile(steps, 0.99)},
              {"load", steps.empty() ? 0.0 : 1e-3 * percentile(steps, 0.5) / slow},
              {"contacts", last_step_.contacts},
              {"iterations", last_step_.iterations}}}};
  }

  const ViewerSettings settings_;
  const Scene given_;
  WebServer server_;
  Scene scene_;
  std::string replay_;  ///< recording whose hand is played; empty: the scene's
  std::unique_ptr<World> world_;
  std::unique_ptr<WorldWatch> watch_;
  std::unique_ptr<GuidedHand> hand_;
  std::string method_name_;
  std::optional<Method> method_;

  bool paused_ = false;
  double speed_ = 1.0;
  bool held_ = false;
  bool end_of_hand_ = false;
  Wish wish_;
  double base_ = 0.0;  ///< when the segment began, in the time that pages see [s]
  std::atomic<bool> segment_stop_{false};
  bool segment_realtime_ = true;
  double segment_wall_ = 0.0;  ///< when it would have begun, at its present speed [s]
  double step_until_ = 0.0;    ///< paused: goes on to here [s]
  std::int64_t start_ns_ = monotonic_ns();
  double next_frame_ = 0.0, next_state_ = 0.0;

  TickRow last_;
  StepRow last_step_;
  std::deque<TickSample> ticks_;
  std::deque<StepSample> steps_;
  std::optional<RecordingWriter> writer_;
  std::vector<std::string> recordings_;
  std::vector<std::string> notes_;
  std::string error_;
  ViewerSummary summary_;
};

}  // namespace

ViewerSummary run_viewer(const Scene& scene, const std::string& method, const ViewerSettings& settings) {
  return Viewer(scene, method, settings).run();
}

}  // namespace palpate
