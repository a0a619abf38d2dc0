#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "palpate/methods/method.h"
#include "palpate/runtime/latest_value.h"

namespace palpate {

/// A look at a world while it moves: the loop that moves it copies surfaces and contacts out, the viewer takes the
/// newest copy. Neither waits for the other.
class WorldWatch {
 public:
  /// Most contacts shown.
  static constexpr std::size_t kMaxContacts = 256;

  struct Contact {
    float point[3];   ///< [m]
    float normal[3];  ///< unit, towards the tool, or body a of two others
    float force[3];   ///< on that body, world frame [N]
  };

  explicit WorldWatch(const World& world);

  /// The method, its halves wrapped so that whichever moves the world copies it out afterwards.
  Method wrap(Method method);

  /// Viewer: true if there is a newer copy.
  bool refresh() noexcept { return copies_.refresh(); }
  /// Viewer: the newest copy, one x, y, z for each vertex of all surfaces in order. Valid until the next refresh().
  const float* positions() const noexcept;
  std::size_t vertex_count() const noexcept { return vertices_; }
  const Contact* contacts() const noexcept;
  std::size_t contact_count() const noexcept;

  /// What does not change, as one message: a JSON text (its length first, padded to four bytes), then positions as
  /// float and triangles as uint32 of every surface in order.
  std::string make_geometry() const;

  /// Copies the world out. Thread: the one that moves the world. No allocation.
  void copy_out() noexcept;

 private:
  struct Shown {
    int body = -1;  ///< of the world; −1 − i: static surface i
    std::size_t first = 0, vertices = 0;
  };
  const World& world_;
  std::vector<Shown> shown_;  ///< those that move first
  std::size_t vertices_ = 0;  ///< of those that move
  LatestBytes copies_;
};

}  // namespace palpate
