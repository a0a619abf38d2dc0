#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "palpate/core/math.h"

namespace palpate {

/// What a contact model looks like, for people: triangles that stand for its constraints, in sets where it has sets,
/// and bodies that it has by a few states. Plain data of fixed size; a slow half fills it while somebody watches.
struct ModelView {
  static constexpr std::size_t kMaxFaces = 512;
  static constexpr std::size_t kMaxBodies = 32;

  struct Face {
    float corner[3][3];  ///< counter-clockwise seen from free space [m]
    float normal[3];     ///< unit, into free space
    std::int32_t set;    ///< faces of one number belong together
  };

  /// A body that the fast loop has by a few states.
  struct ReducedBody {
    std::int32_t body;         ///< of the world
    std::int32_t states;       ///< used …
    std::int32_t most_states;  ///< … of so many
    float left_out;            ///< share of its answer that they do not hold, in [0, 1]
  };

  std::uint64_t count = 0;
  std::array<Face, kMaxFaces> face;
  std::uint64_t body_count = 0;
  std::array<ReducedBody, kMaxBodies> body;

  void clear() noexcept { count = body_count = 0; }
  bool is_full() const noexcept { return count == kMaxFaces; }
  /// Does nothing if there are too many already.
  void add(const ReducedBody& reduced) noexcept {
    if (body_count < kMaxBodies) body[body_count++] = reduced;
  }
  /// Adds a face, places in the world frame [m]; does nothing if it is full.
  void add(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& normal, int set) noexcept {
    if (is_full()) return;
    Face& f = face[count++];
    for (int i = 0; i < 3; ++i) {
      f.corner[0][i] = static_cast<float>(a[i]);
      f.corner[1][i] = static_cast<float>(b[i]);
      f.corner[2][i] = static_cast<float>(c[i]);
      f.normal[i] = static_cast<float>(normal[i]);
    }
    f.set = set;
  }
};

}  // namespace palpate
