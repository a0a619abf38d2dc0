#include "stiffness_completion.h"

namespace palpate {

using namespace lanes;

void StiffnessCompletion::begin(std::span<const Vec3> v) noexcept {
  const Double4 zero = fill(0.0);
  Node* nodes = nodes_.data();
  for (std::size_t i = 0; i < v.size(); ++i) {
    Node& node = nodes[i];
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

}  // namespace palpate
