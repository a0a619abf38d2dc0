#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/elastic_forces.h"

#include <algorithm>

#include "lanes.h"
#include "node_turns.h"
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

void CorotationalTets::pad(std::span<const Vec3> x, double* out) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) store(out + 4 * i, Double4{x[i][0], x[i][1], x[i][2], 0.0});
}

template <bool kSystem>
void CorotationalTets::add_group(const Group& g, const Matrix& F, const Matrix& R, const Target& out, double* turned,
                                 int number) noexcept {
  Vector c[4];
  for (int a = 1; a < 4; ++a) {
    const auto& b = g.gradient[a - 1];
    c[a] = R * Vector{{load(b[0]), load(b[1]), load(b[2])}};
  }
  c[0] = fill(-1.0) * (c[1] + c[2] + c[3]);
  // In the world frame the strain RεRᵀ is FRᵀ − I.
  const Matrix stretch = times_transposed(F, R);
  const Double4 mu = load(g.mu), lambda = load(g.lambda), theta = trace(stretch) - 3.0;
  subtract_stress_forces(g, symmetric_part(stretch, mu, lambda * theta - 2.0 * mu), c, out.forces);
  if (out.energy) {
    Double4 squares = fill(0.0);
    for (int i = 0; i < 3; ++i) {
      const Double4 along = stretch.m[i][i] - 1.0;
      squares = madd(along, along, squares);
      for (int j = 0; j < 3; ++j) {
        if (j != i) squares = madd(stretch.m[i][j], stretch.m[i][j], squares);
      }
    }
    store(out.energy, load(out.energy) + mu * squares + 0.5 * lambda * theta * theta);
  }
  if (out.turns) {
    for (int lane = 0; lane < kLanes; ++lane)
      out.turns->set(kLanes * number + lane, [&](int i, int j) { return R.m[i][j][lane]; });
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    if (g.share[lane] < 0) continue;
    VolumePatches::Share& share = out.patches->share(g.share[lane]);
    share.dilatation = g.volume[lane] * theta[lane];
    for (int a = 0; a < 3; ++a) {
      for (int axis = 0; axis < 3; ++axis) share.gradient[a][axis] = g.volume[lane] * c[a + 1].v[axis][lane];
    }
  }
  if constexpr (kSystem) store_turned(c, load(g.root_volume), turned, out.turned_stride);
}

template <bool kSystem>
void CorotationalTets::add_groups(std::span<const Group> groups, Target out) noexcept {
  double* turned = out.turned;
  std::size_t g = 0;
  for (; g + 1 < groups.size(); g += 2, turned += kSystem ? 24 : 0) {
    Matrix F[2], R[2];
    for (int i = 0; i < 2; ++i) compute_gradient(groups[g + i], out.positions, F[i]);
    compute_rotations(F, R);
    for (int i = 0; i < 2; ++i)
      add_group<kSystem>(groups[g + i], F[i], R[i], out, kSystem ? turned + 12 * i : nullptr,
                         out.first_group + static_cast<int>(g) + i);
  }
  if (g < groups.size()) {
    Matrix F;
    compute_gradient(groups[g], out.positions, F);
    add_group<kSystem>(groups[g], F, compute_rotations(F), out, turned, out.first_group + static_cast<int>(g));
  }
}

/// The scratch has the positions, then room for forces.
template <bool kSystem>
void CorotationalTets::add_all_groups(double* out) const noexcept {
  const std::size_t nodes = positions().size();
  double* force = padded_.data() + 4 * nodes;
  pad(positions(), padded_.data());
  std::fill_n(force, 4 * nodes, 0.0);
  add_groups<kSystem>(groups_, {padded_.data(), force, patches_.get(), turned_.data(), turned_stride_});
  for (std::size_t i = 0; i < nodes; ++i) {
    for (int axis = 0; axis < 3; ++axis) out[3 * i + axis] += force[4 * i + axis];
  }
}

/// A piece is a group.
class CorotationalTets::Pieces final : public ElasticForces {
 public:
  explicit Pieces(const CorotationalTets& body)
      : groups_(body.groups_),
        patches_(*body.patches_),
        padded_(8 * as_size(body.node_count()), 0.0),
        turns_(body.node_count(), kLanes * static_cast<int>(groups_.size())) {
    turns_.connect([&](const auto& take) {
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        for (int lane = 0; lane < kLanes; ++lane) {
          if (groups_[g].volume[lane] == 0.0) continue;
          for (const auto& node : groups_[g].node) take(kLanes * static_cast<int>(g) + lane, node[lane]);
        }
      }
    });
  }

  int pieces() const noexcept override { return static_cast<int>(groups_.size()); }
  void begin(std::span<const Vec3> positions) noexcept override {
    pad(positions, padded_.data());
    std::fill_n(forces(), padded_.size() / 2, 0.0);
    std::fill_n(energy_, kLanes, 0.0);
  }
  void add(int first, int end) noexcept override {
    add_groups<false>(std::span(groups_).subspan(as_size(first), as_size(end - first)),
                      {padded_.data(), forces(), &patches_, nullptr, 0, energy_, &turns_, first});
  }
  double finish(std::span<Vec3> out) noexcept override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = Eigen::Map<const Vec3>(forces() + 4 * i);
    add_patch_forces(patches_, out.data()->data());
    return energy_[0] + energy_[1] + energy_[2] + energy_[3] + patches_.compute_energy();
  }
  void compute_turns(int first, int end, std::span<Mat3> turns) const noexcept override {
    turns_.compute(first, end, turns);
  }

 private:
  double* forces() noexcept { return padded_.data() + padded_.size() / 2; }

  const std::vector<Group> groups_;
  VolumePatches patches_;
  std::vector<double, Eigen::aligned_allocator<double>> padded_;  ///< positions, then forces
  double energy_[kLanes] = {};                                    ///< of the pieces so far, by lane [J]
  NodeTurns turns_;
};

std::unique_ptr<ElasticForces> CorotationalTets::make_elastic_forces() const {
  return std::make_unique<Pieces>(*this);
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
  add_all_groups<true>(out.force);
  out.damping_blocks ? set_blocks<true>(out) : set_blocks<false>(out);
  add_patch_forces(*patches_, out.force);
  if (patches_->size() == 0) return true;
  patches_->add_stiffness(out.blocks, out.damping_blocks);
  return false;
}

void CorotationalTets::add_patch_forces(VolumePatches& patches, double* force) noexcept {
  patches.gather_pressures();
  patches.gather_gradients();
  patches.add_forces(force);
}

void CorotationalTets::compute_elastic_forces(std::span<Vec3> forces) const noexcept {
  std::fill(forces.begin(), forces.end(), Vec3::Zero());
  add_all_groups<false>(forces.data()->data());
  add_patch_forces(*patches_, forces.data()->data());
}

double CorotationalTets::compute_elastic_energy() const noexcept {
  double energy = 0.0;
  pad(positions(), padded_.data());
  const double* x = padded_.data();
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
  pad(positions(), padded_.data());
  const double* x = padded_.data();
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
