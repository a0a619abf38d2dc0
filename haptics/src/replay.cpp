#include "palpate/haptics/replay.h"

#include <algorithm>
#include <cmath>

#include "checks.h"

namespace palpate {

ReplayDevice::ReplayDevice(std::vector<DeviceState> samples) : samples_(std::move(samples)) {
  if (samples_.empty()) fail_input("replay device: the recording has no samples");
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const DeviceState& s = samples_[i];
    const bool finite = std::isfinite(s.time) && s.pose.position.allFinite() && s.pose.rotation.coeffs().allFinite() &&
                        s.velocity.linear.allFinite() && s.velocity.angular.allFinite() && std::isfinite(s.grip) &&
                        std::isfinite(s.grip_rate);
    if (!finite) fail_input("replay device: sample {} is not finite", i);
    if (i > 0 && !(s.time > samples_[i - 1].time)) {
      fail_input("replay device: sample {} at {} s: must be later than the one before, {} s", i, s.time,
                 samples_[i - 1].time);
    }
  }
  info_.name = "replay";
  info_.input_dof = 6;
  info_.output_dof = 6;
  info_.damping = kInfinity;  // no wrench moves it, so none makes it unstable
}

DeviceState ReplayDevice::read(double time) noexcept {
  const auto next = std::lower_bound(samples_.begin(), samples_.end(), time,
                                     [](const DeviceState& s, double t) { return s.time < t; });
  if (next != samples_.end() && next->time == time) return *next;
  if (next == samples_.begin() || next == samples_.end()) {
    DeviceState still = next == samples_.end() ? samples_.back() : samples_.front();
    still.time = time;
    still.velocity = {};
    still.grip_rate = 0.0;
    return still;
  }
  const DeviceState& a = *(next - 1);
  const DeviceState& b = *next;
  const double u = (time - a.time) / (b.time - a.time);
  DeviceState s = a;
  s.time = time;
  s.pose.position += u * (b.pose.position - a.pose.position);
  s.pose.rotation = a.pose.rotation.slerp(u, b.pose.rotation);
  s.velocity.linear += u * (b.velocity.linear - a.velocity.linear);
  s.velocity.angular += u * (b.velocity.angular - a.velocity.angular);
  s.grip += u * (b.grip - a.grip);
  s.grip_rate += u * (b.grip_rate - a.grip_rate);
  return s;
}

}  // namespace palpate
