#include "feature_search.h"

#include <cmath>

#include "palpate/geometry/closest_features.h"

namespace palpate {

void find_feature_contacts(PairContacts& pair) {
  FeatureSearch(pair).run();
}

void FeatureSearch::run() {
  if (!pair_.memory || !pair_.memory->refresh(a_, b_, {pair_.alarm_distance, pair_.place_distance, !pair_.backwards})) pair_.memory = nullptr;
  if (!pair_.memory) {
    for (FinderBody* body : {&a_, &b_}) body->refresh_tree(pair_.backwards ? 0.0 : pair_.alarm_distance);
  }
  if (self_) {
    pair_.a_inside.assign(a_.now.size(), 0);
    a_.tree.visit_own_pairs([this](std::int32_t i, std::int32_t j) { visit(i, j); });
    return;
  }
  find_inside({a_, b_, false}, pair_.a_inside);
  find_inside({b_, a_, true}, pair_.b_inside);
  if (pair_.memory) return visit_remembered();
  BoxTree::visit_pairs(a_.tree, b_.tree, [this](std::int32_t i, std::int32_t j) { visit(i, j); });
}

namespace {

constexpr double kRounding = 1e-9;  // of distances and ways [m]

}  // namespace

/// The pairs that BoxTree::visit_pairs() would visit, but for those that cannot make a candidate.
void FeatureSearch::visit_remembered() {
  // Looking back for new overlaps, features must have touched.
  const double reach = pair_.backwards && pair_.only_new ? 0.0 : pair_.alarm_distance;
  // Looking back, boxes have no alarm distance around them, but for those of a fixed body: they are kept.
  const auto around = [&](const FinderBody& body) {
    return pair_.backwards && !body.is_fixed() ? 0.0 : pair_.alarm_distance;
  };
  PairMemory& memory = *pair_.memory;
  const double travel_then = memory.travel_then() + reach;
  for (PairMemory::Near& near : memory.near()) {
    if (travel_then < near.touch_at) continue;
    const FinderBody::Sweep &p = a_.sweep(near.a, around(a_)), &q = b_.sweep(near.b, around(b_));
    const double until = memory.travel() + p.step + q.step + reach;
    if (until < near.touch_at) continue;
    const double gap = (p.box.lower - q.box.upper).cwiseMax(q.box.lower - p.box.upper).maxCoeff();
    if (gap > 0.0) {
      if (!pair_.backwards) near.touch_at = memory.travel() + gap + pair_.alarm_distance - kRounding;
    } else {
      visit_remembered(near, until);
    }
  }
}

void FeatureSearch::visit_remembered(PairMemory::Near& near, double until) {
  PairMemory::Features* known = pair_.memory->features_of(near);
  if (!known) return visit(near.a, near.b);
  if (visit_lone(near.a, near.b)) return;
  const double travel = pair_.memory->travel(), radii = a_.radius + b_.radius;
  near.touch_at = std::numeric_limits<double>::infinity();
  bool unknown = false, meets = false;
  for (int k = 0; k < PairMemory::Features::kMost; ++k) {
    double& touch_at = known->touch_at[as_size(k)];
    if (until >= touch_at) {
      const FeaturePair features = feature_pair(near.a, near.b, k);
      const double apart = features.kind == FeaturePair::Kind::kNone ? HUGE_VAL : meet(features);
      if (!std::isnan(apart)) touch_at = travel + apart - kRounding;
      unknown = unknown || std::isnan(apart);
      meets = meets || (touch_at <= until && !std::isnan(apart));
    }
    near.touch_at = std::min(near.touch_at, touch_at);
  }
  if (!unknown || meets || pair_.backwards) return;
  // Only features that were not measured bring the two back in every find.
  near.touch_at = std::numeric_limits<double>::infinity();
  for (int k = 0; k < PairMemory::Features::kMost; ++k) {
    double& touch_at = known->touch_at[as_size(k)];
    if (until >= touch_at) touch_at = travel + compute_distance(feature_pair(near.a, near.b, k)) - radii - kRounding;
    near.touch_at = std::min(near.touch_at, touch_at);
  }
}

double FeatureSearch::compute_distance(const FeaturePair& features) const noexcept {
  const auto to_face = [](const FinderBody& p, std::int32_t vertex, const FinderBody& q, std::int32_t triangle) {
    const auto& corner = q.features.triangle(triangle).vertex;
    const Vec3 &x = p.now[as_size(vertex)], &u = q.now[as_size(corner[0])], &v = q.now[as_size(corner[1])],
               &w = q.now[as_size(corner[2])];
    const Vec3 s = closest_on_triangle(x, u, v, w);
    return (s[0] * u + s[1] * v + s[2] * w - x).norm();
  };
  switch (features.kind) {
    case FeaturePair::Kind::kOursOnFace:
      return to_face(a_, features.p, b_, features.q);
    case FeaturePair::Kind::kTheirsOnFace:
      return to_face(b_, features.q, a_, features.p);
    case FeaturePair::Kind::kEdges: {
      const auto& m = a_.features.edges()[as_size(features.p)].vertex;
      const auto& n = b_.features.edges()[as_size(features.q)].vertex;
      const Vec3 &x = a_.now[as_size(m[0])], &y = a_.now[as_size(m[1])];
      const Vec3 &u = b_.now[as_size(n[0])], &v = b_.now[as_size(n[1])];
      const SegmentPair c = closest_of_segments(x, y, u, v);
      return (x + c.s * (y - x) - u - c.t * (v - u)).norm();
    }
    default:
      return HUGE_VAL;
  }
}

void FeatureSearch::find_inside(const Side& side, std::vector<std::uint8_t>& inside) {
  inside.assign(side.p.now.size(), 0);
  if (!side.q.is_closed()) return;
  PairMemory* memory = pair_.memory;
  std::span<double> outside_until;
  if (memory) outside_until = memory->outside_until[side.swapped ? 1 : 0];
  // No point inside is farther from the surface than half the least extent.
  const double max_depth = 0.51 * side.q.box.size().minCoeff();
  for (const std::int32_t v : side.p.fresh_vertices) {
    const Vec3& x = side.p.now[as_size(v)];
    if ((x.array() < side.q.box.lower.array()).any() || (x.array() > side.q.box.upper.array()).any()) continue;
    if (!outside_until.empty() && memory->travel() < outside_until[as_size(v)]) continue;
    FinderBody::Inside hit;
    if (!side.q.find_inside(x, max_depth, hit)) {
      constexpr double kRounding = 1e-9;  // [m]
      if (!outside_until.empty()) outside_until[as_size(v)] = memory->travel() + hit.distance - kRounding;
      continue;
    }
    // What touches is met by meet_vertex_face(), on whichever side of the face rounding puts it.
    if (hit.depth <= kTouching) continue;
    inside[as_size(v)] = 1;
    Meeting m;
    m.p = x;
    m.q = x + hit.depth * hit.normal;
    m.normal = hit.normal;
    m.foot_p = side.p.vertex_foot(v);
    m.foot_q = {hit.triangle, hit.weights};
    m.feature_p = {FeatureKind::kVertex, v};
    m.feature_q = triangle_feature(side.q, hit.triangle, hit.weights);
    m.motion = side.p.next[as_size(v)] - x;
    if (side.q.rigid != nullptr) {
      const Vec3 arm = side.q.pose.rotation.conjugate() * (m.q - side.q.pose.position);
      m.motion -= side.q.next_pose.position + side.q.next_pose.rotation * arm - m.q;
    } else {
      const auto& corner = side.q.features.triangle(hit.triangle).vertex;
      for (std::size_t c = 0; c < 3; ++c) {
        const auto i = as_size(corner[c]);
        m.motion -= hit.weights[static_cast<int>(c)] * (side.q.next[i] - side.q.now[i]);
      }
    }
    add(side, m);
  }
}

FeatureSearch::FeaturePair FeatureSearch::feature_pair(std::int32_t i, std::int32_t j, int number) const noexcept {
  using Kind = FeaturePair::Kind;
  const SurfaceFeatures::Primitive& p = a_.features.primitives()[as_size(i)];
  const SurfaceFeatures::Primitive& q = b_.features.primitives()[as_size(j)];
  const auto k = as_size(number);
  if (k < 3)
    return p.owns_vertex[k] && q.corners() == 3 ? FeaturePair{Kind::kOursOnFace, p.vertex[k], j} : FeaturePair{};
  if (k < 6)
    return q.owns_vertex[k - 3] && p.corners() == 3 ? FeaturePair{Kind::kTheirsOnFace, i, q.vertex[k - 3]}
                                                    : FeaturePair{};
  const std::int32_t e = p.edge[(k - 6) / 3], f = q.edge[(k - 6) % 3];
  return e >= 0 && f >= 0 ? FeaturePair{Kind::kEdges, e, f} : FeaturePair{};
}

double FeatureSearch::meet(const FeaturePair& features) {
  switch (features.kind) {
    case FeaturePair::Kind::kOursOnFace:
      return meet_vertex_face({a_, b_, false}, features.p, features.q);
    case FeaturePair::Kind::kTheirsOnFace:
      return meet_vertex_face({b_, a_, true}, features.q, features.p);
    case FeaturePair::Kind::kEdges:
      return meet_edges(features.p, features.q);
    default:
      return kUnknown;
  }
}

/// Of points and wires without faces; false if the two are others.
bool FeatureSearch::visit_lone(std::int32_t i, std::int32_t j) {
  const SurfaceFeatures::Primitive& p = a_.features.primitives()[as_size(i)];
  const SurfaceFeatures::Primitive& q = b_.features.primitives()[as_size(j)];
  if (p.corners() == 1 && q.corners() == 1) {
    meet_points();
  } else if (p.corners() == 1 && q.corners() == 2) {
    meet_point_wire({a_, b_, false}, q.edge[0]);
  } else if (p.corners() == 2 && q.corners() == 1) {
    meet_point_wire({b_, a_, true}, p.edge[0]);
  } else {
    return false;
  }
  return true;
}

void FeatureSearch::visit(std::int32_t i, std::int32_t j) {
  if (visit_lone(i, j)) return;
  for (int k = 0; k < PairMemory::Features::kMost; ++k) meet(feature_pair(i, j, k));
}

bool FeatureSearch::may_have_met(const Meeting& m, double distance) const noexcept {
  return !pair_.backwards || !pair_.only_new || distance <= a_.radius + b_.radius + m.motion.norm();
}

bool FeatureSearch::add(const Side& side, const Meeting& m) {
  const double gap = (m.p - m.q).dot(m.normal) - side.p.radius - side.q.radius;
  const double then = gap + m.motion.dot(m.normal);
  if (!(pair_.backwards ? gap < -kMissedDepth : std::min(gap, then) <= pair_.alarm_distance)) return false;
  add_candidate(side, m, gap);
  return true;
}

void FeatureSearch::add_candidate(const Side& side, const Meeting& m, double gap) {
  Candidate c;
  const Vec3 on_p = m.p - side.p.radius * m.normal, on_q = m.q + side.q.radius * m.normal;
  c.point_a = side.swapped ? on_q : on_p;
  c.point_b = side.swapped ? on_p : on_q;
  c.foot_a = side.swapped ? m.foot_q : m.foot_p;
  c.foot_b = side.swapped ? m.foot_p : m.foot_q;
  c.normal = side.swapped ? Vec3(-m.normal) : m.normal;
  c.gap = gap;
  c.then = gap + m.motion.dot(m.normal);
  c.lowest = std::min(gap, c.then);
  c.feature = side.swapped ? make_feature(m.feature_q, m.feature_p) : make_feature(m.feature_p, m.feature_q);
  pair_.candidates.push_back(c);
}

FeatureRef triangle_feature(const FinderBody& body, std::int32_t triangle, const Vec3& weights) noexcept {
  int on = 0, off = 0, zeros = 0;
  for (int c = 0; c < 3; ++c) {
    (weights[c] == 0.0 ? off : on) = c;
    zeros += weights[c] == 0.0 ? 1 : 0;
  }
  const auto next = as_size((off + 1) % 3);
  if (zeros == 1) return {FeatureKind::kEdge, body.features.triangle_edges(triangle)[next]};
  if (zeros == 2) return {FeatureKind::kVertex, body.features.triangle(triangle).vertex[as_size(on)]};
  return {FeatureKind::kFace, triangle};
}

FeatureRef touching_feature(const FinderBody& body, std::int32_t triangle, const Vec3& weights) noexcept {
  const auto& corner = body.features.triangle(triangle).vertex;
  const auto at = [&](int c) -> const Vec3& { return body.now[as_size(corner[as_size(c % 3)])]; };
  const double area2 = (at(1) - at(0)).cross(at(2) - at(0)).squaredNorm();
  Vec3 on = weights;
  for (int c = 0; c < 3; ++c) {
    const double distance2 = weights[c] * weights[c] * area2;  // times the square of the edge
    if (!(distance2 > kTouching * kTouching * (at(c + 2) - at(c + 1)).squaredNorm())) on[c] = 0.0;
  }
  return triangle_feature(body, triangle, on);
}

Vec3 compute_common_normal(const FinderBody& body, FeatureRef feature) noexcept {
  std::span<const std::int32_t> around;
  if (feature.kind == FeatureKind::kVertex) around = body.features.triangles_of(feature.index);
  if (feature.kind == FeatureKind::kEdge) around = body.features.edges()[as_size(feature.index)].triangle;
  Vec3 sum = Vec3::Zero();
  for (const std::int32_t t : around) {
    if (t >= 0) sum += body.face_normal(t);
  }
  const double length = sum.norm();
  const auto looks_aside = [&](std::int32_t t) {
    return t >= 0 && !(body.face_normal(t).dot(sum) > kSameSide * length);
  };
  return std::any_of(around.begin(), around.end(), looks_aside) ? Vec3::Zero() : Vec3(sum / std::max(length, 1e-300));
}

namespace {

/// Calls `visit` with the way from x to each vertex next to the feature, at `time` of the step, and with the direction
/// of the edge that is the feature, if it is one. Stops when it returns false.
template <typename Visit>
bool visit_neighbours(const FinderBody& body, FeatureRef feature, const Vec3& x, double time, const Visit& visit) {
  const auto at = [&](std::int32_t v) {
    const auto i = as_size(v);
    return Vec3(body.now[i] + time * (body.next[i] - body.now[i]));
  };
  if (feature.kind == FeatureKind::kVertex) {
    for (const std::int32_t v : body.features.neighbours(feature.index)) {
      if (!visit(Vec3(at(v) - x), Vec3::Zero())) return false;
    }
  } else if (feature.kind == FeatureKind::kEdge) {
    const SurfaceFeatures::Edge& edge = body.features.edges()[as_size(feature.index)];
    const Vec3 along = at(edge.vertex[1]) - at(edge.vertex[0]);
    for (const std::int32_t v : edge.opposite) {
      if (v >= 0 && !visit(Vec3(at(v) - x), along)) return false;
    }
  }
  return true;
}

}  // namespace

bool is_local_minimum(const FinderBody& body, FeatureRef feature, const Vec3& x, const Vec3& away, double slack,
                      double time) noexcept {
  const double limit = slack * away.norm();
  return visit_neighbours(body, feature, x, time,
                          [&](const Vec3& d, const Vec3&) { return d.dot(away) <= limit * d.norm(); });
}

Vec3 settle_normal(const FinderBody& body, FeatureRef feature, const Vec3& x, const Vec3& normal,
                   double time) noexcept {
  // Projections on half-spaces in turn: exact for an edge at once, and for a corner near enough after a few, since all
  // that is left is within the slack. In a hollow there is no such vector, and the projections wander off: the normal
  // stays as it was.
  constexpr int kRounds = 4;
  constexpr double kMostTurn = 0.9976;  // the cosine of 4°
  Vec3 n = normal;
  for (int round = 0; round < kRounds; ++round) {
    bool settled = true;
    visit_neighbours(body, feature, x, time, [&](Vec3 d, const Vec3& along) {
      const double length = along.squaredNorm();
      if (length > 0.0) d -= d.dot(along) / length * along;
      const double above = d.dot(n), square = d.squaredNorm();
      if (above > 1e-12 * std::sqrt(square)) {
        n -= above / square * d;
        settled = false;
      }
      return true;
    });
    if (settled) break;
  }
  n.normalize();
  return n.dot(normal) > kMostTurn ? n : normal;
}

}  // namespace palpate
