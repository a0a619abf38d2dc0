#include "limited/patch_builder.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "palpate/geometry/closest_features.h"

namespace palpate::limited {
namespace {

/// Most triangles that are looked at before the nearest are kept.
constexpr std::size_t kMaxFound = 8192;
/// Farther than this nothing is looked for: no hand gets there within a slow period [m].
constexpr double kMaxRadius = 0.64;
/// Skin over the radius: far above rounding, far below anything felt.
constexpr double kSkin = 1e-8;
/// Below this nothing is trusted any more [m].
constexpr double kMinRadius = 1e-5;

using Triangle = LimitedPatch::Triangle;

}  // namespace

PatchBuilder::PatchBuilder(const LimitedSettings& settings, PointWorld& world, double ball)
    : settings_(settings), ball_(ball), world_(world), near_(kMaxFound), flipped_(world.surfaces().size()) {
  for (const TouchSurface& s : world.surfaces()) {
    local_vertex_.emplace_back(s.tree->mesh().vertices.size(), static_cast<std::int16_t>(-1));
    local_triangle_.emplace_back(s.tree->mesh().triangles.size(), static_cast<std::int16_t>(-1));
  }
}

void PatchBuilder::begin(const Vec3& centre, const Vec3& side, LimitedPatch& out, StepReport& report) {
  double reach = 0.0;
  {
    const StageTimer timer(report, Stage::kDetect);
    reach = find(centre, report);
    // An open surface has no inside: what counts is the side that the proxy is on.
    for (std::size_t i = 0; i < flipped_.size(); ++i) {
      const TouchSurface& s = world_.surfaces()[i];
      ClosestPoint c;
      if (s.features->is_closed() || !s.tree->find_closest(side, kMaxRadius, c)) continue;
      const double above = (side - c.point).dot(s.tree->pseudo_normal(c));
      if (std::abs(above) > 0.5 * kSkin * settings_.radius) flipped_[i] = above < 0.0;
    }
  }
  const StageTimer timer(report, Stage::kModel);
  forget();
  out.centre = centre;
  out.triangles = out.vertices = out.moving = 0;
  // Those of moving bodies first, so that vertices with compliance come first; each group from the nearest on.
  double covered = reach;
  for (const bool moving : {true, false}) {
    for (const Found& f : found_) {
      if (f.distance >= covered) break;
      const bool moves = f.surface >= 0 && world_.surfaces()[as_size(f.surface)].body >= 0;
      if (moves == moving && !add(f, centre, reach, out)) covered = std::min(covered, f.distance);
    }
    if (moving) {
      out.moves = out.triangles > 0 ? 1 : 0;
      out.moving = std::min({out.vertices, settings_.max_moving_vertices, LimitedPatch::kMaxMoving, most_compliant()});
    }
  }
  out.overflow = covered < reach || report.overflow ? 1 : 0;
  out.half_edge = std::max(0.0, covered - ball_) / std::sqrt(3.0);
  out.skin = kSkin * std::min(covered, settings_.radius);
}

void PatchBuilder::finish(LimitedPatch& out, StepReport& report) {
  const StageTimer timer(report, Stage::kModel);
  finish_triangles(out);
  fill_compliance(out);
}

/// What was kept for the last patch.
void PatchBuilder::forget() {
  for (const Found& k : kept_) {
    if (k.surface < 0) continue;
    const auto s = as_size(k.surface);
    const auto t = as_size(k.triangle);
    local_triangle_[s][t] = -1;
    for (const std::int32_t v : world_.surfaces()[s].tree->mesh().triangles[t]) local_vertex_[s][as_size(v)] = -1;
  }
  kept_.clear();
  moving_.clear();
}

/// Fills found_, sorted by distance, and returns how far it reaches.
double PatchBuilder::find(const Vec3& centre, StepReport& report) {
  double radius = settings_.radius + ball_;
  double reach = collect(centre, radius);
  while (found_.size() < as_size(settings_.max_constraints) / 64 && radius < kMaxRadius) {
    radius *= 2.0;
    reach = collect(centre, radius);
  }
  while (reach <= 0.0 && radius > kMinRadius) {  // more than were looked at: all that is known is that it is too wide
    radius *= 0.5;
    reach = collect(centre, radius);
  }
  if (radius < settings_.radius + ball_) report.overflow = true;
  std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
    return std::tie(a.distance, a.surface, a.triangle) < std::tie(b.distance, b.surface, b.triangle);
  });
  return std::max(reach, 0.0);
}

/// All triangles within `radius`; returns it, or 0 if there were too many to list.
double PatchBuilder::collect(const Vec3& centre, double radius) {
  found_.clear();
  for (std::size_t s = 0; s < world_.surfaces().size(); ++s) {
    const TriangleTree& tree = *world_.surfaces()[s].tree;
    const int count = tree.find_within(centre, radius, near_);
    if (as_size(count) > near_.size()) return 0.0;
    const TriangleMesh& mesh = tree.mesh();
    for (int i = 0; i < count; ++i) {
      const std::int32_t t = near_[as_size(i)];
      const auto& corner = mesh.triangles[as_size(t)];
      const Vec3& a = mesh.vertices[as_size(corner[0])];
      const Vec3& b = mesh.vertices[as_size(corner[1])];
      const Vec3& c = mesh.vertices[as_size(corner[2])];
      if (!(compute_area_normal(a, b, c).norm() > 0.0)) continue;  // its neighbours cover it
      const Vec3 w = closest_on_triangle(centre, a, b, c);
      found_.push_back({(w[0] * a + w[1] * b + w[2] * c - centre).norm(), static_cast<std::int32_t>(s), t});
    }
  }
  for (std::size_t i = 0; i < world_.planes().size(); ++i) {
    const TouchPlane& p = world_.planes()[i];
    const double distance = std::abs(p.normal.dot(centre) - p.offset);
    if (distance < radius) {
      found_.push_back({distance, -1 - static_cast<std::int32_t>(i), 0});
      found_.push_back({distance, -1 - static_cast<std::int32_t>(i), 1});
    }
  }
  return radius;
}

/// Vertices that every body that moves has room for.
int PatchBuilder::most_compliant() const {
  int most = LimitedPatch::kMaxMoving;
  for (std::size_t s = 0; s < world_.surfaces().size(); ++s) {
    if (world_.surfaces()[s].body >= 0) most = std::min(most, world_.max_points(static_cast<int>(s)));
  }
  return most;
}

/// False: no room.
bool PatchBuilder::add(const Found& f, const Vec3& centre, double reach, LimitedPatch& out) {
  if (out.triangles >= std::min(settings_.max_constraints, LimitedPatch::kMaxTriangles)) return false;
  if (out.vertices + 4 > LimitedPatch::kMaxVertices) return false;
  if (f.surface < 0) {
    add_plane(f, centre, reach, out);
    return true;
  }
  const auto s = as_size(f.surface);
  const TouchSurface& surface = world_.surfaces()[s];
  const bool moves = surface.body >= 0;
  Triangle& t = out.triangle[as_size(out.triangles)];
  const auto& corner = surface.tree->mesh().triangles[as_size(f.triangle)];
  const bool flip = flipped_[s];
  for (std::size_t i = 0; i < 3; ++i)
    t.vertex[i] = static_cast<std::int16_t>(add_vertex(f.surface, corner[flip ? 2 - i : i], out));
  t.moving = moves ? 1 : 0;
  t.friction = surface.friction;
  t.id = (static_cast<std::int64_t>(f.surface) << 32) | f.triangle;
  local_triangle_[s][as_size(f.triangle)] = static_cast<std::int16_t>(out.triangles);
  kept_.push_back(f);
  ++out.triangles;
  return true;
}

int PatchBuilder::add_vertex(std::int32_t surface, std::int32_t vertex, LimitedPatch& out) {
  const auto s = as_size(surface);
  std::int16_t& local = local_vertex_[s][as_size(vertex)];
  if (local < 0) {
    local = static_cast<std::int16_t>(out.vertices);
    out.position[as_size(out.vertices)] = world_.surfaces()[s].tree->mesh().vertices[as_size(vertex)];
    if (world_.surfaces()[s].body >= 0) moving_.push_back({surface, vertex});
    ++out.vertices;
  }
  return local;
}

/// A plane is two triangles that are wider than the patch.
void PatchBuilder::add_plane(const Found& f, const Vec3& centre, double reach, LimitedPatch& out) {
  const TouchPlane& plane = world_.planes()[as_size(-1 - f.surface)];
  Vec3 t1, t2;
  make_tangents(plane.normal, t1, t2);
  const Vec3 foot = centre - (plane.normal.dot(centre) - plane.offset) * plane.normal;
  const double half = 4.0 * reach;
  const bool first = f.triangle == 0;
  const std::array<Vec3, 3> corner = {foot - half * (t1 + t2),
                                      first ? Vec3(foot + half * (t1 - t2)) : Vec3(foot + half * (t1 + t2)),
                                      first ? Vec3(foot + half * (t1 + t2)) : Vec3(foot + half * (t2 - t1))};
  Triangle& t = out.triangle[as_size(out.triangles)];
  for (std::size_t i = 0; i < 3; ++i) {
    t.vertex[i] = static_cast<std::int16_t>(out.vertices);
    out.position[as_size(out.vertices)] = corner[i];
    ++out.vertices;
  }
  t.moving = 0;
  t.friction = plane.friction;
  t.id = static_cast<std::int64_t>(f.surface) * 2 - f.triangle;
  kept_.push_back(f);
  ++out.triangles;
}

/// Normals, bounds, neighbours and depths, when all triangles are there.
void PatchBuilder::finish_triangles(LimitedPatch& out) {
  for (std::size_t i = 0; i < as_size(out.triangles); ++i) {
    Triangle& t = out.triangle[i];
    const auto at = [&](std::size_t c) -> const Vec3& { return out.position[as_size(t.vertex[c])]; };
    t.normal = compute_area_normal(at(0), at(1), at(2)).normalized();
    Vec3& middle = out.middle[i];
    middle = (at(0) + at(1) + at(2)) / 3.0;
    out.extent[i] = std::sqrt(
        std::max({(at(0) - middle).squaredNorm(), (at(1) - middle).squaredNorm(), (at(2) - middle).squaredNorm()}));
    t.neighbour = {-1, -1, -1};
    t.compliant = t.moving && std::max({t.vertex[0], t.vertex[1], t.vertex[2]}) < out.moving ? 1 : 0;
    const Found& f = kept_[i];
    if (f.surface >= 0) {
      const auto s = as_size(f.surface);
      const SurfaceFeatures& features = *world_.surfaces()[s].features;
      for (std::size_t e = 0; e < 3; ++e) {
        // The corners of a flipped triangle are 2, 1, 0: its edges are those between 2 and 1, 1 and 0, 0 and 2.
        const std::size_t edge = flipped_[s] ? (4 - e) % 3 : e;
        const auto index = features.triangle_edges(f.triangle)[edge];
        const SurfaceFeatures::Edge& shared = features.edges()[as_size(index)];
        const std::int32_t other = shared.triangle[0] == f.triangle ? shared.triangle[1] : shared.triangle[0];
        if (other >= 0) t.neighbour[e] = local_triangle_[s][as_size(other)];
      }
    } else {
      // The two triangles of a plane lie in a row and share the edge from corner 0 to the far one.
      for (std::size_t k = 0; k < as_size(out.triangles); ++k) {
        if (k != i && kept_[k].surface == f.surface)
          t.neighbour[f.triangle == 0 ? 2 : 0] = static_cast<std::int16_t>(k);
      }
    }
    t.depth = compute_depth(f, t, middle);
  }
}

/// Half of the body's thickness below the triangle, at most the setting.
double PatchBuilder::compute_depth(const Found& f, const Triangle& t, const Vec3& middle) const {
  if (f.surface < 0) return settings_.depth;
  const double most = 2.0 * settings_.depth;
  const double inside = 1e-6 * settings_.depth;
  SegmentHit hit;
  const TriangleTree& tree = *world_.surfaces()[as_size(f.surface)].tree;
  if (!tree.find_first_hit(middle - inside * t.normal, middle - most * t.normal, hit)) return settings_.depth;
  return 0.5 * (inside + hit.t * (most - inside));
}

void PatchBuilder::fill_compliance(LimitedPatch& out) {
  const int n = 3 * out.moving;
  std::fill_n(out.C.begin(), n * n, 0.0);
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(world_.surfaces().size()); ++s) {
    points_.clear();
    slots_.clear();
    for (std::size_t m = 0; m < as_size(out.moving); ++m) {
      if (moving_[m].surface != s) continue;
      const SurfaceFeatures::Corner corner = world_.surfaces()[as_size(s)].features->corner_of(moving_[m].vertex);
      points_.push_back(BodyPoint::on_surface(corner.triangle, Vec3::Unit(corner.corner)));
      slots_.push_back(static_cast<int>(m));
    }
    if (points_.empty() || !world_.compute_compliance(s, points_, C_)) continue;
    for (std::size_t j = 0; j < slots_.size(); ++j) {
      for (int c = 0; c < 3; ++c) {
        double* column = out.C.data() + static_cast<std::ptrdiff_t>(n) * (3 * slots_[j] + c);
        for (std::size_t i = 0; i < slots_.size(); ++i) {
          for (int r = 0; r < 3; ++r)
            column[3 * slots_[i] + r] = C_(3 * static_cast<int>(i) + r, 3 * static_cast<int>(j) + c);
        }
      }
    }
  }
}

}  // namespace palpate::limited
