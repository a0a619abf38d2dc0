#include "candidates.h"

#include <Eigen/LU>

namespace palpate {
namespace {

/// The foot of a body at `point`, which may be corrected to what the body makes of the foot.
BodyPoint make_foot(const FinderBody& body, const FootRef& ref, bool backwards, Vec3& point) noexcept {
  BodyPoint foot;
  if (body.is_plane()) return foot;
  if (body.is_point()) {
    if (backwards) point += body.next[0] - body.now[0];
    return foot;
  }
  if (body.rigid != nullptr) {
    foot.offset = body.pose.rotation.conjugate() * (point - body.pose.position);
    if (backwards) point = body.next_pose.position + body.next_pose.rotation * foot.offset;
    return foot;
  }
  foot.element = ref.element;
  foot.weights = ref.weights;
  if (body.is_chain()) {
    // The offset rides in both nodes' frames: the one that their mean takes to the point.
    const Pose& x = body.chain->node_pose(ref.element);
    const Pose& y = body.chain->node_pose(ref.element + 1);
    const Mat3 R = ref.weights[0] * x.rotation.toRotationMatrix() + ref.weights[1] * y.rotation.toRotationMatrix();
    const auto node = as_size(ref.element);
    const Vec3 arm = point - (ref.weights[0] * body.now[node] + ref.weights[1] * body.now[node + 1]);
    foot.offset = R.determinant() > 0.1 ? Vec3(R.inverse() * arm) : Vec3(x.rotation.conjugate() * arm);
  }
  if (body.has_faces() && body.radius > 0.0) return foot;  // a sheet's foot lies in its middle, the point on its side
  point = body.body->compute_point(foot);
  return foot;
}

double pair_friction(double a, double b) noexcept {
  if (std::isnan(a)) return std::isnan(b) ? 0.0 : b;
  return std::isnan(b) ? a : std::sqrt(a * b);
}

}  // namespace

std::uint64_t make_feature(FeatureRef a, FeatureRef b) noexcept {
  const auto code = [](FeatureRef f) {
    return static_cast<std::uint64_t>(f.kind) << 30 | (static_cast<std::uint64_t>(f.index) & 0x3fffffffu);
  };
  return code(a) << 32 | code(b);
}

std::uint64_t mix_bits(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

Contact make_contact(const PairContacts& pair, const Candidate& candidate) noexcept {
  Contact c;
  c.point_a = candidate.point_a;
  c.point_b = candidate.point_b;
  c.normal = candidate.normal;
  c.foot_a = make_foot(*pair.a, candidate.foot_a, pair.backwards, c.point_a);
  c.foot_b = make_foot(*pair.b, candidate.foot_b, pair.backwards, c.point_b);
  c.gap = pair.backwards ? candidate.then : (c.point_a - c.point_b).dot(c.normal);
  c.friction = pair_friction(pair.a->shape.friction, pair.b->shape.friction);
  return c;
}

}  // namespace palpate
