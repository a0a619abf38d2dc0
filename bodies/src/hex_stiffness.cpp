#include <Eigen/Dense>
#include <cmath>

#include "palpate/bodies/corotational_hexes.h"

namespace palpate {

namespace {

constexpr int kUnknowns = 24 + 9;  ///< of the corners, and of the incompatible modes
using Row = Eigen::Matrix<double, 1, kUnknowns>;

/// At a Gauss point: gradient of the displacement, component by axis, as linear functions of the unknowns.
struct Gradient {
  Row du[3][3];
  Row dilatation() const { return du[0][0] + du[1][1] + du[2][2]; }
};

Gradient compute_gradient(const Eigen::Array3d& xi, const Vec3& cell) {
  Gradient g;
  for (auto& component : g.du) {
    for (Row& row : component) row.setZero();
  }
  for (int a = 0; a < 8; ++a) {
    const Eigen::Array3d sign(a & 1 ? 1.0 : -1.0, a & 2 ? 1.0 : -1.0, a & 4 ? 1.0 : -1.0);
    const Eigen::Array3d n = 0.5 * (1.0 + sign * xi);
    for (int axis = 0; axis < 3; ++axis) {
      const double slope = sign[axis] / cell[axis] * n[(axis + 1) % 3] * n[(axis + 2) % 3];
      for (int i = 0; i < 3; ++i) g.du[i][axis][3 * a + i] = slope;
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < 3; ++i) g.du[i][axis][24 + 3 * axis + i] = -4.0 * xi[axis] / cell[axis];
  }
  return g;
}

}  // namespace

Eigen::Matrix<double, 24, 24> make_hex_stiffness(const Vec3& cell, const Material& material, bool enhanced) {
  const double weight = cell.prod() / 8.0, mu = material.lame_mu(), lambda = material.lame_lambda();
  Eigen::Matrix<double, kUnknowns, kUnknowns> K = Eigen::Matrix<double, kUnknowns, kUnknowns>::Zero();
  // Dilatation against {1, ξ, η, ζ}: at the Gauss points these are orthogonal, the last three of square ⅓ each.
  Row moment[4] = {Row::Zero(), Row::Zero(), Row::Zero(), Row::Zero()};
  for (int point = 0; point < 8; ++point) {
    const Eigen::Array3d xi =
        Eigen::Array3d(point & 1 ? 1 : -1, point & 2 ? 1 : -1, point & 4 ? 1 : -1) / std::sqrt(3.0);
    const Gradient g = compute_gradient(xi, cell);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const Row strain = 0.5 * (g.du[i][j] + g.du[j][i]);
        K += 2.0 * mu * weight * strain.transpose() * strain;
      }
    }
    const Row theta = g.dilatation();
    if (!enhanced) K += lambda * weight * theta.transpose() * theta;
    moment[0] += weight * theta;
    for (int axis = 0; axis < 3; ++axis) moment[axis + 1] += weight * xi[axis] * theta;
  }
  if (!enhanced) return K.topLeftCorner<24, 24>();
  for (int k = 0; k < 4; ++k)
    K += lambda * moment[k].transpose() * moment[k] / (cell.prod() * (k == 0 ? 1.0 : 1.0 / 3.0));
  const Eigen::Matrix<double, 9, 24> coupling = K.bottomLeftCorner<9, 24>();
  const Eigen::Matrix<double, 9, 24> follow = K.bottomRightCorner<9, 9>().llt().solve(coupling);
  const Eigen::Matrix<double, 24, 24> condensed = K.topLeftCorner<24, 24>() - coupling.transpose() * follow;
  return 0.5 * (condensed + condensed.transpose());
}

}  // namespace palpate
