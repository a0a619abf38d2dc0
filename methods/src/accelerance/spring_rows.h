#pragma once

#include <vector>

#include "palpate/core/math.h"
#include "palpate/world/world.h"

namespace palpate::accelerance {

/// A spring and damper by which a pointer presses on a body: f = −k (foot − place) − b (its rate), never pulling along
/// the normal, and sideways at most μ times the push. World frame.
struct SpringContact {
  std::int32_t body = -1;  ///< of the world
  BodyPoint foot;
  Vec3 normal = Vec3::UnitY();   ///< unit, along the push
  Vec3 place = Vec3::Zero();     ///< of the spring's other end: where the foot feels nothing [m]
  Vec3 velocity = Vec3::Zero();  ///< of that end, which goes straight on [m/s]
  double stiffness = 0.0;        ///< [N/m], above 0
  double damping = 0.0;          ///< [N·s/m]
  double friction = 0.0;         ///< μ
};

/// The hand's springs in the world's step. The step has them implicitly, so that one that knocks a body away lets go of
/// it in time: backward Euler of the law above as soft rows,
///   δ + C f = 0 with C = 1/(k + b/h), δ = x⁺ less the damper's share of x,  x = foot − place.
class SpringRows final : public StepRows {
 public:
  explicit SpringRows(const World& world) : world_(world) {}

  std::vector<SpringContact> springs;

  void add_rows(double h, double elapsed, RowSink& sink) const override;
  int max_rows() const noexcept override { return 3 * static_cast<int>(springs.size()); }

  /// On its body in a step that had these rows and no others between joints and contacts [N].
  Vec3 compute_force(const SolveResults& step, std::size_t spring) const noexcept;

 private:
  const World& world_;
};

}  // namespace palpate::accelerance
