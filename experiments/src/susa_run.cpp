#include "susa_run.h"

#include <algorithm>
#include <cmath>

#include "palpate/core/clock.h"
#include "palpate/scene/builtin.h"

namespace palpate::susa {
namespace {

/// Stands before a slow half and writes down what its steps did and cost.
class Stopwatch final : public SlowHalf {
 public:
  Stopwatch(std::unique_ptr<SlowHalf> inner, World& world, std::vector<TimedStep>& steps, const AfterStep& after)
      : inner_(std::move(inner)), world_(world), steps_(steps), after_(after) {}
  void step_bytes(const std::byte* feedback, std::byte* model, StepReport& report) override {
    const std::int64_t start = monotonic_ns();
    inner_->step_bytes(feedback, model, report);
    steps_.push_back({report, 1e-9 * static_cast<double>(monotonic_ns() - start)});
    if (after_) after_(world_, report);
  }

 private:
  std::unique_ptr<SlowHalf> inner_;
  World& world_;
  std::vector<TimedStep>& steps_;
  const AfterStep& after_;
};

class Keeper final : public RunSink {
 public:
  explicit Keeper(RunData& data) : data_(data) {}
  void add(const TickRow& row) override { data_.ticks.push_back(row); }
  void add(const StepRow& row) override { data_.steps.push_back(row); }

 private:
  RunData& data_;
};

}  // namespace

Scene load_at(const std::string& name, double slow_period) {
  Scene scene = load_builtin_scene(name);
  scene.run.slow_period = scene.run.latency = slow_period;
  scene.run.safety.stale_after = 3.0 * slow_period;
  scene.run.safety.ramp_time = 0.0;
  return scene;
}

double TimedRun::stage(Stage stage) const {
  double sum = 0.0;
  for (const TimedStep& s : steps) {
    const double t = s.report.stage_time[static_cast<std::size_t>(stage)];
    if (std::isfinite(t)) sum += t;
  }
  return steps.empty() ? kNotMeasured : sum / static_cast<double>(steps.size());
}

TimedRun run_timed(const Scene& scene, World& world, const std::string& method_name, const std::string& name,
                   const ExperimentOptions& options, const AfterStep& after) {
  TimedRun out;
  const std::unique_ptr<Device> device = scene.make_device();
  Method method = make_method(scene, method_name, world, *device);
  const bool slow = method.slow != nullptr;
  if (slow) method.slow = std::make_unique<Stopwatch>(std::move(method.slow), world, out.steps, after);
  Keeper keeper(out.run.data);
  RunControl control;
  control.stop = options.stop;
  if (options.progress) control.progress = [&](double t) { options.progress(name, t / scene.run.seconds); };
  out.run.summary = run_lockstep(scene.run, {method, *device, &keeper}, control);
  out.run.data.name = name;
  out.run.data.tick_times = out.run.summary.tick_times;
  out.run.data.step_times = out.run.summary.step_times;
  const Histogram& times = slow ? out.run.summary.step_times : out.run.summary.tick_times;
  const double period = slow ? scene.run.slow_period : scene.run.dt;
  out.duty = 1e-9 * times.mean_ns() / period;
  out.worst_duty = 1e-9 * times.compute_percentile_ns(0.95) / period;
  return out;
}

Series make_series(const RunData& run, const std::function<double(const TickRow&)>& value, SeriesStyle style) {
  Series out;
  out.name = run.name;
  out.style = style;
  for (const TickRow& row : run.ticks) {
    out.x.push_back(row.time);
    out.y.push_back(value(row));
  }
  return out;
}

double compute_body_energy(const World& world) {
  double sum = 0.0;
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    const Body* body = world.bodies()[i].body.get();
    if (body && static_cast<int>(i) != world.tool()) sum += body->compute_energy().total();
  }
  return sum;
}

}  // namespace palpate::susa
