#pragma once

#include <vector>

#include "palpate/bodies/fem_body.h"
#include "palpate/geometry/triangle_mesh.h"
#include "palpate/world/contact_finder.h"
#include "reduced/nodes.h"
#include "row_compliance.h"
#include "surface_carriers.h"

namespace palpate::reduced {

/// A soft body in the fast loop's world: its surface as it is, its motion that of a model's few states.
///
/// Blocks are first the vertices of the surface, at which it is touched, then the states, three a block. The velocity
/// of a vertex is what the states give it; what they leave out has none, and is part of Δv alone. It has one time step,
/// the tick, and what the model was made for. Vertices are carried by nodes (Nodes), which the states move.
///
/// Thread: the fast loop's. After set-up nothing allocates or throws, and every call is bounded by the model's size.
class ReducedBody final : public Body {
 public:
  /// `original` is in the state in which the first model finds it. `fixed` tells of each vertex whether nothing moves
  /// it.
  ReducedBody(const FemBody& original, std::vector<std::uint8_t> fixed, double dt);
  /// A joint holds the point: what carries it is always kept up to date. Set-up.
  void pin(const BodyPoint& point);

  /// The model that holds from here on, without changing the state; it outlives the next step.
  void use(const BodyView<const double>& model) noexcept;
  /// A model, with the body where it has it at its start. What is watched of the surface stays, and comes there.
  void begin(const BodyView<const double>& model) noexcept;
  /// A model that follows on the one in use: the body goes on from where it is.
  void carry(const BodyView<const double>& model) noexcept;

  /// From here on keeps only those triangles up to date that meet one of the boxes or half-spaces. Where the others are
  /// is known as of at most kSlices ticks ago, and what they may have done since is allowed for.
  void watch(std::span<const BoundingBox> regions, std::span<const ContactShape::Plane> solids) noexcept;

  /// How far the states are from those of the last look at the nodes.
  std::span<const double> since() const noexcept { return {since_.data(), as_size(kMaxStates)}; }
  const Nodes& nodes() const noexcept { return nodes_; }
  /// Another number whenever nodes() have other places or frames; above 0.
  double look() const noexcept { return look_; }
  struct VertexForce {
    std::int32_t vertex;
    Vec3 force;  ///< [N]
  };
  std::span<const double> speeds() const noexcept {
    return {velocities_[as_size(vertex_count())].data(), as_size(kMaxStates)};
  }
  /// Of the last advance().
  std::span<const VertexForce> forces() const noexcept { return forces_; }

  int block_count() const noexcept override { return vertex_count() + kStateBlocks; }
  int state_size() const noexcept override { return 0; }  // it is the model's, and not to be restored without it
  void save_state(std::span<double>) const noexcept override {}
  void restore_state(std::span<const double>) noexcept override {}
  std::span<const Vec3> velocities() const noexcept override { return velocities_; }
  void set_velocities(std::span<const Vec3> velocities) noexcept override;
  std::span<Vec3> external_forces() noexcept override { return {}; }
  void set_gravity(const Vec3&) noexcept override {}  // in the model's forces
  void prescribe(int, const Vec3&) noexcept override {}
  void release(int) noexcept override {}
  bool is_prescribed(int block) const noexcept override {
    return block < vertex_count() && fixed_[as_size(block)] != 0;
  }
  bool linearise(std::span<const double> time_steps) noexcept override;
  void compute_free_motion(int which, std::span<Vec3> dv) noexcept override;
  bool add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept override;
  bool add_fresh_compliance(int which, const BlockRows& J, std::span<const std::int32_t> fresh,
                            Eigen::Ref<Eigen::MatrixXd> W) noexcept override;
  int max_rows() const noexcept override { return kMaxRows; }
  void compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                          std::span<Vec3> dv) noexcept override;
  void advance(double h, std::span<const Vec3> dv) noexcept override;
  BodyEnergy compute_energy() const noexcept override;
  BodyMomentum compute_momentum() const noexcept override { return {}; }  // not known from the states
  BodySurface surface() const noexcept override {
    return {triangles_, positions_, std::span(velocities_).first(positions_.size())};
  }
  FreshSurface fresh_surface() const noexcept override {
    return {watches_all() ? std::span<const std::int32_t>{} : watched_, version_};
  }
  void predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept override;
  Vec3 compute_point(const BodyPoint& point) const noexcept override;
  BodyPoint find_point(const Vec3& p) const override { return find_surface_point(surface(), p); }
  int max_row_entries() const noexcept override { return 3; }
  int compute_point_row(const BodyPoint& point, const Vec3& direction,
                        std::span<BlockRows::Entry> out) const noexcept override;

  /// Ticks in which all of the surface that is not kept up to date is looked at once.
  static constexpr int kSlices = 8;

 private:
  static constexpr int kStateBlocks = kMaxStates / 3;
  static constexpr int kMaxRows = 300;
  static constexpr int kMaxReached = 300;

  int vertex_count() const noexcept { return static_cast<int>(positions_.size()); }
  int used() const noexcept { return static_cast<int>(model_->states); }
  Eigen::Map<Eigen::VectorXd> speed() noexcept { return {velocities_[as_size(vertex_count())].data(), kMaxStates}; }
  Eigen::Map<const Eigen::VectorXd> speed() const noexcept {
    return {velocities_[as_size(vertex_count())].data(), kMaxStates};
  }
  bool watches_all() const noexcept { return watched_.size() == positions_.size(); }
  void compute_change(Eigen::Ref<Eigen::VectorXd> change) const noexcept;
  Vec3 multiply(int vertex, const double* states) const noexcept;
  Vec3 move_vertex(int vertex, const double* states) const noexcept;
  struct VertexMotion {
    Vec3 way;       ///< since the last look [m]
    Vec3 velocity;  ///< [m/s]
  };
  VertexMotion compute_motion(int vertex) const noexcept;
  void push_states(int vertex, const Vec3& force, double* states) const noexcept;
  Mat3 compute_answer(int v, int w) const noexcept;
  bool add_rows(const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept;
  bool group_rows(const BlockRows& J);
  int reach(std::int32_t vertex);
  void clear_forces() noexcept;
  void add_force(int vertex, const Vec3& force) noexcept;
  void compute_left_out() noexcept;
  void list_carriers(const FemBody& original);
  Vec3 find_carried(int vertex) const noexcept;
  const Mat3& turn(int vertex) const noexcept {
    return nodes_.turns()[as_size(carriers_[as_size(carrier_begin_[as_size(vertex)])].node)];
  }
  void settle() noexcept;
  void update_vertex(int vertex) noexcept;
  void refresh_slice() noexcept;

  const std::vector<std::array<std::int32_t, 3>> triangles_;
  const std::vector<std::uint8_t> fixed_;
  const double dt_;
  std::optional<BodyView<const double>> model_;
  Eigen::VectorXd q_;
  Nodes nodes_;
  using Carrier = SurfaceCarriers::Carrier;
  std::vector<int> carrier_begin_;  ///< of each vertex in carriers_
  std::vector<Carrier> carriers_;
  double look_ = 0.0;
  double work_ = 0.0;                  ///< that contacts have done to the states since the start [J]
  std::vector<Vec3> velocities_;       ///< of the blocks
  std::vector<Vec3> left_out_;         ///< u [m]
  std::vector<Vec3> positions_;        ///< of the vertices
  std::vector<std::int32_t> watched_;  ///< vertices that are kept up to date, ascending
  std::vector<std::uint8_t> is_watched_, is_pinned_;
  std::vector<std::uint8_t> sides_;  ///< scratch of watch(): on which sides of a region each vertex is
  std::uint64_t version_ = 0;        ///< of watched_
  int slice_ = 0;                    ///< of the vertices, that is looked at next
  std::vector<VertexForce> forces_;
  std::vector<Vec3> vertex_force_;     ///< Jᵀλ by vertex of the last correction, zero but for those in touched_
  std::vector<std::int32_t> touched_;  ///< vertices
  struct LeftOut {
    std::int32_t vertex;
    Vec3 way;  ///< what the forces of the last correction add to u [m]
  };
  std::vector<LeftOut> pushed_;
  RowCompliance rows_;                      ///< columns are those of answers_
  std::vector<std::int32_t> reached_;       ///< vertices that J has
  std::vector<std::uint8_t> is_asked_;      ///< of those, whether a row that is wanted has it
  std::vector<std::int32_t> reach_number_;  ///< of each vertex among those; −1: it is not
  Eigen::VectorXd since_, change_, push_;
  mutable Eigen::VectorXd ahead_;  ///< scratch
  /// Of reached_ to forces on those of them that are asked in a tick: three rows a vertex, each in the frame of its
  /// vertex [m/N].
  Eigen::MatrixXd answers_;
  Eigen::VectorXd patch_ways_;  ///< scratch: of the patch's vertices [m]
};

}  // namespace palpate::reduced
