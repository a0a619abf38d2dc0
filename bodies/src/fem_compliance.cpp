#include <algorithm>

#include "palpate/bodies/fem_body.h"

// How finite elements answer to forces on constraint rows.
namespace palpate {
namespace {

/// Share of fresh rows from which on all are as soon done anew: each is solved forth and back through all of the
/// factor, where add_compliance() goes forth only, from the row's own nodes on, and multiplies. That way grows much more
/// slowly with the body than the factor does, so that beyond so many nodes the share goes down with their number.
constexpr double kMostFresh = 0.4, kSmallBody = 400;

}  // namespace

const BlockRows& FemBody::without_prescribed(const BlockRows& J, System& system) const noexcept {
  if (prescribed_nodes_.empty()) return J;
  system.free_rows.clear();
  for (int r = 0; r < J.rows(); ++r) {
    system.free_rows.begin_row();
    for (const BlockRows::Entry& entry : J.row(r)) {
      if (!prescribed_[entry.block]) system.free_rows.add(entry.block, entry.value);
    }
  }
  return system.free_rows;
}

bool FemBody::add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  System& system = systems_[which];
  if (J.rows() > system.factor.settings().max_rows) return false;
  const BlockRows& rows = without_prescribed(J, system);
  const double h = time_steps_[which];
  return system.in_single ? system.single->add_compliance(rows, h, W) : system.factor.add_compliance(rows, h, W);
}

bool FemBody::add_fresh_compliance(int which, const BlockRows& J, std::span<const std::int32_t> fresh,
                                   Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  System& system = systems_[which];
  if (J.rows() < kFewestRowsToKeep || J.rows() > system.factor.settings().max_rows) return false;
  const double share = kMostFresh * std::min(1.0, kSmallBody / node_count());
  if (static_cast<double>(fresh.size()) > share * J.rows()) return false;
  const BlockRows& rows = without_prescribed(J, system);
  const double h = time_steps_[which];
  for (std::size_t first = 0; first < fresh.size(); first += kAnswersAtOnce) {
    const auto now = fresh.subspan(first, std::min<std::size_t>(kAnswersAtOnce, fresh.size() - first));
    auto X = system.answers.leftCols(static_cast<Eigen::Index>(now.size()));
    X.setZero();
    for (std::size_t k = 0; k < now.size(); ++k) {
      for (const BlockRows::Entry& e : rows.row(now[k]))
        X.col(static_cast<Eigen::Index>(k)).segment<3>(3 * e.block) += h * e.value;
    }
    solve(which, X);
    auto later = fresh.begin();  // the first fresh row from s on
    for (int s = 0; s < rows.rows(); ++s) {
      while (later != fresh.end() && *later < s) ++later;
      const bool is_fresh = later != fresh.end() && *later == s;
      for (std::size_t k = 0; k < now.size(); ++k) {
        const int r = now[k];
        if (is_fresh && s > r) continue;  // of two fresh rows once, so that both halves of W are the same
        double w = 0.0;
        for (const BlockRows::Entry& e : rows.row(s))
          w += e.value.dot(X.col(static_cast<Eigen::Index>(k)).segment<3>(3 * e.block));
        W(s, r) += w;
        if (s != r) W(r, s) += w;
      }
    }
  }
  return true;
}

}  // namespace palpate
