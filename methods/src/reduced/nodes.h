#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "palpate/bodies/elastic_forces.h"
#include "reduced/energy_guard.h"

namespace palpate::reduced {

/// All nodes of a body that moves by a model's states: where they are, how far they have turned, and what forces act on
/// them, brought up to date a piece in every tick.
///
/// A look takes a few ticks. It moves all nodes to where the states have them, along a basis that turns with them; asks
/// the elements there for their forces and for how far they have turned; and takes what those forces do to the states.
/// Until the next look ends, nodes are where that look had them and R Φ (q − q_e) further, and forces change by the
/// model's stiffness. A change of the frames R leaves the nodes' momentum as it is, as far as the states can.
///
/// Thread: the fast loop's; nothing allocates or throws, and a tick's work is bounded whatever the size of the body,
/// but for carry(), which goes through all nodes.
class Nodes {
 public:
  Nodes(std::unique_ptr<ElasticForces> elements, int nodes, double dt);

  /// The body is where the model has it at its start, and q_e = 0.
  void begin(const BodyView<const double>& model) noexcept;
  /// A new model of the same motion: nodes and forces are those that are there, and states become those of the model,
  /// with q_e = 0.
  void carry(const BodyView<const double>& model, Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> speed) noexcept;
  /// A tick's work, with the states as they are after it, and the work that contacts have done to them since the start
  /// [J]. Returns whether a look has ended: then base(), places, frames and `speed` have changed, the latter because
  /// frames turned and because what forces that came late have made of energy is taken out.
  bool work(const BodyView<const double>& model, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> speed,
            double work) noexcept;

  /// Of the last look that ended.
  const Eigen::VectorXd& base() const noexcept { return base_; }     ///< q_e
  std::span<const Vec3> places() const noexcept { return places_; }  ///< of the nodes at q_e [m]
  std::span<const Mat3> turns() const noexcept { return turns_; }    ///< R of the nodes
  /// ΦᵀRᵀf(x_e) + (K + T) q_e.
  const Eigen::VectorXd& pull() const noexcept { return pull_; }
  /// What forces have changed by beyond K + T between the last two looks, and how much of that again at the states q:
  /// as far as these have gone on in the direction in which they went between the looks, as a part of that way.
  const Eigen::VectorXd& lacked() const noexcept { return lacked_; }
  double compute_lead(const Eigen::VectorXd& q) const noexcept;
  /// What the elements stored when they were last asked [J]; 0 before.
  double elastic_energy() const noexcept { return elastic_energy_; }

 private:
  enum class Phase { kPlace, kElements, kProject };
  void start_look(const BodyView<const double>& model, const Eigen::VectorXd& q,
                  const Eigen::Ref<const Eigen::VectorXd>& speed, double work) noexcept;
  int go_on(const BodyView<const double>& model, int left) noexcept;
  void place(const BodyView<const double>& model, int first, int end) noexcept;
  void project(const BodyView<const double>& model, std::span<const Vec3> forces, std::span<const Mat3> turns,
               int first, int end) noexcept;
  void set_pull(const BodyView<const double>& model) noexcept;
  void end_elements(const BodyView<const double>& model) noexcept;

  int count() const noexcept { return static_cast<int>(places_.size()); }

  std::unique_ptr<ElasticForces> elements_;
  const double dt_;
  const bool leads_;  ///< looks take so long that compute_lead() is not zero
  // Of the last look that ended.
  std::vector<Vec3> places_, forces_;  ///< elastic forces [N]
  std::vector<Mat3> turned_;           ///< from the shape at rest
  std::vector<Mat3> turns_;            ///< R: from x₀ of the model
  Eigen::VectorXd base_, force_, pull_;
  Eigen::VectorXd lacked_, way_;  ///< between the last two looks; way_ is over its squared length
  bool has_forces_ = false;       ///< a look has ended since begin()
  // Of the one that is going on.
  Phase phase_ = Phase::kPlace;
  int at_ = 0;          ///< node or piece that is next
  bool ended_ = false;  ///< in this tick
  /// In the tick of a new model nothing is looked at: it has most to do, and where a body has just begun is known to
  /// the last bit, while a look has nodes in single precision.
  bool rests_ = false;
  std::vector<Vec3> next_places_, next_forces_;
  std::vector<Vec3> next_moves_;  ///< ẋ of the nodes [m/s]
  std::vector<Mat3> next_turned_, next_turns_;
  Eigen::VectorXd looked_;                           ///< the states that it is of
  double looked_kinetic_ = 0.0, looked_work_ = 0.0;  ///< [J]
  Eigen::VectorXf since_, speed_, sum_, momentum_;  ///< q − q_e, q̇; ΦᵀRᵀf; what frames that turn do to ΦᵀRᵀMẋ
  EnergyGuard guard_;
  double elastic_energy_ = 0.0;
  Eigen::VectorXd scratch_, last_pull_;
  Eigen::VectorXf chunk_, second_chunk_;  ///< of the nodes that are gone through at once
};

}  // namespace palpate::reduced
