#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "finder_body.h"

namespace palpate {

/// What is known of two bodies from earlier looks: which of their primitives are near each other, and for how long the
/// others need not be looked at.
///
/// Bodies count how far any vertex of theirs has come (FinderBody::travel). Two features that were d apart when both
/// had come T together are at least d − (T' − T) apart when they have come T': until that is within reach nobody needs
/// to measure them. What is found with a memory is what is found without it. From tick to tick hardly anything moves,
/// and most of a surface near a tool is near without touching, so most of a search is saved there; in a slow step
/// things move too far to remember anything.
///
/// Thread: the finder's. After reserve() nothing allocates; what has no room is not remembered.
class PairMemory {
 public:
  /// Two primitives that are near, and how far both bodies may come together until they must be looked at [m].
  struct Near {
    std::int32_t a, b;
    double clear_until;
  };

  void reserve(std::size_t most_vertices);
  bool is_of(std::array<std::int32_t, 2> bodies) const noexcept { return bodies_ == bodies; }
  /// Forgets all, and is of these bodies from now on.
  void begin(std::array<std::int32_t, 2> bodies, const FinderBody& a, const FinderBody& b);

  /// Both bodies as they are now, after FinderBody::update(): makes the list anew if they have come too far. False:
  /// they move so fast that it would not be used again, or it has no room for all; then it is of no use now.
  bool refresh(FinderBody& a, FinderBody& b, double alarm_distance);
  std::vector<Near>& near() noexcept { return near_; }

  /// How far both have come together [m], and how far at most they will have at the end of the step.
  double travel() const noexcept { return travel_; }
  double travel_then() const noexcept { return travel_then_; }

  /// Of each vertex of a in b (0) and of b in a (1): how far both may come until it must be looked at whether the
  /// vertex is inside [m]. Empty: not known.
  std::array<std::vector<double>, 2> outside_until;

 private:
  static constexpr std::size_t kMostPairs = 16384;
  static constexpr std::size_t kMostVertices = 65536;
  void forget(const FinderBody& a, const FinderBody& b);

  std::array<std::int32_t, 2> bodies_ = {-1, -1};
  std::array<std::uint64_t, 2> jumps_{};  ///< of the bodies when this was begun
  std::vector<Near> near_;
  double near_until_ = -std::numeric_limits<double>::infinity();  ///< as far as the list is complete [m]
  double travel_ = 0.0, travel_then_ = 0.0;
  double pace_ = 0.0;  ///< what they come together from one refresh to the next, lately [m]
};

}  // namespace palpate
