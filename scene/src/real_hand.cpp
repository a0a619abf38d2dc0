#include "palpate/scene/real_hand.h"

#include <algorithm>

#include "palpate/core/clock.h"
#include "palpate/core/log.h"

namespace palpate {
namespace {

/// A device that somebody else owns.
class BorrowedDevice final : public Device {
 public:
  explicit BorrowedDevice(Device& device) : device_(device) {}
  const DeviceInfo& info() const noexcept override { return device_.info(); }
  DeviceState read(double time) noexcept override { return device_.read(time); }
  void write(const SafeWrench& wrench) noexcept override { device_.write(wrench); }

 private:
  Device& device_;
};

}  // namespace

RealHand::RealHand(const std::string& name_and_where)
    : driver_(open_device(name_and_where)), opened_ns_(monotonic_ns()) {}

std::unique_ptr<Device> RealHand::make_device(const Scene& scene, std::size_t tool) {
  const HeldTool& held = scene.tools.at(tool);
  const SceneDevice how = held.device.value_or(SceneDevice{});
  mapping_ = how.mapping;
  if (how.anchor == DeviceAnchor::kHand) {
    const Vec3 at = rotation_from_vector(mapping_.rotation) * driver_->read(0.0).pose.position;
    mapping_.offset += palpate::make_device(scene, tool)->read(0.0).pose.position - mapping_.scale * at;
  }
  const std::string whose = scene.tools.size() > 1 ? held.name + ": " : "";
  if (const auto warning = find_mapping_warning(mapping_, info(), held.tool.coupling.stiffness)) warn(whose + *warning);
  auto device = std::make_unique<MappedDevice>(std::make_unique<BorrowedDevice>(*driver_), mapping_, scene.run.dt);
  device->attach(desk_);
  for (const std::string& warning : find_warnings(scene, *device, tool)) warn(whose + warning);
  return device;
}

void RealHand::warn(const std::string& text) {
  if (std::find(warned_.begin(), warned_.end(), text) != warned_.end()) return;
  warned_.push_back(text);
  log::warn("{}", text);
}

double RealHand::sample_rate() const noexcept {
  const std::int64_t end = closed_ns_ != 0 ? closed_ns_ : monotonic_ns();
  const double seconds = 1e-9 * static_cast<double>(end - opened_ns_);
  return seconds > 0.0 ? static_cast<double>(driver_->samples()) / seconds : 0.0;
}

std::uint32_t RealHand::losses() const noexcept {
  return driver_->connections() > 0 ? driver_->connections() - 1 : 0;
}

TickSource* find_tick_source(std::span<const std::unique_ptr<RealHand>> hands) noexcept {
  RealHand* only = nullptr;
  for (const auto& hand : hands) {
    if (hand && only) return nullptr;
    if (hand) only = hand.get();
  }
  return only ? only->driver().tick_source() : nullptr;
}

void RealHand::close() {
  driver_->close();
  if (closed_ns_ == 0) closed_ns_ = monotonic_ns();
}

}  // namespace palpate
