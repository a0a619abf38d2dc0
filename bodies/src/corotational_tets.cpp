#include "palpate/bodies/corotational_tets.h"

#include <algorithm>

#include "lanes.h"
#include "polar_lanes.h"

namespace palpate {

using lanes::add_outer;
using lanes::Double4;
using lanes::fill;
using lanes::gather;
using lanes::load;
using lanes::madd;
using lanes::Matrix;
using lanes::scatter_add;
using lanes::Vector;

namespace {

struct Kinematics {
  Matrix F;
  Vector gradient[3];  ///< b_a of nodes 1 to 3
};

template <typename Group>
Kinematics compute_kinematics(const Group& g, const double* x) noexcept {
  Kinematics k{};
  const Vector x0 = gather(x, g.node[0]);
  for (int a = 0; a < 3; ++a) {
    for (int axis = 0; axis < 3; ++axis) k.gradient[a].v[axis] = load(g.gradient[a][axis]);
    add_outer(k.F, gather(x, g.node[a + 1]) - x0, k.gradient[a]);
  }
  return k;
}

/// s (A + Aᵀ) + d I.
Matrix symmetric_part(const Matrix& A, Double4 s, Double4 d) noexcept {
  Matrix r;
  for (int i = 0; i < 3; ++i) {
    r.m[i][i] = 2.0 * s * A.m[i][i] + d;
    for (int j = 0; j < i; ++j) r.m[i][j] = r.m[j][i] = s * (A.m[i][j] + A.m[j][i]);
  }
  return r;
}

/// Adds sign · stress · c_a to the nodes of four tets; node 0 gets what balances the others.
template <typename Group>
void add_stress_forces(const Group& g, const Matrix& stress, const Vector* c, double sign, double* out) noexcept {
  Vector rest{};
  for (int a = 1; a < 4; ++a) {
    const Vector f = fill(sign) * (stress * c[a]);
    rest = rest - f;
    scatter_add(f, out, g.node[a]);
  }
  scatter_add(rest, out, g.node[0]);
}

template <typename Group>
void add_stiffness(const Group& g, const Vector* c, double* blocks, double* damping_blocks) noexcept {
  const Double4 lambda = load(g.lambda), mu = load(g.mu), beta = load(g.beta);
  int pair = 0;
  for (int a = 0; a < 4; ++a) {
    const Vector p = lambda * c[a], q = mu * c[a];
    for (int b = a; b < 4; ++b, ++pair) {
      const Double4 diagonal = dot(q, c[b]);
      Matrix K;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) K.m[i][j] = madd(c[b].v[i], q.v[j], p.v[i] * c[b].v[j]);
        K.m[i][i] += diagonal;
      }
      scatter_add(K, blocks, g.slot[pair]);
      if (!damping_blocks) continue;
      for (auto& row : K.m) {
        for (Double4& k : row) k *= beta;
      }
      scatter_add(K, damping_blocks, g.slot[pair]);
    }
  }
}

}  // namespace

template <bool kSystem>
void CorotationalTets::add_groups(const Assembly& out, std::span<Turned> turned) const noexcept {
  const double *x = position_data(), *v = velocity_data();
  for (const Group& g : groups_) {
    const Kinematics k = compute_kinematics(g, x);
    const Matrix R = lanes::compute_rotations(k.F);
    Vector c[4];
    for (int a = 1; a < 4; ++a) c[a] = R * k.gradient[a - 1];
    c[0] = fill(-1.0) * (c[1] + c[2] + c[3]);

    // In the world frame the strain RεRᵀ is FRᵀ − I.
    const Matrix stretch = lanes::times_transposed(k.F, R);
    const Double4 mu = load(g.mu), lambda = load(g.lambda), theta = trace(stretch) - 3.0;
    add_stress_forces(g, symmetric_part(stretch, mu, lambda * theta - 2.0 * mu), c, -1.0, out.force);
    for (int lane = 0; lane < kLanes; ++lane) {
      if (g.turned[lane] < 0) continue;
      Turned& t = turned[g.turned[lane]];
      t.dilatation = g.volume[lane] * theta[lane];
      for (int a = 0; a < 3; ++a) {
        for (int axis = 0; axis < 3; ++axis) t.gradient[a][axis] = g.volume[lane] * c[a + 1].v[axis][lane];
      }
    }
    if constexpr (kSystem) {
      Matrix rate{};
      const Vector v0 = gather(v, g.node[0]);
      for (int a = 1; a < 4; ++a) add_outer(rate, gather(v, g.node[a]) - v0, c[a]);
      Matrix stress = symmetric_part(rate, mu, lambda * trace(rate));
      add_stress_forces(g, stress, c, 1.0, out.stiffness_velocity);
      if (out.damping_velocity) {
        stress = symmetric_part(stress, 0.5 * load(g.beta), fill(0.0));
        add_stress_forces(g, stress, c, 1.0, out.damping_velocity);
      }
      add_stiffness(g, c, out.blocks, out.damping_blocks);
    }
  }
}

double CorotationalTets::gather_patch(const Patch& patch, std::span<const Turned> turned,
                                      std::span<Vec3> gradients) const noexcept {
  std::fill_n(gradients.begin(), patch.node_end - patch.node_begin, Vec3::Zero());
  double dilatation = 0.0;
  for (int t = patch.tet_begin; t < patch.tet_end; ++t) {
    dilatation += turned[t].dilatation;
    const auto& corner = patch_corners_[t];
    for (int a = 0; a < 3; ++a) {
      const Vec3 g(turned[t].gradient[a][0], turned[t].gradient[a][1], turned[t].gradient[a][2]);
      gradients[corner[a + 1]] += g;
      gradients[corner[0]] -= g;
    }
  }
  return dilatation;
}

template <bool kSystem>
void CorotationalTets::add_patches(const Assembly& out, std::span<const Turned> turned) const noexcept {
  const auto at = [](double* base, std::int32_t node) { return Eigen::Map<Vec3>(base + 3 * std::ptrdiff_t{node}); };
  for (const Patch& patch : patches_) {
    const std::span<Vec3> g(patch_gradients_);
    const double pressure = patch.lambda_over_volume * gather_patch(patch, turned, g);
    const int count = patch.node_end - patch.node_begin;
    const std::int32_t* node = patch_nodes_.data() + patch.node_begin;
    double rate = 0.0;
    for (int a = 0; a < count; ++a) {
      at(out.force, node[a]) -= pressure * g[a];
      if constexpr (kSystem) rate += g[a].dot(velocities()[node[a]]);
    }
    if constexpr (kSystem) {
      rate *= patch.lambda_over_volume;
      const std::int32_t* slot = patch_slots_.data() + patch.slot_begin;
      for (int a = 0; a < count; ++a) {
        at(out.stiffness_velocity, node[a]) += rate * g[a];
        if (out.damping_velocity) at(out.damping_velocity, node[a]) += patch.beta * rate * g[a];
        const Vec3 scaled = patch.lambda_over_volume * g[a];
        for (int b = a; b < count; ++b, ++slot) {
          // Block (b, a) of the lower triangle, by columns.
          const Mat3 K = g[b] * scaled.transpose();
          Eigen::Map<Mat3>(out.blocks + 9 * std::ptrdiff_t{*slot}) += K;
          if (out.damping_blocks) Eigen::Map<Mat3>(out.damping_blocks + 9 * std::ptrdiff_t{*slot}) += patch.beta * K;
        }
      }
    }
  }
}

void CorotationalTets::assemble(const Assembly& out) noexcept {
  add_groups<true>(out, turned_);
  add_patches<true>(out, turned_);
}

void CorotationalTets::compute_elastic_forces(std::span<Vec3> forces) const noexcept {
  std::fill(forces.begin(), forces.end(), Vec3::Zero());
  Assembly out{};
  out.force = forces.data()->data();
  add_groups<false>(out, turned_);
  add_patches<false>(out, turned_);
}

double CorotationalTets::compute_elastic_energy() const noexcept {
  double energy = 0.0;
  for (const Group& g : groups_) {
    const Kinematics k = compute_kinematics(g, position_data());
    Matrix strain = lanes::times_transposed(k.F, lanes::compute_rotations(k.F));
    Double4 squares = fill(0.0);
    for (int i = 0; i < 3; ++i) {
      strain.m[i][i] -= 1.0;
      for (int j = 0; j < 3; ++j) squares += strain.m[i][j] * strain.m[i][j];
    }
    const Double4 theta = trace(strain);
    const Double4 each = load(g.mu) * squares + 0.5 * load(g.lambda) * theta * theta;
    for (int lane = 0; lane < kLanes; ++lane) {
      energy += each[lane];
      if (g.turned[lane] >= 0) turned_[g.turned[lane]].dilatation = g.volume[lane] * theta[lane];
    }
  }
  for (const Patch& patch : patches_) {
    double dilatation = 0.0;
    for (int t = patch.tet_begin; t < patch.tet_end; ++t) dilatation += turned_[t].dilatation;
    energy += 0.5 * patch.lambda_over_volume * dilatation * dilatation;
  }
  return energy;
}

}  // namespace palpate
