#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "palpate/constraints/problem.h"

// Problems to try solvers on: random ones of every kind of part, a stiff body on many feet, and walls of cubes.
namespace palpate::samples {

using SideKind = ConstraintSide::Kind;

struct RandomSettings {
  int contacts = 5;
  int equalities = 0;
  int bounded = 0;
  int dense_bodies = 1;
  int dense_unknowns = 30;  ///< of each dense body; fewer than its rows makes W singular
  int light_bodies = 0;
  double friction = 0.3;
};

/// Rows of normal deviates on random bodies, every body with its own random positive definite A. δ_free is that of a
/// state which meets all equalities and one-sided rows, plus a random motion of the bodies: undoing the motion is
/// feasible, so without friction a solution exists, however many rows act on a body.
class RandomProblems {
 public:
  explicit RandomProblems(unsigned seed) : random_(seed) {}

  void fill(ConstraintProblem& p, const RandomSettings& s) {
    p.clear();
    for (int k = 0; k < s.dense_bodies; ++k) p.add_dense_body();
    for (int k = 0; k < s.light_bodies; ++k) p.add_light_body();
    for (int i = 0; i < s.contacts; ++i) add(p, s, {.friction = s.friction});
    for (int i = 0; i < s.equalities; ++i) {
      add(p, s, {.kind = ConstraintKind::kEquality, .rows = 1 + static_cast<int>(random_() % 6)});
    }
    for (int i = 0; i < s.bounded; ++i) {
      const bool one_sided = random_() % 2 == 0;
      add(p, s,
          {.kind = ConstraintKind::kBounded,
           .lower = one_sided ? 0.0 : -0.2,
           .upper = one_sided ? std::numeric_limits<double>::infinity() : 0.1});
    }
    p.prepare_dense();
    fill_free(p);
    for (int k = 0; k < s.dense_bodies; ++k) fill_dense(p, k, s.dense_unknowns);
    for (int k = 0; k < s.light_bodies; ++k) fill_light(p, k);
  }

  double normal() { return normal_(random_); }
  std::mt19937& engine() { return random_; }

 private:
  ConstraintSide side(const RandomSettings& s) {
    const auto k = static_cast<std::int32_t>(random_() % static_cast<unsigned>(s.dense_bodies + s.light_bodies));
    if (k < s.dense_bodies) return {SideKind::kDense, k};
    return {SideKind::kLight, k - s.dense_bodies};
  }

  void add(ConstraintProblem& p, const RandomSettings& s, Constraint c) {
    c.a = side(s);
    if (random_() % 2 == 0) c.b = side(s);
    p.add_constraint(c);
  }

  /// One-sided rows start a little apart, rows with two bounds anywhere.
  void fill_free(ConstraintProblem& p) {
    for (const Constraint& c : p.constraints()) {
      for (int i = 0; i < c.rows; ++i) p.delta_free(c.first_row + i) = 0.0;
      if (c.kind == ConstraintKind::kContact) p.delta_free(c.first_row) = 0.3 * std::abs(normal());
      if (c.kind == ConstraintKind::kBounded)
        p.delta_free(c.first_row) = 0.3 * (c.lower < 0.0 ? normal() : std::abs(normal()));
    }
  }

  void fill_dense(ConstraintProblem& p, int k, int unknowns) {
    const int rows = p.dense_rows(k);
    const Eigen::MatrixXd J = Eigen::MatrixXd::NullaryExpr(rows, unknowns, [this] { return normal(); });
    const Eigen::VectorXd scale = Eigen::VectorXd::NullaryExpr(unknowns, [this] { return std::exp(normal()); });
    const Eigen::VectorXd motion = Eigen::VectorXd::NullaryExpr(unknowns, [this] { return normal(); });
    p.dense_compliance(k) = J * scale.asDiagonal() * J.transpose() / unknowns;
    const Eigen::VectorXd moved = J * motion / std::sqrt(unknowns);
    for (int i = 0; i < rows; ++i) p.delta_free(p.dense_row_map(k)[as_size(i)]) += moved[i];
  }

  void fill_light(ConstraintProblem& p, int k) {
    Vec6 inverse, motion;
    for (int i = 0; i < 6; ++i) inverse[i] = std::exp(normal()) / 6.0, motion[i] = 0.4 * normal();
    for (const Constraint& c : p.constraints()) {
      for (const ConstraintSide& s : {c.a, c.b}) {
        if (s.kind != SideKind::kLight || s.body != k) continue;
        for (int i = 0; i < c.rows; ++i) {
          Vec6& J = p.light_J(s.first + i);
          for (double& x : J) x = normal();
          p.light_Y(s.first + i) = inverse.cwiseProduct(J);
          p.delta_free(c.first_row + i) += J.dot(motion);
        }
      }
    }
  }

  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

/// A stiff block of 0.1 m and 0.1 kg pressed on a floor by 5 N with `contacts` feet, and dragged: rigid motion over a
/// step of 10 ms, and a local give of `softness` times the rigid compliance. Many feet and little give is hard: who
/// carries what is nearly undetermined.
inline void fill_feet(ConstraintProblem& p, int contacts, double softness, double friction, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-0.05, 0.05);
  const double h = 0.01, mass = 0.1, inertia = mass * 0.01 / 6.0;
  p.clear();
  p.add_dense_body();
  for (int i = 0; i < contacts; ++i) p.add_constraint({.friction = friction, .a = {SideKind::kDense, 0}});
  p.prepare_dense();
  const int rows = 3 * contacts;
  Eigen::MatrixXd J(rows, 6);
  Eigen::Matrix3Xd feet(3, contacts);
  for (int i = 0; i < contacts; ++i) {
    const Vec3 r(uniform(random), -0.05, uniform(random));
    feet.col(i) = r;
    const Vec3 axes[3] = {Vec3::UnitY(), Vec3::UnitX(), Vec3::UnitZ()};
    for (int k = 0; k < 3; ++k) J.row(3 * i + k) << axes[k].transpose(), r.cross(axes[k]).transpose();
  }
  Vec6 inverse;
  inverse << Vec3::Constant(h * h / mass), Vec3::Constant(h * h / inertia);
  Eigen::MatrixXd W = J * inverse.asDiagonal() * J.transpose();
  const double give = softness * h * h / mass;
  for (int i = 0; i < contacts; ++i) {
    for (int j = 0; j < contacts; ++j) {
      const double near = give * std::exp(-(feet.col(i) - feet.col(j)).squaredNorm() / (0.01 * 0.01));
      for (int k = 0; k < 3; ++k) W(3 * i + k, 3 * j + k) += near;
    }
  }
  p.dense_compliance(0) = W;
  Vec6 load;  // pressed, dragged and turned
  load << 1.0, -5.0, 0.5, 0.02, 0.05, -0.01;
  const Eigen::VectorXd moved = J * (inverse.asDiagonal() * load);
  for (int i = 0; i < rows; ++i) p.delta_free(i) = moved[i] + (i % 3 == 0 ? 1e-5 * (uniform(random) + 0.05) : 0.0);
}

/// A wall of cubes of 0.1 m in running bond on a floor, under gravity over a step of 10 ms; each cube rests on two with
/// four contacts each. `top_ratio` is how much heavier the top layer is. Cubes start with small random velocities.
inline void fill_wall(ConstraintProblem& p, int wide, int high, double top_ratio, double friction, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const double h = 0.01, size = 0.1, g = 9.81;
  p.clear();
  std::vector<Vec3> centre;
  std::vector<Vec6> inverse, motion;
  for (int layer = 0; layer < high; ++layer) {
    for (int k = 0; k < wide; ++k) {
      p.add_light_body();
      centre.emplace_back(size * (k + 0.5 * (layer % 2)), size * (layer + 0.5), 0.0);
      const double mass = layer == high - 1 ? top_ratio : 1.0;
      const double inertia = mass * size * size / 6.0;
      inverse.emplace_back((Vec6() << Vec3::Constant(h * h / mass), Vec3::Constant(h * h / inertia)).finished());
      Vec6 move;
      for (double& x : move) x = 2e-4 * normal(random);
      move[1] -= g * h * h;
      motion.push_back(move);
    }
  }
  const auto add = [&](int above, int below, const Vec3& at) {
    const ConstraintSide b = below >= 0 ? ConstraintSide{SideKind::kLight, below} : ConstraintSide{};
    const int index = p.add_constraint({.friction = friction, .a = {SideKind::kLight, above}, .b = b});
    const Constraint c = p.constraints()[as_size(index)];
    const Vec3 axes[3] = {Vec3::UnitY(), Vec3::UnitX(), Vec3::UnitZ()};
    for (int k = 0; k < 3; ++k) {
      const auto put = [&](const ConstraintSide& s, double sign) {
        const std::size_t body = as_size(s.body);
        Vec6 J;
        J << sign * axes[k], sign * (at - centre[body]).cross(axes[k]);
        p.light_J(s.first + k) = J;
        p.light_Y(s.first + k) = inverse[body].cwiseProduct(J);
        p.delta_free(c.first_row + k) += J.dot(motion[body]);
      };
      put(c.a, 1.0);
      if (below >= 0) put(c.b, -1.0);
    }
  };
  for (int layer = 0; layer < high; ++layer) {
    for (int k = 0; k < wide; ++k) {
      const int above = layer * wide + k;
      const double y = size * layer, x = centre[as_size(above)][0];
      for (const double z : {-0.5 * size, 0.5 * size}) {
        if (layer == 0) {
          add(above, -1, {x - 0.5 * size, y, z});
          add(above, -1, {x + 0.5 * size, y, z});
          continue;
        }
        for (int under = (layer - 1) * wide; under < layer * wide; ++under) {
          const double dx = centre[as_size(under)][0] - x;
          if (std::abs(dx) > 0.75 * size) continue;
          // Half a cube of overlap, from this cube's middle to its edge.
          add(above, under, {x, y, z});
          add(above, under, {x + dx, y, z});
        }
      }
    }
  }
}

}  // namespace palpate::samples
