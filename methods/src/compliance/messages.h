#pragma once

#include <array>

#include "palpate/constraints/problem.h"
#include "palpate/methods/compliance_feedback.h"

// What passes between the two halves of `compliance`. Plain data of fixed size; counts say how much of it is filled.
namespace palpate::compliance {

inline constexpr int kMaxRows = 192;  ///< 50 contacts of the tool, its joints, and some of the others

/// A material point of the tool that a constraint acts on.
struct ToolPoint {
  BodyPoint point;
  double scale = 0.0;  ///< +1 or −1 by the tool's side; shares of it where a constraint acts between two points
};

/// A constraint of the slow loop, with all that the fast loop needs of it. Those that act on the tool come first.
struct PublishedConstraint {
  ConstraintKind kind = ConstraintKind::kContact;
  std::int32_t rows = 0;
  std::int32_t points = 0;  ///< of the tool; 0: the constraint does not act on it
  std::int32_t slip_known = 0;
  std::uint64_t id = 0;  ///< the same from model to model for the same contact or joint
  double friction = 0.0;
  double lower = 0.0, upper = 0.0;  ///< of bounded rows [N]
  std::array<ToolPoint, 2> on_tool;
  Vec3 start = Vec3::Zero();            ///< Σ scale · point when the slow step began [m]
  Quat start_frame = Quat::Identity();  ///< of the tool at its first point, likewise
  Vec3 slip = Vec3::Zero();             ///< how far the contact had slipped by then [m], if slip_known
};

/// One row. The fast loop's violation without forces is, with p the tool's points now and a the age of the model,
///   δ = gap + direction · (p − start) + rate · a + motion + dt · J_tool (v + Δv_free)
/// which is eq. 10–12 of the paper with the terms that cancel left out: δ_free(ΔT) holds the motions of both sides over
/// ΔT, (11) and (12) replace them by those over dt.
struct PublishedRow {
  Vec3 direction = Vec3::Zero();  ///< unit; times the joint's arm where it turns
  std::int32_t turn = 0;          ///< the row is about angles
  double gap = 0.0;               ///< when the slow step began [m]
  double motion = 0.0;      ///< of all bodies but the tool over dt, free of the forces that the fast loop finds [m]
  double rate = 0.0;        ///< of the gap by the slow step's motion of all bodies but the tool [m/s]
  double compliance = 0.0;  ///< the row's own C [m/N]
};

struct Model {
  MessageHeader header;
  std::int32_t valid = 0;  ///< 0: the world could not be stepped
  std::int32_t constraints = 0;
  std::int32_t tool_constraints = 0;  ///< the first so many
  std::int32_t rows = 0;
  std::int32_t tool_rows = 0;
  std::int32_t left_out = 0;  ///< constraints for which there was no room
  std::array<PublishedConstraint, kMaxConstraints> constraint;
  std::array<PublishedRow, kMaxRows> row;
  std::array<double, kMaxRows * kMaxRows> W;  ///< of all bodies but the tool at dt, by columns of `rows` [m/N]
};

}  // namespace palpate::compliance
