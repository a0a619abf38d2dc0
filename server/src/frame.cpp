#include "frame.h"

#include <algorithm>
#include <cstddef>

namespace palpate {
namespace frame {

void put(float* to, const Vec3& v) noexcept {
  for (int i = 0; i < 3; ++i) to[i] = static_cast<float>(v[i]);
}

void put(float* to, const Quat& q) noexcept {
  to[0] = static_cast<float>(q.w()), to[1] = static_cast<float>(q.x());
  to[2] = static_cast<float>(q.y()), to[3] = static_cast<float>(q.z());
}

}  // namespace frame

Snapshot make_snapshot(const TickRow& row, double time, bool held, std::span<const Finger> fingers) noexcept {
  Snapshot s;
  s.time = static_cast<float>(time);
  frame::put(s.device, row.device.position), frame::put(s.device + 3, row.device.rotation);
  frame::put(s.tool, row.tool.position), frame::put(s.tool + 3, row.tool.rotation);
  frame::put(s.force, row.sent.force), frame::put(s.torque, row.sent.torque);
  s.model_age = static_cast<float>(row.model_age);
  s.energy = static_cast<float>(row.energy);
  s.contacts = static_cast<float>(row.contacts);
  s.held = held ? 1.0F : 0.0F;
  s.events = static_cast<float>(row.events);
  s.grip = static_cast<float>(row.grip);
  DeviceState hand;
  hand.pose = row.device;
  hand.grip = row.grip;
  s.fingers = std::min(fingers.size(), s.finger.size());
  for (std::size_t i = 0; i < s.fingers; ++i) {
    const Pose pose = compute_finger_pose(fingers[i], hand);
    frame::put(s.finger[i].position, pose.position), frame::put(s.finger[i].rotation, pose.rotation);
    frame::put(s.finger[i].force, row.finger_forces[i]);
  }
  return s;
}

std::string make_frame(std::span<const ToolFrame> tools, std::span<const StepSample> steps) {
  SectionWriter out;
  for (const auto& [now, ticks] : tools) {
    out.add<float>("STAT", {&now.time, offsetof(Snapshot, finger) / sizeof(float)});
    out.add<Snapshot::Finger>("FING", {now.finger.data(), now.fingers});
    out.add<TickSample>("TICK", ticks);
  }
  out.add<StepSample>("STEP", steps);
  return out.take();
}

}  // namespace palpate
