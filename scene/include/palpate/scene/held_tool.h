#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "palpate/runtime/run.h"
#include "palpate/scene/device.h"
#include "palpate/scene/hand.h"
#include "palpate/scene/tool.h"

namespace palpate {

/// Stands for the method that does best on the scene; settle_auto() of layer experiments finds out which.
inline constexpr std::string_view kAutoMethod = "auto";

/// The guards of a hand of which nothing is said: a model is stale two slow periods after it should have come.
HandGuards make_standard_guards(const RunSettings& run) noexcept;

/// A tool in a hand: what is held, who or what moves it, how its forces are rendered, and what guards that hand.
struct HeldTool {
  std::string name{kOnlyTool};  ///< for joints, recordings and messages; no other tool of the scene has it
  SceneTool tool{};
  SceneHand hand{};
  std::optional<SceneDevice> device{};  ///< in place of the hand where a run keeps real time
  std::string method = "reference";
  HandGuards guards = make_standard_guards({});
  bool operator==(const HeldTool&) const = default;
};

}  // namespace palpate
