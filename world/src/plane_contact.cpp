#include "candidates.h"

namespace palpate {

void find_plane_contacts(PairContacts& pair) {
  const bool plane_is_b = pair.b->is_plane();
  FinderBody& plane = plane_is_b ? *pair.b : *pair.a;
  FinderBody& body = plane_is_b ? *pair.a : *pair.b;
  if (body.is_plane() || !body.finite) return;
  const Vec3& n = plane.plane.normal;
  // A half-space and pieces between vertices: the vertices are all that can be lowest.
  for (const std::int32_t v : body.fresh_vertices) {
    const auto i = as_size(v);
    const double gap = n.dot(body.now[i]) - plane.plane.offset - body.radius;
    const double then = n.dot(body.next[i]) - plane.plane.offset - body.radius;
    if (!(pair.backwards ? gap < -kMissedDepth : std::min(gap, then) <= pair.alarm_distance)) continue;
    if (gap > 0.0 && body.is_closed() && body.vertex_normal(static_cast<std::int32_t>(i)).dot(n) > 0.0)
      continue;  // looks away
    Candidate c;
    const Vec3 on_body = body.now[i] - body.radius * n, on_plane = on_body - gap * n;
    (plane_is_b ? c.foot_a : c.foot_b) = body.vertex_foot(v);
    c.point_a = plane_is_b ? on_body : on_plane;
    c.point_b = plane_is_b ? on_plane : on_body;
    c.normal = plane_is_b ? n : Vec3(-n);
    c.gap = gap;
    c.then = then;
    c.lowest = std::min(gap, then);
    const FeatureRef vertex{FeatureKind::kVertex, v}, whole{};
    c.feature = plane_is_b ? make_feature(vertex, whole) : make_feature(whole, vertex);
    pair.candidates.push_back(c);
  }
}

}  // namespace palpate
