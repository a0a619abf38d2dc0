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
  void visit(std::int32_t i, std::int32_t j);

  // vertex_face.cpp
  void meet_vertex_face(const Side& side, std::int32_t vertex, std::int32_t triangle);
  bool orient_vertex_face(const Side& side, std::int32_t vertex, std::int32_t triangle, const Vec3& weights,
                          Meeting& m) const noexcept;
  void hit_vertex_face(const Side& side, std::int32_t vertex, std::int32_t triangle);
  void meet_point_wire(const Side& side, std::int32_t edge);
  void meet_points();

  // edge_edge.cpp
  void meet_edges(std::int32_t i, std::int32_t j);
  bool orient_edges(std::int32_t i, std::int32_t j, Meeting& m) const noexcept;
  void hit_edges(std::int32_t i, std::int32_t j);

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

/// False if, at `time` of the step, a point of the surface around vertex or edge `feature`, at `x`, is nearer to x +
/// away than x is: then the nearest point is elsewhere. Faces and wires always pass.
bool is_local_minimum(const FinderBody& body, FeatureRef feature, const Vec3& x, const Vec3& away,
                      double time = 0.0) noexcept;

}  // namespace palpate
