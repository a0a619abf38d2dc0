#pragma once

#include "palpate/constraints/point_on_planes.h"
#include "point_world.h"

namespace palpate::halfspace {

/// The nearest contact. The feedback is PointFeedback.
struct Model {
  MessageHeader header;
  ContactPlane plane;
  std::int32_t planes = 0;  ///< 0: nothing near
  std::int32_t moving = 0;  ///< 1: the plane's body answers with …
  Mat3 C;                   ///< … h A(dt)⁻¹ at the contact [m/N]
};

}  // namespace palpate::halfspace
