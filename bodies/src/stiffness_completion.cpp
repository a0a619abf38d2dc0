#include "stiffness_completion.h"

namespace palpate {

using namespace lanes;

void StiffnessCompletion::begin(std::span<const Vec3> v) noexcept {
  const Double4 zero = fill(0.0);
  for (std::size_t i = 0; i < v.size(); ++i) {
    Node& node = nodes_[i];
    store(node.v, Double4{v[i][0], v[i][1], v[i][2], 0.0});
    store(node.y, zero);
    for (auto& column : node.diagonal) store(column, zero);
  }
}

void StiffnessCompletion::complete(std::span<const Vec3> v, BlockMatrix& K) noexcept {
  begin(v);
  const BlockPattern& pattern = K.pattern();
  double* values = K.block(0).data();
  for (int j = 0; j < pattern.blocks(); ++j) {
    const int begin = pattern.column_begin(j), end = pattern.column_begin(j + 1);
    Column column(node(j));
    for (int at = begin + 1; at < end; ++at) {
      // The last block of all is on the diagonal: reading a scalar past this one is fine.
      const double* k = values + 9 * std::ptrdiff_t{at};
      column.add(node(pattern.row(at)), load(k), load(k + 3), load(k + 6));
    }
    column.finish(values + 9 * std::ptrdiff_t{begin});
  }
}

void StiffnessCompletion::copy_product(std::span<Vec3> y) const noexcept {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = Eigen::Map<const Vec3>(nodes_[i].y);
}

}  // namespace palpate
