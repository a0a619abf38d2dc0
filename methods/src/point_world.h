#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "palpate/core/second_thread.h"
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
/// compute_compliance(): a tick is so short that what answers is the body's own inertia. Thread: the slow loop's.
class PointWorld {
 public:
  explicit PointWorld(const MethodContext& context);

  /// Makes a model from what can be touched: surfaces(), planes(), find_closest(), compute_compliance(), and the hand.
  using Publish = std::function<void(StepReport& report)>;

  /// Everything but the bodies' motion. The model needs the tick's systems only, the slow step's contacts theirs: so
  /// `publish` runs in a second thread, which factors the former beside the latter, if all bodies allow that, else
  /// after the contacts; the bits are the same. It must not throw. False: a system could not be factored, and nothing
  /// may be published.
  bool begin_step(const PointFeedback& feedback, StepReport& report, const Publish& publish);
  /// The bodies' motion.
  void end_step(StepReport& report);

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
  static std::string refuse(const World& world, const ToolSettings& tool);

 private:
  struct Moving {
    int surface;
    int body;
    TriangleTree tree;
    std::vector<Vec3> positions;
  };
  void add_moving(const ToolSettings& tool);
  bool allow_two_threads() const noexcept;
  bool meet_contacts(StepReport& report);
  void impose();
  bool predict(StepReport& report);

  World& world_;
  const bool moves_;
  const std::array<double, 2> time_steps_;
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
  std::unique_ptr<SecondThread> second_;  ///< null: a body does not allow it
};

}  // namespace palpate
