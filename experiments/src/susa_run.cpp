#include "susa_run.h"

#include <cmath>
#include <numeric>

#include "palpate/bodies/rigid_body.h"
#include "palpate/scene/builtin.h"

namespace palpate::susa {
namespace {

/// Writes down what a method's steps did.
class StepWatch final : public Stopwatch {
 public:
  StepWatch(World& world, TimedRun& out, const AfterStep& after) : world_(world), out_(out), after_(after) {}

  void after_step(const StepRow& step, std::span<const ToolMessages> tools) override {
    Stopwatch::after_step(step, tools);
    out_.steps.push_back({step, step_samples.back()});
    if (after_) after_({world_, step, tools[0].feedback.as<accelerance::Feedback>()});
  }

 private:
  World& world_;
  TimedRun& out_;
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
  scene.first().guards.safety.stale_after = 3.0 * slow_period;
  scene.first().guards.safety.ramp_time = 0.0;
  return scene;
}

double TimedStep::stage(Stage stage) const {
  double all = 0.0;
  for (const double t : report.stage_time) all += std::isfinite(t) ? t : 0.0;
  const double t = report.stage_time[as_size(stage)];
  return std::isfinite(t) && all > 0.0 ? sample.processor * t / all : 0.0;
}

double TimedRun::stage(Stage stage) const {
  double sum = 0.0;
  for (const TimedStep& s : steps) sum += s.stage(stage);
  return steps.empty() ? kNotMeasured : sum / static_cast<double>(steps.size());
}

TimedRun run_timed(const Scene& scene, World& world, const std::string& method_name, const std::string& name,
                   const ExperimentOptions& options, const AfterStep& after) {
  TimedRun out;
  const std::unique_ptr<Device> device = make_device(scene);
  Method method = make_method(scene, method_name, world, *device);
  const bool slow = method.slow != nullptr;
  StepWatch stopwatch(world, out, after);
  Keeper keeper(out.run.data);
  RunControl control;
  control.stop = options.stop;
  if (options.progress) control.progress = [&](double t) { options.progress(name, t / scene.run.seconds); };
  RunParts parts(method, *device, &keeper, scene.first().guards);
  parts.watch = &stopwatch;
  out.run.summary = run_lockstep(scene.run, parts, control);
  out.run.data.name = name;
  out.run.data.tick_times = out.run.summary.tick_times;
  out.run.data.step_times = out.run.summary.step_times;
  out.ticks = stopwatch.ticks;
  out.tick_samples = std::move(stopwatch.tick_samples);
  const BothTimes& times = slow ? stopwatch.steps : stopwatch.ticks;
  const double period = slow ? scene.run.slow_period : scene.run.dt;
  out.duty = read_time(times.processor, TimeOf::kMean) / period;
  out.worst_duty = 1e-9 * times.processor.compute_percentile_ns(0.95) / period;
  out.wall_duty = read_time(times.wall, TimeOf::kMean) / period;
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

EnergyAtSteps::EnergyAtSteps(const World& world, double stiffness) : stiffness_(stiffness) {
  read(world);
}

void EnergyAtSteps::read(const World& world) {
  energies_.assign(world.bodies().size(), 0.0);
  for (std::size_t i = 0; i < energies_.size(); ++i) {
    const Body* body = world.bodies()[i].body.get();
    if (body && !world.is_tool(static_cast<int>(i))) energies_[i] = body->compute_energy().total();
  }
}

double EnergyAtSteps::add(const SeenStep& step) {
  const std::int32_t moved = step.fast->header.sequence > 0 ? step.fast->bodies : 0;
  for (std::int32_t k = 0; k < moved; ++k) {
    const accelerance::Feedback::Body& f = step.fast->body[as_size(k)];
    const auto& body = dynamic_cast<const RigidBody&>(*step.world.bodies()[as_size(f.body)].body);
    const Vec3 spin = body.centre_pose().rotation * (f.pose.rotation.conjugate() * f.velocity.tail<3>());
    energies_[as_size(f.body)] = 0.5 * body.mass() * f.velocity.head<3>().squaredNorm() +
                                 0.5 * spin.dot(body.compute_world_inertia() * spin) -
                                 body.mass() * step.world.settings().gravity.dot(f.pose.position);
  }
  double sum = std::accumulate(energies_.begin(), energies_.end(), 0.0);
  for (std::int32_t k = 0; k < step.fast->contacts && moved > 0; ++k)
    sum += 0.5 / stiffness_ * step.fast->contact[as_size(k)].force.squaredNorm();
  read(step.world);
  return sum;
}

}  // namespace palpate::susa
