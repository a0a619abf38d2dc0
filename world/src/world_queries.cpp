#include "palpate/world/world.h"

#include <cmath>

namespace palpate {

bool World::find_first_hit(const Vec3& a, const Vec3& b, WorldHit& out) const noexcept {
  bool found = false;
  for (std::size_t i = 0; i < statics_.size(); ++i) {
    SegmentHit hit;
    if (statics_[i].surface.find_first_hit(a, b, hit) && (!found || hit.t < out.hit.t)) {
      out.hit = hit;
      out.body = static_cast<std::int32_t>(i);
      found = true;
    }
  }
  return found;
}

bool World::find_closest(const Vec3& p, double max_distance, WorldClosest& out) const noexcept {
  bool found = false;
  for (std::size_t i = 0; i < statics_.size(); ++i) {
    ClosestPoint closest;
    if (statics_[i].surface.find_closest(p, found ? out.closest.distance : max_distance, closest)) {
      out.closest = closest;
      out.body = static_cast<std::int32_t>(i);
      found = true;
    }
  }
  if (!found) return false;
  out.normal = statics_[as_size(out.body)].surface.pseudo_normal(out.closest);
  out.signed_distance = std::copysign(out.closest.distance, (p - out.closest.point).dot(out.normal));
  return true;
}

}  // namespace palpate
