#include "zhuang_runs.h"

#include <algorithm>

namespace palpate::zhuang {

Scene make_pressed_block(const PressedBlock& b) {
  return parse_scene(fmt::format(R"({{
  "format": 1, "name": "pressed block", "seconds": {}, "method": "interpolation",
  "world": {{ "gravity": [0, 0, 0] }},
  "tool": {{ "type": "fingers", "fingers": [ {{ "radius": {} }} ] }},
  "safety": {{ "ramp_time": 0 }},
  "bodies": [ {{
    "name": "block", "type": "soft", "model": "st_venant_kirchhoff", "friction": 0.3, "cell": {}, "max_rows": {},
    "shape": {{ "type": "box", "size": [{}, {}, {}] }}, "position": [0, {}, 0],
    "material": {{ "young_modulus": {}, "poisson_ratio": 0.3, "density": 1000, "mass_damping": {} }},
    "fixed": [ {{ "min": [-1, -1, -1], "max": [1, {}, 1] }} ]
  }} ],
  "hand": {}
}})",
                                 b.seconds, b.radius, b.cell, b.rows, b.size.x(), b.size.y(), b.size.z(),
                                 -0.5 * b.size.y(), b.young, b.damping, -b.size.y() + 1e-6, b.hand),
                     "pressed block");
}

void set_slow_period(Scene& scene, double period, double latency) {
  scene.run.slow_period = period;
  scene.run.latency = latency;
  scene.run.safety.stale_after = latency + 2.0 * period;
}

double compute_fastest(const World& world) {
  double fastest = 0.0;
  for (const Vec3& v : world.bodies()[0].body->velocities()) {
    if (!v.allFinite()) return std::numeric_limits<double>::infinity();
    fastest = std::max(fastest, v.norm());
  }
  return fastest;
}

}  // namespace palpate::zhuang
