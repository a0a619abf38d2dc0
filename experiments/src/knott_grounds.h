#pragma once

#include <cstdint>

#include "knott_scenes.h"

// What random hands are led through (knott-random-walk).
namespace palpate {

/// Reproducible on every machine (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform(double low, double high) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  }

 private:
  std::uint64_t state_;
};

/// Something that the hand goes through, alone in its world.
struct Ground {
  std::string name;
  BoundingBox box;
  Scene scene;
  WorldExtras extras{};
};

/// A shape that does not move; ten kinds take turns.
Ground make_static_ground(int number, Random& random);
/// Rigid bodies on joints that keep them where the hand is, and soft ones held from below: 0 to 6.
Ground make_moving_ground(int number, Random& random);

/// Through random points in and around the box, at up to 0.5 m/s; begins outside, on top.
SceneKeyframePath make_random_walk(const BoundingBox& box, double seconds, Random& random);

}  // namespace palpate
