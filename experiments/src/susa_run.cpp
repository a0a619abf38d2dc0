#include "susa_run.h"

#include <cmath>
#include <ctime>
#include <numeric>

#include "palpate/bodies/rigid_body.h"
#include "palpate/scene/builtin.h"

namespace palpate::susa {
namespace {

/// Of this thread [s]: what a step costs, not how long others kept the processor meanwhile. The paper, too, used a CPU
/// clock.
double cpu_seconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Stands before a slow half and writes down what its steps did and cost.
class SlowStopwatch final : public SlowHalf {
 public:
  SlowStopwatch(std::unique_ptr<SlowHalf> inner, World& world, std::vector<TimedStep>& steps, const AfterStep& after,
                bool moves_bodies)
      : inner_(std::move(inner)), world_(world), steps_(steps), after_(after), moves_bodies_(moves_bodies) {}
  void step_bytes(const std::byte* feedback, std::byte* model, StepReport& report) override {
    const double start = cpu_seconds();
    inner_->step_bytes(feedback, model, report);
    steps_.push_back({report, cpu_seconds() - start});
    const auto* fast = moves_bodies_ ? reinterpret_cast<const accelerance::Feedback*>(feedback) : nullptr;
    if (after_) after_({world_, report, fast});
  }

 private:
  std::unique_ptr<SlowHalf> inner_;
  World& world_;
  std::vector<TimedStep>& steps_;
  const AfterStep& after_;
  const bool moves_bodies_;
};

class FastStopwatch final : public FastHalf {
 public:
  FastStopwatch(std::unique_ptr<FastHalf> inner, Histogram& ticks) : inner_(std::move(inner)), ticks_(ticks) {}
  TickResult tick_bytes(const DeviceState& device, const std::byte* model, std::byte* feedback) noexcept override {
    const double start = cpu_seconds();
    const TickResult out = inner_->tick_bytes(device, model, feedback);
    ticks_.add(static_cast<std::int64_t>(1e9 * (cpu_seconds() - start)));
    return out;
  }

 private:
  std::unique_ptr<FastHalf> inner_;
  Histogram& ticks_;
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
    double all = 0.0;
    for (const double t : s.report.stage_time) all += std::isfinite(t) ? t : 0.0;
    const double t = s.report.stage_time[static_cast<std::size_t>(stage)];
    if (std::isfinite(t) && all > 0.0) sum += s.seconds * t / all;
  }
  return steps.empty() ? kNotMeasured : sum / static_cast<double>(steps.size());
}

TimedRun run_timed(const Scene& scene, World& world, const std::string& method_name, const std::string& name,
                   const ExperimentOptions& options, const AfterStep& after) {
  TimedRun out;
  const std::unique_ptr<Device> device = make_device(scene);
  Method method = make_method(scene, method_name, world, *device);
  const bool slow = method.slow != nullptr;
  if (slow) {
    const bool moves_bodies = method_name == "accelerance" || method_name == "impulse";
    method.slow = std::make_unique<SlowStopwatch>(std::move(method.slow), world, out.steps, after, moves_bodies);
  }
  method.fast = std::make_unique<FastStopwatch>(std::move(method.fast), out.ticks);
  Keeper keeper(out.run.data);
  RunControl control;
  control.stop = options.stop;
  if (options.progress) control.progress = [&](double t) { options.progress(name, t / scene.run.seconds); };
  out.run.summary = run_lockstep(scene.run, {method, *device, &keeper}, control);
  out.run.data.name = name;
  out.run.data.tick_times = out.run.summary.tick_times;
  out.run.data.step_times = out.run.summary.step_times;
  Histogram steps;
  for (const TimedStep& s : out.steps) steps.add(static_cast<std::int64_t>(1e9 * s.seconds));
  const Histogram& times = slow ? steps : out.ticks;
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

EnergyAtSteps::EnergyAtSteps(const World& world, double stiffness) : stiffness_(stiffness) {
  read(world);
}

void EnergyAtSteps::read(const World& world) {
  energies_.assign(world.bodies().size(), 0.0);
  for (std::size_t i = 0; i < energies_.size(); ++i) {
    const Body* body = world.bodies()[i].body.get();
    if (body && static_cast<int>(i) != world.tool()) energies_[i] = body->compute_energy().total();
  }
}

double EnergyAtSteps::add(const SeenStep& step) {
  const std::int32_t moved = step.fast->header.sequence > 0 ? step.fast->bodies : 0;
  for (std::int32_t k = 0; k < moved; ++k) {
    const accelerance::Feedback::Body& f = step.fast->body[static_cast<std::size_t>(k)];
    const auto& body = dynamic_cast<const RigidBody&>(*step.world.bodies()[static_cast<std::size_t>(f.body)].body);
    const Vec3 spin = body.centre_pose().rotation * (f.pose.rotation.conjugate() * f.velocity.tail<3>());
    energies_[static_cast<std::size_t>(f.body)] = 0.5 * body.mass() * f.velocity.head<3>().squaredNorm() +
                                                  0.5 * spin.dot(body.compute_world_inertia() * spin) -
                                                  body.mass() * step.world.settings().gravity.dot(f.pose.position);
  }
  double sum = std::accumulate(energies_.begin(), energies_.end(), 0.0);
  for (std::int32_t k = 0; k < step.fast->contacts && moved > 0; ++k)
    sum += 0.5 / stiffness_ * step.fast->contact[static_cast<std::size_t>(k)].force.squaredNorm();
  read(step.world);
  return sum;
}

}  // namespace palpate::susa
