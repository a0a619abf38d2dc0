#include "palpate/bodies/polar.h"

#include <Eigen/Eigenvalues>

#include "polar_lanes.h"

namespace palpate {

namespace {

/// Horn's method, for any F.
Mat3 compute_hard_rotation(const Mat3& F) noexcept {
  const double largest = F.cwiseAbs().maxCoeff();
  if (!(largest > 0.0) || !(largest < 1e300)) return Mat3::Identity();
  const Mat3 S = F.transpose() / largest;
  Eigen::Matrix4d N;
  N << S(0, 0) + S(1, 1) + S(2, 2), S(1, 2) - S(2, 1), S(2, 0) - S(0, 2), S(0, 1) - S(1, 0),  //
      0.0, S(0, 0) - S(1, 1) - S(2, 2), S(0, 1) + S(1, 0), S(2, 0) + S(0, 2),                 //
      0.0, 0.0, -S(0, 0) + S(1, 1) - S(2, 2), S(1, 2) + S(2, 1),                              //
      0.0, 0.0, 0.0, -S(0, 0) - S(1, 1) + S(2, 2);
  N.triangularView<Eigen::StrictlyLower>() = N.transpose();
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d> solver(N);
  const Eigen::Vector4d q = solver.eigenvectors().col(3);
  return Quat(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
}

}  // namespace

Mat3 compute_rotation(const Mat3& F) noexcept {
  lanes::Matrix four[1], rotations[1];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) four[0].m[i][j] = lanes::fill(F(i, j));
  }
  lanes::compute_rotations(four, rotations);
  Mat3 R;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R(i, j) = rotations[0].m[i][j][0];
  }
  return R;
}

SignedSvd compute_signed_svd(const Mat3& F) noexcept {
  const Mat3 R = compute_rotation(F);
  const Mat3 S = R.transpose() * F;
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(0.5 * (S + S.transpose()));
  SignedSvd svd;
  svd.V = solver.eigenvectors();
  if (svd.V.determinant() < 0.0) svd.V.col(0) *= -1.0;
  svd.U = R * svd.V;
  svd.sigma = solver.eigenvalues();
  return svd;
}

namespace lanes {

namespace {

/// cof A, whose rows are cross products of A's rows; A⁻ᵀ = cof A / det A.
[[gnu::always_inline]] inline Matrix cofactors(const Matrix& A) noexcept {
  Matrix C;
  for (int i = 0; i < 3; ++i) {
    const auto& p = A.m[(i + 1) % 3];
    const auto& q = A.m[(i + 2) % 3];
    for (int j = 0; j < 3; ++j) C.m[i][j] = nmadd(p[(j + 2) % 3], q[(j + 1) % 3], p[(j + 1) % 3] * q[(j + 2) % 3]);
  }
  return C;
}

[[gnu::always_inline]] inline Double4 determinant(const Matrix& A, const Matrix& cofactor) noexcept {
  return madd(A.m[0][2], cofactor.m[0][2], madd(A.m[0][1], cofactor.m[0][1], A.m[0][0] * cofactor.m[0][0]));
}

[[gnu::always_inline]] inline Double4 squared_norm(const Matrix& A) noexcept {
  Double4 s[3];
  for (int i = 0; i < 3; ++i) {
    s[i] = madd(A.m[i][2], A.m[i][2], madd(A.m[i][1], A.m[i][1], A.m[i][0] * A.m[i][0]));
  }
  return s[0] + s[1] + s[2];
}

/// Replaces the marked lanes of R by what compute_hard_rotation() finds.
void rotate_hard_lanes(const Matrix& F, Mask4 hard, Matrix& R) noexcept {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!hard[lane]) continue;
    Mat3 one;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) one(i, j) = F.m[i][j][lane];
    }
    const Mat3 rotation = compute_hard_rotation(one);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) R.m[i][j][lane] = rotation(i, j);
    }
  }
}

}  // namespace

namespace {

/// R ← ½ (γR + R⁻ᵀ/γ); γ = 1 unless `scaling`.
[[gnu::always_inline]] inline void iterate(const Matrix& cofactor, Double4 size, bool scaling, Matrix& R) noexcept {
  const Double4 det = determinant(R, cofactor);
  Double4 own = fill(0.5), inverse = 0.5 / det;
  if (scaling) {
    const Double4 gamma = simd::square_root(simd::square_root(squared_norm(cofactor) / (det * det * size)));
    own = own * gamma;
    inverse = inverse / gamma;
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R.m[i][j] = madd(inverse, cofactor.m[i][j], own * R.m[i][j]);
  }
}

/// R = F but for lanes that are not for the iteration: the identity in those. Returns which.
[[gnu::always_inline]] inline Mask4 set_apart_hard_lanes(const Matrix& F, Matrix& R) noexcept {
  constexpr double kEasyVolume = 1e-4;
  const Double4 size = squared_norm(F);
  // Negated, so that what is not a number is hard too.
  const Mask4 hard = ~(determinant(F, cofactors(F)) > kEasyVolume * (size * simd::square_root(size)));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R.m[i][j] = hard ? fill(i == j ? 1.0 : 0.0) : F.m[i][j];
  }
  return hard;
}

}  // namespace

template <int kCount>
void compute_rotations(const Matrix (&F)[kCount], Matrix (&R)[kCount]) noexcept {
  constexpr int kMostIterations = 12;
  // From the first iteration on singular values are 1 + e, e ≥ 0, and ‖R‖² = 3 + Σ (2e + e²). The next one leaves e²/2:
  // nothing, if e < 10⁻⁸.
  constexpr double kAlmostThere = 3.0 + 2e-8;
  // Scaling pays only where a singular value is far from 1; it costs as much as an iteration.
  constexpr double kLarge = 4.0, kLargeAtFirst = 12.0, kSmallAtFirst = 0.75;

  Mask4 hard[kCount];
  for (int k = 0; k < kCount; ++k) {
    hard[k] = set_apart_hard_lanes(F[k], R[k]);
  }
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    Double4 size[kCount];
    Double4 largest = size[0] = squared_norm(R[0]), smallest = size[0];
    for (int k = 1; k < kCount; ++k) {
      size[k] = squared_norm(R[k]);
      largest = size[k] > largest ? size[k] : largest;
      smallest = size[k] < smallest ? size[k] : smallest;
    }
    const bool first = iteration == 0, last = !first && !any(largest > kAlmostThere);
    const bool scaling = first ? any(largest > kLargeAtFirst) || any(smallest < kSmallAtFirst) : any(largest > kLarge);
    for (int k = 0; k < kCount; ++k) iterate(cofactors(R[k]), size[k], scaling, R[k]);
    if (last) break;
  }
  for (int k = 0; k < kCount; ++k) {
    if (any(hard[k])) rotate_hard_lanes(F[k], hard[k], R[k]);
  }
}

template void compute_rotations<1>(const Matrix (&F)[1], Matrix (&R)[1]) noexcept;
template void compute_rotations<2>(const Matrix (&F)[2], Matrix (&R)[2]) noexcept;

}  // namespace lanes
}  // namespace palpate
