#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "palpate/bodies/fem_body.h"
#include "palpate/methods/live_limits.h"
#include "palpate/methods/method.h"

// What passes between the halves of a method whose contacts live in the fast loop (live.h). How large a message is
// depends on the world, so it is a head of fixed size and numbers behind it, whose places a Layout knows that both
// halves share.
namespace palpate::live {

inline constexpr int kMaxKnown = 96;      ///< nodes of one body whose answer is in a model
inline constexpr int kMaxContacts = 240;  ///< of a tick, that the slow loop is told of
/// Bodies beside the tool that a tick has time for as themselves: it solves them as the world does. A pile of thirty
/// took 0.6 ms in the median and 3.5 ms at p99.
inline constexpr std::size_t kMaxWhole = kMaxLiveRigid;

/// A soft body as the fast loop meets it. Nodes lie on the path that the slow step gave them, under the forces that the
/// tool had in that step, and u away from it. A force f then moves them in a tick of dt by
///   u⁺ = (1 − settle) u + W f − answered.
template <typename Number>
struct BodyView {
  template <typename M>
  using Map = Eigen::Map<std::conditional_t<std::is_const_v<Number>, const M, M>>;
  using Vector = Map<Eigen::VectorXd>;

  Number& known;           ///< how many of kMaxKnown nodes
  Number& single;          ///< answer of the other nodes, each to its own force alone [m/N]
  Number& settle;          ///< share of their way back to the path that nodes go in a tick
  Vector place;            ///< of the nodes, three numbers each, at the model's time [m]
  Vector rate;             ///< how they go on from there [m/s]
  Vector answered;         ///< what W makes of the forces of the slow step [m]
  Vector node;             ///< the known ones
  Vector number;           ///< of each node among these; −1: it is not
  Map<Eigen::MatrixXd> W;  ///< three rows a known node [m/N]
};

/// Where the numbers of one soft body are.
class BodyLayout {
 public:
  BodyLayout(int nodes, std::size_t begin) : nodes_(nodes), begin_(begin) {}

  int nodes() const noexcept { return nodes_; }
  std::size_t size() const noexcept {
    const auto n = as_size(nodes_);
    return 3 + 10 * n + kMaxKnown + 9 * kMaxKnown * kMaxKnown;
  }
  /// `numbers` are those behind a model's head.
  template <typename Number>
  BodyView<Number> view(Number* numbers) const noexcept {
    Number* at = numbers + begin_;
    const auto take = [&](Eigen::Index count) {
      Number* p = at;
      at += count;
      return p;
    };
    const Eigen::Index n = nodes_, k = kMaxKnown;
    Number* head = take(3);
    return {head[0],
            head[1],
            head[2],
            {take(3 * n), 3 * n},
            {take(3 * n), 3 * n},
            {take(3 * n), 3 * n},
            {take(k), k},
            {take(n), n},
            {take(9 * k * k), 3 * k, 3 * k}};
  }

 private:
  int nodes_;
  std::size_t begin_;
};

/// The slow loop to the fast.
struct Model {
  MessageHeader header;
  std::int32_t valid = 0;

  double* numbers() noexcept { return reinterpret_cast<double*>(this + 1); }
  const double* numbers() const noexcept { return reinterpret_cast<const double*>(this + 1); }
};

/// A contact of the tick as the last one left it.
struct FeltContact {
  Contact contact;
  Vec3 force = Vec3::Zero();   ///< as in ContactMemory …
  Vec3 anchor = Vec3::Zero();  ///< … likewise
};

/// The fast loop to the slow.
struct Feedback {
  MessageHeader header;
  DeviceState device;
  std::uint64_t model = 0;   ///< sequence of the model in use; 0: none, so that nothing could touch
  double penetration = 0.0;  ///< deepest overlap of bodies in a tick, since that model came [m]
  std::int32_t contacts = 0;
  std::array<FeltContact, kMaxContacts> contact;

  /// Body::save_state() of Layout::whole, one after the other.
  double* states() noexcept { return reinterpret_cast<double*>(this + 1); }
  const double* states() const noexcept { return reinterpret_cast<const double*>(this + 1); }
};
static_assert(sizeof(Model) % alignof(double) == 0 && sizeof(Feedback) % alignof(double) == 0);

/// Places of everything in the messages of one world.
struct Layout {
  explicit Layout(const ToolInWorld& where);

  bool is_whole(int body) const noexcept { return std::binary_search(whole.begin(), whole.end(), body); }

  std::vector<int> soft;       ///< soft bodies of the world that move, but for the tool
  std::vector<BodyLayout> at;  ///< of each of those
  std::vector<int> whole;      ///< bodies that the fast loop has as themselves: the tool and what is rigid, ascending
  std::size_t model_numbers = 0, state_numbers = 0;

  MessageLayout model() const noexcept {
    return {sizeof(Model) + model_numbers * sizeof(double), alignof(Model), &typeid(Model)};
  }
  MessageLayout feedback() const noexcept {
    return {sizeof(Feedback) + state_numbers * sizeof(double), alignof(Feedback), &typeid(Feedback)};
  }
};

}  // namespace palpate::live
