#include <benchmark/benchmark.h>

#include <numeric>

#include "palpate/bodies/explicit_tets.h"

// What a step of explicit integration costs, per element: four elements at a time (ExplicitTets) beside a plain loop
// over elements (NonlinearTets), and beside a bare read of the same number of bytes, the limit that memory sets. A
// block of n³ cells of five tets; 16 cells make 4,913 nodes.
namespace palpate {
namespace {

const Material kTissue{.young_modulus = 1e4, .poisson_ratio = 0.3};

TetMesh make_block(const benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  return make_tet_block(Vec3::Constant(0.1), {n, n, n});
}

void count_elements(benchmark::State& state, int elements, double bytes) {
  using benchmark::Counter;
  state.counters["elements/s"] = Counter(elements, Counter::kIsIterationInvariantRate);
  state.counters["bytes/s"] = Counter(bytes, Counter::kIsIterationInvariantRate);
}

void explicit_lanes(benchmark::State& state, ExplicitModel model) {
  ExplicitTets body(make_block(state), std::span(&kTissue, 1), model);
  for (auto _ : state) body.compute_forces();
  count_elements(state, body.element_count(), static_cast<double>(body.element_bytes()));
}
BENCHMARK_CAPTURE(explicit_lanes, green, ExplicitModel::kStVenantKirchhoff)
    ->Arg(8)
    ->Arg(16)
    ->Arg(32)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(explicit_lanes, linear, ExplicitModel::kLinear)->Arg(16)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(explicit_lanes, neo_hookean, ExplicitModel::kStableNeoHookean)
    ->Arg(16)
    ->Unit(benchmark::kMicrosecond);

void explicit_plain(benchmark::State& state) {
  FemSettings fem{.max_time_steps = 1, .max_rows = 0, .order_trials = 1};
  NonlinearTets body(make_block(state), std::span(&kTissue, 1), {.fem = fem});
  std::vector<Vec3> f(as_size(body.node_count()));
  for (auto _ : state) {
    body.compute_elastic_forces(f);
    benchmark::DoNotOptimize(f.data());
  }
  const ExplicitTets same(body);
  count_elements(state, same.element_count(), static_cast<double>(same.element_bytes()));
}
BENCHMARK(explicit_plain)->Arg(8)->Arg(16)->Unit(benchmark::kMicrosecond);

/// Reads as many bytes as the elements have, in the simplest way: how fast a kernel that does nothing else would be.
void explicit_memory(benchmark::State& state) {
  const ExplicitTets body(make_block(state), std::span(&kTissue, 1), ExplicitModel::kStVenantKirchhoff);
  std::vector<std::uint64_t> data(body.element_bytes() / sizeof(std::uint64_t), 1);
  for (auto _ : state) {
    std::uint64_t sum = std::accumulate(data.begin(), data.end(), std::uint64_t{0});
    benchmark::DoNotOptimize(sum);
  }
  count_elements(state, body.element_count(), static_cast<double>(body.element_bytes()));
}
BENCHMARK(explicit_memory)->Arg(8)->Arg(16)->Arg(17)->Arg(32)->Unit(benchmark::kMicrosecond);

void explicit_step(benchmark::State& state) {
  ExplicitTets body(make_block(state), std::span(&kTissue, 1), ExplicitModel::kStVenantKirchhoff);
  const double dt = 0.9 * body.compute_stable_step();
  for (auto _ : state) body.advance(dt);
  count_elements(state, body.element_count(), static_cast<double>(body.element_bytes()));
  state.counters["step"] = dt;
}
BENCHMARK(explicit_step)->Arg(8)->Arg(16)->Arg(17)->Arg(32)->Unit(benchmark::kMicrosecond);

void explicit_stable_step(benchmark::State& state) {
  const ExplicitTets body(make_block(state), std::span(&kTissue, 1), ExplicitModel::kStVenantKirchhoff);
  for (auto _ : state) benchmark::DoNotOptimize(body.compute_stable_step());
  count_elements(state, body.element_count(), static_cast<double>(body.element_bytes()));
}
BENCHMARK(explicit_stable_step)->Arg(16)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace palpate
