#pragma once

#include <functional>
#include <string>

#include "otaduy_runs.h"
#include "palpate/experiments/experiment.h"
#include "palpate/scene/scene.h"

// What the experiments after Zhuang & Canny 2000 share: a ball of a finger over a soft block.
namespace palpate::zhuang {

struct PressedBlock {
  double young = 2e4;           ///< [Pa]
  Vec3 size{0.06, 0.03, 0.06};  ///< [m], its top at y = 0, fixed below
  double cell = 0.0075;         ///< [m]
  double damping = 10.0;        ///< α [1/s]
  double radius = 0.012;        ///< of the finger [m]
  double seconds = 2.0;
  int rows = 3;  ///< room for constraints of implicit steps
  /// Waits over the block.
  SceneHand hand{.kind =
                     SceneScriptedHand{.path = SceneKeyframePath{.keyframes = {{.position = Vec3(0.0, 0.0125, 0.0)}}}}};
};
Scene make_pressed_block(const PressedBlock& block);

/// A slow loop of `period` [s] whose results are `latency` late.
void set_slow_period(Scene& scene, double period, double latency);

/// The largest speed of a node of the world's first body [m/s].
double compute_fastest(const World& world);

/// The largest value that is good, where all below it are good and all above are not: from `guess` in strides of the
/// factor `stride` to the other side of it, then by halves until both sides are a factor of `near` apart. Returns the
/// lower side. Each value that is asked about costs a run.
double find_largest(double guess, double stride, double near, const std::function<bool(double)>& is_good);

}  // namespace palpate::zhuang
