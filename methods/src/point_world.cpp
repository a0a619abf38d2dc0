#include "point_world.h"

#include <algorithm>
#include <cmath>

#include "palpate/world/point_slide.h"
#include "point_tool.h"

namespace palpate {
namespace {

/// How deep below a surface that has come up since an imposed proxy may lie and still be lifted onto it [m].
constexpr double kMaxLift = 0.03;

/// And this far above it: a point that lies on a surface to rounding is found now on its one side, now on the other
/// [m].
constexpr double kClear = 1e-6;

double pair_friction(double surface, double tool) noexcept {
  return std::isnan(tool) ? surface : std::sqrt(surface * tool);
}

}  // namespace

PointWorld::PointWorld(const MethodContext& c) : world_(c.world), tool_(c.body()), device_(c.start) {
  grip_.stiffness = c.tool.coupling.stiffness;
  grip_.damping = c.tool.coupling.damping;
  proxy_ = push_outside(c.world, c.start.pose.position, kMaxStartDepth);
  if (!world_.is_static()) {
    add_moving(c);
    return;
  }
  for (const StaticSurface& s : world_.static_surfaces()) {
    const TriangleMesh& mesh = s.surface.mesh();
    features_.push_back(std::make_unique<SurfaceFeatures>(mesh.triangles, mesh.vertices.size()));
    surfaces_.push_back({&s.surface, features_.back().get(), pair_friction(s.friction, c.tool.friction), -1});
  }
}

void PointWorld::add_moving(const MethodContext& c) {
  std::size_t most_entries = 16;
  for (std::size_t i = 0; i < world_.bodies().size(); ++i) {
    const WorldBody& b = world_.bodies()[i];
    if (static_cast<int>(i) == c.body() || b.shape.is<ContactShape::None>()) continue;
    const double friction = pair_friction(b.shape.friction, c.tool.friction);
    if (const auto* plane = b.shape.as<ContactShape::Plane>())
      planes_.push_back({plane->normal, plane->offset, friction});
    if (!b.body) continue;
    const BodySurface surface = b.body->surface();
    if (surface.triangles.empty()) continue;
    TriangleMesh mesh{{surface.positions.begin(), surface.positions.end()},
                      {surface.triangles.begin(), surface.triangles.end()}};
    features_.push_back(std::make_unique<SurfaceFeatures>(mesh.triangles, mesh.vertices.size()));
    const bool moves = b.body->block_count() > 0;
    trees_.push_back(
        std::make_unique<Moving>(Moving{static_cast<int>(surfaces_.size()), static_cast<int>(i),
                                        TriangleTree(std::move(mesh)), std::vector<Vec3>(surface.positions.size())}));
    surfaces_.push_back({&trees_.back()->tree, features_.back().get(), friction, moves ? static_cast<int>(i) : -1});
    most_entries = std::max(most_entries, as_size(b.body->max_row_entries()));
  }
  entries_.resize(most_entries);
}

StepWish PointWorld::begin(const PointFeedback& feedback) {
  if (feedback.header.sequence) {
    proxy_ = feedback.position;
    proxy_velocity_ = feedback.velocity;
    device_ = feedback.device;
  }
  if (tool_ >= 0) impose();
  return {.tick = true};
}

/// The tool takes the fast proxy's state and the hand's newest place. The proxy stands on the surface of one or two
/// steps ago; where the surface has come up since, it is lifted onto it, or the contact would be met from inside.
void PointWorld::impose() {
  for (const auto& m : trees_) {
    const BodySurface surface = world_.body(m->body)->surface();
    if (surfaces_[as_size(m->surface)].body >= 0) m->tree.refit(surface.positions);
  }
  Vec3 x = proxy_;
  TouchPoint nearest;
  if (find_closest(x, kMaxLift, nearest) && nearest.signed_distance < kClear)
    x = nearest.closest.point + kClear * nearest.normal;
  Body& tool = *world_.body(tool_);
  std::array<double, 6> state;
  Eigen::Map<Vec3>(state.data()) = x;
  Eigen::Map<Vec3>(state.data() + 3) = proxy_velocity_;
  tool.restore_state(state);
  grip_.target = device_.pose;
  grip_.target_velocity = device_.velocity;
  tool.set_grip(grip_);
}

void PointWorld::read_tick(const FreeTick& tick, StepReport& report) noexcept {
  const StageTimer timer(report, Stage::kModel);
  for (const auto& m : trees_) {
    if (surfaces_[as_size(m->surface)].body < 0) continue;
    world_.body(m->body)->predict_surface(tick.h(), tick.change(m->body), m->positions);
    m->tree.refit(m->positions);
  }
}

bool PointWorld::find_closest(const Vec3& p, double max_distance, TouchPoint& out) const noexcept {
  bool found = false;
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    ClosestPoint closest;
    const double limit = found ? std::abs(out.signed_distance) : max_distance;
    if (!surfaces_[i].tree->find_closest(p, limit, closest)) continue;
    out.closest = closest;
    out.normal = surfaces_[i].tree->pseudo_normal(closest);
    out.signed_distance = std::copysign(closest.distance, (p - closest.point).dot(out.normal));
    out.friction = surfaces_[i].friction;
    out.surface = static_cast<std::int32_t>(i);
    found = true;
  }
  for (const TouchPlane& plane : planes_) {
    const double distance = plane.normal.dot(p) - plane.offset;
    if (std::abs(distance) > (found ? std::abs(out.signed_distance) : max_distance)) continue;
    out = {{p - distance * plane.normal, std::abs(distance), -1, Vec3::Zero()},
           plane.normal,
           distance,
           plane.friction,
           -1};
    found = true;
  }
  return found;
}

bool PointWorld::compute_compliance(int surface, std::span<const BodyPoint> points, Eigen::MatrixXd& C) {
  Body& body = *world_.body(surfaces_[as_size(surface)].body);
  rows_.clear();
  for (const BodyPoint& p : points) {
    for (int axis = 0; axis < 3; ++axis) {
      rows_.begin_row();
      const int count = body.compute_point_row(p, Vec3::Unit(axis), entries_);
      for (int e = 0; e < count; ++e) rows_.add(entries_[as_size(e)].block, entries_[as_size(e)].value);
    }
  }
  C.setZero(rows_.rows(), rows_.rows());
  return body.add_compliance(1, rows_, C);
}

int PointWorld::max_points(int surface) const noexcept {
  return world_.body(surfaces_[as_size(surface)].body)->max_rows() / 3;
}

std::string PointWorld::refuse(const ToolInWorld& c) {
  if (!c.tool.is<HeldPoint>()) return "the hand must hold a point";
  if (!c.world.is_static() && c.body() < 0) return kNoBody;
  return {};
}

}  // namespace palpate
