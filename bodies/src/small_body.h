#pragma once

#include <vector>

#include "palpate/linear/block_rows.h"

// What bodies with a cheap solve (particle, rigid body, beam chain) share.
namespace palpate {

/// y = Σ row entries, over blocks that are not prescribed.
inline void scatter_row(std::span<const BlockRows::Entry> row, double scale, std::span<const std::uint8_t> prescribed,
                        std::span<Vec3> y) noexcept {
  for (const BlockRows::Entry& e : row) {
    const auto b = as_size(e.block);
    if (!prescribed[b]) y[b] += scale * e.value;
  }
}

/// W += h J A⁻¹ Jᵀ, one solve a row; `solve` turns its argument y into A⁻¹ y. `scratch` has a Vec3 for each block.
template <typename Solve>
void add_compliance_by_rows(double h, const BlockRows& J, std::span<const std::uint8_t> prescribed,
                            std::span<Vec3> scratch, Eigen::Ref<Eigen::MatrixXd> W, Solve&& solve) noexcept {
  for (int r = 0; r < J.rows(); ++r) {
    for (Vec3& y : scratch) y.setZero();
    scatter_row(J.row(r), 1.0, prescribed, scratch);
    solve(scratch);
    for (int s = 0; s < J.rows(); ++s) {
      double sum = 0.0;
      for (const BlockRows::Entry& e : J.row(s)) {
        const auto b = as_size(e.block);
        if (!prescribed[b]) sum += e.value.dot(scratch[b]);
      }
      W(s, r) += h * sum;
    }
  }
}

}  // namespace palpate
