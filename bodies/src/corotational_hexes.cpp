#include "palpate/bodies/corotational_hexes.h"
#include "palpate/bodies/elastic_forces.h"

#include <algorithm>

#include "lanes.h"
#include "node_turns.h"
#include "palpate/core/error.h"
#include "polar_lanes.h"
#include "stress.h"
#include "tet_model.h"

namespace palpate {

using namespace lanes;

/// Four hexes in their turned frames.
struct CorotationalHexes::Turned {
  Matrix R;
  Vector u[8];  ///< displacement relative to corner 0
};

namespace {

Vector times_transpose(const Matrix& A, const Vector& b) noexcept {
  Vector r;
  for (int i = 0; i < 3; ++i) r.v[i] = madd(A.m[2][i], b.v[2], madd(A.m[1][i], b.v[1], A.m[0][i] * b.v[0]));
  return r;
}

/// Row block a of K₀ u.
Vector rest_force(const double* K, int a, const Vector* u) noexcept {
  Vector f{};
  for (int b = 1; b < 8; ++b) {
    for (int i = 0; i < 3; ++i) {
      const double* row = K + 24 * (3 * a + i) + 3 * b;
      for (int j = 0; j < 3; ++j) f.v[i] = madd(fill(row[j]), u[b].v[j], f.v[i]);
    }
  }
  return f;
}

/// R K₀_ab Rᵀ.
Matrix turn_block(const double* K, int a, int b, const Matrix& R) noexcept {
  Matrix right, block;
  for (int i = 0; i < 3; ++i) {
    const double* row = K + 24 * (3 * a + i) + 3 * b;
    for (int j = 0; j < 3; ++j) {
      right.m[i][j] = madd(fill(row[2]), R.m[j][2], madd(fill(row[1]), R.m[j][1], fill(row[0]) * R.m[j][0]));
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      block.m[i][j] = madd(R.m[i][2], right.m[2][j], madd(R.m[i][1], right.m[1][j], R.m[i][0] * right.m[0][j]));
    }
  }
  return block;
}

void scale(Matrix& A, Double4 s) noexcept {
  for (auto& row : A.m) {
    for (Double4& x : row) x *= s;
  }
}

}  // namespace

CorotationalHexes::Model CorotationalHexes::make_model(const HexGrid& grid, std::span<const Material> materials,
                                                       const TriangleMesh& surface) {
  if (grid.hexes.empty()) fail_input("hex grid: no filled cell");
  const int largest = grid.regions.empty() ? 0 : *std::max_element(grid.regions.begin(), grid.regions.end());
  validate(materials, largest);
  Model model;
  model.rest_positions = grid.vertices;
  model.masses.assign(grid.vertices.size(), 0.0);
  model.damping_masses = model.masses;
  for (std::size_t h = 0; h < grid.hexes.size(); ++h) {
    const Material& material = materials[grid.regions.empty() ? 0 : grid.regions[h]];
    const double eighth = 0.125 * grid.fill[h] * grid.cell.prod() * material.density;
    std::array<int, 8> nodes;
    std::copy(grid.hexes[h].begin(), grid.hexes[h].end(), nodes.begin());
    model.groups.add(nodes);
    for (const int node : nodes) {
      model.masses[node] += eighth;
      model.damping_masses[node] += material.mass_damping * eighth;
    }
  }
  model.uniform_damping = has_uniform_damping(materials);
  model.stiffness_damping = materials.front().stiffness_damping;
  if (surface.triangles.empty()) {
    attach_to_nodes(extract_surface(grid), model.surface, model.vertex_begin, model.vertex_node, model.vertex_weight);
    return model;
  }
  model.surface = surface;
  model.vertex_begin.push_back(0);
  const TrilinearEmbedding embedding = embed_points(grid, surface.vertices);
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) {
    for (int c = 0; c < 8; ++c) {
      model.vertex_node.push_back(grid.hexes[embedding.hex[v]][c]);
      model.vertex_weight.push_back(embedding.weights[v][c]);
    }
    model.vertex_begin.push_back(static_cast<int>(model.vertex_node.size()));
  }
  return model;
}

CorotationalHexes::CorotationalHexes(const HexGrid& grid, std::span<const Material> materials,
                                     const TriangleMesh& surface, const CorotationalHexSettings& settings)
    : FemBody(make_model(grid, materials, surface), settings.fem), cell_(grid.cell) {
  for (std::size_t region = 0; region < materials.size(); ++region) {
    rest_stiffness_.push_back(make_hex_stiffness(cell_, materials[region], settings.enhanced));
    shear_moduli_.push_back(materials[region].lame_mu());
    std::vector<std::size_t> members;
    for (std::size_t h = 0; h < grid.hexes.size(); ++h) {
      if ((grid.regions.empty() ? 0 : grid.regions[h]) == static_cast<int>(region)) members.push_back(h);
    }
    for (std::size_t first = 0; first < members.size(); first += kLanes) {
      Group group;
      group.region = static_cast<std::int32_t>(region);
      group.beta = materials[region].stiffness_damping;
      for (int lane = 0; lane < kLanes; ++lane) {
        const bool used = first + lane < members.size();
        const std::size_t h = members[used ? first + lane : first];
        group.weight[lane] = used ? grid.fill[h] : 0.0;
        for (int a = 0; a < 8; ++a) group.node[a][lane] = grid.hexes[h][a];
        int pair = 0;
        for (int a = 0; a < 8; ++a) {
          for (int b = a + 1; b < 8; ++b) {
            group.slot[pair++][lane] = pattern().find(group.node[b][lane], group.node[a][lane]);
          }
        }
      }
      groups_.push_back(group);
    }
  }
}

CorotationalHexes::Turned CorotationalHexes::turn(const Group& g, const Vec3& cell, const double* positions) noexcept {
  const Vector x0 = gather(positions, g.node[0]);
  Vector x[8];
  x[0] = Vector{};
  // Differences across the cell, averaged over its four parallel edges, give the gradient at the centre.
  Vector across[3] = {};
  for (int a = 1; a < 8; ++a) {
    x[a] = gather(positions, g.node[a]) - x0;
    for (int axis = 0; axis < 3; ++axis) across[axis] = (a >> axis & 1) ? across[axis] + x[a] : across[axis] - x[a];
  }
  Matrix F;
  for (int i = 0; i < 3; ++i) {
    for (int axis = 0; axis < 3; ++axis) F.m[i][axis] = across[axis].v[i] * (0.25 / cell[axis]);
  }
  Turned t;
  t.R = compute_rotations(F);
  t.u[0] = Vector{};
  for (int a = 1; a < 8; ++a) {
    t.u[a] = times_transpose(t.R, x[a]);
    for (int axis = 0; axis < 3; ++axis) {
      if (a >> axis & 1) t.u[a].v[axis] -= cell[axis];
    }
  }
  return t;
}

CorotationalHexes::Turned CorotationalHexes::turn(const Group& g) const noexcept {
  return turn(g, cell_, position_data());
}

/// w R K₀ u at the corners of four hexes.
template <typename Turned>
static void subtract_forces(const double* K, const Turned& t, Double4 weight, const std::int32_t (*node)[kLanes],
                            double* force) noexcept {
  for (int a = 0; a < 8; ++a) scatter_add(-weight * (t.R * rest_force(K, a, t.u)), force, node[a]);
}

/// Of four hexes [J].
double CorotationalHexes::compute_group_energy(const Group& g, const double* K, const Turned& t) noexcept {
  Double4 twice = fill(0.0);
  for (int a = 1; a < 8; ++a) twice += dot(t.u[a], rest_force(K, a, t.u));
  double energy = 0.0;
  for (int lane = 0; lane < kLanes; ++lane) energy += 0.5 * g.weight[lane] * twice[lane];
  return energy;
}

/// A piece is a group.
class CorotationalHexes::Pieces final : public ElasticForces {
 public:
  explicit Pieces(const CorotationalHexes& body)
      : cell_(body.cell_),
        groups_(body.groups_),
        rest_stiffness_(body.rest_stiffness_),
        positions_(as_size(body.node_count())),
        forces_(positions_),
        turns_(body.node_count(), kLanes * static_cast<int>(groups_.size())) {
    turns_.connect([&](const auto& take) {
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        for (int lane = 0; lane < kLanes; ++lane) {
          if (groups_[g].weight[lane] == 0.0) continue;
          for (const auto& node : groups_[g].node) take(kLanes * static_cast<int>(g) + lane, node[lane]);
        }
      }
    });
  }

  int pieces() const noexcept override { return static_cast<int>(groups_.size()); }
  void begin(std::span<const Vec3> positions) noexcept override {
    std::copy(positions.begin(), positions.end(), positions_.begin());
    std::fill(forces_.begin(), forces_.end(), Vec3::Zero());
    energy_ = 0.0;
  }
  void add(int first, int end) noexcept override {
    for (int i = first; i < end; ++i) {
      const Group& g = groups_[as_size(i)];
      const double* K = rest_stiffness_[as_size(g.region)].data();
      const Turned t = turn(g, cell_, positions_.data()->data());
      subtract_forces(K, t, load(g.weight), g.node, forces_.data()->data());
      energy_ += compute_group_energy(g, K, t);
      for (int lane = 0; lane < kLanes; ++lane)
        turns_.set(kLanes * i + lane, [&](int row, int column) { return t.R.m[row][column][lane]; });
    }
  }
  double finish(std::span<Vec3> out) noexcept override {
    std::copy(forces_.begin(), forces_.end(), out.begin());
    return energy_;
  }
  void compute_turns(int first, int end, std::span<Mat3> turns) const noexcept override {
    turns_.compute(first, end, turns);
  }

 private:
  const Vec3 cell_;
  const std::vector<Group> groups_;
  const std::vector<RestStiffness> rest_stiffness_;
  std::vector<Vec3> positions_, forces_;
  double energy_ = 0.0;  ///< of the pieces so far [J]
  NodeTurns turns_;
};

std::unique_ptr<ElasticForces> CorotationalHexes::make_elastic_forces() const {
  return std::make_unique<Pieces>(*this);
}

template <bool kSystem>
void CorotationalHexes::add_groups(const Assembly& out) const noexcept {
  for (const Group& g : groups_) {
    const double* K = rest_stiffness_[g.region].data();
    const Turned t = turn(g);
    const Double4 weight = load(g.weight);
    subtract_forces(K, t, weight, g.node, out.force);
    if constexpr (kSystem) {
      int pair = 0;
      for (int a = 0; a < 8; ++a) {
        for (int b = a + 1; b < 8; ++b, ++pair) {
          Matrix block = turn_block(K, a, b, t.R);
          scale(block, weight);
          scatter_add(block, out.blocks, g.slot[pair]);
          if (!out.damping_blocks) continue;
          scale(block, fill(g.beta));
          scatter_add(block, out.damping_blocks, g.slot[pair]);
        }
      }
    }
  }
}

bool CorotationalHexes::assemble(const Assembly& out) noexcept {
  set_blocks_zero(out);
  add_groups<true>(out);
  return false;
}

void CorotationalHexes::compute_elastic_forces(std::span<Vec3> forces) const noexcept {
  std::fill(forces.begin(), forces.end(), Vec3::Zero());
  Assembly out{};
  out.force = forces.data()->data();
  add_groups<false>(out);
}

double CorotationalHexes::compute_elastic_energy() const noexcept {
  double energy = 0.0;
  for (const Group& g : groups_) energy += compute_group_energy(g, rest_stiffness_[g.region].data(), turn(g));
  return energy;
}

/// At the centre of each cell, where the incompatible modes have no gradient.
void CorotationalHexes::add_stress(std::span<std::array<double, 2>> nodes) const noexcept {
  for (const Group& g : groups_) {
    const Turned t = turn(g);
    Matrix gradient{};
    for (int a = 0; a < 8; ++a) {
      for (int i = 0; i < 3; ++i) {
        for (int axis = 0; axis < 3; ++axis)
          gradient.m[i][axis] += t.u[a].v[i] * ((a >> axis & 1 ? 0.25 : -0.25) / cell_[axis]);
      }
    }
    const Double4 stress = compute_von_mises(gradient, fill(shear_moduli_[g.region]));
    for (int lane = 0; lane < kLanes; ++lane) {
      if (g.weight[lane] == 0.0) continue;
      const double volume = g.weight[lane] * cell_.prod();
      for (const auto& node : g.node) {
        nodes[node[lane]][0] += volume * stress[lane];
        nodes[node[lane]][1] += volume;
      }
    }
  }
}

}  // namespace palpate
