#pragma once

#include <cstdint>

#include "palpate/core/math.h"

namespace palpate {

class SafetyStage;

/// A wrench that has passed the safety stage: the only kind a Device accepts, and only SafetyStage makes one.
class SafeWrench {
 public:
  const Vec3& force() const noexcept { return wrench_.force; }    ///< [N]
  const Vec3& torque() const noexcept { return wrench_.torque; }  ///< [N·m]
  const Wrench& wrench() const noexcept { return wrench_; }

 private:
  friend class SafetyStage;
  explicit SafeWrench(const Wrench& w) noexcept : wrench_(w) {}
  Wrench wrench_;
};

}  // namespace palpate
