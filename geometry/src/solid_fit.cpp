#include "palpate/geometry/solid_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "palpate/geometry/mesh_check.h"
#include "winding.h"

namespace palpate {
namespace {

constexpr double kAllowedVolumeChange = 0.05;

SurfaceSample probe(const TriangleTree& surface, const Vec3& p, const Vec3& normal, double cell) {
  SurfaceSample sample{p, normal, 2.0 * cell, false};
  SegmentHit hit;
  const double skip = 1e-6 * cell;
  if (surface.find_first_hit(p - skip * normal, p - 2.0 * cell * normal, hit)) {
    sample.thickness = skip + hit.t * (2.0 * cell - skip);
    sample.is_sheet = hit.normal.dot(normal) < -0.9;
  }
  return sample;
}

}  // namespace

double compute_enclosed_volume(const TriangleMesh& surface) {
  constexpr double kPoints = 40.0;  // along the longest side
  const WindingNumber winding(surface);
  const BoundingBox box = compute_bounding_box(surface.vertices);
  const double spacing = box.size().maxCoeff() / kPoints;
  const Eigen::Vector3i count = (box.size() / spacing).array().ceil().max(1.0).cast<int>();
  const Vec3 step = (box.size().array() / count.cast<double>().array()).matrix();
  std::int64_t too_many = 0;  // turns around points; these are off the middle of their cubes, where surfaces like to be
  for (int i = 0; i < count.x(); ++i) {
    for (int j = 0; j < count.y(); ++j) {
      for (int k = 0; k < count.z(); ++k) {
        const Vec3 p = box.lower + Vec3(i + 0.4871, j + 0.5113, k + 0.4957).cwiseProduct(step);
        const int turns = winding.compute(p);
        too_many += turns > 0 ? turns - 1 : turns;
      }
    }
  }
  return compute_volume(surface) - static_cast<double>(too_many) * step.prod();
}

std::vector<SurfaceSample> sample_surface(const TriangleTree& surface, double cell) {
  const TriangleMesh& mesh = surface.mesh();
  const BoundingBox box = compute_bounding_box(mesh.vertices);
  const double spacing = std::min(cell / 3.0, box.size().maxCoeff() / 40.0);
  std::set<std::array<std::int64_t, 3>> taken;  // one sample a small cube, however fine the triangles are
  std::vector<SurfaceSample> out;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& [i, j, k] = mesh.triangles[t];
    const Vec3 &a = mesh.vertices[i], &b = mesh.vertices[j], &c = mesh.vertices[k];
    const Vec3 normal = compute_unit_normal(mesh, static_cast<std::int32_t>(t));
    if (!(normal.squaredNorm() > 0.0)) continue;
    const double longest = std::max({(b - a).norm(), (c - b).norm(), (a - c).norm()});
    const int n = static_cast<int>(std::clamp(std::ceil(longest / spacing), 1.0, 1000.0));
    for (int u = 0; u < n; ++u) {
      for (int v = 0; u + v < n; ++v) {
        const double x = (u + 1.0 / 3.0) / n, y = (v + 1.0 / 3.0) / n;
        const Vec3 p = a + x * (b - a) + y * (c - a);
        const Vec3 bin = ((p - box.lower) / spacing).array().floor();
        if (taken.insert({std::llround(bin.x()), std::llround(bin.y()), std::llround(bin.z())}).second)
          out.push_back(probe(surface, p, normal, cell));
      }
    }
  }
  return out;
}

std::vector<SurfaceSample> find_lost(const std::vector<SurfaceSample>& samples, const TriangleTree& boundary,
                                     double cell) {
  std::vector<SurfaceSample> out;
  for (const SurfaceSample& s : samples) {
    const double allowed = s.is_sheet ? std::min(0.75 * cell, 0.25 * std::max(s.thickness, cell / 16.0)) : 0.75 * cell;
    if (boundary.signed_distance(s.position) > allowed) out.push_back(s);
  }
  return out;
}

SolidFit compare_solid(const TriangleTree& surface, const TriangleMesh& boundary, double cell) {
  SolidFit fit;
  fit.cell = cell;
  const MeshReport of_surface = check_mesh(surface.mesh()), of_boundary = check_mesh(boundary);
  const double volume = compute_volume(boundary);
  fit.volume_change = volume / of_surface.volume - 1.0;
  if (std::abs(fit.volume_change) > kAllowedVolumeChange)
    fit.volume_change = volume / compute_enclosed_volume(surface.mesh()) - 1.0;
  fit.lower_loss = of_boundary.box.lower - of_surface.box.lower;
  fit.upper_loss = of_surface.box.upper - of_boundary.box.upper;
  fit.parts = of_boundary.components;
  fit.surface_parts = of_surface.components;
  const TriangleTree tree(boundary);
  const std::vector<SurfaceSample> samples = sample_surface(surface, cell);
  const std::vector<SurfaceSample> lost = find_lost(samples, tree, cell);
  fit.lost_share = static_cast<double>(lost.size()) / static_cast<double>(std::max<std::size_t>(samples.size(), 1));
  // A cell of the body's own size follows nothing, however often it is halved.
  Vec3 size = of_surface.box.size();
  std::sort(size.begin(), size.end());
  fit.better_cell = std::min(0.5 * cell, 0.25 * size[1]);
  std::vector<double> thickness;
  for (const SurfaceSample& s : lost) {
    if (s.is_sheet) thickness.push_back(s.thickness);
    const double distance = tree.signed_distance(s.position);
    if (distance <= fit.lost_distance) continue;
    fit.lost_distance = distance;
    fit.lost_at = s.position;
  }
  if (!thickness.empty()) {
    const auto tenth = thickness.begin() + static_cast<std::ptrdiff_t>(thickness.size() / 10);
    std::nth_element(thickness.begin(), tenth, thickness.end());
    fit.better_cell = std::min(fit.better_cell, *tenth);
  }
  return fit;
}

bool SolidFit::is_close() const noexcept {
  return std::abs(volume_change) <= kAllowedVolumeChange &&
         std::max(lower_loss.maxCoeff(), upper_loss.maxCoeff()) <= cell && parts <= surface_parts;
}

std::string SolidFit::describe() const {
  if (is_close()) return {};
  std::vector<std::string> words;
  if (std::abs(volume_change) > kAllowedVolumeChange)
    words.push_back(fmt::format("the volume is {:.1f} % {} than the surface's", 100.0 * std::abs(volume_change),
                                volume_change < 0.0 ? "less" : "more"));
  for (int axis = 0; axis < 3; ++axis) {
    for (const auto& [loss, end] : {std::pair(lower_loss[axis], "low"), std::pair(upper_loss[axis], "high")}) {
      if (loss > cell) words.push_back(fmt::format("{:.3g} m are missing at the {} end of {}", loss, end, "xyz"[axis]));
    }
  }
  if (parts > surface_parts)
    words.push_back(
        fmt::format("what is {} {} comes as {}", surface_parts, surface_parts == 1 ? "part" : "parts", parts));
  if (lost_distance > 0.0)
    words.push_back(
        fmt::format("most is lost around ({:.4g}, {:.4g}, {:.4g}) m", lost_at.x(), lost_at.y(), lost_at.z()));
  return fmt::format("{} with a cell of {:.3g} m: {}; try a cell of {:.2g} m",
                     lost_distance > 0.0 ? "thin parts are lost" : "the shape is followed only roughly", cell,
                     fmt::join(words, ", "), better_cell);
}

double find_thickness(const TriangleTree& surface, double cell) {
  std::vector<SurfaceSample> samples = sample_surface(surface, cell);
  if (samples.empty()) return 0.5 * cell;
  const auto is_thinner = [](const auto& a, const auto& b) { return a.thickness < b.thickness; };
  const auto thick = std::partition(samples.begin(), samples.end(), [&](const auto& s) { return s.thickness < cell; });
  const auto end = thick == samples.begin() ? samples.end() : thick;
  const auto tenth = samples.begin() + (end - samples.begin()) / 10;
  std::nth_element(samples.begin(), tenth, end, is_thinner);
  return tenth->thickness;
}

std::string describe_refinement(const TriangleTree& surface, std::size_t nodes, double cell) {
  constexpr double kFew = 3000.0;  // a slow step of a few milliseconds
  constexpr double kMuch = 4.0;
  const double volume = compute_volume(surface.mesh()), count = static_cast<double>(nodes);
  // The lattice has two nodes a cube, and a sheet one cube thick five: those of its two faces come to them.
  const double even = std::ceil(2.0 * volume / (cell * cell * cell));
  if (count <= kFew || count <= kMuch * even) return {};
  const double thickness = find_thickness(surface, cell);
  const double at_thickness = 5.0 * volume / (thickness * thickness * thickness);
  const std::string cure =
      at_thickness < 1.1 * count
          ? fmt::format("try a cell of {:.2g} m, which makes no more of them, or a thicker body", thickness)
          : std::string("thicker parts would take fewer");
  return fmt::format(
      "thin parts make it {:.0f} nodes, where cells of {:.3g} m alone would make about {:.0f}, because cells are "
      "halved where it is thinner than they are (here {:.2g} m); {}",
      count, cell, even, thickness, cure);
}

}  // namespace palpate
