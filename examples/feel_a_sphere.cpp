// Presses a scripted hand 5 mm into a sphere and prints the force: Palpate as a library, without scene files.
#include <cstdio>

#include "palpate/geometry/shapes.h"
#include "palpate/haptics/scripted.h"
#include "palpate/methods/registry.h"
#include "palpate/runtime/run.h"

using namespace palpate;

int main() {
  World world;
  world.add({"sphere", TriangleTree(make_sphere(/*radius*/ 0.05, /*subdivisions*/ 32)), /*friction*/ 0.1});

  PressAndSlidePathSettings press;
  press.start = Vec3(0, 0.06, 0);
  press.depth = 0.015;
  ScriptedDevice hand(make_path(press));

  RunSettings settings;
  settings.seconds = 0.7;
  Method method = make_method("reference", {world, ToolSettings{}, settings.dt, settings.slow_period, hand.read(0.0)});

  const RunSummary summary = run_lockstep(settings, {method, hand});
  std::printf("peak force %.3f N after %.1f s\n", summary.hand().safety.peak_force, summary.seconds);
  // 5 mm on the coupling's 1000 N/m.
  return summary.hand().safety.peak_force > 4.9 && summary.hand().safety.peak_force < 5.5 ? 0 : 1;
}
