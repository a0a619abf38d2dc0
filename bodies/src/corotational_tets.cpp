#include "palpate/bodies/corotational_tets.h"

#include <algorithm>

#include "lanes.h"
#include "polar_lanes.h"
#include "stiffness_completion.h"
#include "stress.h"
#include "volume_patches.h"

namespace palpate {

using namespace lanes;

namespace {

/// F of four tets at padded positions. Written entry by entry: GCC 12 clears and copies whole matrices by string
/// instructions, which would take as long as all the arithmetic.
template <typename Group>
[[gnu::always_inline]] inline void compute_gradient(const Group& g, const double* x, Matrix& F) noexcept {
  const Vector x0 = gather_padded(x, g.node[0]);
  const Vector d1 = gather_padded(x, g.node[1]) - x0, d2 = gather_padded(x, g.node[2]) - x0;
  const Vector d3 = gather_padded(x, g.node[3]) - x0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const Double4 first = d1.v[i] * load(g.gradient[0][j]);
      F.m[i][j] = madd(d3.v[i], load(g.gradient[2][j]), madd(d2.v[i], load(g.gradient[1][j]), first));
    }
  }
}

/// s (A + Aᵀ) + d I.
[[gnu::always_inline]] inline Matrix symmetric_part(const Matrix& A, Double4 s, Double4 d) noexcept {
  Matrix r;
  for (int i = 0; i < 3; ++i) {
    r.m[i][i] = 2.0 * s * A.m[i][i] + d;
    for (int j = 0; j < i; ++j) r.m[i][j] = r.m[j][i] = s * (A.m[i][j] + A.m[j][i]);
  }
  return r;
}

/// Subtracts stress · c_a at the nodes of four tets, padded; node 0 gets what balances the others.
template <typename Group>
[[gnu::always_inline]] inline void subtract_stress_forces(const Group& g, const Matrix& stress, const Vector* c,
                                                          double* out) noexcept {
  Vector rest{};
  for (int a = 1; a < 4; ++a) {
    const Vector f = stress * c[a];
    rest = rest + f;
    scatter_add_padded(fill(-1.0) * f, out, g.node[a]);
  }
  scatter_add_padded(rest, out, g.node[0]);
}

/// Four tets' vectors s c_a, twelve scalars each and one beyond; lanes are `stride` apart.
[[gnu::always_inline]] inline void store_turned(const Vector* c, Double4 s, double* out, std::size_t stride) noexcept {
  for (int a = 0; a < 4; ++a) {
    Double4 lane[4] = {s * c[a].v[0], s * c[a].v[1], s * c[a].v[2], fill(0.0)};
    transpose(lane[0], lane[1], lane[2], lane[3]);
    for (int l = 0; l < kLanes; ++l) store(out + l * stride + 3 * a, lane[l]);
  }
}

/// The columns of a 3 × 3 matrix; fourth lanes are of no account.
struct Columns {
  Double4 c0, c1, c2;

  void store_to(double* block) const noexcept {
    store(block, c0);
    store(block + 3, c1);
    store(block + 6, c2);
  }
  void add_to(double* block) const noexcept {
    for (int i = 0; i < 3; ++i) block[i] += c0[i], block[i + 3] += c1[i], block[i + 6] += c2[i];
  }
};

/// λ M + μ Mᵀ + shear I.
[[gnu::always_inline]] inline Columns combine(const Columns& M, double lambda, double mu, double shear) noexcept {
  Double4 row0 = M.c0, row1 = M.c1, row2 = M.c2, none = fill(0.0);
  transpose(row0, row1, row2, none);
  const Double4 l = fill(lambda), m = fill(mu);
  return {madd(l, M.c0, madd(m, row0, Double4{shear, 0.0, 0.0, 0.0})),
          madd(l, M.c1, madd(m, row1, Double4{0.0, shear, 0.0, 0.0})),
          madd(l, M.c2, madd(m, row2, Double4{0.0, 0.0, shear, 0.0}))};
}

}  // namespace

/// Positions, then room for forces.
double* CorotationalTets::pad_positions() const noexcept {
  const auto x = positions();
  for (std::size_t i = 0; i < x.size(); ++i) store(padded_.data() + 4 * i, Double4{x[i][0], x[i][1], x[i][2], 0.0});
  return padded_.data();
}

template <bool kSystem>
void CorotationalTets::add_group(const Group& g, const Matrix& F, const Matrix& R, double* force,
                                 double* turned) const noexcept {
  Vector c[4];
  for (int a = 1; a < 4; ++a) {
    const auto& b = g.gradient[a - 1];
    c[a] = R * Vector{{load(b[0]), load(b[1]), load(b[2])}};
  }
  c[0] = fill(-1.0) * (c[1] + c[2] + c[3]);
  // In the world frame the strain RεRᵀ is FRᵀ − I.
  const Matrix stretch = times_transposed(F, R);
  const Double4 mu = load(g.mu), lambda = load(g.lambda), theta = trace(stretch) - 3.0;
  subtract_stress_forces(g, symmetric_part(stretch, mu, lambda * theta - 2.0 * mu), c, force);
  for (int lane = 0; lane < kLanes; ++lane) {
    if (g.share[lane] < 0) continue;
    VolumePatches::Share& share = patches_->share(g.share[lane]);
    share.dilatation = g.volume[lane] * theta[lane];
    for (int a = 0; a < 3; ++a) {
      for (int axis = 0; axis < 3; ++axis) share.gradient[a][axis] = g.volume[lane] * c[a + 1].v[axis][lane];
    }
  }
  if constexpr (kSystem) store_turned(c, load(g.root_volume), turned, turned_stride_);
}

template <bool kSystem>
void CorotationalTets::add_groups(const Assembly& out) const noexcept {
  const double* x = pad_positions();
  double* force = padded_.data() + 4 * positions().size();
  std::fill_n(force, 4 * positions().size(), 0.0);
  double* turned = turned_.data();
  for (std::size_t g = 0; g + 1 < groups_.size(); g += 2, turned += 24) {
    Matrix F[2], R[2];
    for (int i = 0; i < 2; ++i) compute_gradient(groups_[g + i], x, F[i]);
    compute_rotations(F, R);
    for (int i = 0; i < 2; ++i) add_group<kSystem>(groups_[g + i], F[i], R[i], force, turned + 12 * i);
  }
  if (groups_.size() % 2 == 1) {
    Matrix F;
    compute_gradient(groups_.back(), x, F);
    add_group<kSystem>(groups_.back(), F, compute_rotations(F), force, turned);
  }
  for (std::size_t i = 0; i < positions().size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) out.force[3 * i + axis] += force[4 * i + axis];
  }
}

template <bool kDamping>
void CorotationalTets::set_blocks(const Assembly& out) const noexcept {
  const Edge* edge = edges_.data();
  const EdgeEnds* ends = edge_ends_.data();
  // Locals, for the compiler takes it that every store may change what `this` and `out` point to.
  const double factor = out.system_factor, *turned = turned_.data();
  const EdgeEnds* all_ends = edge_ends_.data();
  const EdgeMaterial* materials = edge_materials_.data();
  double *blocks = out.blocks, *system = out.system;
  StiffnessCompletion::Node* nodes = &out.completion->node(0);
  StiffnessCompletion::Node* damping_nodes = kDamping ? &out.damping_completion->node(0) : nodes;
  for (int j = 0; j < node_count(); ++j) {
    StiffnessCompletion::Column column(nodes[j]), damping(damping_nodes[j]);
    for (const Edge* last = edges_.data() + column_edges_[j + 1]; edge < last; ++edge) {
      Columns M{};
      for (const EdgeEnds* last_ends = all_ends + edge->end; ends < last_ends; ++ends) {
        const Double4 c_i = load(turned + ends->i);
        const double* c_j = turned + ends->j;
        M = {madd(c_i, fill(c_j[0]), M.c0), madd(c_i, fill(c_j[1]), M.c1), madd(c_i, fill(c_j[2]), M.c2)};
      }
      const EdgeMaterial& material = materials[edge->material];
      Columns K = combine(M, material.lambda, material.mu, edge->shear);
      // Blocks are set in ascending order, so what a fourth lane spills into the next one is overwritten.
      const std::ptrdiff_t place = 9 * std::ptrdiff_t{edge->slot};
      edge->adds ? K.add_to(blocks + place) : K.store_to(blocks + place);
      column.add(nodes[edge->row], K.c0, K.c1, K.c2);
      if constexpr (kDamping) {
        K = {K.c0 * material.beta, K.c1 * material.beta, K.c2 * material.beta};
        edge->adds ? K.add_to(out.damping_blocks + place) : K.store_to(out.damping_blocks + place);
        damping.add(damping_nodes[edge->row], K.c0, K.c1, K.c2);
      } else {
        // As factor · K₊ for every other time step would be, bit for bit.
        if (edge->adds) {
          for (int i = 0; i < 9; ++i) system[place + i] = factor * blocks[place + i];
        } else {
          Columns{K.c0 * factor, K.c1 * factor, K.c2 * factor}.store_to(system + place);
        }
      }
    }
    const std::ptrdiff_t diagonal = 9 * std::ptrdiff_t{pattern().column_begin(j)};
    column.finish(blocks + diagonal);
    if constexpr (kDamping) {
      damping.finish(out.damping_blocks + diagonal);
    } else {
      const double *K = blocks + diagonal, mass = out.system_masses[j];
      for (int i = 0; i < 9; ++i) system[diagonal + i] = factor * K[i] + (i % 4 == 0 ? mass : 0.0);
    }
  }
}

bool CorotationalTets::assemble(const Assembly& out) noexcept {
  add_groups<true>(out);
  out.damping_blocks ? set_blocks<true>(out) : set_blocks<false>(out);
  add_patch_forces(out);
  if (patches_->size() == 0) return true;
  patches_->add_stiffness(out.blocks, out.damping_blocks);
  return false;
}

void CorotationalTets::add_patch_forces(const Assembly& out) const noexcept {
  patches_->gather_pressures();
  patches_->gather_gradients();
  patches_->add_forces(out.force);
}

void CorotationalTets::compute_elastic_forces(std::span<Vec3> forces) const noexcept {
  std::fill(forces.begin(), forces.end(), Vec3::Zero());
  Assembly out{};
  out.force = forces.data()->data();
  add_groups<false>(out);
  add_patch_forces(out);
}

double CorotationalTets::compute_elastic_energy() const noexcept {
  double energy = 0.0;
  const double* x = pad_positions();
  for (const Group& g : groups_) {
    Matrix F;
    compute_gradient(g, x, F);
    Matrix strain = times_transposed(F, compute_rotations(F));
    Double4 squares = fill(0.0);
    for (int i = 0; i < 3; ++i) {
      strain.m[i][i] -= 1.0;
      for (int j = 0; j < 3; ++j) squares += strain.m[i][j] * strain.m[i][j];
    }
    const Double4 theta = trace(strain);
    const Double4 each = load(g.mu) * squares + 0.5 * load(g.lambda) * theta * theta;
    for (int lane = 0; lane < kLanes; ++lane) {
      energy += each[lane];
      if (g.share[lane] >= 0) patches_->share(g.share[lane]).dilatation = g.volume[lane] * theta[lane];
    }
  }
  patches_->gather_pressures();
  return energy + patches_->compute_energy();
}

void CorotationalTets::add_stress(std::span<std::array<double, 2>> nodes) const noexcept {
  const double* x = pad_positions();
  for (const Group& g : groups_) {
    Matrix F;
    compute_gradient(g, x, F);
    Matrix strain = times_transposed(F, compute_rotations(F));
    for (int i = 0; i < 3; ++i) strain.m[i][i] -= fill(1.0);
    const Double4 sum = compute_von_mises(strain, load(g.mu));  // μ times the volume
    for (int lane = 0; lane < kLanes; ++lane) {
      if (g.volume[lane] == 0.0) continue;
      for (const auto& node : g.node) {
        nodes[node[lane]][0] += sum[lane];
        nodes[node[lane]][1] += g.volume[lane];
      }
    }
  }
}

}  // namespace palpate
