#pragma once

#include <optional>

#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/box_tree.h"
#include "palpate/geometry/convex_shape.h"
#include "palpate/geometry/surface_features.h"
#include "palpate/geometry/triangle_tree.h"
#include "palpate/world/contact_finder.h"

namespace palpate {

/// A foot before it becomes a BodyPoint: on a triangle or a beam by weights. Rigid bodies need only the point.
struct FootRef {
  std::int32_t element = -1;
  Vec3 weights = Vec3::Zero();
};

/// How the triangles at an edge meet, seen from outside. A border counts as convex.
enum class EdgeShape : std::uint8_t { kConvex, kFlat, kConcave };

/// One body as a ContactFinder sees it: features with a radius around them, where they are now and where they will be.
///
/// A surface, a box and a hull are triangles, a chain is a wire, a sphere and a point are one vertex. What is dear
/// (trees, normals) is made in the first pair of a step that needs it.
class FinderBody {
 public:
  /// Throws InputError if the shape does not fit the body.
  FinderBody(const Body* body, const ContactShape& shape);

  /// State and prediction for this step; normals and trees grow stale.
  void update(double h, std::span<const Vec3> dv) noexcept;
  /// After update(): time runs backwards from here on. `now` is where the body will be, `next` where it is.
  void turn_back() noexcept;
  /// Of `now`, unit, outward; zero where there is none. Made when they are first asked for, and the surface has faces.
  const Vec3& face_normal(std::int32_t triangle) const noexcept;
  /// Weighted by area: only the rough direction counts.
  const Vec3& vertex_normal(std::int32_t vertex) const noexcept;
  EdgeShape edge_shape(std::int32_t edge) const noexcept;
  void refresh_tree(double alarm_distance) noexcept;
  /// The same with `margin` [m] around each primitive beside that, at most `most`, and with the primitives that are not
  /// fresh where they are too. A fixed body has no margin: it is known from before.
  void refresh_whole_tree(double alarm_distance, double margin, double most) noexcept;
  /// Of a search whose places are of that size [m].
  static constexpr double most_margin(double place_distance) noexcept { return 3.0 * place_distance; }
  /// One primitive in this step. Made when it is first asked for.
  struct Sweep {
    BoundingBox box;    ///< with radius and half the alarm distance
    double step = 0.0;  ///< no vertex of it moves further [m]
  };
  const Sweep& sweep(std::int32_t primitive, double alarm_distance) noexcept;

  /// The point of a closed surface nearest to p, with the outward normal there, if p lies inside at most `max_depth`
  /// deep.
  struct Inside {
    std::int32_t triangle = -1;
    Vec3 weights = Vec3::Zero();
    Vec3 normal = Vec3::UnitY();  ///< world frame
    double depth = 0.0;           ///< > 0 [m]
    double distance = 0.0;  ///< of a point that is not inside: at least so far from the surface, or `max_depth` [m]
  };
  bool find_inside(const Vec3& p, double max_depth, Inside& out) noexcept;

  /// Feet on features; weights refer to corners of a triangle or ends of a beam.
  FootRef vertex_foot(std::int32_t vertex) const noexcept;
  FootRef edge_foot(std::int32_t edge, double s) const noexcept;  ///< at s from its first vertex to its second

  bool is_plane() const noexcept { return shape.is<ContactShape::Plane>(); }
  bool is_point() const noexcept { return shape.is<ContactShape::Point>(); }
  bool is_chain() const noexcept { return shape.is<ContactShape::Chain>(); }
  bool is_surface() const noexcept { return shape.is<ContactShape::Surface>(); }
  /// Whether no force moves the body there: the whole body cannot move, or all nodes that carry the foot are
  /// prescribed.
  bool is_held(const FootRef& foot) noexcept;
  bool is_soft() const noexcept { return body && body->block_count() > 2; }
  bool is_fixed() const noexcept { return is_plane() || body->block_count() == 0; }
  bool has_faces() const noexcept { return features.triangle_count() > 0; }
  bool is_closed() const noexcept { return features.is_closed() && !two_sided; }

  const Body* body;
  const RigidBody* rigid = nullptr;  ///< if it is one
  const BeamChain* chain = nullptr;  ///< likewise
  ContactShape shape;
  ContactShape::Plane plane;  ///< if it is one, with a unit normal
  bool two_sided = false;     ///< a sheet
  bool self = false;          ///< touches itself
  SurfaceFeatures features;
  /// Of the features, those of the part of the surface that moves in this step (Body::fresh_surface()), each ascending.
  /// The rest is where it was when that part was chosen, too far from everything to touch it.
  std::vector<std::int32_t> fresh_vertices, fresh_primitives;
  double radius = 0.0;                  ///< around vertices and edges [m]
  double size = 0.0;                    ///< of a rigid body: largest distance of a vertex from the centre of mass [m]
  std::unique_ptr<ConvexShape> convex;  ///< in the frame at the centre of mass

  bool finite = false;          ///< what follows is usable
  std::vector<Vec3> local;      ///< vertices of a rigid body from its centre of mass [m]
  std::vector<Vec3> rest;       ///< vertices at set-up [m], if it touches itself
  std::vector<Vec3> now, next;  ///< vertices [m]
  Pose pose, next_pose;         ///< of a rigid body's centre
  double turn = 0.0;            ///< the angle between them [rad]
  double step = 0.0;            ///< no vertex moves further from `now` to `next` [m]
  double travel = 0.0;          ///< no fresh vertex has come further, by all changes of `now` since set-up [m]
  /// No other has, by all changes of which part is fresh [m]; how many those were; and which primitives had one that
  /// was not fresh before the last of them.
  double stray = 0.0;
  std::uint64_t choices = 0;
  std::vector<std::uint8_t> is_stray;
  std::uint64_t jumps = 0;  ///< how often it was put elsewhere, which is in neither
  BoundingBox box;          ///< of `now`, with the radius
  BoundingBox swept;        ///< of both, with the radius
  BoxTree tree;             ///< primitives, swept, with radius and half the alarm distance

 private:
  void update_rigid(double h, std::span<const Vec3> dv) noexcept;
  void update_chain(double h, std::span<const Vec3> dv) noexcept;
  void update_surface(double h, std::span<const Vec3> dv) noexcept;
  void choose_fresh(const FreshSurface& part) noexcept;
  void add_travel(double way) noexcept;
  void update_boxes() noexcept;
  void grow_stale() noexcept;
  bool find_inside_convex(const Vec3& p, double max_depth, Inside& out) const noexcept;
  BoundingBox compute_primitive_box(std::int32_t primitive, double reach) const noexcept;
  void make_primitive_boxes(double margin) noexcept;

  std::vector<Vec3> no_dv_;
  std::uint64_t fresh_version_ = 0;
  std::vector<std::uint8_t> is_fresh_;  ///< of each vertex
  BoundingBox still_;                   ///< of the vertices that are not fresh
  bool still_finite_ = true;
  std::vector<BlockRows::Entry> entries_;
  std::vector<BoundingBox> primitive_boxes_;
  std::optional<TriangleTree> surface_tree_;  ///< of a rigid body in its own frame
  bool tree_fresh_ = false, surface_tree_fresh_ = false;
  bool surface_tree_whole_ = true;  ///< it has the vertices that are not fresh where they are
  bool boxes_whole_ = false;        ///< primitives that are not fresh have theirs where they are
  /// A thing of one place of the surface, and the number of the update it is of.
  template <typename Thing>
  struct Known {
    Thing thing;
    std::uint64_t update = 0;
  };
  std::uint64_t updates_ = 1;
  mutable std::vector<Known<Vec3>> face_normals_, vertex_normals_;
  mutable std::vector<Known<EdgeShape>> edge_shapes_;
  std::vector<Known<Sweep>> sweeps_;  ///< of single primitives
};

}  // namespace palpate
