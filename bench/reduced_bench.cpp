// A slow step of `reduced` beside those of `jacobian`, which are the limit (at most twice as long), on the same world
// in one run: `organ` (3,700 tets, 30 Hz) and the block of 2,560 tets (20 Hz), pressed and stroked by a simulated hand.
// Times are those that the processor spends on a step, the median of a run's; `of_live` and `of_held` are those of
// `reduced` over those of `jacobian` with contacts live and held. A tick of `reduced` beside one of `jacobian` with
// contacts live, which finds its contacts anew in every tick too, and beside half a period, which p99.9 is to stay
// below.
#include <benchmark/benchmark.h>

#include "palpate/experiments/scene_run.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/scene/builtin.h"

namespace palpate {
namespace {

/// The median time of a slow step [ms]; of a tick the median and what one in a thousand takes longer than [µs].
struct Times {
  double step_ms, tick_us, tick_p999_us;
};

Times measure(const Scene& scene, const std::string& method) {
  World world = make_world(scene);
  SceneRunOptions options;
  options.method = method;
  options.keep_rows = false;
  const RunSummary summary = run_scene(scene, world, options).summary;
  const auto percentile = [](const Histogram& times, double p) { return 1e-3 * times.compute_percentile_ns(p); };
  return {1e-3 * percentile(summary.step_times, 0.5), percentile(summary.tick_times, 0.5),
          percentile(summary.tick_times, 0.999)};
}

/// 0 is `organ`, 1 the block.
Scene load(std::int64_t which) {
  Scene scene = load_builtin_scene(which == 0 ? "organ" : "otaduy-block");
  set_slow_period(scene, which == 0 ? 0.033 : 0.05);
  scene.run.seconds = 4.0;
  return scene;
}

void BM_Reduced_SlowStep(benchmark::State& state) {
  Scene scene = load(state.range(0));
  auto& contacts = scene.methods.get<JacobianSettings>("jacobian").contacts;
  Times ours{}, live{}, held{};
  for (auto _ : state) {
    ours = measure(scene, "reduced");
    contacts = JacobianSettings::Contacts::kLive;
    live = measure(scene, "jacobian");
    contacts = JacobianSettings::Contacts::kHeld;
    held = measure(scene, "jacobian");
  }
  state.counters["reduced_ms"] = ours.step_ms;
  state.counters["jacobian_live_ms"] = live.step_ms;
  state.counters["jacobian_held_ms"] = held.step_ms;
  state.counters["of_live"] = ours.step_ms / live.step_ms;
  state.counters["of_held"] = ours.step_ms / held.step_ms;
  state.SetLabel(scene.name);
}
BENCHMARK(BM_Reduced_SlowStep)->ArgName("scene")->Arg(0)->Arg(1)->Iterations(1)->Unit(benchmark::kSecond);

void BM_Reduced_Tick(benchmark::State& state) {
  const Scene scene = load(state.range(0));
  Times ours{}, live{};
  for (auto _ : state) {
    ours = measure(scene, "reduced");
    live = measure(scene, "jacobian");
  }
  state.counters["reduced_us"] = ours.tick_us;
  state.counters["reduced_p999_us"] = ours.tick_p999_us;
  state.counters["jacobian_us"] = live.tick_us;
  state.counters["jacobian_p999_us"] = live.tick_p999_us;
  state.counters["of_jacobian"] = ours.tick_us / live.tick_us;
  state.counters["p999_of_half_period"] = ours.tick_p999_us / (0.5e6 * scene.run.dt);
  state.SetLabel(scene.name);
}
BENCHMARK(BM_Reduced_Tick)->ArgName("scene")->Arg(0)->Arg(1)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace palpate
