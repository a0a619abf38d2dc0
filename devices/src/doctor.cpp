#include "palpate/devices/doctor.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

namespace palpate {
namespace {

constexpr int kWantedPriority = 80;  // what the runtime asks for

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

ProbeStep check_priority() {
  rlimit limit{};
  ::getrlimit(RLIMIT_RTPRIO, &limit);
  const bool good = ::geteuid() == 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kWantedPriority;
  return {good,
          good ? "the fast loop may have real-time priority"
               : fmt::format("the fast loop may not have real-time priority (limit {})", limit.rlim_cur),
          "echo '@haptics - rtprio 90' | sudo tee -a /etc/security/limits.d/haptics.conf; sudo groupadd -f haptics; "
          "sudo usermod "
          "-aG haptics $USER; then log in again"};
}

ProbeStep check_memory() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const bool good = ::geteuid() == 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= (1u << 30);
  return {good, good ? "memory may be locked" : "memory may not be locked: a tick may meet a page fault",
          "echo '@haptics - memlock unlimited' | sudo tee -a /etc/security/limits.d/haptics.conf; then log in again"};
}

ProbeStep check_governor() {
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  const bool good = governor.empty() || governor == "performance";
  return {good,
          governor.empty() ? "the processor's clock is not ours to see (a virtual machine?)"
                           : fmt::format("the processor's clock is governed by \"{}\"", governor),
          "sudo cpupower frequency-set -g performance"};
}

ProbeStep check_kernel() {
  utsname name{};
  ::uname(&name);
  const bool good = first_line("/sys/kernel/realtime") == "1" || std::strstr(name.version, "PREEMPT_RT") != nullptr;
  return {good, fmt::format("the kernel {} is {}real-time", name.release, good ? "" : "not "),
          "sudo apt install linux-image-rt-amd64, and start that one: the latest wake-up falls from milliseconds to "
          "tens of "
          "microseconds"};
}

ProbeStep check_cores() {
  const unsigned cores = std::thread::hardware_concurrency();
  return {cores >= 4, fmt::format("{} processor cores", cores),
          "fast loop, slow loop, driver and the rest share them: expect late ticks with less than four"};
}

}  // namespace

std::vector<ProbeStep> check_computer() {
  return {check_priority(), check_memory(), check_governor(), check_kernel(), check_cores()};
}

}  // namespace palpate
