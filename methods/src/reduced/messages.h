#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "palpate/methods/method.h"

// What passes between the halves of `reduced`. How large a message is depends on the world, so a message is a head of
// fixed size and numbers behind it, whose places a Layout knows that both halves share.
namespace palpate::reduced {

inline constexpr int kMaxStates = 120;        ///< of one soft body; a multiple of three, for they come in blocks
inline constexpr int kTurningStates = 24;     ///< the first ones, whose forces change as elements turn
inline constexpr int kMaxPatchVertices = 96;  ///< whose answer within a tick is known exactly

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using NodeMatrices = Eigen::Matrix<double, 3, Eigen::Dynamic>;  ///< 3 × 3 a node, side by side
using SingleRowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A soft body as the fast loop meets it: how its nodes and its surface move with a few states, and how these move by
/// themselves.
///
/// The fast loop has every node: its place x_i, and how far R_i its surroundings have turned since x₀, where the model
/// was linearised. Nodes move along a basis that turns with them, ẋ_i = R_i Φ_i q̇. So a model does not tell where a
/// body is, only which way it can go, and with ΦᵀA(dt)Φ = 1 a tick of dt does
///   Δq̇ = Φᵀ Rᵀ f(x_e) − K (q − q_e + dt q̇) − D q̇ − T (q − q_e) + (J R Φ)ᵀλ,
/// f(x_e) being the forces of elements, weight and what else acts where the fast loop last looked (Nodes), at the
/// states q_e. In frames that turn with the elements K and D stay what they are. How forces change because elements
/// turn is T q, T = K_T − K with the true derivative K_T of the elastic forces, symmetric, and known in the rows and
/// columns of the first states, in which a body moves far. Rayleigh damping is D = γ + δK there, since A(dt) is one;
/// other damping has a matrix of its own. States of the model before become S times those, S = ΦᵀA(dt) Φ₋ in common
/// frames: of what they were the nearest that the new basis can have. The surface is where its nodes are, and u beside:
/// what the states leave out, by vertex. A tick adds R Jᵀλ to it, R = dt E A(dt)⁻¹ Eᵀ − dt (EΦ)(EΦ)ᵀ for vertices that
/// E picks, so that a single tick is exact, and takes the share `fade` of it away, so that a lasting force moves a
/// vertex as far as it does in a slow step.
template <typename Number>
struct BodyView {
  template <typename M>
  using Map = Eigen::Map<std::conditional_t<std::is_const_v<Number>, const M, M>>;
  using Vector = Map<Eigen::VectorXd>;

  Number& states;             ///< how many of kMaxStates are used
  Number& patch_vertices;     ///< how many of kMaxPatchVertices
  Number& before;             ///< Model::number of the model before; 0: there is none
  Number& damping_one;        ///< γ
  Number& damping_stiffness;  ///< δ [s]
  Number& has_D;              ///< not zero: D is added to that
  Number& left_out;           ///< of how far the patch yields in a slow step, the share that no state has; in [0, 1]
  Map<RowMatrix> Phi;         ///< of the surface: three rows a vertex, a column a state
  Map<Eigen::MatrixXd> K, D;
  Map<Eigen::MatrixXd> turning;       ///< the first columns of T; symmetric in its upper part
  Map<SingleRowMatrix> node_Phi;      ///< Φ of the nodes; in single precision, for a tick reads a good part of it
  Vector node_mass;                   ///< of each node [kg]
  Vector node_force;                  ///< on the nodes but for the elastic ones [N]
  Map<NodeMatrices> node_turn;        ///< how far elements around each node have turned from their rest at x₀ …
  Map<NodeMatrices> node_start_turn;  ///< … and at the tick that the model is of
  Vector node_start;                  ///< where the nodes are then [m]
  Vector start;                       ///< q̇ then
  Vector start_force;                 ///< ΦᵀRᵀf then
  Map<Eigen::MatrixXd> carry;         ///< S
  Vector fade;                        ///< of each vertex, in [0, 1]
  Vector single;                      ///< R of vertices that are not in the patch, a number each [m/N]
  Vector patch;                       ///< the patch's vertices
  Vector number;                      ///< of each vertex in the patch; −1: it is not in it
  Map<Eigen::MatrixXd> patch_W;       ///< dt E A(dt)⁻¹ Eᵀ of the patch, three rows a vertex [m/N]

  auto turn(int node) const noexcept { return node_turn.template middleCols<3>(3 * node); }
  auto start_turn(int node) const noexcept { return node_start_turn.template middleCols<3>(3 * node); }
};

/// change −= T q: `turning` as in BodyView, of as many rows as there are states.
template <typename Turning, typename State, typename Change>
void subtract_turning(const Turning& turning, const State& q, Change&& change) noexcept {
  const auto first = turning.cols(), rest = turning.rows() - first;
  change.noalias() -= turning * q.head(first);
  change.head(first).noalias() -= turning.bottomRows(rest).transpose() * q.tail(rest);
}

/// Where the numbers of one soft body are.
class BodyLayout {
 public:
  BodyLayout(int vertices, int nodes, std::size_t model_begin, std::size_t feedback_begin)
      : vertices_(vertices), nodes_(nodes), model_begin_(model_begin), feedback_begin_(feedback_begin) {}

  int vertices() const noexcept { return vertices_; }
  int nodes() const noexcept { return nodes_; }
  std::size_t model_size() const noexcept { return find_model<const double>(nullptr).second; }
  std::size_t feedback_size() const noexcept {
    return 1 + 2 * kMaxStates + 3 * as_size(vertices_) + 12 * as_size(nodes_);
  }

  /// `numbers` are those behind a message's head.
  template <typename Number>
  BodyView<Number> view(Number* numbers) const noexcept {
    return find_model(numbers).first;
  }
  /// A body in a feedback.
  template <typename Number>
  struct Motion {
    std::span<Number> since;     ///< q − q_e
    std::span<Number> speed;     ///< q̇
    std::span<Number> impulses;  ///< that each vertex has got since the start [N·s]
    std::span<Number> places;    ///< of the nodes, where the fast loop last looked: at q_e [m]
    std::span<Number> turns;     ///< R of the nodes, nine numbers each, by columns
    Number& look;                ///< which look `places` and `turns` are of; 0: they are of none
  };
  template <typename Number>
  Motion<Number> motion(Number* numbers) const noexcept {
    const std::size_t s = kMaxStates, v = 3 * as_size(vertices_), n = as_size(nodes_);
    Number* at = numbers + feedback_begin_;
    Number* nodes = at + 2 * s + v;
    return {{at, s}, {at + s, s}, {at + 2 * s, v}, {nodes, 3 * n}, {nodes + 3 * n, 9 * n}, nodes[12 * n]};
  }

 private:
  template <typename Number>
  std::pair<BodyView<Number>, std::size_t> find_model(Number* numbers) const noexcept {
    std::size_t at = model_begin_;
    const auto take = [&](std::size_t count) {
      Number* p = numbers + at;
      at += count;
      return p;
    };
    constexpr Eigen::Index s = kMaxStates, p = kMaxPatchVertices;
    const Eigen::Index v = vertices_, n = nodes_;
    const auto size = [](Eigen::Index count) { return static_cast<std::size_t>(count); };
    using Single = std::conditional_t<std::is_const_v<Number>, const float, float>;
    static_assert(kMaxStates % 2 == 0, "two single numbers take the place of one");
    Number* head = take(7);
    using View = BodyView<Number>;
    View out{head[0],
             head[1],
             head[2],
             head[3],
             head[4],
             head[5],
             head[6],
             {take(size(3 * v * s)), 3 * v, s},
             {take(size(s * s)), s, s},
             {take(size(s * s)), s, s},
             {take(size(s * kTurningStates)), s, kTurningStates},
             {reinterpret_cast<Single*>(take(size(3 * n * s) / 2)), 3 * n, s},
             {take(size(n)), n},
             {take(size(3 * n)), 3 * n},
             {take(size(9 * n)), 3, 3 * n},
             {take(size(9 * n)), 3, 3 * n},
             {take(size(3 * n)), 3 * n},
             {take(size(s)), s},
             {take(size(s)), s},
             {take(size(s * s)), s, s},
             {take(size(v)), v},
             {take(size(v)), v},
             {take(size(p)), p},
             {take(size(v)), v},
             {take(size(9 * p * p)), 3 * p, 3 * p}};
    return {out, at - model_begin_};
  }

  int vertices_, nodes_;
  std::size_t model_begin_, feedback_begin_;
};

/// The slow loop to the fast.
struct Model {
  MessageHeader header;
  std::uint64_t number = 0;  ///< 1, 2, …: of all that were made
  std::uint64_t tick = 0;    ///< of the fast loop's state that it describes; the fast loop has lived on since
  std::int32_t valid = 0;

  double* numbers() noexcept { return reinterpret_cast<double*>(this + 1); }
  const double* numbers() const noexcept { return reinterpret_cast<const double*>(this + 1); }
};

/// The fast loop to the slow.
struct Feedback {
  MessageHeader header;
  std::uint64_t tick = 0;          ///< 1, 2, …
  std::uint64_t model_number = 0;  ///< Model::number of the model that its states belong to
  std::int32_t age = 0;            ///< of that model when it came [ticks]
  std::int32_t contacts = 0;       ///< that push
  double residual = 0.0;           ///< [m]
  double penetration = 0.0;        ///< deepest overlap of bodies at the start of the tick [m]

  double* numbers() noexcept { return reinterpret_cast<double*>(this + 1); }
  const double* numbers() const noexcept { return reinterpret_cast<const double*>(this + 1); }
};
static_assert(sizeof(Model) % alignof(double) == 0 && sizeof(Feedback) % alignof(double) == 0);

/// Places of everything in the messages of one world. Bodies that are not reduced have their whole state in the
/// feedback, in their order, before the reduced ones.
struct Layout {
  explicit Layout(const World& world);

  std::vector<int> whole;           ///< bodies of the world that the fast loop has as themselves
  std::vector<int> soft;            ///< bodies of the world that are reduced
  std::vector<BodyLayout> reduced;  ///< of each of those
  std::size_t model_numbers = 0, feedback_numbers = 0;

  MessageLayout model() const noexcept {
    return {sizeof(Model) + model_numbers * sizeof(double), alignof(Model), &typeid(Model)};
  }
  MessageLayout feedback() const noexcept {
    return {sizeof(Feedback) + feedback_numbers * sizeof(double), alignof(Feedback), &typeid(Feedback)};
  }
};

/// Whether the fast loop has this body by its reduction: finite elements that no hand holds.
bool is_reduced(const World& world, int body);

}  // namespace palpate::reduced
