#include "opened_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>

#include "catalogue.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_file.h"
#include "palpate/geometry/tet_mesher.h"
#include "palpate/geometry/triangle_tree.h"
#include "palpate/methods/jacobian_settings.h"

namespace palpate {
namespace opened_file {

/// Hands move centimetres; a body of this length suits them [m].
constexpr double kHandy = 0.2;
constexpr double kTetsInCell = 12.0;  // see make_tets()

/// Tools, forces and recordings are named after scenes: of a name from elsewhere only what no path is made of stays.
std::string make_plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (plain || (!out.empty() && out.back() != '-')) out += plain ? c : '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  out = out.empty() ? "opened" : out.substr(0, 40);
  return is_builtin(out) ? out + "-file" : out;
}

std::string lower_ending(const std::string& name) {
  std::string ending = std::filesystem::path(name).extension().string();
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return ending;
}

/// Mesh files do not say their unit. What would be larger than a room is taken for millimetres; what would be too large
/// or too small for a hand is shown in a handy size. Either is told.
void suggest_scale(OpenedMesh& m) {
  const double extent = find_extent(m);
  if (extent >= 0.005 && extent <= 0.6) return;
  if (extent > 20.0 && extent <= 2000.0) {
    m.suggested.scale = 1e-3;
    m.units = fmt::format("Taken for millimetres: in metres it would be {:.3g} m long", extent);
  } else {
    m.suggested.scale = kHandy / extent;
    m.units = fmt::format("Shown {:.0f} cm long: in metres it would be {:.3g} m", 100.0 * kHandy, extent);
  }
}

std::string find_soft_refusal(const MeshReport& r) {
  if (r.non_manifold_edges > 0) return "more than two triangles meet at some of its edges, so that it has no inside";
  if (!r.closed) return "it is open, so that it has no inside";
  if (!r.consistent) return "its triangles do not agree which side is outside";
  return r.volume > 0.0 ? "" : "it encloses no volume";
}

/// The cell of about so many tets, in the file's unit.
double find_cell(const OpenedMesh& m, double tets) {
  return std::cbrt(kTetsInCell * m.report.volume / tets);
}

/// What a mesh tells about itself; `m.suggested.scale` is known.
void inspect(OpenedMesh& m) {
  m.report = check_mesh(m.mesh);
  m.holes = find_holes(m.mesh);
  m.crossings = static_cast<int>(find_self_intersections(m.mesh).size());
  m.refused_soft = find_soft_refusal(m.report);
  if (!m.refused_soft.empty()) return;
  try {
    m.suggested.cell = suggest_cell(m, m.suggested.scale);
    m.suggested.soft = true;
  } catch (const InputError& error) {
    m.refused_soft = error.what();
  }
}

OpenedMesh read_mesh(const Upload& upload) {
  LoadedMesh loaded = parse_mesh(upload.name, upload.bytes);
  if (loaded.mesh.triangles.size() > kMaxOpenedTriangles)
    fail_input("{}: {} triangles; a page may open up to {}. palpate view reads larger ones from a scene file",
               upload.name, loaded.mesh.triangles.size(), kMaxOpenedTriangles);
  OpenedMesh out;
  out.mesh = std::move(loaded.mesh);
  out.report = loaded.report;
  out.repaired = loaded.repair.describe();
  if (!(find_extent(out) > 0.0)) fail_input("{}: all its vertices are at one place", upload.name);
  suggest_scale(out);
  inspect(out);
  return out;
}

/// In words, with the lengths that the page shows.
std::string describe_faults(const OpenedMesh& m, double scale) {
  std::vector<MeshHole> holes = m.holes;
  for (MeshHole& h : holes) {
    h.centre *= scale;
    h.diameter *= scale;
  }
  std::string text;
  if (!holes.empty()) text = fmt::format("It has {}.", describe_holes(holes));
  if (m.crossings > 0)
    text += fmt::format("{}It passes through itself at {} pair{} of triangles: what it encloses counts once.",
                        text.empty() ? "" : " ", m.crossings, m.crossings == 1 ? "" : "s");
  return text;
}

/// Where a hand coming from above meets the body: as near to the area's centre, and where it looks up as much, as can
/// be.
Vec3 find_landing(const TriangleMesh& placed) {
  const BoundingBox box = compute_bounding_box(placed.vertices);
  Vec3 centre = Vec3::Zero();
  double area = 0.0;
  for (const auto& t : placed.triangles) {
    const Vec3 &a = placed.vertices[as_size(t[0])], &b = placed.vertices[as_size(t[1])],
               &c = placed.vertices[as_size(t[2])];
    const double s = (b - a).cross(c - a).norm();
    area += s;
    centre += s * (a + b + c) / 3.0;
  }
  if (area > 0.0) centre /= area;
  Vec3 best(centre.x(), box.upper.y(), centre.z());
  const double extent = box.size().maxCoeff();
  double least = std::numeric_limits<double>::infinity();
  for (const auto& t : placed.triangles) {
    const Vec3 &a = placed.vertices[as_size(t[0])], &b = placed.vertices[as_size(t[1])],
               &c = placed.vertices[as_size(t[2])];
    const Vec3 n = (b - a).cross(c - a), middle = (a + b + c) / 3.0;
    const double up = n.norm() > 0.0 ? n.y() / n.norm() : 0.0;
    const double away = std::hypot(middle.x() - centre.x(), middle.z() - centre.z()) + 0.5 * (1.0 - up) * extent;
    if (up < 0.5 || away >= least) continue;
    least = away;
    best = middle;
  }
  const TriangleTree tree(placed);
  const double above = box.upper.y() + 0.1 * extent, below = box.lower.y();
  SegmentHit hit;
  if (tree.find_first_hit(Vec3(best.x(), above, best.z()), Vec3(best.x(), below, best.z()), hit))
    best.y() = above + hit.t * (below - above);
  return best;
}

/// Soft enough for newtons: pressed in by a tenth of its length, a body of length L and Young's modulus E resists with
/// about E L²/100. One digit.
double suggest_modulus(double extent) {
  const double E = std::clamp(240.0 / (extent * extent), 1e3, 1e6);
  const double power = std::pow(10.0, std::floor(std::log10(E)));
  return power * std::round(E / power);
}

/// 30 Hz for kFewTets, and as slow as 10 Hz for more: what two shared cores held, with some to spare [s].
double suggest_slow_period(double tets) {
  return std::clamp(0.033 * tets / kFewTets, 0.033, 0.1);
}

SceneTool make_rod(double extent) {
  SceneTool tool;
  SceneRigidTool rod;
  rod.shape.kind = CapsuleShape{.radius = 0.05 * extent, .length = 0.35 * extent, .around = 16};
  rod.mass = 0.02;
  tool.kind = rod;
  tool.coupling = {.stiffness = 400.0, .damping = 1.0, .rotational_stiffness = 0.5, .rotational_damping = 0.001};
  return tool;
}

/// Presses the rod onto `landing`, strokes a little, and lets go.
SceneHand make_hand(const Vec3& landing, double extent, bool soft) {
  const double clear = 0.12 * extent;
  ScenePressAndSlidePath path;
  path.start = landing + Vec3(0.0, (0.05 + 0.175) * extent + clear, 0.0);
  path.direction = -Vec3::UnitY();
  path.depth = clear + (soft ? 0.1 * extent : 0.004);
  path.approach_time = 1.0;
  path.hold_time = 0.4;
  path.slide_direction = Vec3::UnitX();
  path.slide_distance = 0.08 * extent;
  path.slide_speed = 0.08 * extent;
  path.strokes = 2;
  path.retract_time = 0.7;
  SceneSimulatedHand hand;
  hand.path = path;
  SceneHand out;
  out.kind = hand;
  return out;
}

}  // namespace opened_file

double find_extent(const OpenedMesh& m) {
  return m.report.box.size().maxCoeff();
}

double suggest_cell(const OpenedMesh& m, double scale) {
  const TriangleTree tree(m.mesh);
  const double largest = find_largest_cell(m, 1.0), least = opened_file::find_cell(m, kManyTets);
  double cell = std::min(opened_file::find_cell(m, kFewTets), largest);
  for (;; cell *= 0.85) {
    const MeshReport solid = check_mesh(extract_surface(make_tets(tree, cell)).mesh);
    if (cell < least || describe_loss(m, 1.0, {solid.components, solid.volume}).empty()) return scale * cell;
  }
}

std::string describe_loss(const OpenedMesh& m, double scale, const MadeSolid& solid) {
  constexpr double kMissed = 0.06;  // of the volume; smooth bodies of many cells lose 2 or 3 %
  const double lost = 1.0 - solid.volume / (scale * scale * scale * m.report.volume);
  if (solid.parts <= m.report.components && lost < kMissed) return "";
  const std::string parts = solid.parts > m.report.components ? fmt::format("it falls into {} parts", solid.parts) : "";
  const std::string volume = lost >= kMissed ? fmt::format("{:.0f} % of its volume is lost", 100.0 * lost) : "";
  return fmt::format("With these cells {}{}{}: thin parts need smaller ones.", parts,
                     parts.empty() || volume.empty() ? "" : " and ", volume);
}

double find_least_cell(const OpenedMesh& m, double scale) {
  return scale * opened_file::find_cell(m, kMaxOpenedTets);
}

double find_largest_cell(const OpenedMesh& m, double scale) {
  return scale * find_extent(m) / 3.0;
}

OpenedMesh fill_opened(const std::string& name, const OpenedMesh& m) {
  OpenedMesh out = m;
  const MeshRepair repair = repair_mesh(out.mesh, {.fill_holes = true}, name);
  out.repaired += (out.repaired.empty() ? "" : ", ") + repair.describe();
  opened_file::inspect(out);
  return out;
}

bool is_allowed(const OpenedFile& file, const MeshChoice& c) {
  if (!file.mesh || (c.repair && file.mesh->holes.empty())) return false;
  const OpenedMesh& m = file.mesh_of(c);
  const double extent = c.scale * find_extent(m);
  if (!(c.scale > 0.0) || !(extent >= 1e-3 && extent <= 10.0)) return false;
  if (!c.soft) return true;
  if (c.cell == 0.0) return (c.repair && !file.filled) || m.refused_soft.empty();
  // The page's numbers have come through text and back.
  return m.refused_soft.empty() && c.cell >= 0.999 * find_least_cell(m, c.scale) &&
         c.cell <= 1.001 * find_largest_cell(m, c.scale);
}

Scene make_opened_scene(const std::string& name, const OpenedMesh& m, const MeshChoice& choice) {
  const Vec3 turn = choice.z_up ? Vec3(-0.5 * std::numbers::pi, 0.0, 0.0) : Vec3::Zero();
  const Quat rotation = rotation_from_vector(turn);
  const Vec3 middle = rotation * (0.5 * choice.scale * (m.report.box.lower + m.report.box.upper));
  TriangleMesh placed = m.mesh;
  for (Vec3& p : placed.vertices) p = rotation * (choice.scale * p) - middle;
  const BoundingBox box = compute_bounding_box(placed.vertices);
  const double extent = box.size().maxCoeff();

  Scene scene;
  scene.name = opened_file::make_plain(std::filesystem::path(name).stem().string());
  scene.description = fmt::format("{}, {}: a simulated hand presses a rod onto it, strokes it and lets go.", scene.name,
                                  choice.soft ? "soft" : "static");
  scene.world.gravity = Vec3::Zero();
  double& alarm = scene.world.contacts.alarm_distance;
  alarm = std::min(alarm, 0.05 * extent);
  SceneShape shape;
  shape.kind = MeshShape{.data = format_off(m.mesh), .scale = choice.scale};
  SceneBody body;
  body.name = scene.name;
  body.position = -middle;
  body.rotation = turn;
  body.friction = 0.2;
  if (choice.soft) {
    SceneSoft soft;
    soft.shape = shape;
    soft.cell = choice.cell;
    soft.material.young_modulus = opened_file::suggest_modulus(extent);
    soft.material.poisson_ratio = 0.4;
    soft.material.stiffness_damping = 0.005;
    const double held = std::max(0.12 * box.size().y(), 0.75 * choice.cell);
    soft.fixed.push_back({Vec3::Constant(-100.0), Vec3(100.0, box.lower.y() + held, 100.0)});
    body.kind = soft;
  } else {
    body.kind = SceneStatic{shape};
  }
  scene.bodies.push_back(body);
  const double tets = choice.soft ? std::pow(opened_file::find_cell(m, 1.0) * choice.scale / choice.cell, 3.0) : 0.0;
  set_slow_period(scene, opened_file::suggest_slow_period(tets));
  scene.run.seconds = 5.0;
  // Contacts that live in the fast loop are nearer to the truth, but a tick then takes most of its millisecond on
  // bodies of this size, which the slow loop lacks where there are two cores.
  scene.first().method = "jacobian";
  scene.methods.get<JacobianSettings>("jacobian").contacts = JacobianSettings::Contacts::kHeld;
  scene.first().tool = opened_file::make_rod(extent);
  scene.first().hand = opened_file::make_hand(opened_file::find_landing(placed), extent, choice.soft);
  return scene;
}

OpenedFile read_opened(const Upload& upload) {
  OpenedFile out;
  out.name = upload.name;
  if (upload.bytes.empty()) fail_input("{}: the file is empty", upload.name);
  const std::string ending = opened_file::lower_ending(upload.name);
  if (ending == ".json") {
    out.scene = parse_lone_scene(upload.bytes, upload.name);
    out.scene.name = opened_file::make_plain(out.scene.name);
    return out;
  }
  out.mesh = opened_file::read_mesh(upload);
  out.scene = make_opened_scene(out.name, *out.mesh, out.mesh->suggested);
  return out;
}

nlohmann::ordered_json make_json(const OpenedMesh& m, const MeshChoice& c, const std::optional<MadeSolid>& solid) {
  const Vec3 size = m.report.box.size();
  return {{"triangles", m.report.triangles},
          {"size", {size.x(), size.y(), size.z()}},
          {"faults", opened_file::describe_faults(m, c.scale)},
          {"can_repair", c.repair || !m.holes.empty()},
          {"repair", c.repair},
          {"repaired", m.repaired},
          {"refused_soft", m.refused_soft},
          {"units", m.units},
          {"suggested_scale", m.suggested.scale},
          {"soft", c.soft},
          {"scale", c.scale},
          {"z_up", c.z_up},
          {"cell", c.cell},
          {"cell_min", m.refused_soft.empty() ? find_least_cell(m, c.scale) : 0.0},
          {"cell_max", find_largest_cell(m, c.scale)},
          {"cell_suggested", c.scale * m.suggested.cell / m.suggested.scale},
          {"loss", c.soft && solid ? describe_loss(m, c.scale, *solid) : ""}};
}

}  // namespace palpate
