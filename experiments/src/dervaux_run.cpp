#include "dervaux_run.h"

#include "palpate/haptics/scripted.h"
#include "palpate/scene/builtin.h"

namespace palpate::dervaux {
namespace {

class Watcher final : public RunSink, public LoopWatch {
 public:
  Watcher(RunData& data, World& world, const WatchedRun& run, bool every_tick)
      : data_(data), world_(world), run_(run), every_tick_(every_tick) {}
  void add(const TickRow& row) override {
    if (run_.keep_rows) data_.ticks.push_back(row);
    if (run_.on_tick) run_.on_tick(row);
    if (every_tick_ && run_.watch) run_.watch(row.time, world_, {});
  }
  void before_tick() noexcept override { tick_start_ = read_clocks(); }
  void after_tick(std::span<const TickRow>) noexcept override {
    if (run_.ticks) run_.ticks->add(tick_start_);
  }
  void before_step() override { step_start_ = read_clocks(); }
  void after_step(const StepRow& row, std::span<const ToolMessages> tools) override {
    if (run_.steps) run_.steps->add(step_start_);
    const auto* fast = tools[0].feedback.as<compliance::Feedback>();
    if (run_.watch_fast && fast && fast->header.sequence > 0) run_.watch_fast(row.time, world_, *fast);
  }
  void add(const StepRow& row) override {
    if (run_.keep_rows) data_.steps.push_back(row);
    if (run_.watch) run_.watch(row.time, world_, row);
  }

 private:
  RunData& data_;
  World& world_;
  const WatchedRun& run_;
  const bool every_tick_;
  ClockReading tick_start_, step_start_;
};

}  // namespace

Scene load_cylinder_wire(double young_modulus) {
  Scene scene = load_builtin_scene("cylinder-wire");
  find_body<SceneSoft>(scene, "cylinder").material.young_modulus = young_modulus;
  return scene;
}

SceneRun run_watched(const Scene& scene, World& world, const KeyframePathSettings& path, const WatchedRun& run,
                     const ExperimentOptions& options) {
  ScriptedDevice device(make_path(path));
  Method method = make_method(scene, run.method, world, device);
  SceneRun out;
  out.data.name = run.name;
  Watcher watcher(out.data, world, run, method.slow == nullptr);
  RunControl control;
  control.stop = options.stop;
  if (options.progress)
    control.progress = [&](double t) { options.progress(run.name, std::min(1.0, t / scene.run.seconds)); };
  RunParts parts(method, device, &watcher, scene.first().guards);
  parts.watch = &watcher;
  out.summary = run_lockstep(scene.run, parts, control);
  out.data.tick_times = out.summary.tick_times;
  out.data.step_times = out.summary.step_times;
  return out;
}

KeyframePathSettings sample_hand(const Scene& scene) {
  const auto device = make_device(scene);
  KeyframePathSettings path;
  path.interpolation = PathInterpolation::kLinear;
  for (double t = 0.0; t <= scene.run.seconds; t += 0.01) {
    const DeviceState state = device->read(t);
    path.times.push_back(t);
    path.positions.push_back(state.pose.position);
    path.rotations.push_back(state.pose.rotation);
  }
  return path;
}

const FemBody& cylinder_of(const World& world) {
  for (const WorldBody& b : world.bodies()) {
    if (const auto* body = dynamic_cast<const FemBody*>(b.body.get())) return *body;
  }
  throw std::logic_error("the scene has no soft body");
}

double mass_of(const FemBody& body) {
  double sum = 0.0;
  for (const double m : body.masses()) sum += m;
  return sum;
}

Plot make_tick_plot(const std::string& title, const std::string& y_label, const std::string& y_unit,
                    const std::vector<const RunData*>& runs, const std::function<double(const TickRow&)>& value) {
  Plot plot;
  plot.title = title;
  plot.x_label = "time";
  plot.x_unit = "s";
  plot.y_label = y_label;
  plot.y_unit = y_unit;
  for (const RunData* run : runs) {
    Series series;
    series.name = run->name;
    series.style = run->name == "reference" ? SeriesStyle::kReference : SeriesStyle::kMethod;
    for (const TickRow& row : run->ticks) {
      series.x.push_back(row.time);
      series.y.push_back(value(row));
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace palpate::dervaux
