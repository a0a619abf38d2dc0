#pragma once

#include <optional>
#include <vector>

#include "live_messages.h"
#include "row_compliance.h"

namespace palpate::live {

/// How the world answers to a force in the fast loop.
enum class Answer : std::uint8_t {
  /// As in a tick: W is W(dt), and `settle` is what leads to W(ΔT) f in the end. `compliance`.
  kTick,
  /// As in a slow step: W is W(ΔT) and `settle` is one, so that nodes are at once where the force has them. `jacobian`.
  kStep,
};

/// Where on its path a body is in a tick.
struct PathTime {
  double age = 0.0, age_then = 0.0;    ///< since the model's time, at the beginning of the tick and at its end [s]
  double left = 0.0, left_then = 0.0;  ///< of the difference to the model before, likewise
};

/// A soft body in the fast loop's world: its surface as it is, and how the nodes near the tool answer to forces. Blocks
/// are the nodes of the original.
///
/// Thread: the fast loop's. After set-up nothing allocates or throws, and every call is bounded by the body's size.
class LiveBody final : public Body {
 public:
  /// `original` is in its first state.
  LiveBody(const FemBody& original, Answer answer, double dt);

  /// A model that is new to the body, `age` [s] after its time. The nodes stay where they are: what lies between that
  /// and the model's path goes with the share `left` of place().
  void begin(const BodyView<const double>& model, double age) noexcept;
  /// Before a tick.
  void place(const BodyView<const double>& model, const PathTime& time) noexcept;

  /// From here on keeps only that part of its surface up to date which something in `box` may touch soon.
  void watch(const BoundingBox& box) noexcept;
  /// Whether that is all that may be touched in this tick by something that was in `box` in the last one and goes no
  /// further than `way` in a tick [m]: neither has come too far since watch().
  bool covers(const BoundingBox& box, double way) const noexcept;

  int block_count() const noexcept override { return static_cast<int>(positions_.size()); }
  int state_size() const noexcept override { return 0; }  // it is the model's, and not to be restored without it
  void save_state(std::span<double>) const noexcept override {}
  void restore_state(std::span<const double>) noexcept override {}
  std::span<const Vec3> velocities() const noexcept override { return still_; }
  void set_velocities(std::span<const Vec3>) noexcept override {}
  std::span<Vec3> external_forces() noexcept override { return {}; }
  void set_gravity(const Vec3&) noexcept override {}  // in the model
  void prescribe(int, const Vec3&) noexcept override {}
  void release(int) noexcept override {}
  bool is_prescribed(int block) const noexcept override { return fixed_[as_size(block)] != 0; }
  bool linearise(std::span<const double> time_steps) noexcept override;
  void compute_free_motion(int which, std::span<Vec3> dv) noexcept override;
  bool add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept override;
  bool add_fresh_compliance(int which, const BlockRows& J, std::span<const std::int32_t> fresh,
                            Eigen::Ref<Eigen::MatrixXd> W) noexcept override;
  int max_rows() const noexcept override { return kMaxRows; }
  void compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                          std::span<Vec3> dv) noexcept override;
  void advance(double h, std::span<const Vec3> dv) noexcept override;
  BodyEnergy compute_energy() const noexcept override { return {}; }      // not known from the model
  BodyMomentum compute_momentum() const noexcept override { return {}; }  // likewise
  BodySurface surface() const noexcept override { return {triangles_, surface_positions_, surface_velocities_}; }
  FreshSurface fresh_surface() const noexcept override {
    return {watched_.size() == surface_positions_.size() ? std::span<const std::int32_t>{} : watched_, version_};
  }
  void predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept override;
  Vec3 compute_point(const BodyPoint& point) const noexcept override;
  BodyPoint find_point(const Vec3& p) const override { return find_surface_point(surface(), p); }
  int max_row_entries() const noexcept override { return 3 * most_nodes_; }
  int compute_point_row(const BodyPoint& point, const Vec3& direction,
                        std::span<BlockRows::Entry> out) const noexcept override;

 private:
  static constexpr int kMaxRows = 300;
  struct Weight {
    std::int32_t node;
    double weight;
  };
  std::span<const Weight> weights(int vertex) const noexcept {
    return {weights_.data() + weight_begin_[as_size(vertex)],
            as_size(weight_begin_[as_size(vertex) + 1] - weight_begin_[as_size(vertex)])};
  }
  int known() const noexcept { return static_cast<int>(model_->known); }
  int number(std::int32_t node) const noexcept { return static_cast<int>(model_->number[node]); }
  void displace(std::span<Vec3> out) noexcept;
  bool add_rows(const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept;
  void add_single(const BlockRows& J, int row, const BlockRows::Entry& entry,
                  Eigen::Ref<Eigen::MatrixXd> W) const noexcept;
  Vec3 compute_vertex(std::int32_t vertex) const noexcept;
  void update_surface() noexcept;

  const std::vector<std::array<std::int32_t, 3>> triangles_;
  const Answer answer_;
  const double dt_;
  std::vector<int> weight_begin_;    ///< of each vertex in weights_
  std::vector<Weight> weights_;      ///< of the nodes that carry it
  std::vector<std::uint8_t> fixed_;  ///< nodes that nothing moves
  int most_nodes_ = 1;               ///< that carry one vertex
  std::optional<BodyView<const double>> model_;
  std::vector<Vec3> positions_;  ///< of the nodes [m]
  std::vector<Vec3> force_;      ///< on the nodes in the last tick [N]
  std::vector<Vec3> away_;       ///< u: from the path [m]
  std::vector<Vec3> along_;      ///< what a tick does to the path [m]
  std::vector<Vec3> offset_;     ///< from the model's path when it came [m]
  std::vector<Vec3> ahead_;      ///< what a tick does without contacts [m]
  std::vector<Vec3> still_;      ///< all motion is in ahead_
  std::vector<Vec3> surface_positions_, surface_velocities_;
  double stretch_ = 1.0;               ///< how much further than its nodes a vertex may go, at most
  BoundingBox region_;                 ///< of the last watch(): outside of it the surface lies where it was then …
  std::vector<Vec3> watched_from_;     ///< … when the nodes were here [m]
  std::vector<std::int32_t> watched_;  ///< vertices that are kept up to date, ascending
  std::vector<std::uint8_t> is_watched_, sides_;  ///< scratch of watch(), of each vertex
  std::uint64_t version_ = 0;                     ///< of watched_
  RowCompliance rows_;                            ///< columns are those of the model's W
  Eigen::VectorXd moved_;                         ///< W f of those
};

}  // namespace palpate::live
