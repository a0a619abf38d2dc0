#pragma once

#include "palpate/core/math.h"

namespace palpate {

/// The rotation R nearest to F: it maximises tr(RᵀF), so that RᵀF is symmetric.
///
/// For any finite F a proper rotation comes out: where det F < 0 it is the one of the signed singular value
/// decomposition U diag(1, 1, −1) Vᵀ, continuous across det F = 0; where F leaves the rotation open (two vanishing
/// singular values, or σ₂ = −σ₃) it is one of the nearest. A function of F alone, without memory of earlier steps, so
/// that a restored state repeats bit for bit. Allocates nothing.
///
/// Newton's iteration (Higham 1986) where F is far from singular; else the eigenvector of the largest eigenvalue of a
/// symmetric 4 × 4 matrix (Horn 1987, "Closed-form solution of absolute orientation using unit quaternions", §4).
Mat3 compute_rotation(const Mat3& F) noexcept;

/// F = U diag(sigma) Vᵀ with rotations U, V, so that only sigma[0], the smallest in size, may be negative.
struct SignedSvd {
  Mat3 U, V;
  Vec3 sigma;
};
SignedSvd compute_signed_svd(const Mat3& F) noexcept;

}  // namespace palpate
