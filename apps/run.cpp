#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "device_options.h"
#include "palpate/core/error.h"
#include "palpate/core/log.h"
#include "palpate/experiments/advise.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/methods/registry.h"
#include "palpate/record/recording.h"
#include "palpate/record/replay_hand.h"
#include "palpate/scene/builtin.h"
#include "palpate/scene/warnings.h"

namespace palpate {
namespace {

struct RunOptions {
  std::string scene;
  std::vector<std::string> methods;
  double seconds = 0.0;
  bool lockstep = false;
  std::string record;
  bool no_record = false;
  std::string replay;
  DeviceOptions device;
  std::string rate;       ///< of the slow loop; empty: the scene's
  bool headless = false;  ///< accepted, and always so: the viewer is a command of its own
  bool json = false;
};

using Json = nlohmann::ordered_json;

Json times_json(const Histogram& h) {
  return {{"count", h.count()},
          {"p50", 1e-9 * h.compute_percentile_ns(0.5)},
          {"p99", 1e-9 * h.compute_percentile_ns(0.99)},
          {"p999", 1e-9 * h.compute_percentile_ns(0.999)},
          {"max", 1e-9 * static_cast<double>(h.max_ns())}};
}

std::string times_text(const Histogram& h) {
  const auto show = [](double ns) { return format_quantity(1e-9 * ns, "s"); };
  return fmt::format("p50 {}, p99 {}, max {}", show(h.compute_percentile_ns(0.5)), show(h.compute_percentile_ns(0.99)),
                     show(static_cast<double>(h.max_ns())));
}

double rate(std::uint64_t count, double seconds) {
  return seconds > 0.0 ? static_cast<double>(count) / seconds : 0.0;
}

std::string safety_text(const SafetyCounters& s) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, std::uint64_t n) {
    if (n) parts.push_back(fmt::format("{} {}", what, n));
  };
  add("clamped", s.clamped);
  add("slew-limited", s.slew_limited);
  add("stale model", s.stale_model);
  add("not finite", s.not_finite);
  add("passivity-damped", s.passivity_damped);
  add("input held", s.input_held);
  add("input lost", s.input_lost);
  return parts.empty() ? "no events" : fmt::format("ticks with {}", fmt::join(parts, ", "));
}

std::string input_text(const InputCounters& c) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, std::uint64_t n) {
    if (n) parts.push_back(fmt::format("{} {}", n, what));
  };
  add("broken", c.broken);
  add("out of order", c.out_of_order);
  add("too far", c.too_far);
  add("while settling", c.settling);
  return fmt::format("{} samples not taken ({}), lost {} times", c.rejected(), fmt::join(parts, ", "), c.losses);
}

/// What a run gave to one hand.
struct HandFigures {
  std::string tool;    ///< empty if there is only one
  std::string method;  ///< of that tool
  std::string hand;    ///< who or what moved it
  SafetyCounters safety;
  InputCounters input;
  double energy, energy_max;  ///< given to the hand: by the end, and the most at any time [J]
};

/// The most that models of the run had of each body that the fast loop has by a few states. Slow thread.
class ReducedBodies final : public LoopWatch {
 public:
  void after_step(const StepRow&, std::span<const ToolMessages> tools) override {
    if (none_) return;
    view_.clear();
    for (const ToolMessages& tool : tools) {
      if (tool.slow) tool.slow->show_bytes(tool.model.bytes(), view_);
    }
    none_ = view_.body_count == 0 && list_.empty();  // other methods' views take time and tell nothing here
    for (const ModelView::ReducedBody& now : std::span(view_.body).first(view_.body_count)) {
      const auto known = std::ranges::find(list_, now.body, &ModelView::ReducedBody::body);
      if (known == list_.end()) {
        list_.push_back(now);
      } else {
        known->states = std::max(known->states, now.states);
        known->left_out = std::max(known->left_out, now.left_out);
      }
    }
  }
  const std::vector<ModelView::ReducedBody>& list() const noexcept { return list_; }

 private:
  ModelView view_;
  bool none_ = false;
  std::vector<ModelView::ReducedBody> list_;
};

/// A run, and the real devices that were its hands; null where the scene's own was.
struct DoneRun {
  SceneRun run;
  std::vector<std::unique_ptr<RealHand>> hands;
  std::vector<std::string> warnings;
  ReducedBodies reduced;
  std::vector<std::string> bodies;  ///< names of the world's
};

/// Of every tool, in the scene's order.
std::vector<HandFigures> list_hands(const Scene& scene, const RunOptions& options, const DoneRun& done) {
  const SceneRun& run = done.run;
  std::vector<HandFigures> out;
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    const HandSummary& s = run.summary.hands[i];
    std::string hand(options.replay.empty() ? kind_name(scene.tools[i].hand) : "replay");
    if (done.hands[i]) hand = done.hands[i]->info().name;
    out.push_back({scene.tools.size() > 1 ? scene.tools[i].name : "", run.all()[i]->name, hand, s.safety, s.input,
                   s.energy, s.energy_max});
  }
  return out;
}

void print_hand(const HandFigures& h) {
  const std::string whose =
      h.tool.empty() ? std::string() : fmt::format("{}, method {}, {}: ", h.tool, h.method, h.hand);
  fmt::print("hand       {}peak force {}, energy given {} (final), {} (largest); safety: {}\n", whose,
             format_quantity(h.safety.peak_force, "N"), format_quantity(h.energy, "J"),
             format_quantity(h.energy_max, "J"), safety_text(h.safety));
  if (h.input.rejected()) fmt::print("device     {}{}\n", whose, input_text(h.input));
}

std::string device_text(const RealHand& hand) {
  return fmt::format("{}: {:.0f} samples a second, {}; lost {} times", hand.info().name, hand.sample_rate(),
                     round_trip_text(hand.driver().round_trips()), hand.losses());
}

void print_text(const Scene& scene, const RunOptions& options, const DoneRun& done) {
  const RunSummary& s = done.run.summary;
  const std::vector<HandFigures> hands = list_hands(scene, options, done);
  const std::string how = hands.size() == 1 ? fmt::format("method {}, {} hand", hands[0].method, hands[0].hand)
                                            : fmt::format("{} tools", hands.size());
  fmt::print("scene      {}, {}, {}, {:.3g} s{}\n", scene.name, how, options.lockstep ? "lockstep" : "realtime",
             s.seconds, s.stopped ? " (stopped)" : "");
  // Virtual time waits for whoever is late: nothing is missed in it.
  const auto missed = [&](std::uint64_t count) { return options.lockstep ? "" : fmt::format("; {} missed", count); };
  fmt::print("fast loop  {:.1f} Hz of {:.1f}; tick {}{}\n", rate(s.ticks, s.seconds), 1.0 / scene.run.dt,
             times_text(s.tick_times), missed(s.tick_misses));
  if (s.steps > 0) {
    fmt::print("slow loop  {:.1f} Hz of {:.1f}; step {}{}\n", rate(s.steps, s.seconds), 1.0 / scene.run.slow_period,
               times_text(s.step_times), missed(s.step_misses));
  } else {
    fmt::print("slow loop  none: this method does all in the fast loop\n");
  }
  for (const ModelView::ReducedBody& r : done.reduced.list())
    fmt::print("model      {}: {} of {} states, which leave out {} % of its answer\n", done.bodies[as_size(r.body)],
               r.states, r.most_states,
               r.left_out < 1e-4F ? "under 0.01" : fmt::format("at most {:.2g}", 100.0 * r.left_out));
  if (!options.lockstep) fmt::print("wake-up    tick late by {}\n", times_text(s.tick_delays));
  for (const HandFigures& hand : hands) print_hand(hand);
  for (const auto& hand : done.hands) {
    if (hand) fmt::print("device     {}\n", device_text(*hand));
  }
  if (s.lost_rows) fmt::print("lost       {} rows that the recorder was too slow for\n", s.lost_rows);
  for (const std::string& note : s.notes) fmt::print("note       {}\n", note);
  fmt::print("recording  {}\n", options.record.empty() ? "none" : options.record);
}

Json hand_json(const HandFigures& h) {
  const SafetyCounters& c = h.safety;
  return {{"peak_force", c.peak_force},
          {"energy_final", h.energy},
          {"energy_max", h.energy_max},
          {"safety",
           {{"ramping", c.ramping},
            {"clamped", c.clamped},
            {"slew_limited", c.slew_limited},
            {"stale_model", c.stale_model},
            {"not_finite", c.not_finite},
            {"passivity_damped", c.passivity_damped},
            {"input_held", c.input_held},
            {"input_lost", c.input_lost}}},
          {"input",
           {{"broken", h.input.broken},
            {"out_of_order", h.input.out_of_order},
            {"too_far", h.input.too_far},
            {"settling", h.input.settling},
            {"losses", h.input.losses}}}};
}

Json device_json(const std::string& tool, const RealHand& hand) {
  return {{"tool", tool},
          {"name", hand.info().name},
          {"samples_per_second", hand.sample_rate()},
          {"round_trip", times_json(hand.driver().round_trips())},
          {"losses", hand.losses()},
          {"forces_withheld", hand.driver().withheld()}};
}

/// The hand's figures are members of the run itself if there is one hand, else of the items of "tools".
void print_json(const Scene& scene, const RunOptions& options, const DoneRun& done) {
  const RunSummary& s = done.run.summary;
  const std::vector<HandFigures> hands = list_hands(scene, options, done);
  Json out = {{"scene", scene.name}};
  if (hands.size() == 1) out["method"] = hands.front().method;
  out.update({{"runtime", options.lockstep ? "lockstep" : "realtime"},
              {"seconds", s.seconds},
              {"stopped", s.stopped},
              {"ticks", s.ticks},
              {"tick_rate", rate(s.ticks, s.seconds)},
              {"tick_misses", s.tick_misses},
              {"driven_ticks", s.driven_ticks},
              {"tick_time", times_json(s.tick_times)},
              {"tick_delay", times_json(s.tick_delays)},
              {"steps", s.steps},
              {"step_rate", rate(s.steps, s.seconds)},
              {"step_misses", s.step_misses},
              {"step_time", times_json(s.step_times)},
              {"lost_rows", s.lost_rows}});
  if (hands.size() == 1) out.update(hand_json(hands.front()));
  for (const HandFigures& hand : hands) {
    if (hands.size() == 1) break;
    Json tool = {{"name", hand.tool}, {"method", hand.method}, {"hand", hand.hand}};
    tool.update(hand_json(hand));
    out["tools"].push_back(std::move(tool));
  }
  for (std::size_t i = 0; i < done.hands.size(); ++i) {
    if (done.hands[i]) out["devices"].push_back(device_json(scene.tools[i].name, *done.hands[i]));
  }
  for (const ModelView::ReducedBody& r : done.reduced.list())
    out["reduced"].push_back({{"body", done.bodies[as_size(r.body)]},
                              {"states", r.states},
                              {"most_states", r.most_states},
                              {"left_out", r.left_out}});
  out.update({{"warnings", done.warnings}, {"notes", s.notes}, {"recording", options.record}});
  fmt::print("{}\n", out.dump(2));
}

/// Without a SCENE, a recording's own scene is run again.
Scene scene_of(const RunOptions& options) {
  if (!options.replay.empty() && options.scene.empty()) {
    const Recording recording = read_recording(options.replay);
    return parse_scene(recording.header.scene, options.replay);
  }
  return options.scene.empty() ? load_builtin_scene(builtin_scenes().front().name) : find_scene(options.scene);
}

/// What to open for each tool. A real hand keeps real time: elsewhere what the scene says of one is left out.
std::vector<std::string> find_devices(Scene& scene, const RunOptions& options) {
  std::vector<std::string> names = apply_device_options(scene, options.device);
  if (!options.lockstep && options.replay.empty()) return names;
  if (!options.device.devices.empty())
    fail_input("--device {}: a real hand keeps real time; not with --lockstep or --replay",
               options.device.devices.front());
  names.assign(names.size(), "");
  return names;
}

/// The rate of the slow loop that the command line or the scene asks for. True: it is to follow the machine.
bool settle_rate(Scene& scene, const RunOptions& options, const std::string& method) {
  if (options.rate == "auto") {
    if (options.lockstep)
      fail_input("--rate auto: what this machine holds has no say in lockstep, which is the same on every machine");
    scene.run.auto_period = true;
  } else if (!options.rate.empty()) {
    double rate = 0.0;
    if (!CLI::detail::lexical_cast(options.rate, rate) || !(rate >= 0.1 && rate <= 1.0 / scene.run.dt))
      fail_input("--rate {}: must be a number of hertz from 0.1 to {:.6g}, the fast loop's, or auto",
                 quote_for_message(options.rate), 1.0 / scene.run.dt);
    set_slow_period(scene, 1.0 / rate);
  }
  if (options.lockstep) return false;
  if (!method.empty()) {
    for (HeldTool& held : scene.tools) held.method = method;
  }
  return settle_slow_period(scene);
}

int run_command(RunOptions options) {
  Scene scene = scene_of(options);
  const std::string method = apply_method_options(scene, options.methods);
  if (options.seconds > 0.0) scene.run.seconds = options.seconds;
  DoneRun done;
  if (std::string warning = settle_methods(scene, !options.lockstep); !warning.empty())
    done.warnings.push_back(std::move(warning));
  const bool adapt = settle_rate(scene, options, method);
  done.hands = open_hands(find_devices(scene, options));
  WorldExtras extras;
  std::vector<std::unique_ptr<Device>> own;
  std::vector<Device*> devices;
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    own.push_back(done.hands[i]            ? done.hands[i]->make_device(scene, i)
                  : options.replay.empty() ? make_device(scene, i)
                                           : make_replay_device(options.replay, {}, i));
    devices.push_back(own.back().get());
    extras.starts.push_back(devices[i]->read(0.0).pose);
    if (done.hands[i]) continue;  // it has warned itself
    for (std::string& warning : find_warnings(scene, *devices[i], i)) done.warnings.push_back(std::move(warning));
  }
  World world = make_world(scene, extras);
  // A real or replayed hand goes its own way.
  const bool scene_hands =
      options.replay.empty() && std::none_of(done.hands.begin(), done.hands.end(), [](const auto& h) { return !!h; });
  if (scene_hands) {
    for (std::string& warning : find_world_warnings(scene, world)) done.warnings.push_back(std::move(warning));
  }
  for (std::string& warning : find_method_warnings(scene, method)) done.warnings.push_back(std::move(warning));
  for (const std::string& warning : done.warnings) log::warn("{}", warning);

  for (const WorldBody& body : world.bodies()) done.bodies.push_back(body.name);
  SceneRunOptions once;
  once.watch = &done.reduced;
  once.method = method;
  once.lockstep = options.lockstep;
  once.adapt_period = adapt;
  for (const auto& hand : done.hands) once.waits.push_back(!hand);
  once.realtime.ticks = find_tick_source(done.hands);
  once.keep_rows = false;
  const std::string first = method.empty() ? scene.first().method : method;
  if (options.no_record) {
    options.record.clear();
  } else if (options.record.empty()) {
    options.record = make_free_path("recordings", scene.name + "-" + first, ".palpate");
  } else {
    require_folder_of(options.record);
  }
  once.recording = options.record;
  once.control.stop = &stop_requested();
  {
    Progress progress;
    once.control.progress = [&](double t) { progress.show(scene.name, t / scene.run.seconds); };
    done.run = run_scene(scene, world, once, devices);
  }
  for (const auto& hand : done.hands) {
    if (hand) hand->close();
  }
  options.json ? print_json(scene, options, done) : print_text(scene, options, done);
  return kDone;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "run a scene with a hand, and record it");
  command->add_option("SCENE", options->scene, "scene file or built-in scene; default: organ");
  add_method_option(*command, options->methods);
  command->add_option("-s,--seconds", options->seconds, "length of the run; default: the scene's")
      ->check(positive_number());
  command->add_option(
      "--rate", options->rate,
      "of the slow loop [Hz], or auto: as fast as this machine holds, by a short trial and while it runs; default: the "
      "scene's");
  command->add_flag("--lockstep", options->lockstep,
                    "virtual time, one thread, the same bits every time; default: real time");
  command->add_option("-o,--record", options->record,
                      "recording to write; default: recordings/SCENE-METHOD-NNN.palpate");
  command->add_flag("--no-record", options->no_record, "write no recording");
  command->add_option("--replay", options->replay, "the hand of this recording (and its scene, if SCENE is not given)");
  add_device_options(*command, options->device);
  command->add_flag("--headless", options->headless, "without the viewer; this command never opens one");
  command->add_flag("--json", options->json, "summary as JSON");
  command->footer("Example: palpate run sine-static --method halfspace --seconds 2");
  command->callback([options, &action] { action = [options] { return run_command(*options); }; });
}

}  // namespace palpate
