#pragma once

#include "candidates.h"

namespace palpate {

/// Looks at all pairs of near features of two bodies, or of one with itself.
///
/// Proximity: a vertex against a face and an edge against an edge make a candidate where the distance between the two
/// surfaces has a local minimum (the nearest point of an edge or a corner counts only if no triangle around it is
/// nearer), at most the alarm distance away now or after the free motion. On a closed surface, vertices inside were
/// found before and go out by the shortest way. All others in reach of their motion are followed continuously.
///
/// "p" is the first of two features, "q" the second; normals run from q to p.
class FeatureSearch {
 public:
  explicit FeatureSearch(PairContacts& pair) noexcept
      : pair_(pair), a_(*pair.a), b_(*pair.b), self_(pair.a == pair.b) {}
  void run();

 private:
  /// Which body p and q belong to; `swapped` if p's is b.
  struct Side {
    FinderBody& p;
    FinderBody& q;
    bool swapped;
  };
  /// Nearest points of two features.
  struct Meeting {
    Vec3 p = Vec3::Zero(), q = Vec3::Zero();  ///< on the centre lines or faces, now [m]
    Vec3 motion = Vec3::Zero();               ///< of p against q in the step [m]
    Vec3 normal = Vec3::Zero();
    FootRef foot_p, foot_q;
    FeatureRef feature_p, feature_q;
  };

  void find_inside(const Side& side, std::vector<std::uint8_t>& inside);
  /// What a pair of primitives may own together: each one's three vertices on the other's face, and its edges across
  /// the other's, by number.
  struct FeaturePair {
    enum class Kind : std::uint8_t { kNone, kOursOnFace, kTheirsOnFace, kEdges } kind = Kind::kNone;
    std::int32_t p = -1, q = -1;
  };
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  FeaturePair feature_pair(std::int32_t i, std::int32_t j, int number) const noexcept;
  /// Looks at the features that two primitives own.
  void visit(std::int32_t i, std::int32_t j);
  /// The same, but for those that cannot meet before both bodies have come `until` together [m].
  void visit_remembered(PairMemory::Near& near, double until);
  void visit_remembered();
  bool visit_lone(std::int32_t i, std::int32_t j);
  /// Makes candidates of two features if they meet. Returns how far their surfaces are apart now, at least [m], or
  /// kUnknown where that was not measured.
  double meet(const FeaturePair& features);
  /// How far apart they are [m].
  double compute_distance(const FeaturePair& features) const noexcept;

  // vertex_face.cpp
  double meet_vertex_face(const Side& side, std::int32_t vertex, std::int32_t triangle);
  bool orient_vertex_face(const Side& side, std::int32_t vertex, std::int32_t triangle, const Vec3& weights,
                          Meeting& m) const noexcept;
  void hit_vertex_face(const Side& side, std::int32_t vertex, std::int32_t triangle, double distance);
  void meet_point_wire(const Side& side, std::int32_t edge);
  void meet_points();

  // edge_edge.cpp
  double meet_edges(std::int32_t i, std::int32_t j);
  bool orient_edges(std::int32_t i, std::int32_t j, Meeting& m) const noexcept;
  Vec3 find_touching_normal(std::int32_t i, std::int32_t j, const Vec3& away, const Vec3& out) const noexcept;
  void hit_edges(std::int32_t i, std::int32_t j, double distance);
  /// settle_normal() on both sides, at `time` of the step, when the edges' points are at q and p.
  void settle_edges(Meeting& m, const Vec3& q, const Vec3& p, double time) const noexcept;

  /// Looking back for what is new: whether the way that features at `distance` [m] from each other have come in the
  /// step can have brought them together.
  bool may_have_met(const Meeting& m, double distance) const noexcept;
  /// Adds a candidate and returns true if the gap is within the alarm distance now or after the free motion.
  bool add(const Side& side, const Meeting& m);
  /// A hit found ahead of time: it counts whatever the gap is now.
  void add_candidate(const Side& side, const Meeting& m, double gap);

  PairContacts& pair_;
  FinderBody& a_;
  FinderBody& b_;
  bool self_;
};

/// The feature of a triangle, and the vertices it has, that weights with exact zeros lie on.
FeatureRef triangle_feature(const FinderBody& body, std::int32_t triangle, const Vec3& weights) noexcept;

/// The same for a point that touches: what is within kTouching of an edge or a corner is on it.
FeatureRef touching_feature(const FinderBody& body, std::int32_t triangle, const Vec3& weights) noexcept;
/// Unit mean normal of the faces around a vertex or an edge, if they look to one side all together; otherwise, and for
/// a face, zero.
Vec3 compute_common_normal(const FinderBody& body, FeatureRef feature) noexcept;

/// False if, at `time` of the step, a point of the surface around vertex or edge `feature`, at `x`, is nearer to x +
/// away than x is: then the nearest point is elsewhere. `slack`: the sine of the slope that does not count yet. Faces
/// and wires always pass.
bool is_local_minimum(const FinderBody& body, FeatureRef feature, const Vec3& x, const Vec3& away, double slack,
                      double time = 0.0) noexcept;

/// For vertices on faces: beyond rounding, what is nearer than an edge or a corner is a face next to it, which makes a
/// contact of its own with the right normal.
inline constexpr double kStrict = 1e-9;
/// For edges across edges, a bend of about 2°: there many within a flat part are equally near, and which of them are a
/// hair nearer changes from step to step.
inline constexpr double kFlatSlack = 0.04;

/// The unit vector nearest to `normal` that the surface may push along at vertex or edge `feature`, at `x`: no
/// neighbour rises above the plane through x across it. At an edge within a flat part that is the flat part's normal.
/// kFlatSlack lets pass what is up to 2° off; without this, an edge that slides over a flat mesh would be held up by
/// each of the mesh's edges in turn.
Vec3 settle_normal(const FinderBody& body, FeatureRef feature, const Vec3& x, const Vec3& normal,
                   double time = 0.0) noexcept;

}  // namespace palpate
