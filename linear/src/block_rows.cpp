#include "palpate/linear/block_rows.h"

namespace palpate {

void BlockRows::add_product(double scale, const Eigen::Ref<const Eigen::VectorXd>& x,
                            Eigen::Ref<Eigen::VectorXd> y) const noexcept {
  for (int r = 0; r < rows(); ++r) {
    double sum = 0.0;
    for (const Entry& entry : row(r)) sum += entry.value.dot(x.segment<3>(3 * entry.block));
    y[r] += scale * sum;
  }
}

void BlockRows::add_transposed_product(double scale, const Eigen::Ref<const Eigen::VectorXd>& y,
                                       Eigen::Ref<Eigen::VectorXd> x) const noexcept {
  for (int r = 0; r < rows(); ++r) {
    for (const Entry& entry : row(r)) x.segment<3>(3 * entry.block) += scale * y[r] * entry.value;
  }
}

}  // namespace palpate
