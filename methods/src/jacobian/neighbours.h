#pragma once

#include <vector>

#include "jacobian/contact_space.h"
#include "palpate/world/step.h"
#include "palpate/world/world.h"

namespace palpate::jacobian {

/// The rigid bodies around a tool: which of their contacts are near it, and how they go on after a slow step. Thread:
/// the slow loop's.
class Neighbours {
 public:
  /// Whether a world has one tool, and beside it no bodies but rigid ones.
  static bool are_rigid(const World& world, int tool);

  Neighbours(const World& world, int tool) : world_(world), tool_(tool) {}

  /// Before the others, once a step.
  void begin(const SolvedStep& step);
  /// Appends contacts among the others that bear, or are about to, as constraints of the step's problem: the fewest
  /// bodies between them and the tool first, then the strongest. At most `room`.
  void list_contacts(const SolvedStep& step, std::size_t room, std::vector<std::pair<double, int>>& out);
  /// How fast they change a row's δ after the step [m/s]. Without it a body that is pushed would stand until the next
  /// model, and be a wall; a soft body's motion ends where the tool's does, and counts as none.
  double rate(const SolvedStep& step, const RowRef& row) const;
  /// How far their weight alone changes it in the step [m].
  double fall(const SolvedStep& step, const RowRef& row) const;

 private:
  template <typename Velocity>
  double sum(const SolvedStep& step, const RowRef& row, const Velocity& velocity) const;

  const World& world_;
  const int tool_;
  std::vector<int> of_light_;  ///< body of the world, by its number among the problem's light bodies; −1: the tool
  std::vector<int> rings_;     ///< of each body of the world: how many contacts lie between it and the tool
  std::vector<std::tuple<int, double, int>> near_;
};

}  // namespace palpate::jacobian
