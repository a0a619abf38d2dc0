#include "palpate/world/point_slide.h"

#include <algorithm>
#include <cmath>

namespace palpate {
namespace {

constexpr int kMaxPasses = 6;

double skin_at(const Vec3& a, const Vec3& b) noexcept {
  return 1e-10 * (a.cwiseAbs().maxCoeff() + b.cwiseAbs().maxCoeff());
}

class Slide {
 public:
  Slide(const World& world, const Vec3& from, const Vec3& target) noexcept
      : world_(world), target_(target), skin_(skin_at(from, target)) {
    result_.position = from;
  }

  SlideResult run() noexcept {
    for (int pass = 0; pass < kMaxPasses && result_.iterations < kMaxSlideQueries; ++pass) {
      const Vec3 before = result_.position;
      run_pass();
      result_.residual = (result_.position - before).norm();
      if (result_.residual <= skin_) break;
    }
    return result_;
  }

 private:
  // From where the point is, towards the target, gathering planes until nothing more is in the way.
  void run_pass() noexcept {
    std::array<ContactPlane, kMaxPlanes> planes;
    std::size_t count = 0;
    Vec3 anchor = result_.position;
    Vec3 goal = target_;
    result_.contacts = 0;
    while (result_.iterations < kMaxSlideQueries) {
      ++result_.iterations;
      WorldHit hit;
      if (!world_.find_first_hit(result_.position, goal, hit)) {
        result_.position = goal;
        return;
      }
      planes[count] = stop_before(hit, goal);
      ++count;
      if (count == 1) anchor = result_.position;  // friction starts where the sliding does
      const PlaneContact contact = settle_on_planes(std::span(planes).first(count), anchor, target_);
      result_.contacts = contact.active;
      if (!contact.feasible || count == kMaxPlanes) return;
      goal = contact.position;
      if ((goal - result_.position).squaredNorm() <= skin_ * skin_) return;  // held where it is
    }
  }

  // Moves the point up to one skin before the surface and returns the surface's plane, raised by that skin.
  ContactPlane stop_before(const WorldHit& hit, const Vec3& goal) noexcept {
    const Vec3 way = goal - result_.position;
    const double along = hit.hit.normal.dot(way);
    ContactPlane plane;
    plane.normal = along > 0.0 ? Vec3(-hit.hit.normal) : hit.hit.normal;  // towards the side the point is on
    plane.offset = plane.normal.dot(result_.position + hit.hit.t * way) + skin_;
    plane.friction = world_.static_surfaces()[as_size(hit.body)].friction;
    const double approach = std::abs(along);
    if (approach > 0.0) result_.position += std::max(0.0, hit.hit.t - skin_ / approach) * way;
    return plane;
  }

  const World& world_;
  const Vec3 target_;
  const double skin_;
  SlideResult result_;
};

}  // namespace

SlideResult slide_point(const World& world, const Vec3& from, const Vec3& target) noexcept {
  return Slide(world, from, target).run();
}

Vec3 push_outside(const World& world, const Vec3& p, double max_distance) noexcept {
  WorldClosest nearest;
  if (!world.find_closest(p, max_distance, nearest) || nearest.signed_distance > 0.0) return p;
  return nearest.closest.point + skin_at(p, nearest.closest.point) * nearest.normal;
}

}  // namespace palpate
