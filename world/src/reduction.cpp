#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <tuple>

#include "candidates.h"

namespace palpate {
namespace {

Vec3 middle(const Candidate& c) noexcept {
  return 0.5 * (c.point_a + c.point_b);
}

/// 0 to count − 1.
void fill_numbers(std::size_t count, std::vector<int>& out) {
  out.resize(count);
  std::iota(out.begin(), out.end(), 0);
}

/// Each feature pair once, the lowest, ordered by feature. Of equal ones that on the first triangle, in whatever order
/// they were found.
void remove_duplicates(std::vector<Candidate>& c, ReductionScratch& scratch) {
  const auto order = [&c](int i) {
    const Candidate& x = c[as_size(i)];
    return std::tuple(x.feature, x.lowest, x.foot_a.element, x.foot_b.element);
  };
  fill_numbers(c.size(), scratch.order);
  std::sort(scratch.order.begin(), scratch.order.end(), [&](int i, int j) { return order(i) < order(j); });
  scratch.chosen.clear();
  for (const int i : scratch.order) {
    if (scratch.chosen.empty() || scratch.chosen.back().feature != c[as_size(i)].feature)
      scratch.chosen.push_back(c[as_size(i)]);
  }
  c.swap(scratch.chosen);
}

/// Which to ask first: the lowest of all, the outermost around it (the corners of a flat patch, on which it would
/// rock), then the others from low to high.
///
/// Heights count in sixteenths of the spacing, and within one a hash decides: it is the same in each step, so that of
/// many nearly equal candidates the same are taken again.
/// Returns how many the lowest and the outermost are.
std::size_t make_order(const std::vector<Candidate>& c, double spacing, ReductionScratch& scratch) {
  std::vector<int>& order = scratch.order;
  fill_numbers(c.size(), order);
  scratch.places.clear();
  for (const Candidate& x : c) scratch.places.emplace_back(std::floor(16.0 * x.lowest / spacing), mix_bits(x.feature));
  std::sort(order.begin(), order.end(),
            [&](int i, int j) { return scratch.places[as_size(i)] < scratch.places[as_size(j)]; });
  const auto first = std::min_element(order.begin(), order.end(),
                                      [&](int i, int j) { return c[as_size(i)].lowest < c[as_size(j)].lowest; });
  std::rotate(order.begin(), first, first + 1);
  const Candidate& lowest = c[as_size(order[0])];
  Vec3 u, w;
  make_tangents(lowest.normal, u, w);
  std::size_t front = 1;
  for (int k = 0; k < 8 && front < order.size(); ++k) {
    const double angle = std::numbers::pi / 4.0 * k;
    const Vec3 d = std::cos(angle) * u + std::sin(angle) * w;
    std::size_t best = 0;
    double farthest = d.dot(middle(lowest));
    for (std::size_t at = front; at < order.size(); ++at) {
      const Candidate& x = c[as_size(order[at])];
      if (x.normal.dot(lowest.normal) < kSameSide || x.lowest > lowest.lowest + 0.5 * spacing) continue;
      const double far = d.dot(middle(x));
      if (far > farthest + 1e-3 * spacing) {
        farthest = far;
        best = at;
      }
    }
    if (best == 0) continue;
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(front++);
    const auto found = order.begin() + static_cast<std::ptrdiff_t>(best);
    std::rotate(begin, found, found + 1);
  }
  return front;
}

/// Whether one vertex of either body belongs to both, by their features.
bool share_vertex(std::uint64_t x, std::uint64_t y) noexcept {
  static_assert(static_cast<int>(FeatureKind::kVertex) == 0);
  const std::uint64_t kind_a = x >> 62, kind_b = x >> 30 & 3u, differ = x ^ y;
  return (kind_a == 0 && differ >> 32 == 0) || (kind_b == 0 && (differ & 0xffffffffu) == 0);
}

/// Where one vertex meets several faces on the same side that are equally near, as above a fold, it is chance which of
/// the candidates stays, a hash of numbers: it stands for all of them, with their mean normal.
Candidate stand_for_tie(std::size_t k, const std::vector<Candidate>& all, const std::vector<std::uint64_t>& features) {
  const Candidate& x = all[k];
  Candidate out = x;
  bool alone = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == k || !share_vertex(features[k], features[i])) continue;
    if (std::abs(all[i].lowest - x.lowest) > kTouching || x.normal.dot(all[i].normal) < kSameSide) continue;
    out.normal += all[i].normal;
    alone = false;
  }
  if (!alone) out.normal.normalize();
  return out;
}

/// Keeps what bears; then goes through the order and keeps what is not within `full_radius` of one kept before on the
/// same side, or a third of it for the `front` ones, which must not be lost to each other. False as soon as there are
/// more than `max_count`.
bool select(const std::vector<Candidate>& c, double full_radius, int max_count, std::size_t front,
            ReductionScratch& scratch) {
  std::vector<int>& kept = scratch.kept;
  kept.clear();
  for (const int i : scratch.order) {
    if (c[as_size(i)].bears) kept.push_back(i);
  }
  for (std::size_t at = 0; at < scratch.order.size(); ++at) {
    const int i = scratch.order[at];
    const double radius = at < front ? full_radius / 3.0 : full_radius;
    const Candidate& x = c[as_size(i)];
    if (x.bears) continue;
    const Vec3 p = middle(x);
    const bool guarded = std::any_of(kept.begin(), kept.end(), [&](int k) {
      const Candidate& y = c[as_size(k)];
      return (middle(y) - p).squaredNorm() < radius * radius && y.normal.dot(x.normal) > kSameSide;
    });
    if (guarded) continue;
    if (static_cast<int>(kept.size()) >= max_count) return false;
    kept.push_back(i);
  }
  return true;
}

/// The spacing at which about `count` points cover what the candidates cover.
double guess_spacing(const std::vector<Candidate>& c, int count) {
  BoundingBox box;
  for (const Candidate& x : c) box.add(middle(x));
  Vec3 s = box.size();
  std::sort(s.data(), s.data() + 3);
  return 0.6 * std::sqrt(s[1] * s[2] / count);
}

}  // namespace

void remove_contradictions(std::vector<Candidate>& c, ReductionScratch& scratch) {
  const auto is_contradicted = [&c](const Candidate& x) {
    return x.gap < 0.0 && std::any_of(c.begin(), c.end(), [&](const Candidate& y) {
             const double reach = -x.gap - std::min(0.0, y.gap);
             return y.gap > x.gap && y.normal.dot(x.normal) < -0.5 &&
                    (middle(y) - middle(x)).squaredNorm() <= reach * reach;
           });
  };
  scratch.chosen.clear();
  std::copy_if(c.begin(), c.end(), std::back_inserter(scratch.chosen),
               [&](const Candidate& x) { return !is_contradicted(x); });
  c.swap(scratch.chosen);
}

void reduce_candidates(std::vector<Candidate>& c, double spacing, int max_count, ReductionScratch& scratch) {
  if (c.empty()) return;
  remove_duplicates(c, scratch);
  const std::size_t front = make_order(c, spacing, scratch);
  double radius = 0.25 * spacing;
  if (static_cast<int>(c.size()) > max_count) radius = std::max(radius, guess_spacing(c, max_count));
  // Normals all around may need more than max_count at any radius: then the first of the order stay.
  constexpr int kMaxTrials = 24;
  for (int trial = 0; trial < kMaxTrials; ++trial, radius *= 1.25) {
    if (select(c, radius, max_count, front, scratch)) break;
  }
  scratch.features.clear();  // side by side: these few numbers rule out nearly all pairs
  for (const Candidate& x : c) scratch.features.push_back(x.feature);
  scratch.chosen.clear();
  for (const int k : scratch.kept) scratch.chosen.push_back(stand_for_tie(as_size(k), c, scratch.features));
  c.swap(scratch.chosen);
}

}  // namespace palpate
