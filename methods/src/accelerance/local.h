#pragma once

#include "joint_frames.h"

namespace palpate::accelerance {

/// The neighbours' motion under a model: u̇ = A f + b, their own contacts, and joints. Real-time: no allocation, and
/// every call is bounded by the model's capacities. The fast loop steps it tick by tick; the slow loop once over a
/// whole period, to know what the fast one is about to do.
class LocalDynamics {
 public:
  /// What becomes of bodies that overlap.
  enum class Overlap : std::uint8_t {
    kPushed,  ///< a velocity parts them within the step, as World::step does
    kMoved,   ///< part() moves them apart, and they get no velocity from it: else each synchronisation would kick
  };
  explicit LocalDynamics(const JointFrames& joints) noexcept : joints_(joints) {}

  /// `model` stays where it is as long as it is used; `h` is the step [s].
  void take(const Model& model, double h, Overlap overlap) noexcept;
  void set_push_out_speed(double speed) noexcept { push_out_speed_ = speed; }  ///< as WorldSettings::push_out_speed

  /// A step from this state begins: b, and contact forces as they were.
  void start(std::span<const Pose> poses, std::span<const Vec6> velocities) noexcept;
  /// A force and torque on a neighbour changes by so much.
  void push(int neighbour, const Vec6& change) noexcept;
  /// One sweep of projected Gauss–Seidel over contacts and joints: nothing comes nearer than touching by the end of the
  /// step, and nothing slides or turns that friction can hold. Returns the largest change [N].
  double sweep() noexcept;
  bool has_constraints() const noexcept { return model_->local_contacts > 0 || row_count_ > 0; }
  /// Moves bodies that overlap apart, by the share of the overlap that the step is of kPartTime.
  void part(std::span<Pose> poses) const noexcept;
  /// Sees to it that joints hold where the bodies are now: A holds them as they lay when the model began.
  void hold_joints(std::span<Pose> poses, std::span<Vec6> velocities) noexcept;
  /// u̇ of a neighbour with all that acts now.
  Vec6 acceleration(int neighbour) const noexcept {
    const auto k = as_size(neighbour);
    return (ends_[k] - velocities_[k]) / h_;
  }

  /// Acceleration of a point of a neighbour, and how it answers to a force there [1/kg].
  Vec3 point_acceleration(int neighbour, const Vec3& arm) const noexcept;
  Mat3 point_response(int neighbour, const Vec3& arm) const noexcept;

  static constexpr double kPartTime = 0.02;  ///< [s]

 private:
  using Mat63 = Eigen::Matrix<double, 6, 3>;
  /// A contact made ready.
  struct Ready {
    Mat3 axes;                      ///< normal and tangents, by columns
    Mat63 J_a, J_b;                 ///< force and torque on a and b of forces along the axes
    Mat63 Y_a, Y_b;                 ///< what those do to the velocities of a and b [m/s, rad/s]
    Vec3 drift;                     ///< of what the fast loop does not move, along the axes [m/s]
    double inverse_normal = 0.0;    ///< force for a velocity along the normal [N·s/m]; 0: cannot move
    double inverse_tangents = 0.0;  ///< the same along the tangents
    double gap = 0.0;               ///< at the beginning of this step [m]
    double wish = 0.0;              ///< least velocity along the normal in this step [m/s]
    Vec3 force = Vec3::Zero();
  };
  /// A row of a joint that gives way beyond its bounds, made ready.
  struct Row {
    std::int32_t a = -1, b = -1;
    Vec6 J_a, J_b;
    double lower = 0.0, upper = 0.0;  ///< [N]
    double wish = 0.0;                ///< least rate, or that of a drive [m/s]
    double inverse = 0.0;             ///< force for a rate [N·s/m]; 0: cannot move
    double* force = nullptr;          ///< [N]
  };
  std::span<const Row> rows() const noexcept { return {rows_.data(), row_count_}; }
  void start_joints(std::span<const Pose> poses) noexcept;
  double sweep_rows() noexcept;
  double compute_row_response(const Row& row) const noexcept;
  double compute_row_rate(const Row& row) const noexcept;
  void apply_row(const Row& row, double change) noexcept;
  void hold_joint(const LocalJoint& local, std::span<Pose> poses, std::span<Vec6> velocities) noexcept;
  Mat6 read_block(int row, int column) const noexcept;
  void start_warm() noexcept;
  void find_own_response(const LocalContact& c, Ready& r) const noexcept;
  Vec3 velocity(const LocalContact& c, const Ready& r) const noexcept;
  void apply(const LocalContact& c, const Ready& r, const Vec3& change) noexcept;
  /// Adds what `change` along some of a contact's axes does.
  template <typename Columns, typename Change>
  void push_along(int neighbour, const Columns& J, const Columns& Y, const Change& change) noexcept {
    const auto k = as_size(neighbour);
    if (coupled_count_[k] == 1)
      ends_[k] += Y * change;
    else
      push(neighbour, J * change);
  }

  const JointFrames& joints_;
  const Model* model_ = nullptr;
  double h_ = 0.001;
  Overlap overlap_ = Overlap::kMoved;
  double push_out_speed_ = 0.0;
  std::array<Vec6, kMaxNeighbours> velocities_{}, ends_{};  ///< at the beginning and, with all that acts, the end
  std::array<Ready, kMaxLocalContacts> ready_{};
  std::array<Row, LocalJoint::kMaxBounded * kMaxLocalJoints> rows_{};
  std::size_t row_count_ = 0;
  std::array<std::array<double, LocalJoint::kMaxBounded>, kMaxLocalJoints> joint_forces_{};
  JointConstraints joint_constraints_;
  std::array<Mat6, kMaxNeighbours> own_{};  ///< of A
  /// Those that a force on a neighbour moves: most move by themselves.
  std::array<std::array<std::int8_t, kMaxNeighbours>, kMaxNeighbours> coupled_{};
  std::array<std::int32_t, kMaxNeighbours> coupled_count_{};
  std::array<std::array<bool, kMaxNeighbours>, kMaxNeighbours> are_coupled_{};
};

}  // namespace palpate::accelerance
