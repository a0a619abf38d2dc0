#pragma once

#include <memory>
#include <vector>

#include "palpate/geometry/surface_features.h"
#include "palpate/methods/method.h"

namespace palpate {

/// What the fast half of a method with a point in the hand reports.
struct PointFeedback {
  MessageHeader header;
  Vec3 position = Vec3::Zero();  ///< of the proxy [m]
  Vec3 velocity = Vec3::Zero();  ///< of the proxy [m/s]
  DeviceState device;            ///< of the same tick
};

/// Something that the point can touch.
struct TouchSurface {
  const TriangleTree* tree = nullptr;  ///< as it will be one tick from now if nothing touches it
  const SurfaceFeatures* features = nullptr;
  double friction = 0.0;   ///< μ of the pair
  std::int32_t body = -1;  ///< of World::bodies(), if it moves; −1: it does not
};

/// A half-space that never moves: all x with normal·x < offset is solid.
struct TouchPlane {
  Vec3 normal = Vec3::UnitY();
  double offset = 0.0;  ///< [m]
  double friction = 0.0;
};

/// The nearest point of everything that can be touched.
struct TouchPoint {
  ClosestPoint closest;         ///< its triangle is −1 on a plane
  Vec3 normal = Vec3::UnitY();  ///< unit, outward, of the feature that the point lies on
  double signed_distance = std::numeric_limits<double>::infinity();  ///< [m], negative inside
  double friction = 0.0;
  std::int32_t surface = -1;  ///< of PointWorld::surfaces(); −1: a plane
};

/// The world as the slow half of a method with a point in the hand sees it: static surfaces as they are, or a world
/// that moves, stepped by the asynchronous scheme of Dervaux et al. 2013 (Knott & Kuhlen 2015, section 4):
///
///   the fast proxy's state is imposed on the world's tool, free motions follow for ΔT and for dt, contacts and their
///   forces at ΔT move the bodies; meanwhile queries and compliances refer to the bodies after one *free tick* dt, from
///   which the fast half adds the answer h A(dt)⁻¹ Jᵀλ to its own contact forces.
///
/// Other contacts of the bodies (a cube on a table) move them in the slow step, but do not stiffen
/// compute_compliance(): a tick is so short that what answers is the body's own inertia.
///
/// Thread: the slow loop's; from read_tick() until the step is over, that of SlowHalf::read_tick().
class PointWorld {
 public:
  explicit PointWorld(const MethodContext& context);

  /// Before the step: puts the tool where the fast proxy is, and asks for the tick.
  StepWish begin(const PointFeedback& feedback);
  /// Puts all surfaces where they are after the free tick. From here on surfaces(), planes(), find_closest() and
  /// compute_compliance() tell what a model is made of.
  void read_tick(const FreeTick& tick, StepReport& report) noexcept;

  /// Where the proxy is: the feedback's, or the start.
  const Vec3& proxy() const noexcept { return proxy_; }
  const DeviceState& device() const noexcept { return device_; }
  std::span<const TouchSurface> surfaces() const noexcept { return surfaces_; }
  std::span<const TouchPlane> planes() const noexcept { return planes_; }
  bool find_closest(const Vec3& p, double max_distance, TouchPoint& out) const noexcept;

  /// C = h A(dt)⁻¹ between points of one surface that moves: three rows (x, y, z) a point [m/N]. False if the body has
  /// no room for so many rows.
  bool compute_compliance(int surface, std::span<const BodyPoint> points, Eigen::MatrixXd& C);
  /// Most points that it takes.
  int max_points(int surface) const noexcept;

  /// Why such a method cannot work there; empty if it can.
  static std::string refuse(const ToolInWorld& context);

 private:
  struct Moving {
    int surface;
    int body;
    TriangleTree tree;
    std::vector<Vec3> positions;
  };
  void add_moving(const MethodContext& context);
  void impose();

  World& world_;
  const int tool_;  ///< of the world; −1: nothing moves
  Grip grip_;
  DeviceState device_;
  Vec3 proxy_;
  Vec3 proxy_velocity_ = Vec3::Zero();
  std::vector<TouchSurface> surfaces_;
  std::vector<TouchPlane> planes_;
  std::vector<std::unique_ptr<SurfaceFeatures>> features_;
  std::vector<std::unique_ptr<Moving>> trees_;
  std::vector<BlockRows::Entry> entries_;
  BlockRows rows_;
};

}  // namespace palpate
