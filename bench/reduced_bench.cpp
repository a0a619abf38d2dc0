// A slow step of `reduced` beside those of `jacobian`, which are the limit (at most twice as long), on the same world
// in one run: `organ` (3,700 tets, 30 Hz) and the block of 2,560 tets (20 Hz), pressed and stroked by a simulated hand.
// Times are those that the processor spends on a step, the median of a run's; `of_live` and `of_held` are those of
// `reduced` over those of `jacobian` with contacts live and held.
#include <benchmark/benchmark.h>

#include "palpate/experiments/scene_run.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/scene/builtin.h"

namespace palpate {
namespace {

/// The median time of a slow step [ms], and that of a tick [µs].
struct Times {
  double step_ms, tick_us;
};

Times measure(const Scene& scene, const std::string& method) {
  World world = make_world(scene);
  SceneRunOptions options;
  options.method = method;
  options.keep_rows = false;
  const RunSummary summary = run_scene(scene, world, options).summary;
  return {1e-6 * summary.step_times.compute_percentile_ns(0.5), 1e-3 * summary.tick_times.compute_percentile_ns(0.5)};
}

/// Arguments: 0 `organ`, 1 the block.
void BM_Reduced_SlowStep(benchmark::State& state) {
  const char* name = state.range(0) == 0 ? "organ" : "otaduy-block";
  Scene scene = load_builtin_scene(name);
  set_slow_period(scene, state.range(0) == 0 ? 0.033 : 0.05);
  scene.run.seconds = 4.0;
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
  state.counters["reduced_tick_us"] = ours.tick_us;
  state.SetLabel(name);
}
BENCHMARK(BM_Reduced_SlowStep)->ArgName("scene")->Arg(0)->Arg(1)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace palpate
