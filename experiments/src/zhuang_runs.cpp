#include "zhuang_runs.h"

#include <algorithm>
#include <cmath>

namespace palpate::zhuang {

Scene make_pressed_block(const PressedBlock& b) {
  Scene scene;
  scene.name = "pressed block";
  scene.first().method = "interpolation";
  scene.run.seconds = b.seconds;
  scene.first().guards.safety.ramp_time = 0.0;
  scene.world.gravity = Vec3::Zero();
  scene.first().tool.kind = SceneFingersTool{.fingers = {{.radius = b.radius}}};
  SceneSoft block;
  block.shape = SceneShape{.kind = BoxShape{.size = b.size}};
  block.model = SceneSoft::Model::kStVenantKirchhoff;
  block.cell = b.cell;
  block.max_rows = b.rows;
  block.material = {.young_modulus = b.young, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = b.damping};
  block.fixed = {{.min = Vec3(-1.0, -1.0, -1.0), .max = Vec3(1.0, -b.size.y() + 1e-6, 1.0)}};
  scene.bodies = {{.name = "block", .kind = block, .position = Vec3(0.0, -0.5 * b.size.y(), 0.0), .friction = 0.3}};
  scene.first().hand = b.hand;
  return scene;
}

void set_slow_period(Scene& scene, double period, double latency) {
  scene.run.slow_period = period;
  scene.run.latency = latency;
  scene.first().guards.safety.stale_after = latency + 2.0 * period;
}

double compute_fastest(const World& world) {
  double fastest = 0.0;
  for (const Vec3& v : world.bodies()[0].body->velocities()) {
    if (!v.allFinite()) return std::numeric_limits<double>::infinity();
    fastest = std::max(fastest, v.norm());
  }
  return fastest;
}

double find_largest(double guess, double stride, double near, const std::function<bool(double)>& is_good) {
  double low = guess, high = guess;
  if (is_good(guess)) {
    do high *= stride;
    while (is_good(high));
  } else {
    do low /= stride;
    while (!is_good(low));
  }
  while (high / low > near) {
    const double middle = std::sqrt(low * high);
    (is_good(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace palpate::zhuang
