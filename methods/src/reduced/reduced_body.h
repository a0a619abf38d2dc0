#pragma once

#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/geometry/triangle_mesh.h"
#include "palpate/world/contact_finder.h"
#include "reduced/messages.h"

namespace palpate::reduced {

/// A soft body in the fast loop's world: its surface as it is, its motion that of a model's few states.
///
/// Blocks are first those of the states, three a block, then one for each vertex of the surface: what the states leave
/// out. It has one time step, the tick, and what the model was made for.
///
/// Thread: the fast loop's. After set-up nothing allocates or throws, and every call is bounded by the model's size.
class ReducedBody final : public Body {
 public:
  /// `original` is in the state in which the first model finds it. `fixed` tells of each vertex whether nothing moves
  /// it.
  ReducedBody(const BodySurface& original, std::vector<std::uint8_t> fixed, double dt);

  /// The model that holds from here on, without changing the state; it outlives the next step.
  void use(const BodyView<const double>& model) noexcept;
  /// A model that is new to the body: the states are those that it began with, and the surface stays where it is.
  void begin(const BodyView<const double>& model) noexcept;
  /// One tick in which these forces act on the vertices [N], by number.
  struct VertexForce {
    std::int32_t vertex;
    Vec3 force;
  };
  void replay(std::span<const VertexForce> forces) noexcept;
  /// After replay(), if the model before was the one that the new one knows: what that could tell of the state holds.
  void keep_states() noexcept;
  /// After that: the surface stays where it was at begin(), and moves to where the model has it as u fades.
  void end_replay() noexcept;

  /// Brings the whole surface up to date, and from here on keeps only those triangles so that meet one of the boxes or
  /// half-spaces.
  void watch(std::span<const BoundingBox> regions, std::span<const ContactShape::Plane> solids) noexcept;
  /// Likewise, but all of them.
  void watch_all() noexcept;

  std::span<const double> states() const noexcept { return {q_.data(), as_size(kMaxStates)}; }
  std::span<const double> speeds() const noexcept { return {velocities_.data()->data(), as_size(kMaxStates)}; }
  /// Of the last advance().
  std::span<const VertexForce> forces() const noexcept { return forces_; }

  int block_count() const noexcept override { return kStateBlocks + vertex_count(); }
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
    return block >= kStateBlocks && fixed_[as_size(block - kStateBlocks)] != 0;
  }
  bool linearise(std::span<const double> time_steps) noexcept override;
  void compute_free_motion(int which, std::span<Vec3> dv) noexcept override;
  bool add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept override;
  int max_rows() const noexcept override { return kMaxRows; }
  void compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                          std::span<Vec3> dv) noexcept override;
  void advance(double h, std::span<const Vec3> dv) noexcept override;
  BodyEnergy compute_energy() const noexcept override;
  BodyMomentum compute_momentum() const noexcept override { return {}; }  // not known from the states
  BodySurface surface() const noexcept override { return {triangles_, positions_, surface_velocities_}; }
  FreshSurface fresh_surface() const noexcept override { return {watched_, version_}; }
  void predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept override;
  Vec3 compute_point(const BodyPoint& point) const noexcept override;
  BodyPoint find_point(const Vec3& p) const override { return find_surface_point(surface(), p); }
  int max_row_entries() const noexcept override { return kStateBlocks + 3; }
  int compute_point_row(const BodyPoint& point, const Vec3& direction,
                        std::span<BlockRows::Entry> out) const noexcept override;

 private:
  static constexpr int kStateBlocks = kMaxStates / 3;
  static constexpr int kMaxRows = 300;
  static constexpr int kTile = 3;  ///< rows of a contact
  using RowMap = Eigen::Map<const RowMatrix>;

  int vertex_count() const noexcept { return static_cast<int>(positions_.size()); }
  int used() const noexcept { return static_cast<int>(model_->states); }
  Eigen::Map<Eigen::VectorXd> speed() noexcept { return {velocities_.data()->data(), kMaxStates}; }
  void compute_change(Eigen::Ref<Eigen::VectorXd> change) const noexcept;
  void add_tile(int i, int k, Eigen::Ref<Eigen::MatrixXd> W) const noexcept;
  void add_patch_compliance(Eigen::Ref<Eigen::MatrixXd> W) noexcept;
  void update_surface() noexcept;
  void update_vertex(int vertex) noexcept;
  bool watches_all() const noexcept { return watched_.empty(); }

  const std::vector<std::array<std::int32_t, 3>> triangles_;
  const std::vector<std::uint8_t> fixed_;
  const double dt_;
  std::optional<BodyView<const double>> model_;
  Eigen::VectorXd q_;
  std::vector<Vec3> velocities_;  ///< of the blocks; those of vertices are zero: u has no inertia
  std::vector<Vec3> left_out_;    ///< u [m]
  std::vector<Vec3> positions_, surface_velocities_;
  std::vector<std::int32_t> watched_;  ///< vertices that are kept up to date, ascending; none: all
  std::vector<std::uint8_t> is_watched_;
  std::uint64_t version_ = 0;  ///< of watched_
  std::vector<VertexForce> forces_;
  std::vector<Vec3> vertex_force_;     ///< Jᵀλ by vertex of the last correction, zero but for those in touched_
  std::vector<std::int32_t> touched_;  ///< vertices
  struct VertexEntry {
    std::int32_t row, vertex;
    std::int32_t patch;  ///< the vertex's number in the patch, or −1
    Vec3 value;
  };
  std::vector<VertexEntry> entries_;  ///< J at vertices
  Eigen::VectorXd old_q_, old_speed_, change_;
  mutable Eigen::VectorXd ahead_;           ///< scratch
  Eigen::MatrixXd J_states_;                ///< a column a row of J
  std::vector<std::int32_t> reached_;       ///< of the patch, by rows of J
  std::vector<std::int32_t> patch_number_;  ///< of the patch's vertices among those; −1: it is not
  Eigen::MatrixXd RJ_;                      ///< R Jᵀ at the patch's vertices that are touched
};

}  // namespace palpate::reduced
