#pragma once

#include <memory>
#include <vector>

#include "compliance/model.h"
#include "palpate/constraints/solver.h"
#include "tool_grip.h"

namespace palpate::compliance {

/// Sub-steps H1–H6. Fast thread: wait-free and bounded by ComplianceSettings::max_iterations; allocates at set-up only.
///
/// The tool waits, and gives no force, until the first model comes and while the slow loop has none to give. A tick
/// that cannot be done (a system that cannot be factored, a device or a result that is not finite) leaves the tool as
/// it was, at rest, and gives no force either.
class ComplianceFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit ComplianceFast(const MethodContext& context);

  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override;

 private:
  void adopt(const Model& model) noexcept;
  bool move(const DeviceState& device, const Model& model, double age, TickResult& out) noexcept;
  void assemble_rows(const Model& model, double age) noexcept;
  double fill_row(const PublishedConstraint& constraint, const PublishedRow& row) noexcept;
  void note_slip(const Model& model) noexcept;
  Wrench sum_constraint_forces(const Model& model) const noexcept;
  void send(Feedback& feedback) const noexcept;

  /// What the fast loop remembers of a constraint of the model, by its place there.
  struct Memory {
    std::uint64_t id = 0;
    Vec3 slip = Vec3::Zero();    ///< since the contact began, world frame [m]
    Vec3 anchor = Vec3::Zero();  ///< the part of the tool's way from the model's start that was slip [m]
    bool anchored = false;
    bool contact = false;
    Vec3 force = Vec3::Zero();  ///< of a contact, world frame [N]; guess for the next solve
    std::array<double, 6> lambda{};
    std::int32_t rows = 0;
  };

  const double dt_, lookahead_;
  const WorldSettings world_settings_;
  const bool by_constraints_;
  std::unique_ptr<Body> tool_;
  ToolGrip grip_;
  DeviceState device_;  ///< the last that was finite
  SolverSettings solver_settings_;
  std::unique_ptr<ConstraintSolver> solver_;
  ConstraintProblem problem_;
  BlockRows J_;  ///< of the tool
  std::vector<BlockRows::Entry> entries_;
  std::vector<Vec3> free_, change_;
  std::vector<double> state_;  ///< of the tool after the last good tick
  std::array<double, kMaxRows> lambda_{}, delta_{};
  std::array<Memory, kMaxConstraints> memory_, old_memory_;
  int memories_ = 0;
  std::uint64_t sequence_ = 0;  ///< of the model adopted last
};

}  // namespace palpate::compliance
