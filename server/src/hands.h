#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "palpate/runtime/run.h"
#include "palpate/server/guided_hand.h"

namespace palpate {

/// The hands of all tools of a scene. Pages may take any of them; those that nobody holds play what the scene gives
/// them. Thread: the viewer's, while the fast loop reads and writes the devices.
class Hands {
 public:
  /// Makes the scene's own hand of a tool.
  using Maker = std::function<std::unique_ptr<Device>(std::size_t tool)>;

  Hands() = default;
  Hands(std::size_t count, const Maker& make);  ///< at most kMaxTools

  std::size_t size() const noexcept { return hands_.size(); }
  GuidedHand& operator[](std::size_t tool) noexcept { return *hands_[tool]; }
  std::vector<Device*> devices() const;

  /// False: there is no such tool.
  bool hold(std::size_t tool, const Pose& target, std::optional<double> grip) noexcept;
  bool let_go(std::size_t tool) noexcept;
  void let_go_all() noexcept;
  bool is_held(std::size_t tool) const noexcept { return held_[tool]; }
  bool any_held() const noexcept;

  /// Between two runs: see GuidedHand.
  void replace(const Maker& make, double now);

 private:
  std::vector<std::unique_ptr<GuidedHand>> hands_;
  std::array<bool, kMaxTools> held_{};
};

}  // namespace palpate
