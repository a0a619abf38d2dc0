#include "refined_lattice.h"

#include <algorithm>
#include <limits>

#include "palpate/geometry/tet_mesh.h"

namespace palpate {
namespace {

constexpr int kEdgesOfATet[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
/// Units in half a cell: room for cells of a 256th, and still no overflow for the largest lattice.
constexpr int kUnits = 256;
constexpr int kMostLevels = 21;

/// A tet turns inside out only through being flat, and its width in any direction falls by at most twice what its
/// points move. A fifth more than half is measured to do, as the lattice's own shares are; see the tests.
constexpr double kReach = 0.6;

}  // namespace

RefinedLattice::RefinedLattice(const BccLattice& lattice, const std::function<bool(const Tet&)>& keep)
    : cell_(lattice.cell()), unit_(0.5 * lattice.cell() / kUnits), origin_(lattice.position({0, 0, 0})) {
  place_.resize(as_size(lattice.size()));
  at_.resize(place_.size());
  lattice.for_each_point([&](const LatticePoint& p) {
    place_[as_size(lattice.index(p))] = {kUnits * p[0], kUnits * p[1], kUnits * p[2]};
  });
  lattice.for_each_tet([&](const std::array<LatticePoint, 4>& points) {
    Tet tet;
    for (std::size_t i = 0; i < 4; ++i) tet[i] = lattice.index(points[i]);
    if (keep(tet)) add_tet(tet, 0);
  });
  connect();
}

void RefinedLattice::add_tet(const Tet& tet, int level) {
  for (const std::int32_t p : tet) at_[as_size(p)].push_back(static_cast<std::int32_t>(tets_.size()));
  tets_.push_back(tet);
  level_.push_back(static_cast<std::int8_t>(level));
  ++live_;
}

std::array<std::int32_t, 2> RefinedLattice::longest_edge(std::int32_t t) const noexcept {
  const Tet& tet = tets_[as_size(t)];
  std::array<std::int32_t, 2> best{};
  std::int64_t longest = 0;
  for (const auto& edge : kEdgesOfATet) {
    const LatticePoint &p = place_[as_size(tet[edge[0]])], &q = place_[as_size(tet[edge[1]])];
    std::int64_t length = 0;
    for (int axis = 0; axis < 3; ++axis) length += std::int64_t{p[axis] - q[axis]} * (p[axis] - q[axis]);
    const bool between_centres = (p[0] / kUnits & 1) == 1 && (q[0] / kUnits & 1) == 1;
    if (length < longest || (length == longest && !between_centres)) continue;
    longest = length;
    best = {tet[edge[0]], tet[edge[1]]};
  }
  if (best[0] > best[1]) std::swap(best[0], best[1]);
  return best;
}

std::vector<std::int32_t> RefinedLattice::tets_around(const std::array<std::int32_t, 2>& edge) const {
  std::vector<std::int32_t> out;
  for (const std::int32_t t : at_[as_size(edge[0])]) {
    const Tet& tet = tets_[as_size(t)];
    if (level_[as_size(t)] >= 0 && std::find(tet.begin(), tet.end(), edge[1]) != tet.end()) out.push_back(t);
  }
  return out;
}

void RefinedLattice::halve(std::int32_t tet) {
  const std::array<std::int32_t, 2> edge = longest_edge(tet);
  std::vector<std::int32_t> around = tets_around(edge);
  const auto differs = [&](std::int32_t t) { return longest_edge(t) != edge; };
  for (auto other = std::find_if(around.begin(), around.end(), differs); other != around.end();
       other = std::find_if(around.begin(), around.end(), differs)) {
    halve(*other);
    around = tets_around(edge);
  }
  const auto middle = static_cast<std::int32_t>(place_.size());
  const LatticePoint &a = place_[as_size(edge[0])], &b = place_[as_size(edge[1])];
  place_.push_back({(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2});
  at_.emplace_back();
  for (const std::int32_t t : around) {
    const int level = level_[as_size(t)] + 1;
    level_[as_size(t)] = -1;
    --live_;
    for (const std::int32_t end : edge) {
      Tet half = tets_[as_size(t)];
      *std::find(half.begin(), half.end(), end) = middle;
      add_tet(half, level);
    }
  }
  // What was halved is looked at no more.
  for (const std::int32_t end : edge)
    std::erase_if(at_[as_size(end)], [&](std::int32_t t) { return level_[as_size(t)] < 0; });
}

bool RefinedLattice::refine(const std::function<bool(const Vec3&, double)>& wanted, std::size_t most) {
  bool done = true;
  for (std::size_t t = 0; t < tets_.size() && done; ++t) {  // halves are appended, and so looked at too
    if (level_[t] < 0 || level_[t] >= kMostLevels) continue;
    Vec3 centroid = Vec3::Zero();
    for (const std::int32_t p : tets_[t]) centroid += 0.25 * position(p);
    if (!wanted(centroid, cell_ * std::exp2(-level_[t] / 3.0))) continue;
    halve(static_cast<std::int32_t>(t));
    done = live_ <= most;
  }
  connect();
  return done;
}

/// The smallest distance between two parallel planes that hold the tet between them: from a corner to the face across,
/// or between two edges across.
double RefinedLattice::compute_width(const Tet& tet) const noexcept {
  std::array<Vec3, 4> x;
  for (std::size_t i = 0; i < 4; ++i) x[i] = position(tet[i]);
  double largest = 0.0;  // twice the area of a face, or the parallelogram of two edges
  for (const auto& [a, b, c] : {std::array{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}})
    largest = std::max(largest, compute_area_normal(x[a], x[b], x[c]).norm());
  for (const auto& [a, b, c, d] : {std::array{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}})
    largest = std::max(largest, (x[b] - x[a]).cross(x[d] - x[c]).norm());
  return 6.0 * std::abs(compute_tet_volume(x[0], x[1], x[2], x[3])) / largest;
}

void RefinedLattice::connect() {
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  reach_.assign(place_.size(), std::numeric_limits<double>::infinity());
  for (std::size_t t = 0; t < tets_.size(); ++t) {
    if (level_[t] < 0) continue;
    const Tet& tet = tets_[t];
    const double reach = kReach * compute_width(tet);
    for (const std::int32_t p : tet) reach_[as_size(p)] = std::min(reach_[as_size(p)], reach);
    for (const auto& edge : kEdgesOfATet) {
      edges.emplace_back(tet[edge[0]], tet[edge[1]]);
      edges.emplace_back(tet[edge[1]], tet[edge[0]]);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  first_.assign(place_.size() + 1, 0);
  neighbour_.clear();
  for (const auto& [from, to] : edges) {
    ++first_[as_size(from) + 1];
    neighbour_.push_back(to);
  }
  for (std::size_t p = 1; p < first_.size(); ++p) first_[p] += first_[p - 1];
}

}  // namespace palpate
