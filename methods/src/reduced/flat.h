#pragma once

#include <Eigen/Core>
#include <span>

#include "palpate/core/math.h"

namespace palpate::reduced {

/// The numbers of a range of Vec3, one after the other.
template <typename Range>
auto flat(Range&& range) noexcept {
  const std::span vectors(range);
  using Element = typename decltype(vectors)::element_type;
  using Vector = std::conditional_t<std::is_const_v<Element>, const Eigen::VectorXd, Eigen::VectorXd>;
  return Eigen::Map<Vector>(vectors.data()->data(), static_cast<Eigen::Index>(3 * vectors.size()));
}

/// The same the other way round.
inline std::span<Vec3> as_nodes(Eigen::VectorXd& v) noexcept {
  return {reinterpret_cast<Vec3*>(v.data()), static_cast<std::size_t>(v.size() / 3)};
}

/// Each node's part of a vector times `find(node)`, 3 × 3.
template <typename Find>
void turn_nodes(Eigen::Ref<Eigen::VectorXd> nodes, const Find& find) {
  for (Eigen::Index i = 0; i < nodes.size() / 3; ++i) {
    auto x = nodes.segment<3>(3 * i);
    x = Vec3(find(static_cast<std::size_t>(i)) * x);
  }
}

}  // namespace palpate::reduced
