#pragma once

#include <array>

#include "palpate/devices/driver.h"

// A driver is one source file and one line here.
namespace palpate {

std::unique_ptr<DriverProtocol> make_haply(const DriverOptions& options);
DriverProbe probe_haply(const DriverOptions& options);
std::unique_ptr<DriverProtocol> make_network_hand(const DriverOptions& options);
DriverProbe probe_network_hand(const DriverOptions& options);
std::unique_ptr<DriverProtocol> make_force_dimension(const DriverOptions& options);
DriverProbe probe_force_dimension(const DriverOptions& options);
std::unique_ptr<DriverProtocol> make_open_haptics(const DriverOptions& options);
DriverProbe probe_open_haptics(const DriverOptions& options);
std::unique_ptr<DriverProtocol> make_space_mouse(const DriverOptions& options);
DriverProbe probe_space_mouse(const DriverOptions& options);

inline constexpr std::array kDriverTable{
    Driver{"haply", "Haply Inverse3 with VerseGrip, through the Inverse Service",
           "HOST:PORT of the service, and /ID of the device", probe_haply, make_haply},
    Driver{"force-dimension", "omega, delta, sigma (and Falcon) through Force Dimension's SDK",
           "path of libdhd.so or libdrd.so, and #N for one of several (0, 1, ...)", probe_force_dimension,
           make_force_dimension},
    Driver{"open-haptics", "3D Systems Touch, Touch X, PHANToM through OpenHaptics",
           "path of libHD.so, and #NAME for one of several", probe_open_haptics, make_open_haptics},
    Driver{"space-mouse", "a 3D mouse through spacenavd: moves the tool, gives no force", "path of spacenavd's socket",
           probe_space_mouse, make_space_mouse},
    Driver{"network", "a hand on the network: any program that speaks docs/network-hand.md",
           "ADDRESS:PORT to listen at, and ,KEYFILE", probe_network_hand, make_network_hand},
};

}  // namespace palpate
