#include "palpate/scene/warnings.h"

#include <algorithm>
#include <cmath>

#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/fem_body.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/mesh_file.h"
#include "palpate/geometry/solid_fit.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/methods/live_limits.h"

namespace palpate {
namespace {

/// Nearer than this counts as near [m]: people place hands by eye.
constexpr double kNear = 0.01;
/// Deeper than this counts as inside [m]: a tool that lies on a body is not in it.
constexpr double kInside = 0.001;

TriangleMesh copy_surface(const Body& body) {
  const BodySurface s = body.surface();
  return {{s.positions.begin(), s.positions.end()}, {s.triangles.begin(), s.triangles.end()}};
}

/// A body as it is at the start, to measure distances from.
struct Obstacle {
  const std::string* name;
  std::optional<TriangleTree> own;        ///< of a body that moves
  const TriangleTree* surface = nullptr;  ///< null: a plane, or beams
  bool closed = false;
  const ContactShape::Plane* plane = nullptr;
  std::vector<Vec3> beams{};  ///< nodes of a chain

  double find_distance(const Vec3& p) const {
    if (plane) return plane->normal.dot(p) - plane->offset;
    if (surface) {
      if (closed) return surface->signed_distance(p);
      ClosestPoint closest;
      surface->find_closest(p, std::numeric_limits<double>::infinity(), closest);
      return closest.distance;
    }
    double least = std::numeric_limits<double>::infinity();
    for (const Vec3& node : beams) least = std::min(least, (p - node).norm());
    return least;
  }
};

std::vector<Obstacle> list_obstacles(const World& world) {
  std::vector<Obstacle> out;
  out.reserve(world.bodies().size() + world.static_surfaces().size());
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    const WorldBody& body = world.bodies()[i];
    if (world.is_tool(static_cast<int>(i)) || (body.body && body.body->block_count() == 0)) continue;
    Obstacle& o = out.emplace_back(&body.name);
    o.plane = std::get_if<ContactShape::Plane>(&body.shape.kind);
    if (!body.body) continue;
    TriangleMesh mesh = copy_surface(*body.body);
    if (mesh.triangles.empty()) {
      o.beams = mesh.vertices;
      if (const auto* chain = dynamic_cast<const BeamChain*>(body.body.get()); chain && o.beams.empty()) {
        for (int n = 0; n < chain->node_count(); ++n) o.beams.push_back(chain->node_pose(n).position);
      }
      continue;
    }
    o.closed = check_mesh(mesh).closed;
    o.surface = &o.own.emplace(std::move(mesh));
  }
  for (const StaticSurface& s : world.static_surfaces()) {
    Obstacle& o = out.emplace_back(&s.name);
    o.surface = &s.surface;
    o.closed = check_mesh(s.surface.mesh()).closed;
  }
  return out;
}

/// Points of the tool in the handle's frame, and how much thicker it is than these [m].
struct ToolPoints {
  std::vector<Vec3> points;
  double radius = 0.0;
};

ToolPoints list_tool_points(const ToolSettings& tool) {
  ToolPoints out{{}, tool.radius()};
  constexpr std::size_t kMost = 200;  // of a finely divided tool, every so many
  const auto add = [&](const std::vector<Vec3>& vertices) {
    const std::size_t stride = std::max<std::size_t>(1, vertices.size() / kMost);
    for (std::size_t i = 0; i < vertices.size(); i += stride) out.points.push_back(vertices[i]);
  };
  if (const auto* rigid = tool.as<HeldRigid>()) add(rigid->surface.vertices);
  if (const auto* soft = tool.as<HeldSoft>()) add(soft->volume.vertices);
  const auto* chain = tool.as<HeldChain>();
  for (int i = 0; chain && i <= chain->beams; ++i)
    out.points.push_back(-chain->length * i / chain->beams * Vec3::UnitY());
  if (const auto* held = tool.as<HeldFingers>()) {
    for (const Finger& finger : held->fingers) {
      for (const Pose& pose : {finger.open, finger.closed}) {
        out.points.push_back(pose.position);
        for (const Vec3& v : finger.surface.vertices) out.points.push_back(pose.rotation * v + pose.position);
      }
      if (finger.surface.vertices.empty()) out.radius = std::max(out.radius, finger.radius);
    }
  }
  if (out.points.empty()) out.points.push_back(Vec3::Zero());
  return out;
}

/// Where the hand is at a time: a simulated one as if nothing resisted it.
std::function<Pose(double)> follow_hand(const Scene& scene, std::size_t tool) {
  SceneHand hand = scene.tools.at(tool).hand;
  if (const ScenePath* path = find_path(hand)) {
    return [path = std::shared_ptr<HandPath>(make_path(*path))](double t) { return path->at(t).pose; };
  }
  return [device = std::shared_ptr<Device>(make_device(scene, tool))](double t) { return device->read(t).pose; };
}

bool is_tied(const World& world, int body) {
  return std::any_of(world.joints().begin(), world.joints().end(),
                     [&](const Joint& joint) { return joint.body_a == body || joint.body_b == body; });
}

/// Whether something lies below a body, along gravity, that could bear it. Without gravity several tools can hold it.
bool is_borne(const World& world, std::size_t body, const std::vector<Vec3>& positions) {
  const Vec3 gravity = world.settings().gravity;
  if (!(gravity.norm() > 0.0)) return world.tools().size() > 1;
  const Vec3 down = gravity.normalized();
  const BoundingBox box = compute_bounding_box(positions);
  const Vec3 lowest = box.center() + 0.5 * box.size().cwiseAbs().dot(down.cwiseAbs()) * down;
  for (const WorldBody& other : world.bodies()) {
    if (&other == &world.bodies()[body] || world.is_tool(static_cast<int>(&other - world.bodies().data()))) continue;
    if (const auto* plane = std::get_if<ContactShape::Plane>(&other.shape.kind)) {
      if (plane->normal.dot(down) < 0.0) return true;
    } else if (other.body && other.body->block_count() > 0) {
      const BoundingBox under = compute_bounding_box(other.body->surface().positions);
      if (!under.is_empty() && (under.center() - box.center()).dot(down) > 0.0) return true;
    }
  }
  for (const StaticSurface& s : world.static_surfaces()) {
    SegmentHit hit;
    const double far = 10.0 * box.size().norm() + 1.0;
    for (const Vec3& p : {lowest, box.center()}) {
      if (s.surface.find_first_hit(p - 1e-3 * box.size().norm() * down, p + far * down, hit)) return true;
    }
    if ((compute_bounding_box(s.surface.mesh().vertices).center() - box.center()).dot(down) > 0.0) return true;
  }
  return false;
}

const SceneShape* shape_of(const SceneBody& body) {
  if (const auto* s = std::get_if<SceneStatic>(&body.kind)) return &s->shape;
  if (const auto* s = std::get_if<SceneRigid>(&body.kind)) return &s->shape;
  if (const auto* s = std::get_if<SceneSoft>(&body.kind); s && s->shape) return &*s->shape;
  return nullptr;
}

/// About what a body's own shape and file are like.
void warn_of_shape(const Scene& scene, const World& world, const SceneBody& body, std::vector<std::string>& out) {
  const SceneShape* shape = shape_of(body);
  const auto* file = shape ? std::get_if<MeshShape>(&shape->kind) : nullptr;
  if (!file) return;
  TriangleMesh surface = make_surface(*shape, scene.source.file);
  const double size = compute_bounding_box(surface.vertices).size().maxCoeff();
  if (const std::string large = describe_large_mesh(size, *file); !large.empty())
    out.push_back(fmt::format("body \"{}\" is {}", name_of(body), large));
  const auto* soft = std::get_if<SceneSoft>(&body.kind);
  if (!soft || soft->model == SceneSoft::Model::kHexes) return;
  const auto made = std::find_if(world.bodies().begin(), world.bodies().end(),
                                 [&](const WorldBody& b) { return b.body && b.name == name_of(body); });
  if (made == world.bodies().end()) return;
  const Quat rotation = rotation_from_vector(body.rotation);
  for (Vec3& v : surface.vertices) v = rotation * v + body.position;
  const TriangleTree tree(std::move(surface));
  const std::string lost = compare_solid(tree, copy_surface(*made->body), soft->cell).describe();
  const std::string finer = describe_refinement(tree, as_size(made->body->block_count()), soft->cell);
  for (const std::string& what : {lost, finer}) {
    if (!what.empty()) out.push_back(fmt::format("body \"{}\": {}", name_of(body), what));
  }
}

void warn_of_hand(const Scene& scene, const World& world, std::size_t tool, std::vector<std::string>& out) {
  const Approach a = find_approach(scene, world, tool);
  const std::string who = scene.tools.size() == 1 ? "" : scene.tools[tool].name + ": ";
  // A wire bends out of what it was laid through and may be tied to it; of fingers the closed ones are looked at too.
  const auto& kind = scene.tools[tool].tool.kind;
  const bool may = std::holds_alternative<SceneChainTool>(kind) || std::holds_alternative<SceneFingersTool>(kind);
  if (a.start < -kInside && !may)
    out.push_back(fmt::format("{}the tool starts {:.3g} m inside \"{}\"; begin the path outside it", who, -a.start,
                              a.start_body));
  if (a.nearest > kNear)
    out.push_back(fmt::format(
        "{}the hand never comes near a body: the least distance on its path is {:.3g} m, to \"{}\" at {:.3g} s", who,
        a.nearest, a.body, a.time));
}

}  // namespace

Approach find_approach(const Scene& scene, const World& world, std::size_t tool) {
  const std::vector<Obstacle> obstacles = list_obstacles(world);
  const ToolPoints shape = list_tool_points(make_tool_settings(scene, tool));
  const std::function<Pose(double)> hand = follow_hand(scene, tool);
  constexpr int kSamples = 400;
  Approach out;
  for (int i = 0; i <= kSamples; ++i) {
    const double t = scene.run.seconds * i / kSamples;
    const Pose pose = hand(t);
    for (const Obstacle& obstacle : obstacles) {
      for (const Vec3& p : shape.points) {
        const double distance = obstacle.find_distance(pose.rotation * p + pose.position) - shape.radius;
        if (i == 0 && distance < out.start) {
          out.start = distance;
          out.start_body = *obstacle.name;
        }
        if (distance >= out.nearest) continue;
        out.nearest = distance;
        out.time = t;
        out.body = *obstacle.name;
      }
    }
  }
  return out;
}

double compute_mass(const WorldBody& body) {
  double sum = 0.0;
  if (const auto* rigid = dynamic_cast<const RigidBody*>(body.body.get())) sum = rigid->mass();
  if (const auto* soft = dynamic_cast<const FemBody*>(body.body.get())) {
    for (const double mass : soft->masses()) sum += mass;
  }
  if (const auto* chain = dynamic_cast<const BeamChain*>(body.body.get())) sum = chain->compute_mass();
  return sum;
}

int count_fixed(const WorldBody& body) {
  int fixed = 0;
  for (int i = 0; body.body && i < body.body->block_count(); ++i) fixed += body.body->is_prescribed(i);
  return dynamic_cast<const BeamChain*>(body.body.get()) ? fixed / 2 : fixed;
}

std::size_t count_rigid(const Scene& scene) {
  std::size_t count = 0;
  for (const SceneBody& body : scene.bodies) {
    if (const auto* rigid = std::get_if<SceneRigid>(&body.kind))
      count += as_size(rigid->copies.x) * as_size(rigid->copies.y) * as_size(rigid->copies.z);
  }
  return count;
}

std::string find_method_warning(const Scene& scene, std::string_view method) {
  const auto is_tied = [&](const SceneBody& body) {
    return std::ranges::any_of(scene.joints,
                               [&](const SceneJoint& j) { return j.a == name_of(body) || j.b == name_of(body); });
  };
  const auto is_soft = [](const SceneBody& body) { return std::holds_alternative<SceneSoft>(body.kind); };
  const auto is_loose = [&](const SceneBody& body) {
    return std::holds_alternative<SceneRigid>(body.kind) && !is_tied(body);
  };
  // What moves bodies by a law of its own shares its world with no other tool.
  const bool alone = scene.tools.size() == 1;
  if ((method == "limited" || method == "halfspace") && std::ranges::any_of(scene.bodies, is_soft))
    return fmt::format(
        "method {}: between two slow steps a soft surface is a wall to it, so that its force is further from the truth "
        "than the last one held (\"direct\"); take {}\"jacobian\", or ask `palpate advise`",
        method, alone ? "\"reduced\" or " : "");
  // With live contacts a few rigid bodies are in its tick as themselves.
  const bool live = method == "compliance" && alone && count_rigid(scene) <= kMaxLiveRigid &&
                    scene.methods.get<ComplianceSettings>("compliance").contacts == ComplianceSettings::Contacts::kLive;
  if ((method == "compliance" || method == "double_coupling") && !live && std::ranges::any_of(scene.bodies, is_loose) &&
      std::ranges::none_of(scene.bodies, is_soft))
    return fmt::format(
        "method {}: it is made for soft bodies; where rigid ones lie loose its bodies come to lie elsewhere than they "
        "would, and its force is further from the truth than the last one held (\"direct\"); take {}\"jacobian\", or "
        "ask `palpate advise`",
        method, alone ? "\"reduced\" for a few bodies, \"accelerance\" or " : "");
  return {};
}

std::vector<std::string> find_method_warnings(const Scene& scene, const std::string& method) {
  std::vector<std::string> out;
  for (const HeldTool& held : scene.tools) {
    std::string warning = find_method_warning(scene, method.empty() ? held.method : method);
    if (!warning.empty() && std::ranges::find(out, warning) == out.end()) out.push_back(std::move(warning));
  }
  return out;
}

std::vector<std::string> find_world_warnings(const Scene& scene, const World& world) {
  std::vector<std::string> out;
  for (const SceneBody& body : scene.bodies) warn_of_shape(scene, world, body, out);
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    const WorldBody& body = world.bodies()[i];
    const auto* soft = dynamic_cast<const FemBody*>(body.body.get());
    if (!soft || world.is_tool(static_cast<int>(i)) || count_fixed(body) > 0 || is_tied(world, static_cast<int>(i)))
      continue;
    if (is_borne(world, i, {soft->positions().begin(), soft->positions().end()})) continue;
    out.push_back(
        fmt::format("nothing holds \"{}\": it has no \"fixed\" nodes, no joint and nothing below it", body.name));
  }
  for (std::size_t i = 0; i < scene.tools.size(); ++i) warn_of_hand(scene, world, i, out);
  return out;
}

}  // namespace palpate
