#include "winding.h"

#include <algorithm>
#include <cmath>

namespace palpate {

WindingNumber::WindingNumber(const TriangleMesh& mesh) : mesh_(mesh), box_(compute_bounding_box(mesh.vertices)) {
  bins_ = std::clamp(static_cast<int>(std::sqrt(static_cast<double>(mesh.triangles.size()))), 1, 1024);
  std::vector<std::array<int, 4>> spans;
  first_.assign(as_size(bins_) * bins_ + 1, 0);
  const auto for_each_bin = [&](const std::array<int, 4>& span, auto&& visit) {
    for (int i = span[0]; i <= span[1]; ++i) {
      for (int j = span[2]; j <= span[3]; ++j) visit(as_size(i) * bins_ + j);
    }
  };
  for (const auto& [a, b, c] : mesh.triangles) {
    BoundingBox box;
    for (const std::int32_t v : {a, b, c}) box.add(mesh.vertices[v]);
    const auto low = locate(box.lower), high = locate(box.upper);
    spans.push_back({low[0], high[0], low[1], high[1]});
    for_each_bin(spans.back(), [&](std::size_t bin) { ++first_[bin + 1]; });
  }
  for (std::size_t bin = 1; bin < first_.size(); ++bin) first_[bin] += first_[bin - 1];
  binned_.resize(as_size(first_.back()));
  std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t t = 0; t < spans.size(); ++t) {
    for_each_bin(spans[t], [&](std::size_t bin) { binned_[as_size(next[bin]++)] = static_cast<std::int32_t>(t); });
  }
}

std::array<int, 2> WindingNumber::locate(const Vec3& p) const noexcept {
  std::array<int, 2> out{};
  for (int axis = 0; axis < 2; ++axis) {
    const double size = box_.size()[axis];
    const double share = size > 0.0 ? (p[axis] - box_.lower[axis]) / size : 0.0;
    out[as_size(axis)] = std::clamp(static_cast<int>(share * bins_), 0, bins_ - 1);
  }
  return out;
}

int WindingNumber::compute(const Vec3& p) const noexcept {
  if ((p.array() < box_.lower.array()).any() || (p.array() > box_.upper.array()).any()) return 0;
  const auto [i, j] = locate(p);
  const std::size_t bin = as_size(i) * bins_ + j;
  int sum = 0;
  for (std::int32_t k = first_[bin]; k < first_[bin + 1]; ++k) sum += count_above(binned_[as_size(k)], p);
  return sum;
}

/// How often the triangle, seen from above, wraps around p (−1, 0 or 1) if it is above p, else 0: the sum of its edges
/// that a horizontal ray from p along x crosses, upward ones positive.
int WindingNumber::count_above(std::int32_t triangle, const Vec3& p) const noexcept {
  const auto& corner = mesh_.triangles[triangle];
  int wraps = 0;
  for (int side = 0; side < 3; ++side) {
    const std::int32_t from = corner[side], to = corner[(side + 1) % 3];
    // Both triangles of the edge take its ends in the same order, and so come to the same answer.
    const Vec3 &a = mesh_.vertices[std::min(from, to)], &b = mesh_.vertices[std::max(from, to)];
    if ((a.y() > p.y()) == (b.y() > p.y())) continue;
    const double left = (b.x() - a.x()) * (p.y() - a.y()) - (p.x() - a.x()) * (b.y() - a.y());
    if (b.y() > a.y() ? left <= 0.0 : left >= 0.0) continue;
    wraps += (b.y() > a.y()) == (from < to) ? 1 : -1;
  }
  if (wraps == 0) return 0;
  const Vec3 &a = mesh_.vertices[corner[0]], &b = mesh_.vertices[corner[1]], &c = mesh_.vertices[corner[2]];
  const Vec3 n = compute_area_normal(a, b, c);
  double z = a.z() - ((p.x() - a.x()) * n.x() + (p.y() - a.y()) * n.y()) / n.z();
  const double low = std::min({a.z(), b.z(), c.z()}), high = std::max({a.z(), b.z(), c.z()});
  z = std::isfinite(z) ? std::clamp(z, low, high) : 0.5 * (low + high);
  return z > p.z() ? wraps : 0;
}

}  // namespace palpate
