#include <cmath>

#include "feature_search.h"
#include "palpate/geometry/closest_features.h"
#include "palpate/geometry/impact.h"

// Edges against edges; a beam of a chain is an edge without triangles.
namespace palpate {
namespace {

struct EdgeMotion {
  std::array<MovingVertex, 2> end;
  Vec3 now(double s) const noexcept { return end[0].start + s * (end[1].start - end[0].start); }
  Vec3 motion(double s) const noexcept { return end[0].motion + s * (end[1].motion - end[0].motion); }
};

EdgeMotion edge_motion(const FinderBody& body, std::int32_t e) noexcept {
  const SurfaceFeatures::Edge& edge = body.features.edges()[as_size(e)];
  EdgeMotion out;
  for (std::size_t k = 0; k < 2; ++k) {
    const auto v = as_size(edge.vertex[k]);
    out.end[k] = {body.now[v], body.next[v] - body.now[v]};
  }
  return out;
}

/// Sum of the outward normals of its faces; zero for a wire and for a sheet, which has no outside.
Vec3 outward(const FinderBody& body, std::int32_t e) noexcept {
  Vec3 n = Vec3::Zero();
  if (!body.has_faces() || body.two_sided) return n;
  for (const std::int32_t t : body.features.edges()[as_size(e)].triangle) {
    if (t >= 0) n += body.face_normal(t);
  }
  return n;
}

FeatureRef edge_feature(const FinderBody& body, std::int32_t e, double s) noexcept {
  if (s > 0.0 && s < 1.0) return {FeatureKind::kEdge, e};
  return {FeatureKind::kVertex, body.features.edges()[as_size(e)].vertex[s > 0.0 ? 1 : 0]};
}

/// Edges within flat parts meet nothing that a vertex would not; one of two must be an edge for others to see.
bool edges_matter(const FinderBody& a, std::int32_t i, const FinderBody& b, std::int32_t j) noexcept {
  const EdgeShape s = a.has_faces() ? a.edge_shape(i) : EdgeShape::kConvex;
  const EdgeShape t = b.has_faces() ? b.edge_shape(j) : EdgeShape::kConvex;
  return s != EdgeShape::kConcave && t != EdgeShape::kConcave && (s == EdgeShape::kConvex || t == EdgeShape::kConvex);
}

}  // namespace

double FeatureSearch::meet_edges(std::int32_t i, std::int32_t j) {
  if (!edges_matter(a_, i, b_, j)) return kUnknown;
  if (self_) {
    for (const std::int32_t v : a_.features.edges()[as_size(i)].vertex) {
      const auto& other = b_.features.edges()[as_size(j)].vertex;
      if (v == other[0] || v == other[1]) return kUnknown;
    }
  }
  const EdgeMotion p = edge_motion(a_, i), q = edge_motion(b_, j);
  const double radii = a_.radius + b_.radius;
  const double apart = find_apart(p.end, q.end, radii + pair_.alarm_distance);
  if (apart > 0.0) return apart - radii;
  const SegmentPair c = closest_of_segments(p.end[0].start, p.end[1].start, q.end[0].start, q.end[1].start);
  Meeting m;
  m.feature_p = edge_feature(a_, i, c.s);
  m.feature_q = edge_feature(b_, j, c.t);
  m.p = p.now(c.s);
  m.q = q.now(c.t);
  m.motion = p.motion(c.s) - q.motion(c.t);
  const double distance = (m.p - m.q).norm();
  // A vertex of one that is nearest to a surface meets its triangles, not their edges.
  const bool ours = (m.feature_p.kind == FeatureKind::kEdge || !b_.has_faces()) &&
                    (m.feature_q.kind == FeatureKind::kEdge || !a_.has_faces());
  const double reach = pair_.alarm_distance + m.motion.norm() + radii;
  if (ours && distance <= reach && may_have_met(m, distance) && orient_edges(i, j, m)) {
    m.foot_p = a_.edge_foot(i, c.s);
    m.foot_q = b_.edge_foot(j, c.t);
    if (add({a_, b_, false}, m)) return distance - radii;
  }
  if (!pair_.backwards) hit_edges(i, j, distance);
  return distance - radii;
}

/// Across both edges: that is where the way from one to the other points, and it does not fade when they touch.
Vec3 FeatureSearch::find_touching_normal(std::int32_t i, std::int32_t j, const Vec3& away,
                                         const Vec3& out) const noexcept {
  const auto direction = [](const FinderBody& body, std::int32_t e) {
    const auto& v = body.features.edges()[as_size(e)].vertex;
    return Vec3((body.now[as_size(v[1])] - body.now[as_size(v[0])]).normalized());
  };
  const Vec3 across = direction(a_, i).cross(direction(b_, j));
  constexpr double kParallel = 1e-3;
  if (across.norm() > kParallel) return across.dot(away) < 0.0 ? Vec3(-across.normalized()) : across.normalized();
  return out.isZero(0.0) ? Vec3(away.normalized()) : out.normalized();
}

bool FeatureSearch::orient_edges(std::int32_t i, std::int32_t j, Meeting& m) const noexcept {
  const Vec3 away = m.p - m.q;
  const double distance = away.norm();
  const Vec3 out = outward(b_, j) - outward(a_, i);  // the way that parts two bodies that have an outside
  m.normal = distance > kTouching ? Vec3(away / distance) : find_touching_normal(i, j, away, out);
  if (!m.normal.allFinite() || m.normal.squaredNorm() < 0.5) return false;
  if (out.dot(m.normal) < 0.0) {
    if (distance > pair_.alarm_distance) return false;
    m.normal = -m.normal;
  }
  if (self_) {
    const auto rest_at = [](const FinderBody& body, std::int32_t e) {
      const auto& v = body.features.edges()[as_size(e)].vertex;
      return Vec3(0.5 * (body.rest[as_size(v[0])] + body.rest[as_size(v[1])]));
    };
    const double penetrates = (m.p - m.q).dot(m.normal) < 0.0 ? pair_.alarm_distance : 0.0;
    if (!((rest_at(a_, i) - rest_at(b_, j)).norm() > 2.0 * std::max(distance, penetrates))) return false;
  }
  if (!is_local_minimum(b_, m.feature_q, m.q, m.normal, kFlatSlack) ||
      !is_local_minimum(a_, m.feature_p, m.p, -m.normal, kFlatSlack)) {
    return false;
  }
  settle_edges(m, m.q, m.p, 0.0);
  return true;
}

void FeatureSearch::settle_edges(Meeting& m, const Vec3& q, const Vec3& p, double time) const noexcept {
  m.normal = settle_normal(b_, m.feature_q, q, m.normal, time);
  m.normal = -settle_normal(a_, m.feature_p, p, -m.normal, time);
}

void FeatureSearch::hit_edges(std::int32_t i, std::int32_t j, double distance) {
  const EdgeMotion p = edge_motion(a_, i), q = edge_motion(b_, j);
  Impact impact;
  const ImpactSettings settings{a_.radius + b_.radius, 0.1 * pair_.alarm_distance};
  if (is_out_of_reach(p.end, q.end, settings, distance)) return;
  if (!find_impact(p.end, q.end, settings, impact) || impact.time == 0.0) return;
  const double s = impact.weights_a[1], t = impact.weights_b[1];
  Meeting m;
  m.normal = impact.normal;
  if (outward(b_, j).dot(m.normal) < 0.0 || outward(a_, i).dot(m.normal) > 0.0) return;
  m.feature_p = edge_feature(a_, i, s);
  m.feature_q = edge_feature(b_, j, t);
  m.p = p.now(s);
  m.q = q.now(t);
  m.motion = p.motion(s) - q.motion(t);
  if (!(m.motion.dot(m.normal) < 0.0)) return;
  const Vec3 p_then = m.p + impact.time * p.motion(s), q_then = m.q + impact.time * q.motion(t);
  if (!is_local_minimum(b_, m.feature_q, q_then, m.normal, kFlatSlack, impact.time) ||
      !is_local_minimum(a_, m.feature_p, p_then, -m.normal, kFlatSlack, impact.time)) {
    return;
  }
  settle_edges(m, q_then, p_then, impact.time);
  m.foot_p = a_.edge_foot(i, s);
  m.foot_q = b_.edge_foot(j, t);
  add_candidate({a_, b_, false}, m, (m.p - m.q).dot(m.normal) - settings.thickness);
}

}  // namespace palpate
