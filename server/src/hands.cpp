#include "hands.h"

#include <algorithm>

namespace palpate {

Hands::Hands(std::size_t count, const Maker& make) {
  for (std::size_t i = 0; i < count; ++i) hands_.push_back(std::make_unique<GuidedHand>(make(i)));
}

std::vector<Device*> Hands::devices() const {
  std::vector<Device*> out;
  for (const auto& hand : hands_) out.push_back(hand.get());
  return out;
}

bool Hands::hold(std::size_t tool, const Pose& target, std::optional<double> grip) noexcept {
  if (tool >= size()) return false;
  held_[tool] = true;
  hands_[tool]->hold(target, grip);
  return true;
}

bool Hands::let_go(std::size_t tool) noexcept {
  if (tool >= size()) return false;
  held_[tool] = false;
  hands_[tool]->let_go();
  return true;
}

void Hands::let_go_all() noexcept {
  for (std::size_t i = 0; i < size(); ++i) let_go(i);
}

bool Hands::any_held() const noexcept {
  return std::find(held_.begin(), held_.end(), true) != held_.end();
}

void Hands::replace(const Maker& make, double now) {
  for (std::size_t i = 0; i < size(); ++i) hands_[i]->replace(make(i), now);
}

}  // namespace palpate
