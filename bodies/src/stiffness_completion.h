#pragma once

#include <span>
#include <vector>

#include "lanes.h"
#include "palpate/linear/block_matrix.h"

namespace palpate {

/// Fills the diagonal blocks of a stiffness whose others are known, K_ii = −Σ_j K_ij, since no translation strains a
/// body; and computes y = K v on the way, as Σ_j K_ij (v_j − v_i).
///
/// Column after column: complete() does them all, or whoever computes the blocks feeds each to a Column while it is in
/// registers. Allocates at construction only.
class StiffnessCompletion {
 public:
  explicit StiffnessCompletion(std::size_t blocks) : nodes_(blocks) {}

  /// Before the first Column.
  void begin(std::span<const Vec3> v) noexcept;
  /// All columns, from their blocks below the diagonal; whatever Columns have done is forgotten.
  void complete(std::span<const Vec3> v, BlockMatrix& K) noexcept;
  Vec3 product(std::size_t i) const noexcept { return Eigen::Map<const Vec3>(nodes_[i].y); }  ///< y_i, when all are in

  /// What the pass keeps of a node, close together, no vector across two cache lines. Fourth lanes are of no account.
  struct alignas(32) Node {
    double v[4], y[4];
    double diagonal[3][4];  ///< its columns
  };
  Node& node(int i) noexcept { return nodes_[i]; }

  /// A column under way. Named members, where arrays would do: GCC 12 keeps arrays in memory.
  class Column {
   public:
    explicit Column(Node& own) noexcept : own_(own) {}

    /// The block at `other`'s row, by columns; several that add up to it will do.
    void add(Node& other, lanes::Double4 k0, lanes::Double4 k1, lanes::Double4 k2) noexcept {
      using namespace lanes;
      // The diagonal blocks are symmetric, so K_ji may stand for its transpose K_ij until they are made so.
      diagonal0_ -= k0, diagonal1_ -= k1, diagonal2_ -= k2;
      store(other.diagonal[0], load(other.diagonal[0]) - k0);
      store(other.diagonal[1], load(other.diagonal[1]) - k1);
      store(other.diagonal[2], load(other.diagonal[2]) - k2);
      const Double4 d = load(own_.v) - load(other.v);
      const Double4 first = madd(k0, fill(own_.v[0] - other.v[0]), load(other.y));
      const Double4 second = madd(k1, fill(own_.v[1] - other.v[1]), first);
      store(other.y, madd(k2, fill(own_.v[2] - other.v[2]), second));
      product0_ = madd(k0, d, product0_);
      product1_ = madd(k1, d, product1_);
      product2_ = madd(k2, d, product2_);
    }

    /// All blocks are in: the one on the diagonal goes to `block`.
    void finish(double* block) noexcept {
      using namespace lanes;
      Double4 none = fill(0.0);
      transpose(product0_, product1_, product2_, none);
      store(own_.y, load(own_.y) - (product0_ + product1_ + product2_));
      double* c = own_.diagonal[0];
      store(c, load(c) + diagonal0_);
      store(c + 4, load(c + 4) + diagonal1_);
      store(c + 8, load(c + 8) + diagonal2_);
      block[0] = c[0];
      block[1] = block[3] = 0.5 * (c[1] + c[4]);
      block[2] = block[6] = 0.5 * (c[2] + c[8]);
      block[4] = c[5];
      block[5] = block[7] = 0.5 * (c[6] + c[9]);
      block[8] = c[10];
    }

   private:
    Node& own_;
    lanes::Double4 diagonal0_{}, diagonal1_{}, diagonal2_{};
    lanes::Double4 product0_{}, product1_{}, product2_{};
  };

 private:
  std::vector<Node> nodes_;
};

}  // namespace palpate
