#pragma once

#include "pair_memory.h"

namespace palpate {

/// Which feature of a body a contact belongs to.
enum class FeatureKind : std::uint8_t { kVertex, kEdge, kFace, kBody };
struct FeatureRef {
  FeatureKind kind = FeatureKind::kBody;
  std::int32_t index = 0;
};

/// A contact of a pair of bodies before reduction.
struct Candidate {
  FootRef foot_a, foot_b;
  Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();  ///< on the bodies' surfaces, radius included, now [m]
  Vec3 normal = Vec3::UnitY();                          ///< unit, from b to a
  double gap = 0.0;                                     ///< (point_a − point_b)·normal [m]
  double then = 0.0;                                    ///< the gap after the motion, along the same normal [m]
  double lowest = 0.0;                                  ///< the lesser of the two: what counts [m]
  std::uint64_t feature = 0;                            ///< unique within the pair
  bool bears = false;                                   ///< it bore force before
};

/// Faces, and candidates, whose normals differ by more than this do not stand for each other: the cosine of 37°.
inline constexpr double kSameSide = 0.8;

/// Nearer than this, the way from one feature to another says nothing about its direction any more [m]: solvers leave
/// as much.
inline constexpr double kTouching = 1e-7;

/// Features that overlap by less than this at the end of a step are not worth a second look [m].
inline constexpr double kMissedDepth = 1e-6;

/// Two bodies, and what is found between them. a comes before b in the finder.
struct PairContacts {
  FinderBody* a = nullptr;
  FinderBody* b = nullptr;
  double alarm_distance = 0.0;
  double place_distance = 0.0;  ///< ContactFinderSettings::size_of_place() [m]
  /// FinderBody::turn_back() was called for both: only what overlaps by more than kMissedDepth at the end of the step
  /// is found, as it is there.
  bool backwards = false;
  bool only_new = false;         ///< ContactFinderSettings::only_new_overlaps
  PairMemory* memory = nullptr;  ///< of the two, if there is one
  std::vector<Candidate> candidates;
  std::vector<std::uint8_t> a_inside, b_inside;  ///< vertices of one that lie inside the other
};

std::uint64_t make_feature(FeatureRef a, FeatureRef b) noexcept;
/// The same in every run, for every machine (splitmix64, Steele, Lea & Flood 2014).
std::uint64_t mix_bits(std::uint64_t x) noexcept;

void find_plane_contacts(PairContacts& pair);    ///< b or a is a plane
void find_convex_contacts(PairContacts& pair);   ///< both are boxes or hulls
void find_feature_contacts(PairContacts& pair);  ///< any others; a may be b: it touches itself

struct ReductionScratch {
  std::vector<int> order, kept;
  std::vector<std::pair<double, std::uint64_t>> places;  ///< of each candidate in the order: its height, and a hash
  std::vector<Candidate> chosen;
  std::vector<std::uint64_t> features;
};
/// Where something has gone into a thin body there are two ways out, and constraints for both would tear it apart: of
/// two overlaps at one place with opposite normals the shallower stays. Not for a body that touches itself: there the
/// same contact has either normal, depending on which side is called a.
void remove_contradictions(std::vector<Candidate>& candidates, ReductionScratch& scratch);
/// Leaves those that bear, and beside them as many as make at most `max_count`: the lowest, the outermost, and from low
/// to high those that have none chosen before within a radius on the same side. The radius is the least, from a quarter
/// of `spacing` [m] on, that leaves so few; so each candidate left out has a lower or outer one within it. Where one
/// point meets several faces that are equally near, the one that stays has their mean normal.
void reduce_candidates(std::vector<Candidate>& candidates, double spacing, int max_count, ReductionScratch& scratch);

/// The contact of a candidate, with feet and points as Body::compute_point gives them.
Contact make_contact(const PairContacts& pair, const Candidate& candidate) noexcept;

}  // namespace palpate
