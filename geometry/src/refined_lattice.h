#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "bcc_lattice.h"

namespace palpate {

/// A body-centred cubic lattice whose tets are halved where finer ones are wanted, neighbours with them, so that all
/// still meet face to face.
///
/// Every tet is cut through its longest edge (Maubach 1995, Liu & Joe 1994). From the lattice's tet this gives the same
/// three shapes over and over, at half the size every third time: half of the lattice's tet, a sixth of a cube, half of
/// a cube's pyramid. Each but the first has one longest edge, and of the first's two the one between centres is taken;
/// so what has to be cut first is always longer, and the recursion ends. Dihedral angles are 45° and more.
class RefinedLattice {
 public:
  using Point = std::int32_t;
  using Tet = std::array<std::int32_t, 4>;

  /// The tets of `lattice` that `keep` picks, by the indices of their points; its points keep their indices.
  RefinedLattice(const BccLattice& lattice, const std::function<bool(const Tet&)>& keep);

  /// Cuts the tets for which `wanted(centroid, size)` is true, and their parts, until there is none, or more than
  /// `most` tets: then false. The size is the cell of a uniform lattice with tets of that volume [m].
  bool refine(const std::function<bool(const Vec3&, double)>& wanted, std::size_t most);

  std::size_t count() const noexcept { return live_; }  ///< tets

  // What Stuffer asks of a lattice.
  double cell() const noexcept { return cell_; }
  std::int32_t size() const noexcept { return static_cast<std::int32_t>(place_.size()); }
  std::int32_t index(Point p) const noexcept { return p; }
  Vec3 position(Point p) const noexcept { return origin_ + unit_ * to_vec(place_[as_size(p)]); }
  double length(Point p, Point q) const noexcept { return (position(p) - position(q)).norm(); }
  double near_share(Point p, Point q) const noexcept { return reach_[as_size(p)] / length(p, q); }
  bool breaks_tie(Point x, Point y, Point) const noexcept { return x < y; }
  bool is_on_border(Point) const noexcept { return false; }
  template <typename Visit>
  void for_each_point(Visit&& visit) const {
    for (Point p = 0; p < size(); ++p) visit(p);
  }
  template <typename Visit>
  void for_each_neighbour(Point p, Visit&& visit) const {
    for (std::int32_t k = first_[as_size(p)]; k < first_[as_size(p) + 1]; ++k) visit(neighbour_[as_size(k)]);
  }
  template <typename Visit>
  void for_each_tet(Visit&& visit) const {
    for (std::size_t t = 0; t < tets_.size(); ++t) {
      if (level_[t] >= 0) visit(tets_[t]);
    }
  }

 private:
  static Vec3 to_vec(const LatticePoint& p) noexcept { return {1.0 * p[0], 1.0 * p[1], 1.0 * p[2]}; }
  std::array<std::int32_t, 2> longest_edge(std::int32_t tet) const noexcept;
  std::vector<std::int32_t> tets_around(const std::array<std::int32_t, 2>& edge) const;
  void halve(std::int32_t tet);
  void add_tet(const Tet& tet, int level);
  void connect();
  double compute_width(const Tet& tet) const noexcept;

  double cell_, unit_;  ///< of the lattice before; of `place_` [m]
  Vec3 origin_;
  std::vector<LatticePoint> place_;              ///< of each point, in units
  std::vector<Tet> tets_;                        ///< also those that were halved
  std::vector<std::int8_t> level_;               ///< how often a tet comes of halving; −1: it was halved itself
  std::vector<std::vector<std::int32_t>> at_;    ///< tets at each point, also halved ones
  std::size_t live_ = 0;                         ///< tets that were not halved
  std::vector<std::int32_t> first_, neighbour_;  ///< neighbours of point p: neighbour_[first_[p] … first_[p + 1])
  std::vector<double> reach_;                    ///< how far a point may be moved without turning a tet inside out [m]
};

}  // namespace palpate
