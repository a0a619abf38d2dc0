#include "reduced/choice.h"

#include <cmath>

#include "palpate/core/index.h"

namespace palpate::reduced {

VectorChoice::VectorChoice(const Eigen::MatrixXd& gram, std::span<const double> rank, const Limits& limits) {
  const auto count = static_cast<int>(rank.size());
  const double least = limits.least_share * limits.least_share;
  const Eigen::VectorXd whole = gram.diagonal();
  Eigen::VectorXd left = whole;               // squared norm of what is new of each
  Eigen::MatrixXd along(count, limits.most);  // the vectors' parts along those taken
  const auto find_best = [&] {
    int best = -1;
    double most = 0.0;
    for (int i = 0; i < count; ++i) {
      if (!(left[i] > least * whole[i])) continue;
      if (i < limits.must) return i;
      const double value = rank[as_size(i)] * rank[as_size(i)] * left[i] / whole[i];
      if (value > most) {
        most = value;
        best = i;
      }
    }
    return best;
  };
  for (int taken = 0; taken < limits.most;) {
    const int best = find_best();
    if (best < 0) break;
    const auto before = along.leftCols(taken);
    const double norm2 = whole[best] - before.row(best).squaredNorm();
    left[best] = 0.0;
    if (!(norm2 > least * whole[best])) continue;
    auto column = along.col(taken);
    column = gram.col(best);
    column.noalias() -= before * before.row(best).transpose();
    column /= std::sqrt(norm2);
    left -= column.cwiseAbs2();
    left[best] = 0.0;
    chosen_.push_back(best);
    ++taken;
  }
  const auto taken = static_cast<int>(chosen_.size());
  factor_ = along(chosen_, Eigen::seqN(0, taken));
  factor_.triangularView<Eigen::StrictlyUpper>().setZero();
}

}  // namespace palpate::reduced
