#include "device_options.h"

#include <algorithm>

#include "command.h"
#include "palpate/core/error.h"
#include "palpate/core/log.h"
#include "palpate/experiments/auto_period.h"
#include "palpate/methods/registry.h"

namespace palpate {
namespace {

constexpr std::string_view kNoDevice = "none";

std::size_t find_tool(const Scene& scene, std::string_view name) {
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    if (scene.tools[i].name == name) return i;
  }
  return scene.tools.size();
}

/// `TOOL` and a mark before the rest, if a tool of the scene is called so.
struct ForTool {
  std::size_t tool = 0;
  bool named = false;
  std::string_view rest;
};
ForTool split_tool(const Scene& scene, std::string_view text, char mark) {
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    const std::size_t tool = find_tool(scene, text.substr(0, at));
    if (tool < scene.tools.size()) return {tool, true, text.substr(at + 1)};
  }
  return {0, false, text};
}

/// A text before `=` that is the name of nothing is a tool that the scene does not have.
[[noreturn]] void fail_tool(const Scene& scene, std::string_view option, std::string_view text, std::string_view tool) {
  std::vector<std::string_view> names;
  for (const HeldTool& held : scene.tools) names.push_back(held.name);
  fail_input("{} {}: no tool of {} is called {}; there are: {}{}", option, quote_for_message(text), scene.name,
             quote_for_message(tool), join_words(names), suggest_word(tool, names));
}

void apply_mapping(Scene& scene, const std::string& text) {
  const auto [tool, named, rest] = split_tool(scene, text, '.');
  const std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos)
    fail_input("--mapping {}: must be KEY=VALUE or TOOL.KEY=VALUE, for example scale=4", quote_for_message(text));
  const std::string_view key = rest.substr(0, equals);
  if (const std::size_t dot = key.find('.'); dot != std::string_view::npos)
    fail_tool(scene, "--mapping", text, key.substr(0, dot));
  if (key == "name") fail_input("--mapping {}: the device is chosen by --device", quote_for_message(text));
  std::optional<SceneDevice>& device = scene.tools[tool].device;
  if (!device) device.emplace();
  set_key(*device, key, rest.substr(equals + 1), fmt::format("--mapping {}", text));
}

}  // namespace

void add_device_options(CLI::App& command, DeviceOptions& options) {
  command
      .add_option("--device", options.devices,
                  "a real device as the hand: [TOOL=]NAME[:WHERE], see `palpate devices`, once for each tool; "
                  "`none`: the scene's own hand")
      ->allow_extra_args(false);
  command
      .add_option("--mapping", options.mappings,
                  "how a device lies in the scene: [TOOL.]KEY=VALUE with the keys of a scene's `device`, as scale=4 or "
                  "left.rotation=0,0,1.57 (docs/devices.md); repeatable")
      ->allow_extra_args(false);
}

std::vector<std::string> apply_device_options(Scene& scene, const DeviceOptions& options) {
  std::vector<std::string> names;
  for (const HeldTool& held : scene.tools) names.push_back(held.device ? held.device->name : "");
  for (const std::string& text : options.devices) {
    const auto [tool, named, rest] = split_tool(scene, text, '=');
    const std::string_view name = rest.substr(0, std::min(rest.find(':'), rest.find('=')));
    if (!named && name.size() < rest.size() && rest[name.size()] == '=') fail_tool(scene, "--device", text, name);
    names[tool] = rest == kNoDevice ? "" : rest;
    if (names[tool].empty()) continue;
    if (!scene.tools[tool].device) scene.tools[tool].device.emplace();
    scene.tools[tool].device->name = find_driver(name).name;
  }
  for (const std::string& text : options.mappings) apply_mapping(scene, text);
  return names;
}

std::vector<std::unique_ptr<RealHand>> open_hands(const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<RealHand>> out;
  for (const std::string& name : names) out.push_back(name.empty() ? nullptr : std::make_unique<RealHand>(name));
  return out;
}

std::string apply_method_options(Scene& scene, const std::vector<std::string>& methods) {
  std::string all;
  bool each = false;
  for (const std::string& text : methods) {
    const auto [tool, named, rest] = split_tool(scene, text, '=');
    if (const std::size_t equals = rest.find('='); !named && equals != std::string_view::npos)
      fail_tool(scene, "--method", text, rest.substr(0, equals));
    const std::string name = rest == kAutoMethod ? std::string(rest) : find_method(rest).name;
    if (!named) {
      all = name;
      continue;
    }
    each = true;
    scene.tools[tool].method = name;
  }
  if (!each && all != kAutoMethod) return all;
  for (HeldTool& held : scene.tools) {
    const auto is_named = [&](const std::string& text) { return text.starts_with(held.name + "="); };
    if (!all.empty() && std::none_of(methods.begin(), methods.end(), is_named)) held.method = all;
  }
  return {};
}

std::string settle_methods(Scene& scene, bool realtime) {
  Progress progress;
  AdviceOptions advice;
  advice.stop = &stop_requested();
  advice.progress = progress.reporter();
  const std::optional<AutoChoice> choice = settle_auto(scene, realtime, advice);
  if (!choice) return {};
  log::info("auto: method {}", choice->method);
  return choice->warning;
}

bool settle_slow_period(Scene& scene) {
  Progress progress;
  AdviceOptions advice;
  advice.stop = &stop_requested();
  advice.progress = progress.reporter();
  if (!settle_period(scene, advice)) return false;
  log::info("auto: slow loop at {:.4g} Hz to begin with", 1.0 / scene.run.slow_period);
  return true;
}

void add_method_option(CLI::App& command, std::vector<std::string>& methods) {
  command
      .add_option(
          "-m,--method", methods,
          "method of all tools, or TOOL=METHOD of one; repeatable. auto: the best of a short trial. Default: the "
          "scene's")
      ->allow_extra_args(false);
}

std::string round_trip_text(const Histogram& h) {
  if (h.count() == 0) return "no round trips measured";
  return fmt::format("round trip p50 {:.0f}, p99 {:.0f}, p99.9 {:.0f}, max {:.0f} us",
                     1e-3 * h.compute_percentile_ns(0.5), 1e-3 * h.compute_percentile_ns(0.99),
                     1e-3 * h.compute_percentile_ns(0.999), 1e-3 * static_cast<double>(h.max_ns()));
}

}  // namespace palpate
