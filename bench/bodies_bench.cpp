#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "palpate/bodies/corotational_hexes.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/nonlinear_tets.h"
#include "palpate/core/clock.h"

// A whole free step of a soft block, clamped at its left side and falling under gravity: assemble, factor, solve,
// advance; one thread, one time step h = 20 ms. The counters split the time; `assembly_share` is assembly against
// factorisation, the median of the steps. 8, 10 and 16 cells along each edge make 2,560, 5,000 and 20,480 tets.
namespace palpate {
namespace {

const Vec3 kSize = Vec3::Constant(0.1);

Material make_material(double poisson) {
  return {.young_modulus = 2e4, .poisson_ratio = poisson, .mass_damping = 0.5, .stiffness_damping = 0.002};
}

void clamp_left(FemBody& body) {
  body.set_gravity(Vec3(0.0, -9.81, 0.0));
  for (int i = 0; i < body.node_count(); ++i) {
    if (body.rest_positions()[i][0] < -0.0499) body.prescribe(i, Vec3::Zero());
  }
}

void run_steps(benchmark::State& state, FemBody& body) {
  clamp_left(body);
  const double h = 0.02;
  std::vector<Vec3> dv(as_size(body.node_count()));
  double assemble = 0.0, factor = 0.0;
  std::vector<double> shares;
  for (auto _ : state) {
    if (!body.linearise(std::span(&h, 1))) state.SkipWithError("not positive definite");
    body.compute_free_motion(0, dv);
    body.advance(h, dv);
    assemble += static_cast<double>(body.times().assemble_ns);
    factor += static_cast<double>(body.times().factor_ns);
    shares.push_back(static_cast<double>(body.times().assemble_ns) / static_cast<double>(body.times().factor_ns));
  }
  std::nth_element(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2), shares.end());
  const auto steps = static_cast<double>(state.iterations());
  state.counters["assemble_ms"] = assemble / steps * 1e-6;
  state.counters["factor_ms"] = factor / steps * 1e-6;
  state.counters["assembly_share"] = shares[shares.size() / 2];
  state.counters["nodes"] = body.node_count();
}

TetMesh block_of(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  return make_tet_block(kSize, {n, n, n});
}

void BM_CorotationalTets(benchmark::State& state) {
  const Material material = make_material(0.35);
  CorotationalTets body(block_of(state), std::span(&material, 1));
  run_steps(state, body);
}
BENCHMARK(BM_CorotationalTets)->Arg(8)->Arg(10)->Arg(16)->Unit(benchmark::kMillisecond);

void BM_CorotationalTets_Incompressible(benchmark::State& state) {
  const Material material = make_material(0.49);
  CorotationalTets body(block_of(state), std::span(&material, 1));
  run_steps(state, body);
}
BENCHMARK(BM_CorotationalTets_Incompressible)->Arg(8)->Arg(10)->Arg(16)->Unit(benchmark::kMillisecond);

void BM_CorotationalHexes(benchmark::State& state) {
  const Material material = make_material(0.35);
  const int n = static_cast<int>(state.range(0));
  CorotationalHexes body(make_hex_grid(kSize, {n, n, n}), std::span(&material, 1));
  run_steps(state, body);
}
BENCHMARK(BM_CorotationalHexes)->Arg(8)->Arg(16)->Unit(benchmark::kMillisecond);

void BM_NonlinearTets(benchmark::State& state) {
  const Material material = make_material(0.35);
  NonlinearTetSettings settings;
  settings.model = HyperelasticModel::kStableNeoHookean;
  NonlinearTets body(block_of(state), std::span(&material, 1), settings);
  run_steps(state, body);
}
BENCHMARK(BM_NonlinearTets)->Arg(8)->Arg(16)->Unit(benchmark::kMillisecond);

void BM_ExplicitForces(benchmark::State& state) {
  const Material material = make_material(0.35);
  NonlinearTets body(block_of(state), std::span(&material, 1));
  std::vector<Vec3> f(as_size(body.node_count()));
  for (auto _ : state) {
    body.compute_elastic_forces(f);
    benchmark::DoNotOptimize(f.data());
  }
}
BENCHMARK(BM_ExplicitForces)->Arg(8)->Unit(benchmark::kMicrosecond);

/// Triangles of the top of a block, those nearest to its middle first.
std::vector<std::int32_t> sort_top(const FemBody& body) {
  std::vector<std::pair<double, std::int32_t>> top;
  const BodySurface surface = body.surface();
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    Vec3 center = Vec3::Zero();
    for (const std::int32_t v : surface.triangles[t]) center += surface.positions[v] / 3.0;
    if (center[1] > 0.0499) top.emplace_back(std::hypot(center[0], center[2]), static_cast<std::int32_t>(t));
  }
  std::sort(top.begin(), top.end());
  std::vector<std::int32_t> triangles;
  for (const auto& [distance, t] : top) triangles.push_back(t);
  return triangles;
}

/// W of contacts on the top of 2,560 tets, three rows each, on every `stride`-th triangle from the middle: side by side
/// as under a tool, or spread. `share` is its time against the factorisation's, both of the same step.
void compliance(benchmark::State& state, int stride) {
  const Material material = make_material(0.35);
  CorotationalTets body(make_tet_block(kSize, {8, 8, 8}), std::span(&material, 1));
  clamp_left(body);
  const int rows = static_cast<int>(state.range(0));
  const std::vector<std::int32_t> top = sort_top(body);
  BlockRows J;
  std::vector<BlockRows::Entry> entries(as_size(body.max_row_entries()));
  for (int r = 0; r < rows; ++r) {
    const BodyPoint point = BodyPoint::on_surface(top[as_size(r / 3 * stride) % top.size()], Vec3(0.2, 0.3, 0.5));
    const int count = body.compute_point_row(point, Vec3::Unit(r % 3), entries);
    J.begin_row();
    for (int k = 0; k < count; ++k) J.add(entries[k].block, entries[k].value);
  }
  Eigen::MatrixXd W(rows, rows);
  const double h = 0.02;
  std::vector<double> shares;
  for (auto _ : state) {
    body.linearise(std::span(&h, 1));
    W.setZero();
    const std::int64_t start = monotonic_ns();
    body.add_compliance(0, J, W);
    const auto spent = static_cast<double>(monotonic_ns() - start);
    state.SetIterationTime(1e-9 * spent);
    shares.push_back(spent / static_cast<double>(body.times().factor_ns));
  }
  std::nth_element(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2), shares.end());
  state.counters["share"] = shares[shares.size() / 2];
}
void compliance_rows(benchmark::internal::Benchmark* b) {
  b->Arg(25)->Arg(50)->Arg(75)->Arg(100)->UseManualTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(compliance, patch, 1)->Name("BM_Compliance/patch")->Apply(compliance_rows);
BENCHMARK_CAPTURE(compliance, spread, 7)->Name("BM_Compliance/spread")->Apply(compliance_rows);

}  // namespace
}  // namespace palpate
