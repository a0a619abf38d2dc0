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

PointWorld::PointWorld(const MethodContext& c)
    : world_(c.world), moves_(!c.world.is_static()), time_steps_{c.slow_period, c.dt}, device_(c.start) {
  grip_.stiffness = c.tool.coupling.stiffness;
  grip_.damping = c.tool.coupling.damping;
  proxy_ = c.start.pose.position;
  if (moves_) {
    add_moving(c.tool);
    if (allow_two_threads()) second_ = std::make_unique<SecondThread>();
    return;
  }
  proxy_ = push_outside(c.world, proxy_, kMaxStartDepth);
  for (const StaticSurface& s : world_.static_surfaces()) {
    const TriangleMesh& mesh = s.surface.mesh();
    features_.push_back(std::make_unique<SurfaceFeatures>(mesh.triangles, mesh.vertices.size()));
    surfaces_.push_back({&s.surface, features_.back().get(), pair_friction(s.friction, c.tool.friction), -1});
  }
}

void PointWorld::add_moving(const ToolSettings& tool) {
  std::size_t most_entries = 16;
  for (std::size_t i = 0; i < world_.bodies().size(); ++i) {
    const WorldBody& b = world_.bodies()[i];
    if (static_cast<int>(i) == world_.tool() || b.shape.kind == ContactShape::Kind::kNone) continue;
    const double friction = pair_friction(b.shape.friction, tool.friction);
    if (b.shape.kind == ContactShape::Kind::kPlane) planes_.push_back({b.shape.normal, b.shape.offset, friction});
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
    most_entries = std::max(most_entries, static_cast<std::size_t>(b.body->max_row_entries()));
  }
  entries_.resize(most_entries);
}

bool PointWorld::allow_two_threads() const noexcept {
  bool any = false;
  for (const TouchSurface& s : surfaces_) {
    if (s.body < 0) continue;
    if (!world_.bodies()[static_cast<std::size_t>(s.body)].body->allows_two_threads()) return false;
    any = true;
  }
  return any;
}

bool PointWorld::begin_step(const PointFeedback& feedback, StepReport& report, const Publish& publish) {
  if (feedback.header.sequence) {
    proxy_ = feedback.position;
    proxy_velocity_ = feedback.velocity;
    device_ = feedback.device;
  }
  if (!moves_) {
    publish(report);
    return true;
  }
  {
    const StageTimer timer(report, Stage::kFree);
    impose();
    if (!world_.begin_free_motion(time_steps_)) return false;
  }
  struct Task {
    PointWorld& world;
    const Publish& publish;
    StepReport report;  ///< its own, for the other thread writes to the step's
    bool good;

    static void run(void* self) noexcept {
      Task& task = *static_cast<Task*>(self);
      task.good = task.world.predict(task.report);
      if (task.good) task.publish(task.report);
    }
  };
  Task task{*this, publish, {}, false};
  if (second_) second_->start(&Task::run, &task);
  const bool good = meet_contacts(report);
  if (second_) {
    second_->wait();
  } else if (good) {
    Task::run(&task);
  }
  for (std::size_t i = 0; i < kStageCount; ++i) {
    const double time = task.report.stage_time[i];
    double& total = report.stage_time[i];
    if (!std::isnan(time)) total = std::isnan(total) ? time : total + time;
  }
  report.overflow = report.overflow || task.report.overflow;
  return good && task.good;
}

/// Of the slow step. False: a system could not be factored, or a body has no room for them.
bool PointWorld::meet_contacts(StepReport& report) {
  {
    const StageTimer timer(report, Stage::kFree);
    if (!world_.finish_free_motion(0)) return false;
  }
  return world_.solve_contacts(report);
}

void PointWorld::end_step(StepReport& report) {
  if (!moves_) return;
  const StageTimer timer(report, Stage::kCorrect);
  world_.advance();
}

/// The tool takes the fast proxy's state and the hand's newest place. The proxy stands on the surface of one or two
/// steps ago; where the surface has come up since, it is lifted onto it, or the contact would be met from inside.
void PointWorld::impose() {
  for (const auto& m : trees_) {
    const BodySurface surface = world_.bodies()[static_cast<std::size_t>(m->body)].body->surface();
    if (surfaces_[static_cast<std::size_t>(m->surface)].body >= 0) m->tree.refit(surface.positions);
  }
  Vec3 x = proxy_;
  TouchPoint nearest;
  if (find_closest(x, kMaxLift, nearest) && nearest.signed_distance < kClear)
    x = nearest.closest.point + kClear * nearest.normal;
  Body& tool = *world_.bodies()[static_cast<std::size_t>(world_.tool())].body;
  std::array<double, 6> state;
  Eigen::Map<Vec3>(state.data()) = x;
  Eigen::Map<Vec3>(state.data() + 3) = proxy_velocity_;
  tool.restore_state(state);
  grip_.target = device_.pose;
  grip_.target_velocity = device_.velocity;
  tool.set_grip(grip_);
}

/// The surfaces after one free tick. False: a system could not be factored.
bool PointWorld::predict(StepReport& report) {
  {
    const StageTimer timer(report, Stage::kFree);
    if (!world_.finish_free_motion(1)) return false;
  }
  const StageTimer timer(report, Stage::kModel);
  for (const auto& m : trees_) {
    if (surfaces_[static_cast<std::size_t>(m->surface)].body < 0) continue;
    const Body& body = *world_.bodies()[static_cast<std::size_t>(m->body)].body;
    body.predict_surface(time_steps_[1], world_.free_change(m->body, 1), m->positions);
    m->tree.refit(m->positions);
  }
  return true;
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
  Body& body = *world_.bodies()[static_cast<std::size_t>(surfaces_[static_cast<std::size_t>(surface)].body)].body;
  rows_.clear();
  for (const BodyPoint& p : points) {
    for (int axis = 0; axis < 3; ++axis) {
      rows_.begin_row();
      const int count = body.compute_point_row(p, Vec3::Unit(axis), entries_);
      for (int e = 0; e < count; ++e)
        rows_.add(entries_[static_cast<std::size_t>(e)].block, entries_[static_cast<std::size_t>(e)].value);
    }
  }
  C.setZero(rows_.rows(), rows_.rows());
  return body.add_compliance(1, rows_, C);
}

int PointWorld::max_points(int surface) const noexcept {
  return world_.bodies()[static_cast<std::size_t>(surfaces_[static_cast<std::size_t>(surface)].body)].body->max_rows() /
         3;
}

std::string PointWorld::refuse(const World& world, const ToolSettings& tool) {
  if (tool.kind != ToolSettings::Kind::kPoint) return "the hand must hold a point";
  if (!world.is_static() && world.tool() < 0) return "the world has no tool in it";
  if (tool.radius > 0.0) return "the point must have no radius";
  return {};
}

}  // namespace palpate
