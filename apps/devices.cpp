#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "command.h"
#include "device_options.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/devices/doctor.h"
#include "palpate/devices/first_touch.h"
#include "palpate/doubles/haply_service.h"
#include "palpate/doubles/network_hand_double.h"
#include "palpate/doubles/space_mouse_double.h"
#include "palpate/haptics/device_list.h"

namespace palpate {
namespace {

using DeviceJson = nlohmann::ordered_json;

std::string limit_text(double value, const char* unit) {
  return std::isfinite(value) ? fmt::format("{:.5g} {}", value, unit) : fmt::format("unlimited {}", unit);
}

std::string workspace_text(const DeviceInfo& info) {
  if (!info.workspace_min.allFinite() || !info.workspace_max.allFinite()) return "workspace not told";
  const Vec3 size = 1e3 * (info.workspace_max - info.workspace_min);
  return fmt::format("workspace {:.0f} x {:.0f} x {:.0f} mm", size.x(), size.y(), size.z());
}

DeviceJson limit_json(double value) {
  return std::isfinite(value) ? DeviceJson(value) : DeviceJson(nullptr);
}

DeviceJson info_json(const DeviceInfo& info) {
  const auto vector = [](const Vec3& v) {
    return v.allFinite() ? DeviceJson{v.x(), v.y(), v.z()} : DeviceJson(nullptr);
  };
  return {{"name", info.name},
          {"input_dof", info.input_dof},
          {"output_dof", info.output_dof},
          {"max_force", limit_json(info.max_force)},
          {"max_torque", limit_json(info.max_torque)},
          {"max_stiffness", limit_json(info.max_stiffness)},
          {"workspace_min", vector(info.workspace_min)},
          {"workspace_max", vector(info.workspace_max)}};
}

/// Each device that is there, behind what names it where there are several.
void print_found(const DriverProbe& probe, std::string_view indent) {
  for (const FoundDevice& d : probe.devices)
    fmt::print("{}{}{}: {}, {}, {}\n", indent, d.which.empty() ? "" : d.which + "  ", d.info.name,
               workspace_text(d.info), limit_text(d.info.max_force, "N"), limit_text(d.info.max_stiffness, "N/m"));
}

void print_driver(const Driver& driver, const DriverProbe& probe) {
  fmt::print("{:<16} {}\n", driver.name, driver.description);
  if (!probe.usable()) {
    fmt::print("{:<16}   not usable: {}\n", "", probe.steps.empty() ? "not looked for" : probe.steps.back().what);
    return;
  }
  fmt::print("{:<16}   found {}{}\n", "", probe.found, probe.version.empty() ? "" : ", " + probe.version);
  print_found(probe, fmt::format("{:<16}   ", ""));
}

int list_devices(bool json) {
  DeviceJson list = DeviceJson::array();
  for (const DeviceKind& kind : list_device_kinds()) {
    list.push_back({{"name", kind.name}, {"description", kind.description}});
    if (!json) fmt::print("{:<16} {}\n", kind.name, kind.description);
  }
  DeviceJson found = DeviceJson::array();
  for (const Driver& driver : drivers()) {
    const DriverProbe probe = driver.probe({});
    if (!json) print_driver(driver, probe);
    DeviceJson steps = DeviceJson::array();
    for (const ProbeStep& s : probe.steps)
      steps.push_back({{"good", s.good}, {"what", s.what}, {"advice", s.good ? "" : s.advice}});
    DeviceJson there = DeviceJson::array();
    for (const FoundDevice& d : probe.devices) {
      there.push_back(info_json(d.info));
      there.back()["which"] = d.which;
    }
    found.push_back({{"name", driver.name},
                     {"description", driver.description},
                     {"usable", probe.usable()},
                     {"found", probe.found},
                     {"version", probe.version},
                     {"devices", there},
                     {"steps", steps}});
  }
  if (json) fmt::print("{}\n", DeviceJson{{"devices", list}, {"drivers", found}}.dump(2));
  return kDone;
}

void print_stage(const FirstTouchStage& s) {
  fmt::print("{:<11} {} ticks, late by p99 {:.0f} us; reached {:.0f} x {:.0f} x {:.0f} mm", s.name, s.ticks,
             1e-3 * s.delays.compute_percentile_ns(0.99), 1e3 * (s.reached_max - s.reached_min).x(),
             1e3 * (s.reached_max - s.reached_min).y(), 1e3 * (s.reached_max - s.reached_min).z());
  if (s.lost_ticks > 0) fmt::print("; {} without a sound sample", s.lost_ticks);
  if (s.touching > 0)
    fmt::print("; touched for {:.1f} s, peak {:.2f} N, energy given {:.2g} mJ", 1e-3 * static_cast<double>(s.touching),
               s.peak_force, 1e3 * s.energy);
  fmt::print("\n");
}

int try_device(const std::string& name, double seconds) {
  std::unique_ptr<DriverDevice> driver = open_device(name);
  DriverDevice& own = *driver;
  fmt::print("{}: {}, {}, {}\n", own.info().name, workspace_text(own.info()), limit_text(own.info().max_force, "N"),
             limit_text(own.info().max_stiffness, "N/m"));
  MappedDevice device(std::move(driver), {}, 1e-3);
  FirstTouchSettings settings;
  if (seconds > 0.0) {
    settings.free_seconds = 0.2 * seconds;
    settings.floor_seconds = 0.4 * seconds;
  }
  const std::uint64_t before = own.samples();
  const std::int64_t began = monotonic_ns();
  const auto say = [](const std::string& text) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
  };
  const std::vector<FirstTouchStage> stages = run_first_touch(device, settings, say, stop_requested());
  const double rate =
      static_cast<double>(own.samples() - before) / (1e-9 * static_cast<double>(monotonic_ns() - began));
  own.close();
  for (const FirstTouchStage& stage : stages) print_stage(stage);
  fmt::print("device      {:.0f} samples a second, {}\n", rate, round_trip_text(own.round_trips()));
  return kDone;
}

/// A hand that dips 3 cm up and down in 4 s.
std::unique_ptr<HandPath> dipping_path() {
  SinePathSettings s;
  s.amplitude = Vec3(0.0, 0.03, 0.0);
  s.frequency = 0.25;
  return make_path(s);
}

std::uint16_t port_of(const std::string& text, std::uint16_t standard) {
  if (text.empty()) return standard;
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535)
    fail_input("double: {} must be a port, 1 to 65535", quote_for_message(text));
  return static_cast<std::uint16_t>(port);
}

int run_double(const std::string& name_and_where) {
  const auto [name, where] = split_device_name(name_and_where);
  DoubleHand hand(simulated_device_preset("touch"), dipping_path());
  std::unique_ptr<HaplyService> haply;
  std::unique_ptr<NetworkHandDouble> network;
  std::unique_ptr<SpaceMouseDouble> mouse;
  if (name == "haply") {
    HaplyServiceSettings s;
    s.port = port_of(where, 10001);
    haply = std::make_unique<HaplyService>(hand, s);
  } else if (name == "network") {
    NetworkHandDoubleSettings s;
    s.port = port_of(where, s.port);
    network = std::make_unique<NetworkHandDouble>(hand, s);
  } else if (name == "space-mouse" && !where.empty()) {
    mouse = std::make_unique<SpaceMouseDouble>(hand, where);
  } else {
    fail_input(
        "double {}: must be haply[:PORT], network[:PORT] or space-mouse:PATH; vendors' libraries have shared objects "
        "of their own "
        "(docs/devices.md)",
        quote_for_message(name_and_where));
  }
  fmt::print("a double of {} runs, with a hand that dips up and down; Ctrl-C ends it\n", name);
  std::fflush(stdout);
  while (!stop_requested()) sleep_until_ns(monotonic_ns() + 20'000'000);
  return kDone;
}

void print_steps(std::string_view heading, const std::vector<ProbeStep>& steps) {
  fmt::print("{}\n", heading);
  for (const ProbeStep& step : steps) {
    fmt::print("  {}  {}\n", step.good ? "ok" : "--", step.what);
    if (!step.good) fmt::print("      {}\n", step.advice);
  }
}

int run_doctor(const std::string& name_and_where, bool json) {
  const auto [name, where] = split_device_name(name_and_where);
  if (!name.empty()) find_driver(name);
  DeviceJson out = DeviceJson::object();
  const auto add = [&](std::string_view heading, const std::vector<ProbeStep>& steps) {
    if (!json) return print_steps(heading, steps);
    DeviceJson list = DeviceJson::array();
    for (const ProbeStep& s : steps)
      list.push_back({{"good", s.good}, {"what", s.what}, {"advice", s.good ? "" : s.advice}});
    out[std::string(heading)] = list;
  };
  bool usable = false;
  for (const Driver& driver : drivers()) {
    if (!name.empty() && driver.name != name) continue;
    const DriverProbe probe = driver.probe({where, {}});
    usable |= probe.usable();
    add(driver.name, probe.steps);
    if (!json) print_found(probe, "      ");
  }
  add("computer", check_computer());
  if (json) fmt::print("{}\n", DeviceJson{{"usable", usable}, {"checks", out}}.dump(2));
  return name.empty() || usable ? kDone : kCheckFailed;
}

}  // namespace

void add_devices(CLI::App& app, Action& action) {
  struct Options {
    bool json = false;
    std::string name;
    double seconds = 0.0;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("devices", "what is connected and usable as a hand");
  command->require_subcommand(0, 1);
  command->add_flag("--json", options->json, "as JSON");
  command->footer("Example: palpate devices try haply");
  CLI::App* attempt = command->add_subcommand("try", "a guided first touch: a floor, weak first");
  attempt->add_option("NAME", options->name, "a device, NAME or NAME:WHERE")->required();
  attempt->add_option("-s,--seconds", options->seconds, "how long it takes; default: 15")->check(positive_number());
  attempt->footer("Example: palpate devices try haply");
  CLI::App* imitation = command->add_subcommand("double", "a device that is not there, for those who have none");
  imitation->add_option("NAME", options->name, "haply[:PORT], network[:PORT] or space-mouse:PATH")->required();
  imitation->footer("Example: palpate devices double haply");
  command->callback([options, attempt, imitation, &action] {
    action = [options, attempt, imitation] {
      if (attempt->parsed()) return try_device(options->name, options->seconds);
      if (imitation->parsed()) return run_double(options->name);
      return list_devices(options->json);
    };
  });
}

void add_doctor(CLI::App& app, Action& action) {
  struct Options {
    bool json = false;
    std::string name;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("doctor", "why a device is not usable, step by step, and what to type");
  command->add_option("NAME", options->name, "a device, NAME or NAME:WHERE; default: all");
  command->add_flag("--json", options->json, "as JSON");
  command->footer("Example: palpate doctor haply");
  command->callback([options, &action] { action = [options] { return run_doctor(options->name, options->json); }; });
}

}  // namespace palpate
