#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "conformance.h"
#include "palpate/doubles/haply_service.h"
#include "palpate/doubles/network_hand_double.h"
#include "palpate/doubles/space_mouse_double.h"
#include "palpate/doubles/vendor_double.h"
#include "palpate/testing/temp_folder.h"

/// Every driver with the double of its device.
namespace palpate::testing {

class HaplyBench final : public DriverBench {
 public:
  explicit HaplyBench(Flaw flaw = Flaw::kNone, HaplyServiceSettings s = {}) : DriverBench(flaw), settings_(s) {
    plug();
    settings_.port = service->port();
  }
  std::string name() const override { return fmt::format("haply:127.0.0.1:{}", settings_.port); }
  DeviceTraits traits() const override {
    DeviceTraits t;
    t.turns = settings_.grip != HaplyServiceSettings::Grip::kNone;
    t.buttons = settings_.grip == HaplyServiceSettings::Grip::kWireless ? 3 : t.turns ? 1 : 0;
    return t;
  }
  void unplug() override { service.reset(); }
  void plug() override { service = std::make_unique<HaplyService>(hand, settings_); }
  void inject(Fault fault, double seconds) override { service->inject(fault, seconds); }
  std::uint64_t faults_done() const override { return service->faults_done(); }

  std::unique_ptr<HaplyService> service;

 private:
  HaplyServiceSettings settings_;
};

/// A port that was free a moment ago.
inline std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

class NetworkBench final : public DriverBench {
 public:
  explicit NetworkBench(Flaw flaw = Flaw::kNone, NetworkHandDoubleSettings s = {}, std::string key_file = "")
      : DriverBench(flaw), settings_(s), key_file_(std::move(key_file)) {
    settings_.port = free_port();
    program = std::make_unique<NetworkHandDouble>(hand, settings_);
  }
  std::string name() const override {
    return fmt::format("network:127.0.0.1:{}{}", settings_.port, key_file_.empty() ? "" : "," + key_file_);
  }
  DeviceTraits traits() const override {
    DeviceTraits t;
    t.buttons = 3;
    t.grips = true;
    t.twists = !settings_.waves || settings_.turn_waves;
    return t;
  }
  void unplug() override { program->unplug(true); }
  void plug() override { program->unplug(false); }
  void inject(Fault fault, double seconds) override { program->inject(fault, seconds); }
  std::uint64_t faults_done() const override { return program->faults_done(); }

  std::unique_ptr<NetworkHandDouble> program;

 private:
  NetworkHandDoubleSettings settings_;
  std::string key_file_;
};

class VendorBench : public DriverBench {
 public:
  /// `which`: what stands behind `#` for this device of the double; none: nothing, and it is the first.
  VendorBench(Flaw flaw, std::string driver, std::string library, int device = 0, std::string which = "")
      : DriverBench(flaw),
        vendor(hand, library, device),
        name_(driver + ":" + library + (which.empty() ? "" : "#" + which)) {}
  std::string name() const override { return name_; }
  void unplug() override { vendor.plug(false); }
  void plug() override { vendor.plug(true); }
  void inject(Fault fault, double seconds) override { vendor.inject(fault, seconds); }
  std::uint64_t faults_done() const override { return vendor.faults_done(); }

  VendorDouble vendor;

 private:
  std::string name_;
};

class ForceDimensionBench final : public VendorBench {
 public:
  explicit ForceDimensionBench(Flaw flaw = Flaw::kNone) : VendorBench(flaw, "force-dimension", PALPATE_DHD_DOUBLE) {}
  /// One of two: 0 or 1.
  explicit ForceDimensionBench(int device)
      : VendorBench(Flaw::kNone, "force-dimension", PALPATE_DHD_DOUBLE, device, std::to_string(device)) {}
  DeviceTraits traits() const override {
    DeviceTraits t;
    t.twists = t.grips = true;
    t.buttons = 3;
    return t;
  }
};

class OpenHapticsBench final : public VendorBench {
 public:
  explicit OpenHapticsBench(Flaw flaw = Flaw::kNone) : VendorBench(flaw, "open-haptics", PALPATE_HD_DOUBLE) {}
  /// One of two: 0 or 1.
  explicit OpenHapticsBench(int device)
      : VendorBench(Flaw::kNone, "open-haptics", PALPATE_HD_DOUBLE, device,
                    device == 0 ? "Left Device" : "Right Device") {}
  DeviceTraits traits() const override {
    DeviceTraits t;
    t.buttons = 2;
    return t;
  }
};

class SpaceMouseBench final : public DriverBench {
 public:
  explicit SpaceMouseBench(Flaw flaw = Flaw::kNone) : DriverBench(flaw), folder_("spnav") { plug(); }
  std::string name() const override { return "space-mouse:" + path(); }
  DeviceTraits traits() const override {
    DeviceTraits t;
    t.turns = t.pushes = false;
    t.is_rate = true;
    t.buttons = 2;
    return t;
  }
  void unplug() override { mouse.reset(); }
  void plug() override { mouse = std::make_unique<SpaceMouseDouble>(hand, path()); }
  void inject(Fault fault, double seconds) override { mouse->inject(fault, seconds); }
  std::uint64_t faults_done() const override { return mouse->faults_done(); }

  std::unique_ptr<SpaceMouseDouble> mouse;

 private:
  std::string path() const { return folder_.path("spnav.sock").string(); }
  TempFolder folder_;
};

}  // namespace palpate::testing
