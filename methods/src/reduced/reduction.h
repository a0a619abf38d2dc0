#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "palpate/bodies/elastic_forces.h"
#include "palpate/bodies/fem_body.h"
#include "reduced/messages.h"

namespace palpate::reduced {

/// One soft body in the slow loop: its whole state, what the fast loop did to it, and its model.
///
/// A model's basis is a rational block Krylov space: the velocity, the free motions of a tick and of a slow step and
/// what follows on them, and the answers A(ΔT)⁻¹Eᵀ and A(dt)⁻¹Eᵀ to forces on the vertices that are or may be touched,
/// orthonormal with A(dt), less what adds nothing. Thread: the slow loop's.
class Reduction {
 public:
  /// `body` outlives it.
  Reduction(FemBody& body, double dt, double slow_period);

  const FemBody& body() const noexcept { return body_; }
  /// Whether nothing moves a vertex, for each.
  std::vector<std::uint8_t> make_fixed() const;

  /// Brings the body to where the fast loop has it, at its tick `tick`. `model_tick` names the model that the states
  /// belong to.
  struct FastState {
    std::uint64_t tick, model_tick;
    BodyLayout::Motion<const double> motion;
  };
  void follow(const FastState& fast);

  /// How far a body's vertices are from what may touch them [m].
  struct Distances {
    std::vector<double> tools, others;
  };
  /// The model of the body as it is, of the fast loop's tick `tick`, linearised where the body will be `ahead` [s]
  /// later: in the middle of the time for which the fast loop has it. False if the body's systems could not be
  /// factored, or the state is not finite.
  bool make_model(std::uint64_t tick, double ahead, const Distances& distances, BodyView<double> out);

 private:
  static constexpr int kStep = 0, kTick = 1;  ///< the body's time steps
  /// A basis that the fast loop may still use.
  struct Basis {
    std::uint64_t tick = 0;
    bool used = false;
    int states = 0;
    Eigen::MatrixXd Phi, APhi;      ///< and A(dt)Φ, of kMaxStates columns
    std::vector<Mat3> turned;       ///< how far elements around the nodes have turned from their rest at x₀
    Eigen::MatrixXd K, D, turning;  ///< of the states, as in BodyView
    Eigen::VectorXd force;          ///< on the nodes but for the elastic ones [N]
  };
  bool linearise_ahead(double ahead);
  Eigen::VectorXd predict_way(double ahead);
  void compute_turned(std::span<const Vec3> places, std::vector<Mat3>& turned);
  double limit_stretch(const Eigen::VectorXd& way) const;
  void choose_vertices(const Distances& distances);
  void turn_ahead(Eigen::Ref<Eigen::VectorXd> nodes) const;
  void clear_prescribed(Eigen::Ref<Eigen::VectorXd> nodes) const;
  void add_vector(const Eigen::Ref<const Eigen::VectorXd>& x, int& count);
  int add_answers(int which, std::span<const int> vertices, int count);
  void solve(int which, int first, int end);
  int add_echoes(int first, int vectors, int count);
  void add_rigid_motions(int& count);
  int orthonormalise(int must, std::span<const double> rank);
  void fill(Basis& basis, BodyView<double> out);
  void fill_turning(const Basis& basis, BodyView<double> out);
  void fill_handover(const Basis& before, const Basis& basis, BodyView<double> out) const;
  void fill_residuals(BodyView<double> out);
  void multiply_system(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y);
  void add_to_nodes(int vertex, const Vec3& value, Eigen::Ref<Eigen::VectorXd> nodes) const;

  struct Weight {
    int node;
    double weight;
  };
  std::span<const Weight> weights(int vertex) const noexcept {
    return {weights_.data() + weight_begin_[as_size(vertex)],
            as_size(weight_begin_[as_size(vertex) + 1] - weight_begin_[as_size(vertex)])};
  }

  FemBody& body_;
  const double dt_, slow_period_;
  struct Rayleigh {
    double alpha, beta;  ///< D = αM + βK [1/s, s]
  };
  std::optional<Rayleigh> rayleigh_;  ///< unless they differ over the body
  Eigen::VectorXd mass_;              ///< of each unknown [kg]
  std::vector<int> weight_begin_;     ///< of each vertex in weights_
  std::vector<Weight> weights_;       ///< of the nodes that carry it and can move
  std::array<Basis, 4> bases_;
  std::size_t newest_ = 0;
  std::uint64_t tick_ = 0;                         ///< of the fast loop, at which the body is
  const Basis* followed_ = nullptr;                ///< to which the fast loop's states belonged then …
  Eigen::VectorXd speed_;                          ///< … q̇ …
  std::vector<Mat3> turns_;                        ///< … and R of the nodes
  std::unique_ptr<ElasticForces> elements_;        ///< asked how far elements have turned
  std::vector<Mat3> start_turned_, ahead_turned_;  ///< that, where the body is, and where it is linearised
  std::vector<Vec3> node_scratch_;
  std::vector<double> impulses_, push_;  ///< of the vertices until then, and since the tick before [N·s]
  std::vector<int> patch_;               ///< vertices
  std::vector<int> loads_, quick_;       ///< those whose answers are in the basis, to lasting and to sudden forces
  std::vector<double> load_rank_;        ///< of loads_, in (0, 1]
  bool free_body_ = true;                ///< nothing holds it
  double spacing_ = 0.0;                 ///< of the surface's vertices [m]
  BlockRows rows_;
  Eigen::MatrixXd C_, AC_;  ///< vectors that a basis is made of, and A(dt) times those
  Eigen::MatrixXd T_;       ///< Φ = C T
  Eigen::MatrixXd W_, W_step_;
  Eigen::VectorXd push_force_;               ///< on the nodes in the last period, in the mean [N]
  Eigen::VectorXd start_elastic_, elastic_;  ///< forces where the body is, and where it is linearised [N]
  Eigen::VectorXd force_, free_, tick_free_, scratch_;
  Eigen::VectorXd place_;        ///< of the nodes, at the tick that the model is of [m]
  Eigen::VectorXd ahead_place_;  ///< and where the body is linearised [m]
  static constexpr int kSamples = 3;
  Eigen::MatrixXd predicted_;       ///< velocities when the model will come and be used [m/s]; or none
  Eigen::VectorXd start_velocity_;  ///< at that tick, in the nodes' frames where it is linearised [m/s]
};

}  // namespace palpate::reduced
