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
  /// Of each pair of features of two primitives, by FeatureSearch's numbers, how far both bodies will have come
  /// together when they can touch at the earliest [m].
  struct Features {
    static constexpr int kMost = 15;
    std::int32_t a, b;  ///< the primitives
    std::int32_t next;  ///< with the same a, while a list is made; −1: the last
    std::array<double, kMost> touch_at;
  };
  /// Two primitives that are near. What is known of their features has a place of its own once they were looked at.
  struct Near {
    std::int32_t a, b;
    double touch_at;  ///< the least of their features'
    std::int32_t features = -1;
  };

  void reserve(std::size_t most_vertices, std::size_t most_primitives);
  bool is_of(std::array<std::int32_t, 2> bodies) const noexcept { return bodies_ == bodies; }
  /// Forgets all, and is of these bodies from now on.
  void begin(std::array<std::int32_t, 2> bodies, const FinderBody& a, const FinderBody& b);

  /// Both bodies as they are now, after FinderBody::update(): makes the list anew if they have come too far. False:
  /// they move so fast that it would not be used again, or it has no room for all; then it is of no use now.
  struct Look {
    double alarm_distance, place_distance;  ///< as in PairContacts [m]
    bool first;                             ///< others of the same step will follow
  };
  bool refresh(FinderBody& a, FinderBody& b, const Look& look);
  std::vector<Near>& near() noexcept { return near_; }
  /// Null if there is no room for it.
  Features* features_of(Near& near) noexcept;

  /// How far both have come together [m], and how far at most they will have at the end of the step.
  double travel() const noexcept { return travel_; }
  double travel_then() const noexcept { return travel_then_; }

  /// Of each vertex of a in b (0) and of b in a (1): how far both may come until it must be looked at whether the
  /// vertex is inside [m]. Empty: not known.
  std::array<std::vector<double>, 2> outside_until;

 private:
  static constexpr std::size_t kMostPairs = 16384;
  static constexpr std::size_t kMostVisited = 4096;
  static constexpr std::size_t kMostVertices = 65536;
  void forget(const FinderBody& a, const FinderBody& b);
  void add_strays(const FinderBody& a, const FinderBody& b);
  bool make_list(FinderBody& a, FinderBody& b, const Look& look, double margin);
  std::int32_t keep_features(std::int32_t a, std::int32_t b) noexcept;

  std::array<std::int32_t, 2> bodies_ = {-1, -1};
  std::array<std::uint64_t, 2> jumps_{}, choices_{};  ///< of the bodies when this was begun, and then
  std::vector<Near> near_;
  std::vector<Features> features_, kept_;
  std::vector<std::int32_t> first_of_;  ///< of features_ by their a, while a list is made; else −1
  double near_until_ = -std::numeric_limits<double>::infinity();  ///< as far as the list is complete [m]
  double travel_ = 0.0, travel_then_ = 0.0, stray_ = 0.0;
  double pace_ = 0.0;  ///< what they come together from one refresh to the next, lately [m]
};

}  // namespace palpate
