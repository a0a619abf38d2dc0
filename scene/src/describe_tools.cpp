#include "describe_tools.h"

#include <algorithm>

#include "palpate/core/error.h"
#include "palpate/methods/registry.h"

namespace palpate {
namespace {

constexpr std::size_t kMaxNameBytes = 40;

/// A name becomes part of file names and of messages.
bool is_name(std::string_view name) {
  const auto is_bad = [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/' || c == '\\' || c == '"'; };
  return !name.empty() && name.size() <= kMaxNameBytes && std::none_of(name.begin(), name.end(), is_bad);
}

void describe_method(Fields& f, std::string& method, std::string_view standard) {
  std::vector<std::string_view> methods;
  for (const MethodInfo& m : registered_methods()) methods.push_back(m.name);
  methods.push_back(kAutoMethod);
  f.word({.name = "method", .doc = "how forces are rendered; auto: by the method that a short trial finds the best"},
         method, standard, methods);
}

void describe_guards(Fields& f, HandGuards& guards, const HandGuards& standard) {
  f.object({.name = "input", .doc = "limits on what a device may say", .def = "input"},
           [&](Fields& o) { describe(o, guards.input, standard.input); });
  f.object({.name = "safety", .doc = "limits on what reaches the hand", .def = "safety"},
           [&](Fields& o) { describe(o, guards.safety, standard.safety); });
  f.optional({.name = "passivity",
              .doc = "present: a controller takes out energy that the loop generated",
              .def = "passivity"},
             guards.passivity, [&](Fields& o, PassivitySettings& s) {
               describe(o, s, standard.passivity.value_or(PassivitySettings{}));
             });
}

void describe_tool(Fields& f, SceneTool& tool) {
  f.object({.name = "tool", .doc = "what the hand holds", .def = "tool"}, [&](Fields& o) { describe(o, tool); });
}

void describe_hand(Fields& f, SceneHand& hand) {
  f.object({.name = "hand", .doc = "who or what moves the device", .required = true, .def = "hand"},
           [&](Fields& o) { describe(o, hand); });
}

void describe_device(Fields& f, std::optional<SceneDevice>& device) {
  f.optional({.name = "device",
              .doc = "a real device, in place of the hand in `run` and `view`, and how it lies in the scene",
              .def = "device"},
             device, [](Fields& o, SceneDevice& d) { describe(o, d); });
}

/// A name that is the standard one is not written, and an empty one means it.
void describe_name(Fields& f, std::string& name, const std::string& standard) {
  std::string given = name == standard ? std::string() : name;
  f.text({.name = "name", .doc = "for joints, recordings and messages; default: \"tool 1\", \"tool 2\", …"}, given, "");
  name = given.empty() ? standard : given;
  f.require(is_name(name),
            fmt::format("name = {}: must be 1 to {} bytes without slashes, quotes and control characters",
                        quote_for_message(name), kMaxNameBytes));
}

bool is_listed(const std::vector<HeldTool>& tools) {
  return tools.size() != 1 || tools.front().name != kOnlyTool;
}

}  // namespace

ToolsDescription::ToolsDescription(Fields& f, Scene& scene)
    : scene_(scene), listed_(f.choose_form("tools", {"tool", "device", "hand"}, is_listed(scene.tools))) {
  // Read as a list: the one that a new scene has is none of it.
  if (listed_ && !is_listed(scene.tools)) scene.tools.clear();
}

void ToolsDescription::visit_method(Fields& f) {
  describe_method(f, own().method, HeldTool{}.method);
}

void ToolsDescription::visit_tool(Fields& f) {
  if (!listed_) describe_tool(f, own().tool);
}

void ToolsDescription::visit_guards(Fields& f) {
  const HandGuards standard = make_standard_guards(scene_.run);
  if (listed_) standard_.guards = standard;
  describe_guards(f, own().guards, standard);
}

void ToolsDescription::visit_rest(Fields& f) {
  if (!listed_) {
    describe_hand(f, own().hand);
    describe_device(f, own().device);
  }
  std::vector<HeldTool>& tools = scene_.tools;
  const auto visit = [&](Fields& o, std::size_t i) {
    if (i == tools.size()) tools.emplace_back().guards.passivity = standard_.guards.passivity;
    HeldTool& tool = tools[i];
    describe_name(o, tool.name, fmt::format("tool {}", i + 1));
    const auto same = [&](const HeldTool& other) { return other.name == tool.name; };
    o.require(std::none_of(tools.begin(), tools.begin() + static_cast<std::ptrdiff_t>(i), same),
              fmt::format("name = {}: another tool has it too", quote_for_message(tool.name)));
    const auto same_body = [&](const SceneBody& body) { return name_of(body) == tool.name; };
    o.require(std::none_of(scene_.bodies.begin(), scene_.bodies.end(), same_body),
              fmt::format("name = {}: a body has it too", quote_for_message(tool.name)));
    describe_tool(o, tool.tool);
    describe_hand(o, tool.hand);
    describe_device(o, tool.device);
    describe_method(o, tool.method, standard_.method);
    describe_guards(o, tool.guards, standard_.guards);
  };
  f.items(
      {.name = "tools",
       .doc =
           "several tools, each in a hand of its own, instead of `tool`, `hand` and `device`; what one leaves out of "
           "`method`, `input`, `safety` and `passivity` is as the scene's own keys say",
       .def = "held_tool"},
      {1, kMaxTools}, listed_ ? tools.size() : 0, visit);
  f.require(!tools.empty(), fmt::format("tools: has 0 items; must be 1 to {}", kMaxTools));
}

}  // namespace palpate
