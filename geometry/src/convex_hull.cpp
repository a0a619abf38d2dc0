#include "convex_hull.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace palpate {
namespace {

/// Six times the volume of a tetrahedron, and what it would be if nothing cancelled.
template <typename Real>
std::pair<Real, Real> compute_volume_and_bound(const std::array<const Vec3*, 4>& p) {
  std::array<std::array<Real, 3>, 3> e;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) e[i][k] = static_cast<Real>((*p[i + 1])[k]) - static_cast<Real>((*p[0])[k]);
  }
  const auto absolute = [](Real x) { return x < 0 ? -x : x; };
  Real volume = 0, bound = 0;
  for (int k = 0; k < 3; ++k) {
    const Real s = e[0][(k + 1) % 3] * e[1][(k + 2) % 3], t = e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
    volume += (s - t) * e[2][k];
    bound += (absolute(s) + absolute(t)) * absolute(e[2][k]);
  }
  return {volume, bound};
}

class Quickhull {
 public:
  explicit Quickhull(std::span<const Vec3> points) : points_(points) {
    std::array<std::int32_t, 4> first;
    if (!find_tetrahedron(first)) return;
    const auto& [i, j, k, l] = first;
    std::vector<std::int32_t> all(points.size());
    for (std::size_t p = 0; p < all.size(); ++p) all[p] = static_cast<std::int32_t>(p);
    // Facet n leaves out the n-th corner, and looks at the other three across its edges.
    facets_ = {{{j, l, k}, {2, 1, 3}}, {{i, k, l}, {3, 0, 2}}, {{i, l, j}, {1, 0, 3}}, {{i, j, k}, {2, 0, 1}}};
    share_out(all, 0);
    for (std::size_t f = 0; f < facets_.size(); ++f) {
      if (!facets_[f].dead && !facets_[f].outside.empty()) add_farthest(static_cast<std::int32_t>(f));
    }
  }

  std::vector<std::array<std::int32_t, 3>> triangles() const {
    std::vector<std::array<std::int32_t, 3>> out;
    for (const Facet& f : facets_) {
      if (!f.dead) out.push_back(f.vertex);
    }
    return out;
  }

 private:
  struct Facet {
    std::array<std::int32_t, 3> vertex;
    std::array<std::int32_t, 3> neighbour;  ///< across the edge from this vertex to the next
    std::vector<std::int32_t> outside = {};
    bool dead = false;
  };

  const Vec3& at(std::int32_t i) const { return points_[as_size(i)]; }

  /// The sign of the volume; zero if the four lie in a plane. With 113 bits the edges are exact.
  double side(std::int32_t i, std::int32_t j, std::int32_t k, std::int32_t p) const {
    const std::array<const Vec3*, 4> tetrahedron{&at(i), &at(j), &at(k), &at(p)};
    const auto [volume, bound] = compute_volume_and_bound<double>(tetrahedron);
    if (std::abs(volume) > 1e-14 * bound) return volume;
    const auto [exact, scale] = compute_volume_and_bound<__float128>(tetrahedron);
    if (exact > scale * 1e-31) return 1.0;
    return exact < scale * -1e-31 ? -1.0 : 0.0;
  }
  bool sees(const Facet& f, std::int32_t p) const { return side(f.vertex[0], f.vertex[1], f.vertex[2], p) > 0.0; }

  template <typename Measure>
  std::int32_t most(const Measure& measure) const {
    std::int32_t best = 0;
    double value = -1.0;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      const double now = measure(points_[p]);
      if (!(now > value)) continue;
      value = now;
      best = static_cast<std::int32_t>(p);
    }
    return best;
  }

  /// Far from each other; k is on the left of i → j seen from outside, with l behind.
  bool find_tetrahedron(std::array<std::int32_t, 4>& out) const {
    auto& [i, j, k, l] = out;
    i = most([&](const Vec3& p) { return (p - points_[0]).squaredNorm(); });
    j = most([&](const Vec3& p) { return (p - at(i)).squaredNorm(); });
    k = most([&](const Vec3& p) { return (p - at(i)).cross(at(j) - at(i)).squaredNorm(); });
    const Vec3 normal = (at(j) - at(i)).cross(at(k) - at(i));
    l = most([&](const Vec3& p) { return std::abs(normal.dot(p - at(i))); });
    const double s = side(i, j, k, l);
    if (s > 0.0) std::swap(j, k);
    return s != 0.0;
  }

  /// Gives points to the first facet from `begin` on that they are outside of; those outside of none are done with.
  void share_out(const std::vector<std::int32_t>& points, std::size_t begin) {
    for (const std::int32_t p : points) {
      for (std::size_t f = begin; f < facets_.size(); ++f) {
        if (!sees(facets_[f], p)) continue;
        facets_[f].outside.push_back(p);
        break;
      }
    }
  }

  /// Replaces all facets that the farthest point outside of `f` sees by a cone from it to their border.
  void add_farthest(std::int32_t f) {
    const auto& v = facets_[as_size(f)].vertex;
    const Vec3 normal = (at(v[1]) - at(v[0])).cross(at(v[2]) - at(v[0]));
    const std::vector<std::int32_t>& outside = facets_[as_size(f)].outside;
    const std::int32_t p = *std::max_element(outside.begin(), outside.end(), [&](std::int32_t x, std::int32_t y) {
      return normal.dot(at(x)) < normal.dot(at(y));
    });
    std::vector<std::int32_t> seen{f}, orphans;
    facets_[as_size(f)].dead = true;
    const std::size_t begin = facets_.size();
    std::unordered_map<std::int32_t, std::int32_t> starting_at;  // new facets by the first vertex of their border edge
    for (std::size_t s = 0; s < seen.size(); ++s) {
      const Facet visible = std::move(facets_[as_size(seen[s])]);
      for (const std::int32_t q : visible.outside) {
        if (q != p) orphans.push_back(q);
      }
      for (std::size_t k = 0; k < 3; ++k) {
        const std::int32_t from = visible.vertex[k], to = visible.vertex[(k + 1) % 3], n = visible.neighbour[k];
        Facet& next = facets_[as_size(n)];
        if (next.dead) continue;
        if (sees(next, p)) {
          next.dead = true;
          seen.push_back(n);
          continue;
        }
        const auto own = static_cast<std::int32_t>(facets_.size());
        for (std::size_t e = 0; e < 3; ++e) {
          if (next.vertex[e] == to) next.neighbour[e] = own;
        }
        starting_at[from] = own;
        facets_.push_back({{from, to, p}, {n, -1, -1}});
      }
    }
    for (std::size_t n = begin; n < facets_.size(); ++n) {
      const std::int32_t next = starting_at.at(facets_[n].vertex[1]);
      facets_[n].neighbour[1] = next;
      facets_[as_size(next)].neighbour[2] = static_cast<std::int32_t>(n);
    }
    share_out(orphans, begin);
  }

  std::span<const Vec3> points_;
  std::vector<Facet> facets_;
};

}  // namespace

std::vector<std::array<std::int32_t, 3>> compute_hull_triangles(std::span<const Vec3> points) {
  return Quickhull(points).triangles();
}

}  // namespace palpate
