#include "palpate/haptics/scripted.h"

#include "checks.h"

namespace palpate {

ScriptedDevice::ScriptedDevice(std::unique_ptr<HandPath> path) : path_(std::move(path)) {
  if (!path_) fail_input("scripted device: has no hand path");
  info_.name = "scripted";
  info_.input_dof = 6;
  info_.output_dof = 6;
  info_.damping = kInfinity;  // no wrench moves it, so none makes it unstable
}

DeviceState ScriptedDevice::read(double time) noexcept {
  const HandSample sample = path_->at(time);
  return {time, sample.pose, sample.velocity, 0, sample.grip, sample.grip_rate};
}

}  // namespace palpate
