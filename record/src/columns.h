#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "palpate/runtime/run.h"

/// The columns of a recording: the one place that names them. Writer, reader and CSV all walk these lists.
namespace palpate {

/// A column. Its name is in two parts so that walking a row builds no strings.
struct Column {
  std::string_view stem;
  std::string_view part;
  std::string_view unit;
  bool measured = false;  ///< a computing time: differs from run to run

  std::string name() const { return std::string(stem).append(part); }
};

template <typename Vector, typename Visit>
void visit_vector(std::string_view stem, std::string_view unit, Vector& v, const Visit& visit) {
  visit(Column{stem, "_x", unit}, v.x());
  visit(Column{stem, "_y", unit}, v.y());
  visit(Column{stem, "_z", unit}, v.z());
}

template <typename PoseType, typename Visit>
void visit_pose(std::string_view stem, PoseType& pose, const Visit& visit) {
  visit_vector(stem, "m", pose.position, visit);
  visit(Column{stem, "_qw", "1"}, pose.rotation.w());
  visit(Column{stem, "_qx", "1"}, pose.rotation.x());
  visit(Column{stem, "_qy", "1"}, pose.rotation.y());
  visit(Column{stem, "_qz", "1"}, pose.rotation.z());
}

/// Calls visit(Column, value) for every column of a TickRow (const or not) in file order; value is a reference into
/// `row` to a double (f64), std::int32_t (i32) or std::uint32_t (u32).
template <typename Row, typename Visit>
requires requires(Row row) {
  row.tick_time;
}
void visit_columns(Row& row, const Visit& visit) {
  visit(Column{"time", "", "s"}, row.time);
  visit_pose("device", row.device, visit);
  visit_vector("device_velocity", "m/s", row.device_velocity.linear, visit);
  visit_vector("device_spin", "rad/s", row.device_velocity.angular, visit);
  visit_pose("tool", row.tool, visit);
  visit_vector("wanted_force", "N", row.wanted.force, visit);
  visit_vector("wanted_torque", "N.m", row.wanted.torque, visit);
  visit_vector("sent_force", "N", row.sent.force, visit);
  visit_vector("sent_torque", "N.m", row.sent.torque, visit);
  visit(Column{"model_age", "", "s"}, row.model_age);
  visit(Column{"tick_time", "", "s", true}, row.tick_time);
  visit(Column{"residual", "", "m"}, row.residual);
  visit(Column{"energy", "", "J"}, row.energy);
  visit(Column{"iterations", "", "1"}, row.iterations);
  visit(Column{"contacts", "", "1"}, row.contacts);
  visit(Column{"events", "", "bits"}, row.events);
  visit(Column{"buttons", "", "bits"}, row.buttons);
  visit(Column{"grip", "", "1"}, row.grip);
  visit(Column{"grip_rate", "", "1/s"}, row.grip_rate);
}

/// The same for a StepRow.
template <typename Row, typename Visit>
requires requires(Row row) {
  row.step_time;
}
void visit_columns(Row& row, const Visit& visit) {
  visit(Column{"time", "", "s"}, row.time);
  visit(Column{"step_time", "", "s", true}, row.step_time);
  for (std::size_t i = 0; i < kStageCount; ++i) visit(Column{"stage_", kStageNames[i], "s", true}, row.stage_time[i]);
  visit(Column{"residual", "", "m"}, row.residual);
  visit(Column{"penetration", "", "m"}, row.penetration);
  visit(Column{"iterations", "", "1"}, row.iterations);
  visit(Column{"contacts", "", "1"}, row.contacts);
}

constexpr std::string_view type_name(double) {
  return "f64";
}
constexpr std::string_view type_name(std::int32_t) {
  return "i32";
}
constexpr std::string_view type_name(std::uint32_t) {
  return "u32";
}

inline constexpr std::string_view kMagic = "PALPATE RECORDING 1\n";
/// Of the chunks with the ticks of a tool, by its place: TICK, TIC1, TIC2, …
inline std::string tick_tag(std::size_t tool) {
  return tool == 0 ? "TICK" : "TIC" + std::to_string(tool);
}
static_assert(kMaxTools <= 10, "a tag has four characters");
inline constexpr std::string_view kStepTag = "STEP";
inline constexpr std::string_view kDoneTag = "DONE";
inline constexpr std::size_t kTagBytes = 4;
inline constexpr std::size_t kMaxHeaderBytes = std::size_t{64} << 20;  ///< scene texts are far smaller
inline constexpr std::uint32_t kMaxChunkRows = 65536;  ///< what a reader accepts; a larger count is a damaged file

}  // namespace palpate
