#include "palpate/experiments/scene_run.h"

#include <algorithm>
#include <cmath>

#include "palpate/experiments/auto_period.h"
#include "palpate/record/recording.h"

namespace palpate {
namespace {

class Recorder final : public RunSink {
 public:
  Recorder(SceneRun& run, bool keep, RecordingWriter* writer) : run_(run), keep_(keep), writer_(writer) {}
  void add(const TickRow& row) override {
    if (keep_) run_.data_of(row.tool_number).ticks.push_back(row);
    if (writer_) writer_->add(row, row.tool_number);
  }
  void add(const StepRow& row) override {
    for (std::size_t i = 0; keep_ && i <= run_.others.size(); ++i) run_.data_of(i).steps.push_back(row);
    if (writer_) writer_->add(row);
  }

 private:
  SceneRun& run_;
  const bool keep_;
  RecordingWriter* writer_;
};

/// Samples longer than `limit` [s], to the width of a bin; exact if there is none.
std::uint64_t count_longer(const Histogram& times, double limit) {
  if (1e-9 * static_cast<double>(times.max_ns()) <= limit) return 0;
  std::uint64_t count = 0;
  for (int i = 0; i < Histogram::kBins; ++i) count += 1e-9 * Histogram::bin_edge_ns(i) >= limit ? times.bin(i) : 0;
  return std::max<std::uint64_t>(count, 1);
}

/// Adds the next part of a run to those before.
void append(RunSummary& all, RunSummary part) {
  all.ticks += part.ticks;
  all.driven_ticks += part.driven_ticks;
  all.steps += part.steps;
  all.seconds += part.seconds;
  all.tick_times.merge(part.tick_times);
  all.step_times.merge(part.step_times);
  all.tick_delays.merge(part.tick_delays);
  all.step_delays.merge(part.step_delays);
  all.tick_misses += part.tick_misses;
  all.step_misses += part.step_misses;
  all.lost_rows += part.lost_rows;
  all.hands = std::move(part.hands);
  for (std::string& note : part.notes) {
    if (std::ranges::find(all.notes, note) == all.notes.end()) all.notes.push_back(std::move(note));
  }
}

std::vector<ToolParts> make_parts(const Scene& scene, const SceneRunOptions& options, std::vector<Method>& methods,
                                  const std::vector<Device*>& devices) {
  std::vector<ToolParts> out;
  for (std::size_t i = 0; i < scene.tools.size(); ++i)
    out.push_back({methods[i], *devices[i], scene.tools[i].guards, i < options.waits.size() && bool(options.waits[i])});
  return out;
}

/// In parts, each with the slow period that the machine holds by then.
RunSummary run_adapting(Scene scene, World& world, const SceneRunOptions& options, std::vector<Method>& methods,
                        const std::vector<Device*>& devices, RunSink* sink) {
  const double seconds = scene.run.seconds;
  RunSummary all;
  RunMemory memory;
  PeriodWatch watch(scene, options.watch, options.control.stop);
  RunControl control = options.control;
  control.stop = &watch.stop();
  if (options.control.progress) control.progress = [&](double t) { options.control.progress(all.seconds + t); };
  for (;;) {
    RunParts parts(make_parts(scene, options, methods, devices), sink);
    parts.watch = &watch;
    parts.memory = &memory;
    scene.run.seconds = seconds - all.seconds;
    RunSummary part = run_realtime(scene.run, options.realtime, parts, control);
    const bool stopped = part.stopped;
    append(all, std::move(part));
    all.stopped = stopped && !watch.wants_change();
    if (!watch.wants_change() || all.seconds > seconds - 0.5 * scene.run.dt) return all;
    scene.run.slow_period = watch.wanted();
    methods = renew_methods(scene, options.method, world, watch.last_rows(), memory);
    watch.go_on(scene.run.slow_period);
    all.notes.push_back(fmt::format("slow loop at {:.4g} Hz from {:.2f} s on: that is what this machine holds",
                                    1.0 / scene.run.slow_period, all.seconds));
  }
}

}  // namespace

std::vector<const RunData*> SceneRun::all() const {
  std::vector<const RunData*> out = {&data};
  for (const RunData& other : others) out.push_back(&other);
  return out;
}

SceneRun run_scene(const Scene& scene, World& world, const SceneRunOptions& options, std::vector<Device*> devices) {
  std::vector<std::unique_ptr<Device>> own;
  devices.resize(scene.tools.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i]) continue;
    own.push_back(make_device(scene, i));
    devices[i] = own.back().get();
  }
  std::vector<Method> methods = make_methods(scene, options.method, world, devices);

  SceneRun out;
  out.others.resize(scene.tools.size() - 1);
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    const HeldTool& held = scene.tools[i];
    out.data_of(i).name = options.method.empty() ? held.method : options.method;
    if (scene.tools.size() > 1) out.data_of(i).tool = held.name;
  }
  std::optional<RecordingWriter> writer;
  if (!options.recording.empty())
    writer.emplace(options.recording, make_recording_header(scene, options.method, options.lockstep));
  Recorder recorder(out, options.keep_rows, writer ? &*writer : nullptr);

  RunParts parts(make_parts(scene, options, methods, devices), &recorder);
  parts.watch = options.watch;
  if (options.lockstep)
    out.summary = run_lockstep(scene.run, parts, options.control);
  else if (options.adapt_period)
    out.summary = run_adapting(scene, world, options, methods, devices, &recorder);
  else
    out.summary = run_realtime(scene.run, options.realtime, parts, options.control);
  if (writer) writer->close();
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    out.data_of(i).tick_times = out.summary.tick_times;
    out.data_of(i).step_times = out.summary.step_times;
    // Virtual time waits for a tick that takes too long: there the misses are those that real time would have had.
    out.data_of(i).deadline_misses =
        options.lockstep ? count_longer(out.summary.tick_times, scene.run.dt) : out.summary.tick_misses;
  }
  return out;
}

SignedDistance make_surface_distance(const World& world) {
  if (!world.is_static() || world.static_surfaces().empty()) return {};
  return [&world](const Vec3& p) {
    WorldClosest nearest;
    world.find_closest(p, std::numeric_limits<double>::infinity(), nearest);
    return nearest.signed_distance;
  };
}

}  // namespace palpate
