#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "palpate/bodies/elastic_forces.h"
#include "reduced/messages.h"

namespace palpate::reduced {

/// The true elastic forces of a body that moves by a model's states, computed a piece in every tick.
///
/// A model's stiffness is that of one place, and holds as long as the body stays near it. So the fast loop looks again:
/// over a few ticks it puts all nodes where the states have them, asks the elements for their forces there, and takes
/// what those do to the states. Until the next look the forces are those, changed by the model's stiffness:
///   Φᵀf(q) = Φᵀf(q_e) − (K + T)(q − q_e),
/// q_e being the states when the look began. Thread: the fast loop's; nothing allocates or throws, and a tick's work is
/// bounded whatever the size of the body, but for keep(), which goes through all nodes.
class TrueForces {
 public:
  TrueForces(std::unique_ptr<ElasticForces> elements, int nodes, double dt, double slow_period);

  /// A model that is new to the body, of whose start the forces are known.
  void begin(const BodyView<const double>& model) noexcept;
  /// The states go on from the model before: what was known with that one is known of this one too. q are the states of
  /// this model where those of the one before were `old_q`.
  void keep(const BodyView<const double>& model, const Eigen::VectorXd& old_q, const Eigen::VectorXd& q) noexcept;
  /// Nothing is known but the start of the model, and that is of now.
  void forget() noexcept;
  /// A tick's work, with the states as they are after it.
  void work(const BodyView<const double>& model, const Eigen::VectorXd& q) noexcept;

  /// Φᵀf(q_e) + (K + T) q_e, or what is taken of it: a model that is far off is not mended by more than it can bear.
  const Eigen::VectorXd& pull() const noexcept { return pull_; }

 private:
  enum class Phase { kPlace, kElements, kProject };
  int go_on(const BodyView<const double>& model, int left) noexcept;
  void set_pull(const BodyView<const double>& model, const Eigen::Ref<const Eigen::VectorXd>& force,
                const Eigen::Ref<const Eigen::VectorXd>& q) noexcept;
  void finish_look(const BodyView<const double>& model) noexcept;
  double compute_most_lacking(const BodyView<const double>& model) const noexcept;
  void project(const BodyView<const double>& model, int first, int end) noexcept;

  std::unique_ptr<ElasticForces> elements_;
  const double dt_;
  const bool is_trusted_;  ///< what the elements say is taken
  const int look_ticks_;   ///< that a look takes
  Phase phase_ = Phase::kPlace;
  int at_ = 0;                ///< node or piece that is next
  std::vector<Vec3> places_;  ///< of the nodes, at looked_ [m]
  std::vector<Vec3> forces_;  ///< of the last whole look, at known_ [N]
  bool has_forces_ = false;
  Eigen::VectorXd looked_, known_;  ///< states
  Eigen::VectorXd force_, pull_, change_, scratch_;
  Eigen::VectorXf single_states_, sum_;
  Eigen::VectorXf single_forces_;  ///< scratch, of the nodes
};

}  // namespace palpate::reduced
