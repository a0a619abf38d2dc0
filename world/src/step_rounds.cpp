#include <algorithm>
#include <tuple>
#include <utility>

#include "step_data.h"

// A later round of a step has most of the rows of the one before. Their part of the compliance W is kept, for the
// bodies have not moved; where no row is new, that is all of it, to the bit.
namespace palpate {

void StepData::put_round_aside() {
  std::swap(problem, problem_before_);
  for (Moving& m : moving) std::swap(m.rows, m.rows_before);
}

/// rows_before_[r] is where row r of a dense body was in the round before, −1 if it was not. Joints and further rows
/// are the same in every round, and both lists of contacts are ordered by bodies and identity.
void StepData::map_rows(int side_body) {
  rows_before_.assign(as_size(problem.dense_rows(side_body)), -1);
  const auto now = problem.constraints(), before = problem_before_.constraints();
  const auto take = [&](const Constraint& to, const Constraint& from) {
    for (const auto& [side, old] : {std::pair(&to.a, &from.a), std::pair(&to.b, &from.b)}) {
      if (side->kind != ConstraintSide::Kind::kDense || side->body != side_body || old->body != side_body) continue;
      for (int r = 0; r < to.rows; ++r) rows_before_[as_size(side->first + r)] = old->first + r;
    }
  };
  for (std::size_t i = 0; i < as_size(first_contact); ++i) take(now[i], before[i]);
  const auto order = [](const Contact& c) { return std::tuple(c.body_a, c.body_b, c.id); };
  for (std::size_t i = 0, k = 0; i < contacts.size() && k < round_.contacts.size();) {
    const auto at = order(contacts[i]), was = order(round_.contacts[k]);
    if (at == was) take(now[as_size(first_contact) + i], before[as_size(first_contact) + k]);
    if (at <= was) ++i;
    if (was <= at) ++k;
  }
}

/// W of a dense body from that of the round before. False, W still zero: it had better be computed anew.
bool StepData::keep_compliance(std::size_t index) {
  Moving& m = moving[index];
  const auto same = [](const BlockRows::Entry& x, const BlockRows::Entry& y) {
    return x.block == y.block && x.value == y.value;
  };
  map_rows(m.side.body);
  fresh_rows_.clear();
  for (int r = 0; r < m.rows.rows(); ++r) {
    const std::int32_t was = rows_before_[as_size(r)];
    if (was < 0 || !std::ranges::equal(m.rows.row(r), m.rows_before.row(was), same)) fresh_rows_.push_back(r);
  }
  auto W = problem.dense_compliance(m.side.body);
  if (!fresh_rows_.empty() && !bodies_[index].body->add_fresh_compliance(0, m.rows, fresh_rows_, W)) return false;
  for (const std::int32_t r : fresh_rows_) rows_before_[as_size(r)] = -1;
  const auto W_before = std::as_const(problem_before_).dense_compliance(m.side.body);
  for (int c = 0; c < m.rows.rows(); ++c) {
    const std::int32_t from = rows_before_[as_size(c)];
    if (from < 0) continue;
    for (int r = 0; r < m.rows.rows(); ++r) {
      if (rows_before_[as_size(r)] >= 0) W(r, c) = W_before(rows_before_[as_size(r)], from);
    }
  }
  return true;
}

}  // namespace palpate
