#include "reduced/aged_factors.h"

#include <algorithm>
#include <cmath>

#include "reduced/messages.h"

namespace palpate::reduced {
namespace {

/// That one step does of a factorisation: some milliseconds.
constexpr double kOperationsOfAStep = 3e8;

SingleBlockCholesky make_factor(const FemBody& body) {
  std::vector<std::uint8_t> left_out(as_size(body.node_count()));
  for (int i = 0; i < body.node_count(); ++i) left_out[as_size(i)] = body.is_prescribed(i) ? 1 : 0;
  if (std::find(left_out.begin(), left_out.end(), 1) == left_out.end()) left_out.clear();
  // A factor of a matrix that is a little stiffer does as well, where single precision finds no other.
  const CholeskySettings settings{.max_rows = 3 * kMaxPatchVertices, .shift_retries = 8, .first_shift = 1e-6};
  return SingleBlockCholesky(body.stiffness().shared_pattern(), settings, left_out);
}

}  // namespace

AgedFactors::AgedFactors(const FemBody& body, const Settings& settings)
    : body_(body), alpha_(settings.alpha), beta_(settings.beta) {
  const SingleBlockCholesky factor = make_factor(body);
  const int needed = std::max(1, static_cast<int>(std::ceil(factor.floating_point_operations() / kOperationsOfAStep)));
  for (const double h : settings.time_steps)
    systems_.push_back({.h = h,
                        .steps = settings.steps > 0 ? settings.steps : needed,
                        .A = BlockMatrix(body.stiffness().shared_pattern()),
                        .used = factor,
                        .next = factor});
}

void AgedFactors::assemble(System& system) const {
  system.A.set_zero();
  system.A.add_scaled(system.h + beta_, body_.stiffness());
  for (int i = 0; i < body_.node_count(); ++i)
    system.A.diagonal(i).diagonal().array() += (1.0 / system.h + alpha_) * body_.masses()[as_size(i)];
}

bool AgedFactors::advance(int which) {
  System& system = systems_[as_size(which)];
  if (system.generation == 0) {
    assemble(system);
    if (!system.used.factor(system.A)) return false;
    system.generation = 1;
    return true;
  }
  if (!system.under_way) assemble(system);
  using Progress = SingleBlockCholesky::Progress;
  const Progress progress = system.next.factor_some(system.A, system.next.floating_point_operations() / system.steps);
  system.under_way = progress == Progress::kUnderWay;
  if (progress == Progress::kDone) {
    std::swap(system.used, system.next);
    ++system.generation;
  }
  return true;
}

bool AgedFactors::add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) {
  System& system = systems_[as_size(which)];
  return system.used.add_compliance(J, system.h, W);
}

int AnswerMemory::find(const Key& key) {
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  if (at == entries_.end()) return -1;
  at->looked_for = ++time_;
  return static_cast<int>(at - entries_.begin());
}

int AnswerMemory::add(const Key& key, int generation) {
  auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  if (at == entries_.end())
    at = std::min_element(entries_.begin(), entries_.end(),
                          [](const Entry& a, const Entry& b) { return a.looked_for < b.looked_for; });
  *at = {key, generation, ++time_};
  return static_cast<int>(at - entries_.begin());
}

}  // namespace palpate::reduced
