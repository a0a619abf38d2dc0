#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <span>

#include "palpate/geometry/closest_features.h"
#include "palpate/geometry/convex_shape.h"
#include "palpate/geometry/shapes.h"
#include "palpate/testing/realtime_guard.h"

// Solids are laid on each other by a feature of each (face, edge, corner), so that apart their distance is known, and
// overlapping they are measured along every axis there is.
namespace palpate::convex_manifold_test {
namespace {

using Random = std::mt19937_64;

constexpr double kTolerance = 1e-9;  ///< what is promised, of solids of about 0.1 m [m]
constexpr double kMaxGap = 0.01;
constexpr double kGaps[] = {1e-3,   1e-5,   1e-7,  1e-8,  1e-9,  1e-12, 1e-15, 0.0,
                            -1e-15, -1e-12, -1e-9, -1e-8, -1e-7, -1e-5, -1e-3};
constexpr double kFewGaps[] = {1e-3, 1e-7, 1e-9, 1e-15, -1e-15, -1e-9, -1e-3};  ///< where the reference is slow

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

Vec3 random_direction(Random& random) {
  std::normal_distribution<double> normal;
  const double x = normal(random), y = normal(random), z = normal(random);
  return Vec3(x, y, z).normalized();
}

Quat random_rotation(Random& random) {
  std::normal_distribution<double> normal;
  const double w = normal(random), x = normal(random), y = normal(random), z = normal(random);
  return Quat(w, x, y, z).normalized();
}

/// Points on an ellipsoid.
std::vector<Vec3> random_points(Random& random, int count, const Vec3& half) {
  std::vector<Vec3> points;
  for (int i = 0; i < count; ++i) points.push_back(half.cwiseProduct(random_direction(random)));
  return points;
}

std::vector<Vec3> uv_sphere(double radius, int around, int along) {
  std::vector<Vec3> points{Vec3(0, radius, 0), Vec3(0, -radius, 0)};
  for (int i = 1; i < along; ++i) {
    const double polar = std::numbers::pi * i / along;
    for (int k = 0; k < around; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / around;
      points.push_back(radius *
                       Vec3(std::sin(polar) * std::cos(angle), std::cos(polar), std::sin(polar) * std::sin(angle)));
    }
  }
  return points;
}

/// From 4 faces to about a hundred.
std::vector<ConvexShape> make_small_solids(Random& random) {
  std::vector<ConvexShape> out;
  out.emplace_back(make_convex_box(Vec3(0.1, 0.06, 0.08), {}));
  out.emplace_back(make_convex_box(Vec3(0.2, 0.004, 0.15), {Vec3(0.01, 0.02, 0.0), random_rotation(random)}));
  out.emplace_back(make_convex_hull(make_box(Vec3(0.05, 0.05, 0.05), 2).vertices));
  out.emplace_back(make_convex_hull(random_points(random, 4, Vec3::Constant(0.06))));
  out.emplace_back(make_convex_hull(make_sphere(0.05, 1).vertices));
  out.emplace_back(make_convex_hull(make_cylinder(0.04, 0.1, 3, 1).vertices));
  out.emplace_back(make_convex_hull(make_cylinder(0.04, 0.06, 16, 1).vertices));
  out.emplace_back(make_convex_hull(random_points(random, 20, Vec3::Constant(0.05))));
  out.emplace_back(make_convex_hull(random_points(random, 20, Vec3(0.1, 0.002, 0.08))));
  out.emplace_back(make_convex_hull(random_points(random, 16, Vec3(0.002, 0.003, 0.1))));
  return out;
}

/// From about a hundred faces to 500, and boxes to lay them on.
std::vector<ConvexShape> make_large_solids(Random& random) {
  std::vector<ConvexShape> out;
  out.emplace_back(make_convex_box(Vec3(0.2, 0.02, 0.2), {}));
  out.emplace_back(make_convex_hull(make_sphere(0.05, 5).vertices));
  out.emplace_back(make_convex_hull(uv_sphere(0.04, 24, 12)));
  out.emplace_back(make_convex_hull(make_cylinder(0.05, 0.06, 100, 1).vertices));
  out.emplace_back(make_convex_hull(random_points(random, 250, Vec3::Constant(0.05))));
  out.emplace_back(make_convex_hull(random_points(random, 150, Vec3(0.1, 0.005, 0.08))));
  out.emplace_back(make_convex_hull(random_points(random, 100, Vec3(0.004, 0.005, 0.1))));
  return out;
}

Vec3 lowest_corner(const ConvexPolyhedron& p, const Pose& X, const Vec3& n) {
  const Vec3 down = X.rotation.conjugate() * n;
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < p.vertices.size(); ++i) {
    const double h = down.dot(p.vertices[i]);
    if (h < least) best = i;
    least = std::min(h, least);
  }
  return X.position + X.rotation * p.vertices[best];
}

/// Of a above b along n.
double measure(const ConvexPolyhedron& a, const Pose& X_WA, const ConvexPolyhedron& b, const Pose& X_WB,
               const Vec3& n) {
  return n.dot(lowest_corner(a, X_WA, n) - lowest_corner(b, X_WB, -n));
}

/// A point of the surface and a direction in which it is the outermost.
struct Feature {
  enum Kind { kFace, kEdge, kCorner };
  Vec3 point, normal;
};

Feature pick_feature(const ConvexPolyhedron& p, Feature::Kind kind, Random& random) {
  const ConvexPolyhedron::Face& f = p.faces[random() % p.faces.size()];
  const auto corner = [&](std::int32_t k) { return p.loop[f.begin + k % f.count]; };
  Feature out{Vec3::Zero(), f.normal};
  if (kind == Feature::kFace) {
    double sum = 0.0;
    for (std::int32_t k = 0; k < f.count; ++k) {
      const double weight = uniform(random, 0.1, 1.0);
      out.point += weight * p.vertices[corner(k)];
      sum += weight;
    }
    out.point /= sum;
    return out;
  }
  const auto first = static_cast<std::int32_t>(random() % as_size(f.count));
  const std::int32_t i = corner(first), j = kind == Feature::kEdge ? corner(first + 1) : i;
  const double s = uniform(random, 0.1, 0.9);
  out.point = (1.0 - s) * p.vertices[i] + s * p.vertices[j];
  out.normal.setZero();
  for (const ConvexPolyhedron::Face& g : p.faces) {
    const auto has = [&](std::int32_t v) {
      return std::find(p.loop.begin() + g.begin, p.loop.begin() + g.begin + g.count, v) !=
             p.loop.begin() + g.begin + g.count;
    };
    if (has(i) && has(j)) out.normal += uniform(random, 0.1, 1.0) * g.normal;
  }
  out.normal.normalize();
  return out;
}

/// Two solids that touch: b's pose, and the normal along which it is moved off and in.
struct Touch {
  Pose X_WA, X_WB;
  Vec3 normal;   ///< from b to a
  bool is_face;  ///< along `normal` they touch in more than corners: overlapping they part along it too
};

enum class Turn { kRandom, kAligned, kAlmostAligned, kQuarters };

Touch make_touch(const ConvexPolyhedron& a, const ConvexPolyhedron& b, Turn turn, Random& random) {
  const auto kind_a = static_cast<Feature::Kind>(random() % 3), kind_b = static_cast<Feature::Kind>(random() % 3);
  const Feature on_a = pick_feature(a, kind_a, random), on_b = pick_feature(b, kind_b, random);
  Touch out;
  Vec3 point_b;
  Quat R_AB;
  if (turn == Turn::kAligned) {
    Mat3 frame_a, frame_b;
    const auto make_frame = [](const Vec3& n, Mat3& frame) {
      Vec3 t1, t2;
      make_tangents(n, t1, t2);
      frame << n, t1, t2;
    };
    make_frame(-on_a.normal, frame_a);
    make_frame(on_b.normal, frame_b);
    const Quat twist(Eigen::AngleAxisd(uniform(random, -3.0, 3.0), on_a.normal));
    R_AB = (twist * Quat(Mat3(frame_a * frame_b.transpose()))).normalized();
    point_b = R_AB * on_b.point;
  } else {
    R_AB = random_rotation(random);
    if (turn == Turn::kQuarters || turn == Turn::kAlmostAligned) {
      R_AB = Quat::Identity();
      for (int axis = 0; axis < 3; ++axis) {
        const double angle = 0.5 * std::numbers::pi * static_cast<double>(random() % 4);
        R_AB = R_AB * Quat(Eigen::AngleAxisd(angle, Vec3::Unit(axis)));
      }
    }
    if (turn == Turn::kAlmostAligned) {
      R_AB = R_AB * rotation_from_vector(std::pow(10.0, uniform(random, -12.0, -2.0)) * random_direction(random));
    }
    point_b = lowest_corner(b, {Vec3::Zero(), R_AB}, on_a.normal);
  }
  out.X_WA = {0.3 * random_direction(random), random_rotation(random)};
  out.X_WB.rotation = out.X_WA.rotation * R_AB;
  out.X_WB.position = out.X_WA.position + out.X_WA.rotation * (on_a.point - point_b);
  out.normal = out.X_WA.rotation * -on_a.normal;
  const bool edges = turn == Turn::kAligned && kind_a == Feature::kEdge && kind_b == Feature::kEdge;
  out.is_face = kind_a == Feature::kFace || edges || (turn == Turn::kAligned && kind_b == Feature::kFace);
  return out;
}

/// Of solids that overlap: the largest separation along all faces of both and all products of two edges. `all`: of
/// every two; else only of those that can be outermost in a common direction, found by the normals of their faces.
double overlap_along_all_axes(const ConvexPolyhedron& a, const Pose& X_WA, const ConvexPolyhedron& b, const Pose& X_WB,
                              bool all) {
  double best = -1.0;
  const auto try_axis = [&](const Vec3& n) { best = std::max(best, measure(a, X_WA, b, X_WB, n)); };
  for (const ConvexPolyhedron::Face& f : a.faces) try_axis(-(X_WA.rotation * f.normal));
  for (const ConvexPolyhedron::Face& f : b.faces) try_axis(X_WB.rotation * f.normal);
  struct Edge {
    Vec3 p, d, normal[2];
  };
  const auto make_edges = [](const ConvexPolyhedron& p, const Pose& X) {
    std::vector<Edge> out;
    for (const ConvexPolyhedron::Edge& e : p.edges) {
      const Vec3 &from = p.vertices[e.vertex[0]], &to = p.vertices[e.vertex[1]];
      out.push_back({X.position + X.rotation * from,
                     X.rotation * (to - from).normalized(),
                     {X.rotation * p.faces[e.face[0]].normal, X.rotation * p.faces[e.face[1]].normal}});
    }
    return out;
  };
  const std::vector<Edge> edges_a = make_edges(a, X_WA), edges_b = make_edges(b, X_WB);
  for (const Edge& e : edges_a) {
    for (const Edge& d : edges_b) {
      const auto apart = [](const Edge& x, const Edge& y) {
        return x.d.dot(y.normal[0]) * x.d.dot(y.normal[1]) > 1e-9;
      };
      if (!all && (apart(e, d) || apart(d, e))) continue;
      const Vec3 n = e.d.cross(d.d);
      const double length = n.norm();
      if (length < 1e-11) continue;
      // Along either sign an axis is at most as good as the edges' distance along it.
      for (const double sign : {1.0, -1.0}) {
        if (sign * n.dot(e.p - d.p) / length > best) try_axis(sign * n / length);
      }
    }
  }
  return best;
}

/// Of solids that are apart, by all their features: triangle and corner, edge and edge.
double distance_of_all_features(const ConvexPolyhedron& a, const Pose& X_WA, const ConvexPolyhedron& b,
                                const Pose& X_WB) {
  double least = 1.0;
  const auto place = [](const ConvexPolyhedron& p, const Pose& X) {
    TriangleMesh mesh = make_triangles(p);
    for (Vec3& v : mesh.vertices) v = X.position + X.rotation * v;
    return mesh;
  };
  const TriangleMesh mesh_a = place(a, X_WA), mesh_b = place(b, X_WB);
  for (const auto& [mesh, corners] : {std::pair(&mesh_a, &mesh_b.vertices), std::pair(&mesh_b, &mesh_a.vertices)}) {
    for (const auto& [i, j, k] : mesh->triangles) {
      for (const Vec3& v : *corners) {
        const Vec3 &p = mesh->vertices[i], &q = mesh->vertices[j], &r = mesh->vertices[k];
        const Vec3 w = closest_on_triangle(v, p, q, r);
        least = std::min(least, (w[0] * p + w[1] * q + w[2] * r - v).norm());
      }
    }
  }
  for (const ConvexPolyhedron::Edge& e : a.edges) {
    const Vec3 &p = mesh_a.vertices[e.vertex[0]], &q = mesh_a.vertices[e.vertex[1]];
    for (const ConvexPolyhedron::Edge& d : b.edges) {
      const Vec3 &r = mesh_b.vertices[d.vertex[0]], &s = mesh_b.vertices[d.vertex[1]];
      const SegmentPair c = closest_of_segments(p, q, r, s);
      least = std::min(least, (p + c.s * (q - p) - r - c.t * (s - r)).norm());
    }
  }
  return least;
}

/// The exact separation, of a pair moved together from touch by `gap`: apart it is that; but solids that touch in
/// corners may go past each other.
double exact_separation(const ConvexPolyhedron& a, const Pose& X_WA, const ConvexPolyhedron& b, const Pose& X_WB,
                        double gap, bool all) {
  if (gap >= 0.0) return gap;
  const double overlap = overlap_along_all_axes(a, X_WA, b, X_WB, all);
  return overlap <= 0.0 ? overlap : distance_of_all_features(a, X_WA, b, X_WB);
}

double height_above(const ConvexPolyhedron& p, const Pose& X, const Vec3& point) {
  double most = -1.0;
  const Vec3 q = X.rotation.conjugate() * (point - X.position);
  for (const ConvexPolyhedron::Face& f : p.faces) most = std::max(most, f.normal.dot(q) - f.offset);
  return most;
}

/// Laws that hold of every manifold, with the exact separation at hand.
void check_manifold(const ConvexShape& shape_a, const Pose& X_WA, const ConvexShape& shape_b, const Pose& X_WB,
                    double exact, const Manifold& m) {
  const ConvexPolyhedron &a = shape_a.polyhedron(), &b = shape_b.polyhedron();
  EXPECT_NEAR(m.separation, exact, kTolerance);
  EXPECT_NEAR(m.normal.norm(), 1.0, 1e-14);
  // Along its normal they are as far apart as it says. Of corners less than 1 µm apart the direction is known up to
  // the poses' rounding over their distance.
  const double rounding = 4.0 * 0x1p-52 * (X_WA.position.norm() + a.size + b.size);
  const double blur = exact > 0.0 ? (a.size + b.size) * rounding / exact : 0.0;
  EXPECT_NEAR(measure(a, X_WA, b, X_WB, m.normal), m.separation, kTolerance + std::min(blur, 1e-8));
  double least = 1.0;
  for (int i = 0; i < m.count; ++i) {
    const ManifoldPoint& p = m.points[as_size(i)];
    least = std::min(least, m.normal.dot(p.on_a - p.on_b));
    EXPECT_LT(height_above(a, X_WA, p.on_a), kTolerance);
    EXPECT_LT(height_above(b, X_WB, p.on_b), kTolerance);
  }
  EXPECT_NEAR(least, m.separation, kTolerance);
}

/// From 1 mm apart through touch to 1 mm deep, along the normal of a touch.
void check_sweep(const ConvexShape& a, const ConvexShape& b, const Touch& touch, std::span<const double> gaps,
                 bool all) {
  Manifold before;
  double gap_before = 0.0;
  for (const double gap : gaps) {
    Pose X_WB = touch.X_WB;
    X_WB.position -= gap * touch.normal;
    Manifold m;
    ASSERT_TRUE(compute_manifold(a, touch.X_WA, b, X_WB, kMaxGap, m));
    const double exact = exact_separation(a.polyhedron(), touch.X_WA, b.polyhedron(), X_WB, gap, all);
    SCOPED_TRACE(::testing::Message() << a.polyhedron().faces.size() << " on " << b.polyhedron().faces.size()
                                      << " faces, gap " << gap);
    check_manifold(a, touch.X_WA, b, X_WB, exact, m);
    if (touch.is_face && std::abs(gap) < 1e-6 && std::abs(exact - gap) < 1e-12) {
      EXPECT_NEAR((m.normal - touch.normal).norm(), 0.0, 1e-6);
    }
    if (before.count > 0) {
      EXPECT_LE(std::abs(m.separation - before.separation), std::abs(gap - gap_before) + 2.0 * kTolerance);
    }
    before = m;
    gap_before = gap;
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ConvexManifold, SeparationOfSmallSolidsIsThatOfAllAxes) {
  Random random(1);
  const std::vector<ConvexShape> solids = make_small_solids(random);
  for (const ConvexShape& a : solids) {
    for (const ConvexShape& b : solids) {
      for (const Turn turn : {Turn::kRandom, Turn::kAligned, Turn::kAlmostAligned, Turn::kQuarters}) {
        check_sweep(a, b, make_touch(a.polyhedron(), b.polyhedron(), turn, random), kGaps, true);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(ConvexManifold, SeparationOfSolidsOf500FacesIsThatOfAllAxes) {
  Random random(2);
  const std::vector<ConvexShape> solids = make_large_solids(random);
  std::size_t trial = 0;
  for (const ConvexShape& a : solids) {
    for (const ConvexShape& b : solids) {
      const Turn turn = std::array{Turn::kRandom, Turn::kAligned, Turn::kAlmostAligned, Turn::kQuarters}[trial++ % 4];
      check_sweep(a, b, make_touch(a.polyhedron(), b.polyhedron(), turn, random), kFewGaps, false);
      if (HasFailure()) return;
    }
  }
}

TEST(ConvexManifold, BallSinksIntoABoxAlongTheBoxesNormal) {
  Random random(3);
  constexpr double kRounding = 16 * 0x1p-52;  // of a direction turned forth and back four times
  const ConvexShape box(make_convex_box(Vec3(0.3, 0.04, 0.3), {}));
  for (const int subdivisions : {1, 5, 11}) {
    const ConvexShape ball(make_convex_hull(make_sphere(0.05, subdivisions).vertices));
    for (int trial = 0; trial < 20; ++trial) {
      const Pose X_WA{0.1 * random_direction(random), random_rotation(random)};
      Pose X_WB{Vec3::Zero(), random_rotation(random)};
      const Vec3 up = X_WA.rotation * Vec3::UnitY();
      const Vec3 top = X_WA.position + 0.02 * up, low = lowest_corner(ball.polyhedron(), X_WB, up);
      for (int step = -36; step <= 36; ++step) {
        const double gap = step == 0 ? 0.0 : std::copysign(1e-3 * std::pow(10.0, (std::abs(step) - 36) / 3.0), step);
        X_WB.position = top + gap * up - low;
        Manifold m;
        ASSERT_TRUE(compute_manifold(box, X_WA, ball, X_WB, kMaxGap, m));
        ASSERT_NEAR(m.separation, gap, kRounding) << subdivisions;
        ASSERT_NEAR((m.normal + up).norm(), 0.0, kRounding) << gap;
        ASSERT_TRUE(compute_manifold(ball, X_WB, box, X_WA, kMaxGap, m));
        ASSERT_NEAR(m.separation, gap, kRounding) << subdivisions;
        ASSERT_NEAR((m.normal - up).norm(), 0.0, kRounding) << gap;
      }
    }
  }
}

// Rounding of a pose moves no corner of a box by more than a few 1e-17 m, a solver leaves tilts of 1e-6: neither
// decides which corners carry a box, nor what they are called.
TEST(ConvexManifold, BoxLiesOnFourCornersWhateverTheTilt) {
  Random random(4);
  const ConvexShape box(make_convex_box(Vec3::Constant(0.1), {})), other(make_convex_box(Vec3(0.06, 0.1, 0.08), {}));
  std::array<std::uint32_t, 4> first{};
  for (int trial = 0; trial < 400; ++trial) {
    const double tilt = trial == 0 ? 0.0 : std::pow(10.0, uniform(random, -17.0, -4.0));
    const double height = uniform(random, -1e-6, 1e-6) * (trial % 2);
    const Pose X_WB{Vec3(0.01, 0.1 + height, 0.005),
                    rotation_from_vector(Vec3(0, 0.2, 0) + tilt * random_direction(random))};
    Manifold m;
    ASSERT_TRUE(compute_manifold(box, {}, other, X_WB, kMaxGap, m));
    ASSERT_EQ(m.count, 4);
    EXPECT_NEAR((m.normal + Vec3::UnitY()).norm(), 0.0, 10.0 * tilt + 1e-15);
    // The lowest corner is at most tilt · the half diagonal below the middle.
    EXPECT_NEAR(m.separation, height, 0.1 * tilt + 1e-15);
    for (std::size_t i = 0; i < 4; ++i) {
      if (trial == 0) first[i] = m.points[i].feature;
      EXPECT_EQ(m.points[i].feature, first[i]);
    }
  }
}

TEST(ConvexManifold, RoundFaceOfManyCornersCarriesAllAround) {
  const ConvexShape plate(make_convex_box(Vec3(0.3, 0.02, 0.3), {}));
  const ConvexShape can(make_convex_hull(make_cylinder(0.05, 0.06, 200, 1).vertices));
  Manifold m;
  ASSERT_TRUE(compute_manifold(plate, {}, can, {Vec3(0.0, 0.04 - 1e-5, 0.0), Quat::Identity()}, kMaxGap, m));
  ASSERT_EQ(m.count, Manifold::kMaxPoints);
  Vec3 mean = Vec3::Zero();
  for (const ManifoldPoint& p : m.points) mean += p.on_b / m.count;
  EXPECT_NEAR(mean.x(), 0.0, 0.005);
  EXPECT_NEAR(mean.z(), 0.0, 0.005);
}

TEST(ConvexManifold, AllocatesNothing) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  Random random(5);
  const std::vector<ConvexShape> solids = make_large_solids(random);
  for (const ConvexShape& a : solids) {
    for (const ConvexShape& b : solids) {
      for (const double depth : {-1e-3, 1e-9, 0.02}) {
        Touch touch = make_touch(a.polyhedron(), b.polyhedron(), Turn::kAligned, random);
        touch.X_WB.position += depth * touch.normal;
        Manifold m;
        testing::RealtimeGuard guard;
        compute_manifold(a, touch.X_WA, b, touch.X_WB, kMaxGap, m);
        compute_face_manifold(a, touch.X_WA, b, touch.X_WB, kMaxGap, m);
        EXPECT_EQ(guard.violations().total(), 0);
      }
    }
  }
}

}  // namespace
}  // namespace palpate::convex_manifold_test
