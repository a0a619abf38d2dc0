#pragma once

#include <vector>

#include "compliance/model.h"
#include "tool_grip.h"

namespace palpate::compliance {

/// Sub-steps L1–L7. Slow thread.
class ComplianceSlow final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit ComplianceSlow(const MethodContext& context);

  void step(const Feedback& feedback, Model& model, StepReport& report) override;

 private:
  /// A constraint of the world that may be published.
  struct Candidate {
    std::int32_t first_row = 0, rows = 0;  ///< of the world's problem
    std::int32_t joint = -1;               ///< of the world, with …
    std::int32_t part = 0;                 ///< … the constraint's number in it; or
    std::int32_t contact = -1;             ///< of the world
    bool tool = false;                     ///< acts on it
    bool active = false;                   ///< has a force in the slow solve
    bool chosen = false;
    double order = 0.0;  ///< the lowest are kept first
  };
  /// The other bodies' end of a published constraint.
  struct OtherEnd {
    Vec3 place = Vec3::Zero();  ///< Σ scale · point [m]
    Quat frame = Quat::Identity();
    double side = 0.0;  ///< +1: body a, −1: body b
  };

  void impose(const Feedback& feedback);
  bool publish(const Feedback& feedback, Model& model);
  void list_candidates();
  void choose(Model& model);
  void describe(const Candidate& from, const Feedback& feedback, Model& model);
  void describe_contact(const Candidate& from, PublishedConstraint& out, PublishedRow* rows);
  void describe_joint(const Candidate& from, PublishedConstraint& out, PublishedRow* rows);
  void add_point(PublishedConstraint& out, const BodyPoint& point, double scale) const;
  void fill_compliance(Model& model);
  OtherEnd find_other_end(const Candidate& of) const;
  void compute_rates(Model& model) const;
  const Body* body(int index) const {
    return index < 0 ? nullptr : world_.bodies()[static_cast<std::size_t>(index)].body.get();
  }

  World& world_;
  const int tool_;
  const double dt_, slow_period_;
  const ComplianceSettings settings_;
  const DeviceState start_;
  ToolGrip grip_;
  ConstraintProblem problem_;  ///< at dt without the tool
  Eigen::MatrixXd W_;          ///< of problem_
  std::vector<Candidate> candidates_;
  std::vector<std::int32_t> order_;      ///< of the candidates, by importance
  std::vector<std::int32_t> published_;  ///< the candidates in the order of the model
  std::vector<OtherEnd> other_ends_;     ///< of the published constraints before the step
  JointConstraints joint_constraints_;
};

}  // namespace palpate::compliance
