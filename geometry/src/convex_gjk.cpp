#include "convex_gjk.h"

#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>

// The only source that sees Bullet.
namespace palpate {
namespace {

btVector3 to_bullet(const Vec3& v) noexcept {
  return btVector3(v.x(), v.y(), v.z());
}
Vec3 from_bullet(const btVector3& v) noexcept {
  return Vec3(v.x(), v.y(), v.z());
}

}  // namespace

struct ConvexShape::Support {
  btConvexHullShape hull;
};

ConvexShape::ConvexShape(ConvexPolyhedron polyhedron)
    : polyhedron_(std::move(polyhedron)), support_(std::make_unique<Support>()) {
  for (const Vec3& v : polyhedron_.vertices) support_->hull.addPoint(to_bullet(v), false);
  support_->hull.setMargin(0.0);
  support_->hull.recalcLocalAabb();
}
ConvexShape::~ConvexShape() = default;
ConvexShape::ConvexShape(ConvexShape&&) noexcept = default;
ConvexShape& ConvexShape::operator=(ConvexShape&&) noexcept = default;

bool ConvexGjk::compute(const ConvexShape& a, const ConvexShape& b, const Pose& X_AB) noexcept {
  const btTransform identity = btTransform::getIdentity();
  const Quat& q = X_AB.rotation;
  const btTransform to_a(btQuaternion(q.x(), q.y(), q.z(), q.w()), to_bullet(X_AB.position));
  const btVector3 guess = to_bullet(X_AB.position);
  btGjkEpaSolver2::sResults r;
  r.distance = 0.0;
  const bool apart = btGjkEpaSolver2::Distance(&a.support_->hull, identity, &b.support_->hull, to_a, guess, r);
  if (!apart || !(r.distance > 0.0)) {
    if (!btGjkEpaSolver2::Penetration(&a.support_->hull, identity, &b.support_->hull, to_a, guess, r, false))
      return false;
  }
  on_a = from_bullet(r.witnesses[0]);
  on_b = from_bullet(r.witnesses[1]);
  // Bullet's normal has had both signs over the years; the sides of the points tell.
  normal = on_a - on_b;
  const double length = normal.norm();
  if (!(length > 0.0)) return false;
  normal *= (apart ? 1.0 : -1.0) / length;
  return normal.allFinite() && on_a.allFinite() && on_b.allFinite();
}

}  // namespace palpate
