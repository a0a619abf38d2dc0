#pragma once

#include <memory>
#include <random>

#include "palpate/linear/block_matrix.h"
#include "palpate/linear/block_rows.h"

// Matrices and right-hand sides that the tests share.
namespace palpate::reference {

inline Mat3 random_mat3(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  return Mat3::NullaryExpr([&](Eigen::Index, Eigen::Index) { return uniform(random); });
}

inline Eigen::MatrixXd random_matrix(int rows, int columns, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&](Eigen::Index, Eigen::Index) { return uniform(random); });
}

/// Adds to A, for every group, the positive semidefinite element matrix Gᵀ G with random G, and to every diagonal
/// block ε I: positive definite by construction, with condition number at most (largest eigenvalue) / ε.
inline void fill_random(BlockMatrix& a, const BlockGroups& groups, double epsilon, std::mt19937_64& random) {
  a.set_zero();
  for (int e = 0; e < groups.size(); ++e) {
    const int size = groups.begin[e + 1] - groups.begin[e];
    const Eigen::MatrixXd g = random_matrix(3 * size, 3 * size, random);
    const Eigen::MatrixXd k = g.transpose() * g;
    int pair = 0;
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j <= i; ++j) a.add(a.pattern().slots(e)[pair++], k.block<3, 3>(3 * i, 3 * j));
    }
  }
  for (int i = 0; i < a.pattern().blocks(); ++i) a.diagonal(i) += epsilon * Mat3::Identity();
}

/// Groups of up to four blocks among n, some with a fixed node.
inline BlockGroups make_random_groups(int n, int count, std::mt19937_64& random) {
  BlockGroups groups;
  std::vector<int> all(n);
  for (int i = 0; i < n; ++i) all[i] = i;
  for (int e = 0; e < count; ++e) {
    std::shuffle(all.begin(), all.end(), random);
    std::vector<int> group(all.begin(), all.begin() + std::min<int>(n, 1 + static_cast<int>(random() % 4)));
    if (random() % 8 == 0) group[0] = -1;
    groups.add(group);
  }
  return groups;
}

/// The cells of an nx × ny × nz box of nodes, eight nodes each.
inline BlockGroups make_grid_groups(int nx, int ny, int nz) {
  BlockGroups groups;
  for (int z = 0; z + 1 < nz; ++z) {
    for (int y = 0; y + 1 < ny; ++y) {
      for (int x = 0; x + 1 < nx; ++x) {
        std::vector<int> cell;
        for (int c = 0; c < 8; ++c) {
          cell.push_back(x + (c & 1) + nx * (y + (c >> 1 & 1) + ny * (z + (c >> 2))));
        }
        groups.add(cell);
      }
    }
  }
  return groups;
}

struct System {
  BlockGroups groups;
  std::shared_ptr<const BlockPattern> pattern;
  BlockMatrix matrix;
};

inline System make_system(int blocks, BlockGroups groups, double epsilon, std::mt19937_64& random) {
  auto pattern = std::make_shared<const BlockPattern>(blocks, groups);
  System system{std::move(groups), pattern, BlockMatrix(pattern)};
  fill_random(system.matrix, system.groups, epsilon, random);
  return system;
}

inline System make_random_system(int blocks, int groups, std::mt19937_64& random) {
  return make_system(blocks, make_random_groups(blocks, groups, random), 0.1, random);
}

/// Edges of a grid with spring-like blocks: k (n nᵀ + 0.2 I) along each, and ε I on the diagonal.
inline System make_grid_laplacian(int nx, int ny, int nz, double epsilon) {
  BlockGroups groups;
  std::vector<Vec3> directions;
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        const int at[3] = {x, y, z}, size[3] = {nx, ny, nz}, step[3] = {1, nx, nx * ny};
        for (int axis = 0; axis < 3; ++axis) {
          if (at[axis] + 1 == size[axis]) continue;
          const int node = x + nx * (y + ny * z);
          groups.add(std::vector<int>{node, node + step[axis]});
          directions.push_back(Vec3::Unit(axis) + 0.3 * Vec3::Unit((axis + 1) % 3));
        }
      }
    }
  }
  auto pattern = std::make_shared<const BlockPattern>(nx * ny * nz, groups);
  System system{groups, pattern, BlockMatrix(pattern)};
  for (int e = 0; e < groups.size(); ++e) {
    const Mat3 k = directions[e] * directions[e].transpose() + 0.2 * Mat3::Identity();
    system.matrix.add(pattern->slots(e)[0], k);
    system.matrix.add(pattern->slots(e)[1], -k);
    system.matrix.add(pattern->slots(e)[2], k);
  }
  for (int i = 0; i < pattern->blocks(); ++i) system.matrix.diagonal(i) += epsilon * Mat3::Identity();
  return system;
}

/// Rows of up to `most` entries, some empty, some with a repeated block.
inline BlockRows make_random_rows(int rows, int blocks, int most, std::mt19937_64& random) {
  BlockRows J;
  for (int r = 0; r < rows; ++r) {
    J.begin_row();
    const int entries = static_cast<int>(random() % (most + 1));
    for (int e = 0; e < entries; ++e) {
      J.add(static_cast<int>(random() % blocks), random_mat3(random).col(0));
    }
  }
  return J;
}

inline Eigen::MatrixXd make_dense(const BlockRows& J, int blocks) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(J.rows(), 3 * blocks);
  for (int r = 0; r < J.rows(); ++r) {
    for (const BlockRows::Entry& entry : J.row(r)) {
      dense.block<1, 3>(r, 3 * entry.block) += entry.value.transpose();
    }
  }
  return dense;
}

}  // namespace palpate::reference
