#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "aged_factors.h"
#include "messages.h"
#include "palpate/bodies/elastic_forces.h"
#include "palpate/bodies/fem_body.h"
#include "palpate/core/second_thread.h"

namespace palpate::reduced {

/// One soft body in the slow loop: its whole state, what the fast loop did to it, and its model.
///
/// A model's basis is a rational block Krylov space: the velocity, the free motions of a tick and of a slow step and
/// what follows on them, and the answers A(ΔT)⁻¹Eᵀ and A(dt)⁻¹Eᵀ to forces on the vertices that are or may be touched,
/// orthonormal with A(dt), less what adds nothing. Thread: the slow loop's.
class Reduction {
 public:
  struct Settings {
    double dt, slow_period;   ///< [s]
    int factor_steps = 0;     ///< as in ReducedSettings …
    int states = kMaxStates;  ///< … likewise
  };
  /// `body` outlives it, and so does `second`, which does part of the work; null: all is done in the caller's thread.
  Reduction(FemBody& body, const Settings& settings, SecondThread* second);

  const FemBody& body() const noexcept { return body_; }
  int most_states() const noexcept { return most_states_; }  ///< that a model may have
  /// Whether nothing moves a vertex, for each.
  std::vector<std::uint8_t> make_fixed() const;

  /// Brings the body to where the fast loop has it, at its tick `tick`. `model_number` names the model that the
  /// states belong to.
  struct FastState {
    std::uint64_t tick, model_number;
    BodyLayout::Motion<const double> motion;
  };
  void follow(const FastState& fast);

  /// How far a body's vertices are from what may touch them [m].
  struct Distances {
    std::vector<double> tools, others;
  };
  struct Wanted {
    std::uint64_t number, tick;  ///< as in Model
    /// How far ahead of that tick it is linearised [s]: in the middle of the time for which the fast loop has it.
    double ahead;
  };
  /// The model of the body as it is. False if the body's systems could not be factored, or the state is not finite.
  bool make_model(const Wanted& wanted, const Distances& distances, BodyView<double> out);
  /// The fast loop begins with this one, the last that was made.
  void begin_with(const BodyView<const double>& model);

 private:
  static constexpr int kStep = 0, kTick = 1;  ///< the body's time steps
  /// A basis that the fast loop may still use.
  struct Basis {
    std::uint64_t number = 0;  ///< of its model; 0: it is not used
    int states = 0;
    RowMatrix Phi;                  ///< of kMaxStates columns
    std::vector<Mat3> turned;       ///< how far elements around the nodes have turned from their rest at x₀
    Eigen::MatrixXd K, D, turning;  ///< of the states, as in BodyView
    double damping_one = 0.0, damping_stiffness = 0.0;
    bool has_D = false;
    Eigen::VectorXd force;  ///< on the nodes but for the elastic ones [N]
  };
  /// A unit force on a vertex along an axis.
  struct Load {
    int vertex, axis;
    double rank;  ///< what it may weigh in the next period, in (0, 1]
  };
  /// What a column c of C answers to, f, so that A(h)c = f. With Rayleigh damping A(dt)c is then a sum of f and Mc.
  struct Source {
    enum class Kind : std::uint8_t { kNone, kLoad, kEcho } kind = Kind::kNone;  ///< none: A(dt)c is in AC
    int which = 0;                                                              ///< the time step h
    Load load{};                                                                ///< or …
    int of = 0;                                                                 ///< … M times this column of C
  };
  /// A(dt)c = of_source f + of_mass Mc.
  struct Shares {
    double of_source, of_mass;
  };
  /// Does both, one of them beside the other where there is a second thread. Neither needs what the other writes.
  template <typename Beside, typename Here>
  void do_both(Beside beside, Here here);
  void go_ahead(double ahead);
  /// By the model that the fast loop has.
  struct WayAhead {
    Eigen::VectorXd states;   ///< where the body is linearised
    Eigen::MatrixXd samples;  ///< and when the next model comes and while it is used
  };
  WayAhead predict_states(double ahead);
  /// All nodes on their way ahead.
  struct NodesAhead {
    Eigen::VectorXd place, velocity, acceleration;  ///< [m, m/s, m/s²]
    Eigen::VectorXd elastic;                        ///< forces of the elements there [N]
    std::vector<Mat3> turned;                       ///< of those around each node, from their rest
  };
  /// A step of Newmark's family: h [s], γ and β.
  struct StepAhead {
    double h, gamma, beta;
  };
  void step_nodes(const StepAhead& step, NodesAhead& nodes);
  bool predict_nodes(double ahead, Eigen::VectorXd& place, Eigen::MatrixXd& velocities);
  int count_steps() const noexcept;    ///< of all nodes on their way ahead, which is two slow periods long …
  int count_samples() const noexcept;  ///< … and of their velocities, in the second of those
  void factor_ahead(double ahead);
  /// When a model is taken away that is linearised `ahead`, in the middle of the slow period for which it is used [s].
  double end_of_use(double ahead) const noexcept { return ahead + 0.5 * (slow_period_ - dt_); }
  Eigen::VectorXd turn_way(const Eigen::VectorXd& states) const;
  void ask_elements(const Eigen::MatrixXd& samples);
  /// `thread` as in add_answers().
  void compute_turned(std::span<const Vec3> places, int thread, Eigen::VectorXd& forces, std::vector<Mat3>& turned);
  void linearise();
  void turn_ahead(Eigen::Ref<Eigen::VectorXd> nodes) const;
  enum class Way : std::uint8_t { kStraight, kTurning };
  double limit_stretch(const Eigen::VectorXd& way, Way kind) const;
  void choose_vertices(const Distances& distances);
  void clear_prescribed(Eigen::Ref<Eigen::VectorXd> nodes) const;
  bool make_vectors();
  bool begin_answers(int which);
  void choose_loads(int most);
  /// `thread` is 0 in the slow loop's and 1 in the second one.
  void add_answers(int which, std::span<const Load> loads, int first, int thread);
  std::vector<int> find_rows(std::span<const Load> loads) const;
  void solve(int which, int first, int end, int thread);
  void recall_answers(int which, std::span<const Load> loads, bool echo, int first);
  void solve_well(int which, Eigen::Ref<Eigen::MatrixXd> X);
  void multiply(double h, const Eigen::Ref<const Eigen::MatrixXd>& X, Eigen::Ref<Eigen::MatrixXd> AX) const;
  /// How many states have the true stiffness; fewer of a large body, for each takes all elements.
  int turning_states(int states) const noexcept {
    return std::min(states, large_ ? kTurningStates / 2 : kTurningStates);
  }
  double time_step(int which) const noexcept { return which == kStep ? slow_period_ : dt_; }
  void add_echoes(int of, int vectors, int first, int thread);
  void add_load_echoes(int of, int vectors, int first, int thread);
  void set_own_vectors();
  void set_rigid_motions(int first);
  void multiply_system(int first, int end);
  bool knows_sources() const noexcept { return rayleigh_ && !aged_; }
  Shares compute_shares(int which) const noexcept;
  void make_basis(Basis& basis);
  void compute_products(Eigen::Index first, Eigen::Index rows, Eigen::MatrixXd& mass, Eigen::MatrixXd& system) const;
  Eigen::MatrixXd compute_gram(const Eigen::MatrixXd& system) const;
  void list_taken();
  void take_rows(Eigen::Index first, Eigen::Index rows);
  Eigen::MatrixXd compute_mass(const Basis& basis) const;
  void fill(Basis& basis, BodyView<double> out);
  Eigen::MatrixXd compute_true_stiffness(const Basis& basis);
  void fill_turning(const Basis& basis, const Eigen::MatrixXd& true_stiffness, BodyView<double> out);
  void fill_handover(const Basis& before, const Basis& basis, int first, int end, BodyView<double> out) const;
  void fill_residuals(BodyView<double> out);
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
  SecondThread* second_;
  const double dt_, slow_period_;
  struct Rayleigh {
    double alpha, beta;  ///< D = αM + βK [1/s, s]
  };
  std::optional<Rayleigh> rayleigh_;                          ///< unless they differ over the body
  Eigen::VectorXd mass_, root_mass_;                          ///< of each unknown [kg], and its square root
  std::vector<int> weight_begin_;                             ///< of each vertex in weights_
  std::vector<Weight> weights_;                               ///< of the nodes that carry it and can move
  std::optional<AgedFactors> aged_;                           ///< of a large body
  std::array<std::optional<AnswerMemory>, 2> answer_memory_;  ///< then, for each time step
  std::array<Basis, 4> bases_;
  std::size_t newest_ = 0;
  std::uint64_t tick_ = 0;               ///< of the fast loop, at which the body is
  const Basis* followed_ = nullptr;      ///< to which the fast loop's states belonged then …
  Eigen::VectorXd speed_;                ///< … q̇ …
  std::vector<Mat3> turns_;              ///< … and R of the nodes
  std::vector<double> impulses_, push_;  ///< of the vertices until then, and since the tick before [N·s]
  std::vector<int> patch_;               ///< vertices …
  int most_patch_ = 0;                   ///< … of which there are at most so many: the body has no room for more rows
  std::vector<Load> loads_, quick_;      ///< whose answers may be in the basis, lasting and sudden ones
  bool free_body_ = true;                ///< nothing holds it
  bool large_ = false;                   ///< so large that fewer states have to do
  int most_states_ = kMaxStates;         ///< that a basis may have
  int unknowns_ = 0;                     ///< of the nodes that can move
  double spacing_ = 0.0;                 ///< of the surface's vertices [m]
  BlockRows rows_;
  // Vectors that a basis is made of. The first `must_` have to be in it, and of those the first `own_` are the states'
  // own: velocities now and when the model comes, free motions, answers to the mean force.
  Eigen::MatrixXd C_, AC_;    ///< and A(dt) times those, or times the first `must_` of them if the others' is known
  std::vector<double> rank_;  ///< of each, in (0, 1]
  std::vector<Source> sources_;
  int own_ = 0, must_ = 0, count_ = 0;
  // Those that were taken, and what S is made of.
  std::vector<int> chosen_;                       ///< columns of C …
  Eigen::MatrixXd factor_;                        ///< … which are Φ Lᵀ: L
  Eigen::MatrixXd inverse_;                       ///< L⁻¹
  Eigen::MatrixXd mass_products_;                 ///< CᵀMC, if it is known what the columns answer to
  std::vector<int> taken_columns_;                ///< of C, those chosen first; and beyond C_'s columns those of AC
  std::vector<int> taken_at_;                     ///< where a column of C is among those; −1: it is not
  Eigen::MatrixXd taken_;                         ///< side by side
  std::array<FemBody::SolveScratch, 2> scratch_;  ///< of each thread
  Eigen::MatrixXd W_, W_step_;               ///< of the patch, in a tick and in a slow step, three rows a vertex [m/N]
  Eigen::VectorXd push_force_;               ///< on the nodes in the last period, in the mean [N]
  Eigen::VectorXd start_elastic_, elastic_;  ///< forces where the body is, and where it is linearised [N]
  Eigen::VectorXd force_;                    ///< scratch
  Eigen::VectorXd place_;                    ///< of the nodes, at the tick that the model is of [m]
  Eigen::VectorXd ahead_place_;              ///< and where the body is linearised [m]
  Eigen::VectorXd start_velocity_;           ///< at that tick, in the nodes' frames where it is linearised [m/s]
  static constexpr int kSamples = 3;         ///< of where the states have the body while a model is used
  static constexpr double kFirstShare = 0.75;  ///< of a step: the first of them
  double step_ahead_ = 0.0;                    ///< the others, for which there is a factor [s]; 0: there is none
  Eigen::MatrixXd predicted_;                  ///< velocities when the model comes and later [m/s]; or none
  /// What forces will have changed by when the model comes and when the next one does, in the nodes' frames [N]; or
  /// none. Nothing else tells the basis how a body yields to forces that turn with it.
  Eigen::MatrixXd force_changes_;
  /// Asked how far elements have turned; one for each thread.
  std::array<std::unique_ptr<ElasticForces>, 2> elements_;
  std::vector<Mat3> start_turned_, ahead_turned_;  ///< that, where the body is, and where it is linearised
};

template <typename Beside, typename Here>
void Reduction::do_both(Beside beside, Here here) {
  if (second_) second_->start([](void* task) noexcept { (*static_cast<Beside*>(task))(); }, &beside);
  here();
  second_ ? second_->wait() : beside();
}

}  // namespace palpate::reduced
