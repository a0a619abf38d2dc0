#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

#include "palpate/bodies/fem_body.h"
#include "palpate/linear/block_cholesky.h"

namespace palpate::reduced {

/// Factors of the systems A(h) of a large body that are older than the step that uses them.
///
/// Factoring such a body takes longer than a slow period. But the vectors of a basis need only span well: a model is
/// Galerkin's with the stiffness of now, whatever factor its vectors come from. So each step does a part of the next
/// factorisation, in single precision. Calls for different time steps may run at once; each call in one thread.
class AgedFactors {
 public:
  struct Settings {
    std::array<double, 2> time_steps;  ///< h [s]
    double alpha, beta;                ///< D = αM + βK [1/s, s]
    int steps = 0;                     ///< that a factorisation is spread over; 0: as many as its size demands
  };
  /// `body` outlives it. Nodes that are prescribed now stay so, and do not move. Allocates.
  AgedFactors(const FemBody& body, const Settings& settings);

  /// After FemBody::begin_linearise(): a part of the next factor for that time step, and all of the first one. False if
  /// there is no factor at all.
  bool advance(int which);
  /// x ← A(h)⁻¹ x by the factor there is, for each column; zero at prescribed nodes.
  void solve(int which, Eigen::Ref<Eigen::MatrixXd> x) { systems_[as_size(which)].used.solve(x); }
  /// W += h J A(h)⁻¹ Jᵀ likewise. False if J has more than three rows for each of kMaxPatchVertices.
  bool add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W);
  /// How many factors there have been for that time step.
  int generation(int which) const noexcept { return systems_[as_size(which)].generation; }

 private:
  struct System {
    double h;
    int steps;
    BlockMatrix A;  ///< of the factor that is being made
    SingleBlockCholesky used, next;
    bool under_way = false;
    int generation = 0;
  };
  void assemble(System& system) const;

  const FemBody& body_;
  const double alpha_, beta_;
  std::vector<System> systems_;
};

/// Answers that were computed for other steps: those to a unit force hardly change from one step to the next.
class AnswerMemory {
 public:
  struct Key {
    int vertex, axis;
    bool echo;  ///< what follows on the answer
    bool operator==(const Key&) const = default;
  };
  AnswerMemory(Eigen::Index unknowns, int room) : answers_(unknowns, room), entries_(as_size(room)) {}

  /// The column that has it, or −1. What was not looked for the longest is forgotten first.
  int find(const Key& key);
  /// Remembers it, and from which factor it is. Returns the column where it is to be written.
  int add(const Key& key, int generation);
  int generation(int column) const noexcept { return entries_[as_size(column)].generation; }
  auto answer(int column) { return answers_.col(column); }

 private:
  struct Entry {
    Key key{-1, 0, false};
    int generation = 0;
    long looked_for = 0;
  };
  Eigen::MatrixXd answers_;
  std::vector<Entry> entries_;
  long time_ = 0;
};

}  // namespace palpate::reduced
