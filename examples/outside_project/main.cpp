// A device of one's own feels a soft block: what a program outside Palpate writes, from the driver to the force.
#include <algorithm>
#include <cstdio>

#include "palpate/experiments/scene_run.h"
#include "palpate/scene/scene.h"

namespace {

const char* const kScene = R"({
  "format": 1,
  "name": "block",
  "seconds": 1,
  "method": "jacobian",
  "tool": { "type": "point", "coupling": { "stiffness": 400, "damping": 1 } },
  "bodies": [ { "type": "soft", "shape": { "type": "box", "size": [0.1, 0.04, 0.1] }, "cell": 0.02, "position": [0, -0.02, 0],
                "material": { "young_modulus": 20000, "poisson_ratio": 0.3, "density": 1000, "stiffness_damping": 0.01 },
                "fixed": [ { "min": [-1, -1, -1], "max": [1, -0.039, 1] } ] } ],
  "hand": { "type": "scripted", "path": { "type": "press_and_slide", "start": [0, 0.01, 0] } }
})";

/// Stands for a driver: goes down by 20 mm in half a second, whatever it feels, and once says nonsense.
class MyDevice final : public palpate::Device {
 public:
  MyDevice() { info_.name = "mine"; }
  const palpate::DeviceInfo& info() const noexcept override { return info_; }
  palpate::DeviceState read(double time) noexcept override {
    const double speed = time < 0.5 ? -0.04 : 0.0;
    palpate::DeviceState s;
    s.time = time;
    s.pose.position.y() = 0.01 - 0.04 * std::min(time, 0.5);
    s.velocity.linear.y() = speed;
    if (++samples_ == 700) s.pose.position.x() = 1e9;
    return s;
  }
  void write(const palpate::SafeWrench& wrench) noexcept override { force_ = wrench.force().y(); }
  double force() const { return force_; }

 private:
  palpate::DeviceInfo info_;
  int samples_ = 0;
  double force_ = 0.0;
};

}  // namespace

int main() {
  const palpate::Scene scene = palpate::parse_scene(kScene, "main.cpp");
  palpate::World world = palpate::make_world(scene);
  MyDevice device;
  const palpate::SceneRun run = palpate::run_scene(scene, world, {}, {&device});
  std::printf("%.2f N upwards at the end; %llu of %llu samples not taken\n", device.force(),
              static_cast<unsigned long long>(run.summary.hand().input.rejected()),
              static_cast<unsigned long long>(run.summary.ticks));
  // 10 mm deep on 400 N/m is 4 N on a wall; the block gives way.
  return device.force() > 0.5 && device.force() < 4.0 && run.summary.hand().input.rejected() == 1 ? 0 : 1;
}
