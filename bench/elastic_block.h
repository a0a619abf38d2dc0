#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <array>
#include <memory>

#include "palpate/linear/block_matrix.h"
#include "palpate/linear/block_rows.h"

namespace palpate::bench {

struct ElasticBlockSettings {
  double cell = 0.01;      ///< edge of a cell [m]
  double young = 1e4;      ///< Young's modulus [Pa], soft tissue
  double poisson = 0.4;    ///< Poisson's ratio
  double density = 1000;   ///< [kg/m³]
  double step = 0.02;      ///< h [s]
};

/// A box of cells of five tets each, linear elastic, lumped mass, fixed at z = 0: the matrix A(h) = M/h + hK that a
/// corotational body would factor in every step.
class ElasticBlock {
 public:
  ElasticBlock(const std::array<int, 3>& cells, const ElasticBlockSettings& settings)
      : cells_(cells), settings_(settings) {
    for (int z = 0; z < cells[2]; ++z) {
      for (int y = 0; y < cells[1]; ++y) {
        for (int x = 0; x < cells[0]; ++x) add_cell(x, y, z);
      }
    }
    BlockGroups groups;
    for (const std::array<int, 4>& tet : tets_) {
      std::array<int, 4> blocks;
      for (int a = 0; a < 4; ++a) blocks[a] = block(tet[a]);
      groups.add(blocks);
    }
    const int nodes = (cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1);
    pattern_ = std::make_shared<const BlockPattern>(nodes - layer(), groups);
    matrix_ = std::make_unique<BlockMatrix>(pattern_);
    for (std::size_t e = 0; e < tets_.size(); ++e) add_element(static_cast<int>(e));
  }

  const ElasticBlockSettings& settings() const { return settings_; }
  const std::shared_ptr<const BlockPattern>& pattern() const { return pattern_; }
  const BlockMatrix& matrix() const { return *matrix_; }

  /// `count` contacts of three orthogonal rows, one on each of a square of neighbouring triangles in the top face.
  BlockRows make_contacts(int count) const {
    BlockRows J;
    const int side = static_cast<int>(std::ceil(std::sqrt(count)));
    const int x0 = (cells_[0] - side) / 2, y0 = (cells_[1] - side) / 2;
    for (int c = 0; c < count; ++c) {
      const int x = x0 + c % side, y = y0 + c / side, top = cells_[2];
      const int corner[3] = {node(x, y, top), node(x + 1, y, top), node(x, y + 1, top)};
      for (int axis = 2; axis >= 0; --axis) {
        J.begin_row();
        for (int a = 0; a < 3; ++a) J.add(block(corner[a]), (0.2 + 0.2 * a) * Vec3::Unit(axis));
      }
    }
    return J;
  }

  /// The lower triangle by scalars.
  Eigen::SparseMatrix<double> make_sparse() const {
    std::vector<Eigen::Triplet<double>> entries;
    for (int j = 0; j < pattern_->blocks(); ++j) {
      for (int at = pattern_->column_begin(j); at < pattern_->column_begin(j + 1); ++at) {
        for (int r = 0; r < 3; ++r) {
          for (int c = 0; c < 3; ++c) {
            const int row = 3 * pattern_->row(at) + r, column = 3 * j + c;
            if (row >= column) entries.emplace_back(row, column, matrix_->block(at)(r, c));
          }
        }
      }
    }
    Eigen::SparseMatrix<double> lower(pattern_->scalars(), pattern_->scalars());
    lower.setFromTriplets(entries.begin(), entries.end());
    return lower;
  }

 private:
  int layer() const { return (cells_[0] + 1) * (cells_[1] + 1); }
  int node(int x, int y, int z) const { return x + (cells_[0] + 1) * (y + (cells_[1] + 1) * z); }
  int block(int n) const { return n < layer() ? -1 : n - layer(); }
  Vec3 position(int n) const {
    const int nx = cells_[0] + 1;
    return settings_.cell * Vec3(n % nx, n % layer() / nx, n / layer());
  }

  /// Five tets, mirrored in every other cell so that faces match.
  void add_cell(int x, int y, int z) {
    static constexpr int kTets[2][5][4] = {{{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}},
                                           {{1, 0, 5, 3}, {2, 3, 6, 0}, {4, 5, 0, 6}, {7, 6, 3, 5}, {0, 3, 5, 6}}};
    for (const auto& tet : kTets[(x + y + z) % 2]) {
      std::array<int, 4> nodes;
      for (int a = 0; a < 4; ++a) nodes[a] = node(x + (tet[a] & 1), y + (tet[a] >> 1 & 1), z + (tet[a] >> 2));
      tets_.push_back(nodes);
    }
  }

  /// K_ab = V (λ g_a g_bᵀ + μ g_b g_aᵀ + μ (g_a · g_b) I) with the gradients g of the shape functions.
  void add_element(int e) {
    const std::array<int, 4>& tet = tets_[e];
    Mat3 edges;
    for (int a = 0; a < 3; ++a) edges.col(a) = position(tet[a + 1]) - position(tet[0]);
    const double volume = std::abs(edges.determinant()) / 6, h = settings_.step;
    const double lambda = settings_.young * settings_.poisson / ((1 + settings_.poisson) * (1 - 2 * settings_.poisson));
    const double mu = settings_.young / (2 * (1 + settings_.poisson));
    Eigen::Matrix<double, 3, 4> g;
    g.rightCols<3>() = edges.inverse().transpose();
    g.col(0) = -g.rightCols<3>().rowwise().sum();
    int pair = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b) {
        Mat3 k = h * volume * (lambda * g.col(a) * g.col(b).transpose() + mu * g.col(b) * g.col(a).transpose());
        k.diagonal().array() += h * volume * mu * g.col(a).dot(g.col(b));
        if (a == b) k.diagonal().array() += settings_.density * volume / 4 / h;
        matrix_->add(pattern_->slots(e)[pair++], k);
      }
    }
  }

  std::array<int, 3> cells_;
  ElasticBlockSettings settings_;
  std::vector<std::array<int, 4>> tets_;
  std::shared_ptr<const BlockPattern> pattern_;
  std::unique_ptr<BlockMatrix> matrix_;
};

}  // namespace palpate::bench
