#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"

namespace palpate {
namespace {

/// Samples f on a grid and cuts the cells' tetrahedra.
class Marcher {
 public:
  Marcher(const ImplicitFunction& f, const BoundingBox& box, double cell) : f_(f), lower_(box.lower), cell_(cell) {
    for (int axis = 0; axis < 3; ++axis) n_[axis] = static_cast<int>(std::ceil(box.size()[axis] / cell));
    value_.resize(as_size(n_[0] + 1) * (n_[1] + 1) * (n_[2] + 1));
    for (int i = 0; i <= n_[0]; ++i) {
      for (int j = 0; j <= n_[1]; ++j) {
        for (int k = 0; k <= n_[2]; ++k) value_[index({i, j, k})] = sample({i, j, k});
      }
    }
  }

  TriangleMesh run() {
    // The six paths from corner 000 to 111 along the axes, in each order, with the order's sign.
    static constexpr int kOrders[6][4] = {{0, 1, 2, 1},  {1, 2, 0, 1},  {2, 0, 1, 1},
                                          {0, 2, 1, -1}, {2, 1, 0, -1}, {1, 0, 2, -1}};
    for (int i = 0; i < n_[0]; ++i) {
      for (int j = 0; j < n_[1]; ++j) {
        for (int k = 0; k < n_[2]; ++k) {
          for (const auto& order : kOrders) {
            std::array<std::array<int, 3>, 4> corner;
            corner[0] = {i, j, k};
            for (int step = 0; step < 3; ++step) {
              corner[step + 1] = corner[step];
              ++corner[step + 1][order[step]];
            }
            if (order[3] < 0) std::swap(corner[1], corner[2]);
            cut({index(corner[0]), index(corner[1]), index(corner[2]), index(corner[3])});
          }
        }
      }
    }
    return std::move(mesh_);
  }

 private:
  std::int32_t index(const std::array<int, 3>& i) const noexcept {
    return (i[0] * (n_[1] + 1) + i[1]) * (n_[2] + 1) + i[2];
  }
  Vec3 position(std::int32_t index) const noexcept {
    const int k = index % (n_[2] + 1), rest = index / (n_[2] + 1);
    return lower_ + cell_ * Vec3(rest / (n_[1] + 1), rest % (n_[1] + 1), k);
  }
  double sample(const std::array<int, 3>& i) const {
    const double value = f_(position(index(i)));
    if (!std::isfinite(value)) fail_input("implicit surface: the function gives {} on its grid", value);
    for (int axis = 0; axis < 3; ++axis) {
      if ((i[axis] == 0 || i[axis] == n_[axis]) && value < 0.0) {
        fail_input("implicit surface: the shape touches its box; make the box larger");
      }
    }
    return value;
  }

  /// The vertex where the surface cuts grid edge a–b.
  std::int32_t vertex(std::int32_t a, std::int32_t b) {
    if (a > b) std::swap(a, b);
    const auto [entry, added] = vertex_at_.try_emplace((std::int64_t{a} << 32) | b, 0);
    if (added) {
      // Not too near the ends, where all edges around a grid point would put their vertex at one place.
      const double t = std::clamp(value_[a] / (value_[a] - value_[b]), 0.1, 0.9);
      entry->second = static_cast<std::int32_t>(mesh_.vertices.size());
      mesh_.vertices.push_back(position(a) + t * (position(b) - position(a)));
    }
    return entry->second;
  }

  /// Cuts one positively oriented tetrahedron; triangles face from inside (value < 0) to outside.
  void cut(std::array<std::int32_t, 4> p) {
    const auto inside = [&](std::int32_t i) { return value_[i] < 0.0; };
    const auto count = std::count_if(p.begin(), p.end(), inside);
    if (count == 0 || count == 4) return;
    // An even reordering keeps the orientation: bring the inside corners to the front.
    static constexpr int kEven[12][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 0, 3, 2},
                                         {1, 3, 2, 0}, {1, 2, 0, 3}, {2, 3, 0, 1}, {2, 0, 1, 3},
                                         {2, 1, 3, 0}, {3, 2, 1, 0}, {3, 1, 0, 2}, {3, 0, 2, 1}};
    for (const auto& e : kEven) {
      const std::array<std::int32_t, 4> q = {p[e[0]], p[e[1]], p[e[2]], p[e[3]]};
      bool sorted = true;
      for (int i = 0; i < 4; ++i) sorted = sorted && inside(q[i]) == (i < count);
      if (!sorted) continue;
      p = q;
      break;
    }
    const auto [a, b, c, d] = p;
    if (count == 1) {
      mesh_.triangles.push_back({vertex(a, b), vertex(a, c), vertex(a, d)});
    } else if (count == 3) {
      mesh_.triangles.push_back({vertex(a, d), vertex(b, d), vertex(c, d)});
    } else {
      const std::int32_t ac = vertex(a, c), ad = vertex(a, d), bc = vertex(b, c), bd = vertex(b, d);
      mesh_.triangles.push_back({ac, ad, bd});
      mesh_.triangles.push_back({ac, bd, bc});
    }
  }

  const ImplicitFunction& f_;
  Vec3 lower_;
  double cell_;
  std::array<int, 3> n_{};
  std::vector<double> value_;
  std::unordered_map<std::int64_t, std::int32_t> vertex_at_;
  TriangleMesh mesh_;
};

Vec3 compute_gradient(const ImplicitFunction& f, const Vec3& p, double step) {
  Vec3 g;
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3 d = step * Vec3::Unit(axis);
    g[axis] = (f(p + d) - f(p - d)) / (2.0 * step);
  }
  return g;
}

/// One Newton step along the gradient, no longer than half a cell.
void project(const ImplicitFunction& f, Vec3& p, double cell) {
  const Vec3 g = compute_gradient(f, p, 1e-4 * cell);
  const double g2 = g.squaredNorm();
  if (!(g2 > 0.0)) return;
  const Vec3 step = f(p) / g2 * g;
  p -= std::min(1.0, 0.5 * cell / std::max(step.norm(), 1e-300)) * step;
}

void relax(const ImplicitFunction& f, TriangleMesh& mesh, double cell) {
  std::vector<Vec3> sum(mesh.vertices.size());
  std::vector<int> count(mesh.vertices.size());
  for (int round = 0; round < 6; ++round) {
    std::fill(sum.begin(), sum.end(), Vec3::Zero());
    std::fill(count.begin(), count.end(), 0);
    for (const auto& triangle : mesh.triangles) {
      for (int i = 0; i < 3; ++i) {
        sum[triangle[i]] += mesh.vertices[triangle[(i + 1) % 3]];
        ++count[triangle[i]];
      }
    }
    for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
      mesh.vertices[i] = 0.5 * (mesh.vertices[i] + sum[i] / count[i]);
      project(f, mesh.vertices[i], cell);
    }
  }
  for (int round = 0; round < 3; ++round) {
    for (Vec3& p : mesh.vertices) project(f, p, cell);
  }
}

}  // namespace

TriangleMesh make_implicit_surface(const ImplicitFunction& f, const BoundingBox& box, double cell) {
  if (box.is_empty() || !box.size().allFinite()) fail_input("implicit surface: the box must be finite and not empty");
  if (!(cell > 0.0)) fail_input("implicit surface: cell is {} m; it must be positive", cell);
  constexpr double kMost = 512.0 * 512.0 * 512.0;
  const double cells = ((box.size() / cell).array() + 1.0).prod();
  if (!(cells <= kMost)) fail_input("implicit surface: {:.3g} cells; allowed are up to {:.3g}", cells, kMost);
  TriangleMesh mesh = Marcher(f, box, cell).run();
  if (mesh.triangles.empty()) fail_input("implicit surface: the function is nowhere negative on its grid");
  relax(f, mesh, cell);
  return mesh;
}

}  // namespace palpate
