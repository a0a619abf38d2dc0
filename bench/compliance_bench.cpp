// A tick of `compliance` in contact: a wire pressed flat onto a soft slab, all that a tick does. The limit is half the
// period, 500 µs, with 10 beams and 20 contacts. Beside it the chain alone: the compliance of 60 rows against one solve
// for each row.
#include <benchmark/benchmark.h>

#include "palpate/bodies/beam_chain.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/scene/builtin.h"

namespace palpate {
namespace {

void time_compliance_tick(benchmark::State& state, ComplianceSettings::Contacts contacts) {
  Scene scene = load_builtin_scene("wire-on-slab");
  scene.methods.get<ComplianceSettings>("compliance").contacts = contacts;
  std::get<SceneChainTool>(scene.first().tool.kind).beams = static_cast<int>(state.range(0));
  World world = make_world(scene);
  const std::unique_ptr<Device> device = make_device(scene);
  HandDriven method(make_method(scene, "compliance", world, *device));
  // The hand presses and begins to stroke.
  TickResult result;
  long tick = 0;
  double time = 0.0;
  const auto once = [&] {
    time = 0.001 * static_cast<double>(tick++);
    result = method.tick(device->read(time));
  };
  while (tick < 1600) {
    if (tick % 20 == 0) method.step(time);
    once();
  }
  for (auto _ : state) {
    once();
    if (tick % 20 == 0) tick -= 20;
  }
  state.counters["contacts"] = result.contacts;
  state.counters["iterations"] = result.iterations;
}
/// Contacts that are found anew in every tick, the default.
void compliance_tick(benchmark::State& state) {
  time_compliance_tick(state, ComplianceSettings::Contacts::kLive);
}
BENCHMARK(compliance_tick)->Arg(10)->Arg(25)->Arg(50)->Unit(benchmark::kMicrosecond);

/// Contacts of the model, the paper's.
void compliance_tick_held(benchmark::State& state) {
  time_compliance_tick(state, ComplianceSettings::Contacts::kHeld);
}
BENCHMARK(compliance_tick_held)->Arg(10)->Arg(25)->Arg(50)->Unit(benchmark::kMicrosecond);

/// Sixty rows, twenty contacts along the chain.
void chain_compliance(benchmark::State& state) {
  const bool by_solves = state.range(1) != 0;
  std::vector<Vec3> points;
  for (int i = 0; i <= state.range(0); ++i) points.emplace_back(0.01 * i, 0.0, 0.0);
  BeamChainSettings settings;
  settings.rest = make_chain_poses(points);
  settings.section = make_round_section(0.001, 0.3);
  settings.material = {.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1500.0};
  BeamChain chain(settings);
  const double h = 0.001;
  BlockRows J;
  std::vector<BlockRows::Entry> entries(4);
  const double spacing = 0.01 * static_cast<double>(state.range(0)) / 20.0;
  for (int c = 0; c < 20; ++c) {
    const BodyPoint point = chain.find_point(Vec3(spacing * (c + 0.5), 0.0, 0.0));
    for (int axis = 0; axis < 3; ++axis) {
      J.begin_row();
      const int count = chain.compute_point_row(point, Vec3::Unit(axis), entries);
      for (int e = 0; e < count; ++e) J.add(entries[as_size(e)].block, entries[as_size(e)].value);
    }
  }
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(60, 60);
  std::vector<Vec3> dv(as_size(chain.block_count()));
  std::vector<double> one(60, 0.0);
  if (!chain.linearise({&h, 1})) return state.SkipWithError("not factored");
  for (auto _ : state) {
    if (by_solves) {
      for (std::size_t r = 0; r < 60; ++r) {
        one[r] = 1.0;
        chain.compute_correction(0, J, one, dv);
        one[r] = 0.0;
      }
    } else {
      W.setZero();
      chain.add_compliance(0, J, W);
    }
    benchmark::DoNotOptimize(W.data());
    benchmark::DoNotOptimize(dv.data());
  }
  state.SetLabel(by_solves ? "one solve a row" : "add_compliance");
}
BENCHMARK(chain_compliance)->Args({10, 0})->Args({10, 1})->Args({50, 0})->Args({50, 1})->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace palpate
