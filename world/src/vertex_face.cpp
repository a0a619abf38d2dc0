#include <cmath>

#include "feature_search.h"
#include "palpate/geometry/closest_features.h"
#include "palpate/geometry/impact.h"

// Vertices against faces, and lone points against wires and each other.
namespace palpate {
namespace {

/// Whether a vertex of a surface looks against `normal`, the way out of the other body: if not, the other is nearer to
/// a neighbour, or only beside it. A round or soft surface passes up to 60°, so that all vertices of a contact area do;
/// a sharp corner where no neighbour is nearer.
bool looks_against(const FinderBody& body, std::int32_t vertex, const Vec3& normal) noexcept {
  if (!body.has_faces()) return true;
  const double along = body.vertex_normal(vertex).dot(normal);
  if (along < -0.5 || (body.two_sided && along > 0.5)) return true;
  return is_local_minimum(body, {FeatureKind::kVertex, vertex}, body.now[as_size(vertex)], -normal, kFlatSlack);
}

Vec3 blend(const std::vector<Vec3>& x, const std::array<std::int32_t, 3>& corner, const Vec3& w) noexcept {
  return w[0] * x[as_size(corner[0])] + w[1] * x[as_size(corner[1])] + w[2] * x[as_size(corner[2])];
}

MovingVertex moving(const FinderBody& body, std::int32_t v) noexcept {
  const auto i = as_size(v);
  return {body.now[i], body.next[i] - body.now[i]};
}

}  // namespace

double FeatureSearch::meet_vertex_face(const Side& side, std::int32_t vertex, std::int32_t triangle) {
  const auto v = as_size(vertex);
  const auto& corner = side.q.features.triangle(triangle).vertex;
  if (self_ && (corner[0] == vertex || corner[1] == vertex || corner[2] == vertex)) return kUnknown;
  const bool inside = (side.swapped && !self_ ? pair_.b_inside : pair_.a_inside)[v] != 0;
  if (inside) return kUnknown;
  const std::array<MovingVertex, 3> face = {moving(side.q, corner[0]), moving(side.q, corner[1]),
                                            moving(side.q, corner[2])};
  const double radii = side.p.radius + side.q.radius;
  // Looking back, only overlap counts: vertices inside a closed surface were found before, others are outside.
  if (pair_.backwards && radii == 0.0 && !self_ && side.q.is_closed()) return kUnknown;
  const double apart = find_apart(moving(side.p, vertex), face, radii + pair_.alarm_distance);
  if (apart > 0.0) return apart - radii;
  Meeting m;
  m.p = side.p.now[v];
  const Vec3 w = closest_on_triangle(m.p, side.q.now[as_size(corner[0])], side.q.now[as_size(corner[1])],
                                     side.q.now[as_size(corner[2])]);
  m.q = blend(side.q.now, corner, w);
  m.motion = side.p.next[v] - m.p - (blend(side.q.next, corner, w) - m.q);
  m.feature_p = {FeatureKind::kVertex, vertex};
  m.feature_q = triangle_feature(side.q, triangle, w);
  const double distance = (m.p - m.q).norm();
  const bool near = distance - radii <= pair_.alarm_distance + m.motion.norm() && may_have_met(m, distance);
  if (near && orient_vertex_face(side, vertex, triangle, w, m)) {
    m.foot_p = side.p.vertex_foot(vertex);
    m.foot_q = {triangle, w};
    if (add(side, m)) return distance - radii;
  }
  if (!pair_.backwards) hit_vertex_face(side, vertex, triangle, distance);
  return distance - radii;
}

/// The normal at a near pair; false if it is none: not a local minimum, seen from behind, or through the material.
bool FeatureSearch::orient_vertex_face(const Side& side, std::int32_t vertex, std::int32_t triangle, const Vec3& w,
                                       Meeting& m) const noexcept {
  const Vec3 away = m.p - m.q;
  const double distance = away.norm();
  const bool touches = distance <= kTouching;
  // On an edge or a corner itself all faces around bear: as one, whichever of them rounding has found, or, where they
  // look to different sides, each for itself.
  Vec3 common = Vec3::Zero();
  if (touches) {
    m.feature_q = touching_feature(side.q, triangle, w);
    if (!side.q.two_sided) common = compute_common_normal(side.q, m.feature_q);
    if (common.isZero(0.0)) m.feature_q = {FeatureKind::kFace, triangle};
  }
  const bool as_one = !common.isZero(0.0);
  if (!as_one && !is_local_minimum(side.q, m.feature_q, m.q, away, kStrict)) return false;
  const Vec3& face = side.q.face_normal(triangle);
  const double height = away.dot(face);
  // Right above or below its border counts as on the face: meshes of equal make meet like that.
  constexpr double kUpright = 1e-6;
  const bool on_face =
      as_one || m.feature_q.kind == FeatureKind::kFace || (away - height * face).norm() <= kUpright * distance;
  m.normal = as_one ? common : on_face ? face : Vec3(away / distance);
  bool behind = height < 0.0 && !touches;
  if (side.q.two_sided) {
    if (on_face && behind) m.normal = -face;
    if (!(distance > 0.0) && m.motion.dot(face) > 0.0) m.normal = -face;
    behind = false;
  } else if (!on_face) {
    // Outside a closed surface an edge or corner may be nearest from behind one of its faces; inside was found before.
    behind = behind && (self_ || !side.q.is_closed());
  }
  if (!looks_against(side.p, vertex, m.normal)) return false;
  if (self_) {
    const double limit = behind ? 2.0 * pair_.alarm_distance : 2.0 * distance;
    const Vec3 rest = side.p.rest[as_size(vertex)] - blend(side.q.rest, side.q.features.triangle(triangle).vertex, w);
    if (!(rest.norm() > limit)) return false;
  }
  if (!behind) return true;
  // Behind a face of an open surface, or of the body itself: a shallow penetration, or none at all.
  if (!on_face || distance > pair_.alarm_distance || (!self_ && side.q.is_closed())) return false;
  return !self_ || side.p.vertex_normal(vertex).dot(face) < -0.5;
}

void FeatureSearch::hit_vertex_face(const Side& side, std::int32_t vertex, std::int32_t triangle, double distance) {
  const auto& corner = side.q.features.triangle(triangle).vertex;
  const std::array<MovingVertex, 3> face = {moving(side.q, corner[0]), moving(side.q, corner[1]),
                                            moving(side.q, corner[2])};
  const MovingVertex point = moving(side.p, vertex);
  Impact impact;
  const ImpactSettings settings{side.p.radius + side.q.radius, 0.1 * pair_.alarm_distance};
  if (is_out_of_reach(point, face, settings, distance)) return;
  if (!find_impact(point, face, settings, impact) || impact.time == 0.0) return;
  const Vec3& w = impact.weights_b;
  Meeting m;
  m.normal = impact.normal;
  // From inside out, or with the back: not what a closed body can do.
  const Vec3& front = side.q.face_normal(triangle);
  if (!side.q.two_sided && m.normal.dot(front) < 0.0) return;
  if (!looks_against(side.p, vertex, m.normal)) return;
  m.p = point.start;
  m.q = blend(side.q.now, corner, w);
  m.motion = point.motion - (blend(side.q.next, corner, w) - m.q);
  if (!(m.motion.dot(m.normal) < 0.0)) return;
  m.foot_p = side.p.vertex_foot(vertex);
  m.foot_q = {triangle, w};
  m.feature_p = {FeatureKind::kVertex, vertex};
  m.feature_q = triangle_feature(side.q, triangle, w);
  // What slides along a surface passes from face to face without meeting their edges.
  const Vec3 q_then = m.q + impact.time * (point.motion - m.motion);
  if (!is_local_minimum(side.q, m.feature_q, q_then, m.normal, kStrict, impact.time)) return;
  add_candidate(side, m, (m.p - m.q).dot(m.normal) - settings.thickness);
}

void FeatureSearch::meet_point_wire(const Side& side, std::int32_t edge) {
  const SurfaceFeatures::Edge& e = side.q.features.edges()[as_size(edge)];
  const MovingVertex p = moving(side.p, 0), q0 = moving(side.q, e.vertex[0]), q1 = moving(side.q, e.vertex[1]);
  double s = closest_on_segment(p.start, q0.start, q1.start);
  const auto meet = [&](const Vec3& normal) {
    Meeting m;
    m.p = p.start;
    m.q = q0.start + s * (q1.start - q0.start);
    m.motion = p.motion - (q0.motion + s * (q1.motion - q0.motion));
    m.normal = normal;
    m.foot_p = side.p.vertex_foot(0);
    m.foot_q = side.q.edge_foot(edge, s);
    m.feature_p = {FeatureKind::kVertex, 0};
    m.feature_q = {FeatureKind::kEdge, edge};
    if (s == 0.0 || s == 1.0) m.feature_q = {FeatureKind::kVertex, e.vertex[s == 0.0 ? 0 : 1]};
    return m;
  };
  const Vec3 away = p.start - (q0.start + s * (q1.start - q0.start));
  if (away.norm() > 0.0 && add(side, meet(away.normalized()))) return;
  if (pair_.backwards) return;
  Impact impact;
  const ImpactSettings settings{side.p.radius + side.q.radius, 0.1 * pair_.alarm_distance};
  if (!find_impact({p, p}, {q0, q1}, settings, impact) || impact.time == 0.0) return;
  s = impact.weights_b[1];
  const Meeting m = meet(impact.normal);
  add_candidate(side, m, (m.p - m.q).dot(m.normal) - settings.thickness);
}

void FeatureSearch::meet_points() {
  const MovingVertex p = moving(a_, 0), q = moving(b_, 0);
  const Side side{a_, b_, false};
  Meeting m;
  m.p = p.start;
  m.q = q.start;
  m.motion = p.motion - q.motion;
  m.foot_p = a_.vertex_foot(0);
  m.foot_q = b_.vertex_foot(0);
  const Vec3 away = m.p - m.q;
  // Centre in centre: any way out is as good.
  m.normal = away.norm() > 0.0 ? Vec3(away.normalized()) : Vec3::UnitY();
  Impact impact;
  const ImpactSettings settings{a_.radius + b_.radius, 0.1 * pair_.alarm_distance};
  if (away.norm() - settings.thickness <= pair_.alarm_distance) {
    add(side, m);
  } else if (!pair_.backwards && find_impact({p, p}, {q, q}, settings, impact)) {
    m.normal = impact.normal;
    add_candidate(side, m, (m.p - m.q).dot(m.normal) - settings.thickness);
  }
}

}  // namespace palpate
