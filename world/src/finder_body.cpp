#include "finder_body.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "palpate/bodies/particle.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

template <typename Wanted>
const Wanted* require(const Body* body, const char* shape, const char* wanted) {
  const auto* found = dynamic_cast<const Wanted*>(body);
  if (found == nullptr) fail_input("contact shape {}: the body must be {}", shape, wanted);
  return found;
}

void require_radius(double radius, bool zero_allowed) {
  const bool ok = std::isfinite(radius) && (zero_allowed ? radius >= 0.0 : radius > 0.0);
  if (!ok) fail_input("contact shape: radius = {} m; allowed: {} 0", radius, zero_allowed ? "at least" : "above");
}

/// Nobody remembers anything over so far [m].
constexpr double kFar = 0.1;

SurfaceFeatures make_surface_features(const TriangleMesh& mesh) {
  return SurfaceFeatures(mesh.triangles, mesh.vertices.size());
}

/// No point within `size` of the origin of a frame goes further from one pose to the other [m].
double compute_way(const Pose& from, const Pose& to, double size) noexcept {
  return (to.position - from.position).norm() + size * from.rotation.angularDistance(to.rotation);
}

}  // namespace

FinderBody::FinderBody(const Body* given, const ContactShape& wanted) : body(given), shape(wanted) {
  if (!(shape.friction >= 0.0) && !std::isnan(shape.friction)) {
    fail_input("contact shape: friction = {}; allowed: at least 0", shape.friction);
  }
  if (const auto* given_plane = shape.as<ContactShape::Plane>()) {
    plane = *given_plane;
    const double length = plane.normal.norm();
    if (!(length > 0.0) || !std::isfinite(length)) fail_input("contact shape plane: the normal has no direction");
    plane.normal /= length;
    return;
  }
  if (body == nullptr) fail_input("contact shape: only a plane may have no body");
  rigid = dynamic_cast<const RigidBody*>(body);
  chain = dynamic_cast<const BeamChain*>(body);
  no_dv_.assign(as_size(body->block_count()), Vec3::Zero());
  entries_.resize(as_size(std::max(2, body->max_row_entries())));
  const BodySurface surface = body->surface();
  if (shape.is<ContactShape::None>()) return;
  if (const auto* point = shape.as<ContactShape::Point>()) {
    require<Particle>(body, "point", "a particle");
    require_radius(point->radius, true);
    features = SurfaceFeatures::make_wire(1);
    radius = point->radius;
  } else if (is_chain()) {
    require<BeamChain>(body, "chain", "a chain of beams");
    features = SurfaceFeatures::make_wire(as_size(chain->node_count()));
    radius = chain->radius();
  } else if (const auto* sphere = shape.as<ContactShape::Sphere>()) {
    require<RigidBody>(body, "sphere", "rigid");
    require_radius(sphere->radius, false);
    features = SurfaceFeatures::make_wire(1);
    local = {sphere->position};
    radius = sphere->radius;
  } else if (const auto* box_shape = shape.as<ContactShape::Box>()) {
    require<RigidBody>(body, "box", "rigid");
    convex = std::make_unique<ConvexShape>(make_convex_box(box_shape->size, box_shape->pose));
  } else if (shape.is<ContactShape::Hull>()) {
    require<RigidBody>(body, "hull", "rigid");
    local.assign(surface.positions.begin(), surface.positions.end());
    const Quat to_body = rigid->centre_pose().rotation.conjugate();
    for (Vec3& p : local) p = to_body * (p - rigid->centre_pose().position);
    convex = std::make_unique<ConvexShape>(make_convex_hull(local));
  } else if (const auto* sheet = shape.as<ContactShape::Surface>()) {
    if (surface.triangles.empty()) fail_input("contact shape surface: the body has none");
    features = SurfaceFeatures(surface.triangles, surface.positions.size());
    two_sided = sheet->two_sided;
    self = sheet->self;
    if (two_sided) {
      require_radius(sheet->half_thickness, true);
      radius = sheet->half_thickness;
    }
  }
  if (convex) {
    local = convex->polyhedron().vertices;
    features = make_surface_features(make_triangles(convex->polyhedron()));
  }
  if (is_surface() && rigid != nullptr) {
    const Quat to_body = rigid->centre_pose().rotation.conjugate();
    for (const Vec3& p : surface.positions) local.push_back(to_body * (p - rigid->centre_pose().position));
  }
  for (const Vec3& p : local) size = std::max(size, p.norm());
  const std::size_t vertices = is_surface()       ? surface.positions.size()
                               : chain != nullptr ? as_size(chain->node_count())
                               : local.empty()    ? 1
                                                  : local.size();
  now.assign(vertices, Vec3::Zero());
  next = now;
  if (has_faces()) {
    vertex_normals_.assign(vertices, {Vec3::Zero()});
    face_normals_.assign(as_size(features.triangle_count()), {Vec3::Zero()});
    edge_shapes_.assign(features.edges().size(), {EdgeShape::kConvex});
  }
  is_fresh_.assign(vertices, 1);
  fresh_vertices.assign(features.vertices().begin(), features.vertices().end());
  fresh_primitives.resize(features.primitives().size());
  std::iota(fresh_primitives.begin(), fresh_primitives.end(), 0);
  primitive_boxes_.resize(features.primitives().size());
  sweeps_.resize(features.primitives().size());
  is_stray.resize(features.primitives().size());
  update(0.0, no_dv_);
  if (!finite) fail_input("contact shape: the body is not finite");
  if (self) rest = now;
  make_primitive_boxes(0.0);
  tree = BoxTree(primitive_boxes_);
  if (is_closed() && !convex) {
    const auto triangles = surface.triangles;
    surface_tree_.emplace(TriangleMesh{rigid != nullptr ? local : now, {triangles.begin(), triangles.end()}});
    surface_tree_fresh_ = true;
  }
}

void FinderBody::update(double h, std::span<const Vec3> dv) noexcept {
  // A static mesh may have a million triangles: what was known of it holds.
  if (finite && is_fixed()) return;
  finite = false;
  if (is_plane() || shape.is<ContactShape::None>()) return;
  if (dv.size() != no_dv_.size()) dv = no_dv_;
  if (rigid != nullptr) {
    update_rigid(h, dv);
  } else if (is_chain()) {
    update_chain(h, dv);
  } else if (is_point()) {
    const Vec3 before = now[0];
    now[0] = body->compute_point({});
    add_travel((now[0] - before).norm());
    next[0] = now[0] + h * (body->velocities()[0] + dv[0]);
  } else {
    update_surface(h, dv);
  }
  grow_stale();
}

void FinderBody::update_surface(double h, std::span<const Vec3> dv) noexcept {
  const std::span<const Vec3> positions = body->surface().positions;
  const FreshSurface part = body->fresh_surface();
  const bool chosen_anew = part.version != fresh_version_;
  const auto take = [&](std::span<const std::int32_t> vertices) {
    double way2 = 0.0;
    for (const std::int32_t v : vertices) {
      // Not a number must not get lost in a maximum.
      const double square = (positions[as_size(v)] - now[as_size(v)]).squaredNorm();
      if (!(square <= way2)) way2 = square;
      now[as_size(v)] = positions[as_size(v)];
    }
    return std::sqrt(way2);
  };
  add_travel(take(fresh_vertices));
  if (chosen_anew) {
    // The others may have come a long way since somebody looked at them last, which is not the pace of this body.
    const double way = take(features.vertices());
    stray += way;
    jumps += way < kFar ? 0 : 1;
    std::copy(positions.begin(), positions.end(), next.begin());
    choose_fresh(part);
  }
  body->predict_surface(h, dv, next);
}

void FinderBody::add_travel(double way) noexcept {
  if (way < kFar) {
    travel += way;
  } else {
    ++jumps;
  }
}

/// `now` and `next` hold the whole surface as it is.
void FinderBody::choose_fresh(const FreshSurface& part) noexcept {
  fresh_version_ = part.version;
  boxes_whole_ = surface_tree_whole_ = false;
  ++choices;
  const auto moves = [&](std::int32_t v) { return v >= 0 && is_fresh_[as_size(v)] != 0; };
  for (std::size_t p = 0; p < is_stray.size(); ++p) {
    const auto& corner = features.primitives()[p].vertex;
    is_stray[p] = std::all_of(corner.begin(), corner.end(), [&](std::int32_t v) { return v < 0 || moves(v); }) ? 0 : 1;
  }
  std::fill(is_fresh_.begin(), is_fresh_.end(), part.vertices.empty() ? 1 : 0);
  for (const std::int32_t v : part.vertices) is_fresh_[as_size(v)] = 1;
  fresh_vertices.clear();
  fresh_primitives.clear();
  still_ = BoundingBox{};
  double sum = 0.0;
  for (const std::int32_t v : features.vertices()) {
    if (is_fresh_[as_size(v)]) {
      fresh_vertices.push_back(v);
    } else {
      still_.add(now[as_size(v)]);
      sum += now[as_size(v)].cwiseAbs().sum();
    }
  }
  still_finite_ = std::isfinite(sum);
  for (std::size_t p = 0; p < features.primitives().size(); ++p) {
    const auto& corner = features.primitives()[p].vertex;
    if (std::any_of(corner.begin(), corner.end(), moves)) fresh_primitives.push_back(static_cast<std::int32_t>(p));
  }
}

void FinderBody::turn_back() noexcept {
  if (!finite || is_fixed()) return;
  std::swap(now, next);
  std::swap(pose, next_pose);
  add_travel(step);
  grow_stale();
}

void FinderBody::grow_stale() noexcept {
  update_boxes();
  ++updates_;
  tree_fresh_ = false;
  if (rigid == nullptr && !is_fixed()) surface_tree_fresh_ = false;
}

bool FinderBody::is_held(const FootRef& foot) noexcept {
  if (is_fixed()) return true;
  int count = 0;
  if (body->block_count() > 2) {
    count = body->compute_point_row({foot.element, foot.weights, Vec3::Zero()}, Vec3::UnitX(), entries_);
  } else {
    for (; count < body->block_count(); ++count) entries_[as_size(count)].block = count;
  }
  const auto end = entries_.begin() + count;
  return std::all_of(entries_.begin(), end, [&](const auto& e) { return body->is_prescribed(e.block); });
}

void FinderBody::update_rigid(double h, std::span<const Vec3> dv) noexcept {
  const Pose before = pose;
  pose = rigid->centre_pose();
  add_travel(compute_way(before, pose, size));
  const std::span<const Vec3> v = rigid->velocities();
  next_pose.position = pose.position + h * (v[0] + dv[0]);
  next_pose.rotation = rotation_from_vector(h * (v[1] + dv[1])) * pose.rotation;
  const Mat3 R = pose.rotation.toRotationMatrix(), next_R = next_pose.rotation.toRotationMatrix();
  for (std::size_t i = 0; i < local.size(); ++i) {
    now[i] = pose.position + R * local[i];
    next[i] = next_pose.position + next_R * local[i];
  }
}

void FinderBody::update_chain(double h, std::span<const Vec3> dv) noexcept {
  const std::span<const Vec3> v = chain->velocities();
  double way2 = 0.0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Vec3 before = now[i];
    now[i] = chain->node_pose(static_cast<int>(i)).position;
    const double square = (now[i] - before).squaredNorm();
    if (!(square <= way2)) way2 = square;
    next[i] = now[i] + h * (v[2 * i] + dv[2 * i]);
  }
  add_travel(std::sqrt(way2));
}

void FinderBody::update_boxes() noexcept {
  box = still_;
  BoundingBox then = still_;
  double sum = 0.0;  // stays finite as long as all are
  double way2 = 0.0;
  for (const std::int32_t v : fresh_vertices) {
    const auto i = as_size(v);
    box.add(now[i]);
    then.add(next[i]);
    way2 = std::max(way2, (next[i] - now[i]).squaredNorm());
    sum += now[i].cwiseAbs().sum() + next[i].cwiseAbs().sum();
  }
  finite = std::isfinite(sum) && still_finite_;
  step = std::sqrt(way2);
  box.lower.array() -= radius;
  box.upper.array() += radius;
  swept.lower = box.lower.cwiseMin(Vec3(then.lower.array() - radius));
  swept.upper = box.upper.cwiseMax(Vec3(then.upper.array() + radius));
  if (rigid == nullptr) return;
  // On its way a turning corner bulges out of the chord by at most the sagitta.
  turn = pose.rotation.angularDistance(next_pose.rotation);
  const double bulge = size * (1.0 - std::cos(0.5 * turn));
  swept.lower.array() -= bulge;
  swept.upper.array() += bulge;
}

const Vec3& FinderBody::face_normal(std::int32_t triangle) const noexcept {
  auto& [n, update] = face_normals_[as_size(triangle)];
  if (update == updates_) return n;
  update = updates_;
  const auto& corner = features.triangle(triangle).vertex;
  const Vec3 area = compute_area_normal(now[as_size(corner[0])], now[as_size(corner[1])], now[as_size(corner[2])]);
  const double length = area.norm();
  n = length > 0.0 ? Vec3(area / length) : Vec3::Zero();
  return n;
}

const Vec3& FinderBody::vertex_normal(std::int32_t vertex) const noexcept {
  auto& [n, update] = vertex_normals_[as_size(vertex)];
  if (update == updates_) return n;
  update = updates_;
  n.setZero();
  for (const std::int32_t t : features.triangles_of(vertex)) {
    const auto& corner = features.triangle(t).vertex;
    n += compute_area_normal(now[as_size(corner[0])], now[as_size(corner[1])], now[as_size(corner[2])]);
  }
  const double length = n.norm();
  if (length > 0.0) n /= length;
  return n;
}

EdgeShape FinderBody::edge_shape(std::int32_t e) const noexcept {
  // The sine of the least bend that counts, about 1°: beyond the rounding of a flat mesh, below what a mesh that stands
  // for a round shape has.
  constexpr double kFlat = 0.02;
  auto& [shape_of, update] = edge_shapes_[as_size(e)];
  if (update == updates_) return shape_of;
  update = updates_;
  const SurfaceFeatures::Edge& edge = features.edges()[as_size(e)];
  shape_of = EdgeShape::kConvex;
  if (edge.triangle[1] < 0) return shape_of;
  const Vec3 across = now[as_size(edge.opposite[1])] - now[as_size(edge.vertex[0])];
  const Vec3 along = (now[as_size(edge.vertex[1])] - now[as_size(edge.vertex[0])]);
  const double width = across.cross(along).norm() / std::max(along.norm(), 1e-300);
  const double height = across.dot(face_normal(edge.triangle[0]));
  if (std::abs(height) <= kFlat * width) shape_of = EdgeShape::kFlat;
  if (height > kFlat * width && !two_sided) shape_of = EdgeShape::kConcave;
  return shape_of;
}

FootRef FinderBody::vertex_foot(std::int32_t vertex) const noexcept {
  if (has_faces()) {
    const SurfaceFeatures::Corner& corner = features.corner_of(vertex);
    return {corner.triangle, Vec3::Unit(corner.corner)};
  }
  if (features.edges().empty()) return {};
  const bool last = vertex == static_cast<std::int32_t>(features.edges().size());
  return {last ? vertex - 1 : vertex, last ? Vec3::UnitY() : Vec3::UnitX()};
}

FootRef FinderBody::edge_foot(std::int32_t e, double s) const noexcept {
  const SurfaceFeatures::Edge& edge = features.edges()[as_size(e)];
  if (!has_faces()) return {e, Vec3(1.0 - s, s, 0.0)};
  FootRef foot{edge.triangle[0], Vec3::Zero()};
  const auto& corner = features.triangle(edge.triangle[0]).vertex;
  for (int c = 0; c < 3; ++c) {
    if (corner[as_size(c)] == edge.vertex[0]) foot.weights[c] = 1.0 - s;
    if (corner[as_size(c)] == edge.vertex[1]) foot.weights[c] = s;
  }
  return foot;
}

BoundingBox FinderBody::compute_primitive_box(std::int32_t p, double reach) const noexcept {
  const SurfaceFeatures::Primitive& primitive = features.primitives()[as_size(p)];
  BoundingBox b;
  for (std::int32_t c = 0; c < primitive.corners(); ++c) {
    const auto v = as_size(primitive.vertex[as_size(c)]);
    b.add(now[v]);
    b.add(next[v]);
  }
  b.lower.array() -= reach;
  b.upper.array() += reach;
  return b;
}

const FinderBody::Sweep& FinderBody::sweep(std::int32_t p, double alarm_distance) noexcept {
  auto& [known, update] = sweeps_[as_size(p)];
  if (update == updates_) return known;
  update = updates_;
  known.box = compute_primitive_box(p, radius + 0.5 * alarm_distance);
  const SurfaceFeatures::Primitive& primitive = features.primitives()[as_size(p)];
  double way2 = 0.0;
  for (std::int32_t c = 0; c < primitive.corners(); ++c) {
    const auto v = as_size(primitive.vertex[as_size(c)]);
    way2 = std::max(way2, (next[v] - now[v]).squaredNorm());
  }
  known.step = std::sqrt(way2);
  return known;
}

void FinderBody::make_primitive_boxes(double margin) noexcept {
  for (const std::int32_t p : fresh_primitives)
    primitive_boxes_[as_size(p)] = compute_primitive_box(p, radius + margin);
}

void FinderBody::refresh_tree(double alarm_distance) noexcept {
  if (tree_fresh_) return;
  tree_fresh_ = true;
  make_primitive_boxes(0.5 * alarm_distance);
  tree.refit(primitive_boxes_);
}

void FinderBody::refresh_whole_tree(double alarm_distance, double margin, double most) noexcept {
  if (is_fixed()) return refresh_tree(alarm_distance);
  if (!boxes_whole_) {
    boxes_whole_ = true;
    const auto count = static_cast<std::int32_t>(primitive_boxes_.size());
    for (std::int32_t p = 0; p < count; ++p)
      primitive_boxes_[as_size(p)] = compute_primitive_box(p, radius + 0.5 * alarm_distance + most);
  }
  make_primitive_boxes(0.5 * alarm_distance + margin);
  tree.refit(primitive_boxes_);
  tree_fresh_ = false;  // as others want it
}

bool FinderBody::find_inside(const Vec3& p, double max_depth, Inside& out) noexcept {
  out.distance = max_depth;
  if (convex) return find_inside_convex(p, max_depth, out);
  if (!surface_tree_) return false;
  if (!surface_tree_fresh_) {
    const bool in_part = surface_tree_whole_ && fresh_vertices.size() < features.vertices().size();
    in_part ? surface_tree_->refit(now, fresh_vertices) : surface_tree_->refit(now);
    surface_tree_fresh_ = surface_tree_whole_ = true;
  }
  const bool turned = rigid != nullptr;
  const Vec3 q = turned ? Vec3(pose.rotation.conjugate() * (p - pose.position)) : p;
  ClosestPoint c;
  if (!surface_tree_->find_closest(q, max_depth, c)) return false;
  out.distance = c.distance;
  Vec3 n = surface_tree_->pseudo_normal(c);
  const double height = (q - c.point).dot(n);
  if (!(height < 0.0)) return false;
  // On an edge or a vertex the way out is along the difference, not the pseudo-normal, which only tells the side.
  if (c.distance > 1e-9 * (box.size().norm())) n = (c.point - q) / c.distance;
  out = {c.triangle, c.barycentric, turned ? Vec3(pose.rotation * n) : n, c.distance, 0.0};
  return true;
}

bool FinderBody::find_inside_convex(const Vec3& p, double max_depth, Inside& out) const noexcept {
  const ConvexPolyhedron& solid = convex->polyhedron();
  const Vec3 q = pose.rotation.conjugate() * (p - pose.position);
  double height = -max_depth;
  std::size_t best = solid.faces.size();
  for (std::size_t f = 0; f < solid.faces.size(); ++f) {
    const double h = solid.faces[f].normal.dot(q) - solid.faces[f].offset;
    if (h >= 0.0) {
      out.distance = std::min(h, max_depth);
      return false;
    }
    if (h > height) {
      height = h;
      best = f;
    }
  }
  if (best == solid.faces.size()) return false;
  // A rigid body's foot is an offset: which triangle of the face it is does not matter.
  out = {0, Vec3::Zero(), pose.rotation * solid.faces[best].normal, -height, 0.0};
  return true;
}

}  // namespace palpate
