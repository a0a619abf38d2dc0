#include "accelerance/pointer_finder.h"

#include <algorithm>
#include <cmath>

#include "palpate/core/error.h"

namespace palpate::accelerance {
namespace {

/// Points of one pair of convex solids that are published: corners of the area in which they touch.
constexpr std::size_t kMaxCorners = 4;

double pair_friction(double body, double tool) noexcept {
  if (std::isnan(tool)) return std::isnan(body) ? 0.0 : body;
  return std::isnan(body) ? tool : std::sqrt(body * tool);
}

Vec3 to_frame(const Pose& frame, const Vec3& p) noexcept {
  return frame.rotation.conjugate() * (p - frame.position);
}

Vec3 from_frame(const Pose& frame, const Vec3& p) noexcept {
  return frame.position + frame.rotation * p;
}

TriangleMesh own_surface(const Body& body) {
  const BodySurface s = body.surface();
  const Pose frame = centre_pose(&body);
  TriangleMesh mesh{{s.positions.begin(), s.positions.end()}, {s.triangles.begin(), s.triangles.end()}};
  for (Vec3& p : mesh.vertices) p = to_frame(frame, p);
  return mesh;
}

double largest(std::span<const Vec3> points) noexcept {
  double out = 0.0;
  for (const Vec3& p : points) out = std::max(out, p.norm());
  return out;
}

/// Keeps the nearest, and of the rest those farthest from the ones kept.
void keep_spread(std::vector<FoundContact>& points, std::size_t first) {
  if (points.size() - first <= kMaxCorners) return;
  for (std::size_t kept = 0; kept < kMaxCorners; ++kept) {
    std::size_t best = first + kept;
    double most = -HUGE_VAL;
    for (std::size_t i = first + kept; i < points.size(); ++i) {
      double value = kept == 0 ? -points[i].gap : HUGE_VAL;
      for (std::size_t k = first; k < first + kept; ++k)
        value = std::min(value, (points[i].contact.point - points[k].contact.point).norm());
      if (value > most) {
        most = value;
        best = i;
      }
    }
    std::swap(points[first + kept], points[best]);
  }
  points.resize(first + kMaxCorners);
}

void share_stiffness(std::vector<FoundContact>& points, std::size_t first) {
  for (std::size_t i = first; i < points.size(); ++i)
    points[i].contact.share = 1.0 / static_cast<double>(points.size() - first);
}

}  // namespace

Pose centre_pose(const Body* body) noexcept {
  if (!body || body->block_count() == 0) return {};
  return {body->compute_point({}), body->compute_frame({})};
}

PointerFinder::PointerFinder(const World& world, const ToolSettings& tool)
    : world_(world), pointers_(make_fingers(tool)) {
  for (const Finger& f : pointers_) {
    shapes_.emplace_back();
    if (!f.surface.vertices.empty()) shapes_.back().emplace(make_convex_hull(f.surface.vertices));
    sizes_.push_back(f.surface.vertices.empty() ? f.radius : largest(f.surface.vertices));
  }
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    const WorldBody& b = world.bodies()[i];
    if (world.is_tool(static_cast<int>(i)) || b.shape.is<ContactShape::None>()) continue;
    Thing& t = things_.emplace_back();
    t.body = static_cast<std::int32_t>(i);
    t.moves = b.body && b.body->block_count() > 0;
    t.friction = pair_friction(b.shape.friction, tool.friction);
    if (const auto* plane = b.shape.as<ContactShape::Plane>()) {
      t.plane = {plane->normal.normalized(), plane->offset / plane->normal.norm()};
    } else if (b.shape.is<ContactShape::Point>() || b.shape.is<ContactShape::Sphere>()) {
      const auto* sphere = b.shape.as<ContactShape::Sphere>();
      t.kind = Thing::Kind::kBall;
      t.radius = sphere ? sphere->radius : b.shape.as<ContactShape::Point>()->radius;
      t.centre = sphere ? sphere->position : Vec3(Vec3::Zero());
      if (!b.body->surface().positions.empty()) t.convex.emplace(make_convex_hull(own_surface(*b.body).vertices));
      t.size = t.centre.norm() + t.radius;
    } else if (const auto* box = b.shape.as<ContactShape::Box>()) {
      t.kind = Thing::Kind::kConvex;
      t.convex.emplace(make_convex_box(box->size, box->pose));
      t.size = largest(t.convex->polyhedron().vertices);
    } else if (b.shape.is<ContactShape::Hull>()) {
      t.kind = Thing::Kind::kConvex;
      t.convex.emplace(make_convex_hull(own_surface(*b.body).vertices));
      t.size = largest(t.convex->polyhedron().vertices);
    } else {
      t.kind = Thing::Kind::kMesh;
      t.tree.emplace(own_surface(*b.body));
      t.size = largest(t.tree->mesh().vertices);
    }
  }
}

/// A point of the pointer, with its radius, against a thing.
void PointerFinder::add_ball(const Query& q, std::vector<FoundContact>& out) const {
  const Thing& t = q.thing;
  FoundContact found{0.0, q.contact};
  PointerContact& c = found.contact;
  const Vec3 p = to_frame(q.X_WT, from_frame(q.X_WP, c.point));
  switch (t.kind) {
    case Thing::Kind::kPlane:
      c.planes = 1;
      c.plane[0] = t.plane;
      found.gap = t.plane.normal.dot(p) - t.plane.offset - c.radius;
      break;
    case Thing::Kind::kBall:
      c.planes = 0;
      c.centre = t.centre;
      found.gap = (p - t.centre).norm() - t.radius - c.radius;
      c.radius += t.radius;
      break;
    case Thing::Kind::kConvex: {
      const std::vector<ConvexPolyhedron::Face>& faces = t.convex->polyhedron().faces;
      // Those that the point is farthest out of, or least deep under.
      std::array<std::pair<double, std::size_t>, kMaxPlanes> nearest;
      std::size_t count = 0;
      for (std::size_t f = 0; f < faces.size(); ++f) {
        std::pair<double, std::size_t> now{faces[f].normal.dot(p) - faces[f].offset, f};
        for (std::size_t k = 0; k < count; ++k) {
          if (now.first > nearest[k].first) std::swap(now, nearest[k]);
        }
        if (count < kMaxPlanes) nearest[count++] = now;
      }
      c.planes = static_cast<std::int32_t>(count);
      for (std::size_t k = 0; k < count; ++k)
        c.plane[k] = {faces[nearest[k].second].normal, faces[nearest[k].second].offset};
      found.gap = nearest[0].first - c.radius;
      break;
    }
    case Thing::Kind::kMesh: {
      ClosestPoint closest;
      if (!t.tree->find_closest(p, q.reach + c.radius + t.size, closest)) return;
      const Vec3 outward = t.tree->pseudo_normal(closest);
      const double distance = std::copysign(closest.distance, (p - closest.point).dot(outward));
      const Vec3 n = closest.distance > 1e-9 ? Vec3((p - closest.point) / distance) : outward;
      c.planes = 1;
      c.plane[0] = {n, n.dot(closest.point)};
      found.gap = distance - c.radius;
      break;
    }
  }
  if (found.gap <= q.reach) out.push_back(found);
}

/// Two convex solids: the corners of the area in which they face each other, each against the thing's face.
void PointerFinder::add_convex(const Query& q, const ConvexShape& pointer, std::vector<FoundContact>& out) const {
  Manifold m;
  if (!compute_manifold(pointer, q.X_WP, *q.thing.convex, q.X_WT, q.reach, m)) return;
  const std::size_t first = out.size();
  const bool body_corner = q.thing.moves && q.thing.size < sizes_[as_size(q.contact.pointer)];
  const Vec3 normal = q.X_WT.rotation.conjugate() * m.normal, back = q.X_WP.rotation.conjugate() * -m.normal;
  for (int i = 0; i < m.count; ++i) {
    const ManifoldPoint& p = m.points[as_size(i)];
    FoundContact found{(p.on_a - p.on_b).dot(m.normal), q.contact};
    found.contact.feature = p.feature;
    found.contact.point = to_frame(q.X_WP, p.on_a);
    found.contact.planes = 1;
    found.contact.plane[0] = {normal, normal.dot(to_frame(q.X_WT, p.on_b))};
    if (body_corner) {
      found.contact.body_corner = true;
      found.contact.plane[0] = {back, back.dot(found.contact.point)};
      found.contact.point = to_frame(q.X_WT, p.on_b);
    }
    out.push_back(found);
  }
  keep_spread(out, first);
  share_stiffness(out, first);
}

/// The pointer's corners as points, where the other is flat without end or not convex.
void PointerFinder::add_corners(const Query& q, const ConvexShape& pointer, std::vector<FoundContact>& out) const {
  const std::size_t first = out.size();
  Query corner = q;
  for (const Vec3& v : pointer.polyhedron().vertices) {
    corner.contact.point = v;
    ++corner.contact.feature;
    add_ball(corner, out);
  }
  keep_spread(out, first);
  share_stiffness(out, first);
}

void PointerFinder::find(const DeviceState& hand, double reach, double ahead, std::vector<FoundContact>& out) const {
  out.clear();
  for (std::size_t i = 0; i < pointers_.size(); ++i) {
    const Pose X_WP = compute_finger_pose(pointers_[i], hand);
    const double speed = compute_finger_velocity(pointers_[i], hand).linear.norm();
    for (const Thing& t : things_) {
      const Body* body = world_.bodies()[as_size(t.body)].body.get();
      const Pose X_WT = t.moves ? centre_pose(body) : Pose{};
      const double body_speed = t.moves ? body->velocities()[0].norm() : 0.0;
      Query q{t, X_WT, X_WP, reach + ahead * (speed + body_speed), {}};
      const bool bounded = t.kind != Thing::Kind::kPlane;
      if (bounded && (X_WP.position - X_WT.position).norm() > q.reach + t.size + sizes_[i]) continue;
      q.contact.pointer = static_cast<std::int32_t>(i);
      q.contact.body = t.body;
      q.contact.neighbour = t.moves ? 0 : -1;
      q.contact.friction = t.friction;
      if (!shapes_[i]) {
        q.contact.radius = pointers_[i].radius;
        add_ball(q, out);
      } else if (t.convex) {
        add_convex(q, *shapes_[i], out);
      } else {
        add_corners(q, *shapes_[i], out);
      }
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.gap < b.gap; });
}

}  // namespace palpate::accelerance
