#include <cmath>
#include <numbers>

#include "palpate/bodies/beam_chain.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

/// Corners of the tube that is drawn and touched.
constexpr int kAround = 8;

TriangleMesh make_tube(std::size_t nodes, double radius, std::vector<std::int32_t>& frame) {
  TriangleMesh mesh;
  const auto index = [](std::size_t node, int corner) {
    return static_cast<std::int32_t>(node * kAround + as_size(corner % kAround));
  };
  for (std::size_t n = 0; n < nodes; ++n) {
    for (int c = 0; c < kAround; ++c) {
      const double angle = 2.0 * std::numbers::pi * c / kAround;
      mesh.vertices.emplace_back(0.0, radius * std::cos(angle), radius * std::sin(angle));
      frame.push_back(static_cast<std::int32_t>(n));
    }
  }
  for (std::size_t n = 0; n + 1 < nodes; ++n) {
    for (int c = 0; c < kAround; ++c) {
      mesh.triangles.push_back({index(n, c), index(n + 1, c + 1), index(n + 1, c)});
      mesh.triangles.push_back({index(n, c), index(n, c + 1), index(n + 1, c + 1)});
    }
  }
  for (int c = 1; c + 1 < kAround; ++c) {
    mesh.triangles.push_back({index(0, 0), index(0, c + 1), index(0, c)});
    mesh.triangles.push_back({index(nodes - 1, 0), index(nodes - 1, c), index(nodes - 1, c + 1)});
  }
  return mesh;
}

void check_section(const BeamSection& s) {
  const auto positive = [](const char* name, double value) {
    if (!(value > 0.0 && std::isfinite(value))) fail_input("section.{} = {}; allowed: above 0", name, value);
  };
  positive("radius", s.radius);
  positive("area", s.area);
  positive("inertia_y", s.inertia_y);
  positive("inertia_z", s.inertia_z);
  positive("torsion", s.torsion);
  positive("shear_factor", s.shear_factor);
}

}  // namespace

BeamSection make_round_section(double radius, double poisson_ratio) {
  BeamSection s;
  s.radius = radius;
  s.area = std::numbers::pi * radius * radius;
  s.inertia_y = s.inertia_z = 0.25 * s.area * radius * radius;
  s.torsion = 2.0 * s.inertia_y;
  s.shear_factor = 6.0 * (1.0 + poisson_ratio) / (7.0 + 6.0 * poisson_ratio);
  return s;
}

BeamSection make_rectangular_section(double width, double height, double poisson_ratio) {
  BeamSection s;
  s.radius = 0.5 * std::min(width, height);
  s.area = width * height;
  s.inertia_y = width * height * height * height / 12.0;
  s.inertia_z = height * width * width * width / 12.0;
  // Saint-Venant's series for the longer side a and the shorter b, to 4 digits (Roark's Formulas, table 10.1).
  const double a = std::max(width, height), b = std::min(width, height), q = b / a;
  s.torsion = a * b * b * b * (1.0 / 3.0 - 0.21 * q * (1.0 - q * q * q * q / 12.0));
  s.shear_factor = 10.0 * (1.0 + poisson_ratio) / (12.0 + 11.0 * poisson_ratio);
  return s;
}

std::vector<Pose> make_chain_poses(std::span<const Vec3> points) {
  const std::size_t n = points.size();
  if (n < 2) fail_input("a chain has {} points; allowed: two or more", n);
  std::vector<Vec3> chord(n - 1), tangent(n);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const Vec3 d = points[i + 1] - points[i];
    if (!(d.norm() > 0.0) || !d.allFinite())
      fail_input("points {} and {} of a chain coincide or are not finite", i, i + 1);
    chord[i] = d.normalized();
  }
  // On a circle the chord halves the angle between the tangents at its ends; so does the mean of chords at a node.
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const Vec3 sum = chord[i - 1] + chord[i];
    tangent[i] = sum.norm() > 1e-12 ? sum.normalized() : chord[i];
  }
  const auto mirrored = [](const Vec3& t, const Vec3& c) { return Vec3(2.0 * t.dot(c) * c - t); };
  tangent[0] = n > 2 ? mirrored(tangent[1], chord[0]) : chord[0];
  tangent[n - 1] = n > 2 ? mirrored(tangent[n - 2], chord[n - 2]) : chord[0];

  std::vector<Pose> poses(n);
  Quat q = Quat::FromTwoVectors(Vec3::UnitX(), tangent[0]);
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) q = (Quat::FromTwoVectors(tangent[i - 1], tangent[i]) * q).normalized();
    poses[i] = {points[i], q};
  }
  return poses;
}

BeamChain::BeamChain(const BeamChainSettings& s)
    : section_(s.section),
      mass_damping_(s.material.mass_damping),
      stiffness_damping_(s.material.stiffness_damping),
      poses_(s.rest) {
  if (s.rest.size() < 2) fail_input("a chain has {} nodes; allowed: two or more", s.rest.size());
  if (s.max_time_steps < 1) fail_input("max_time_steps = {}; allowed: at least 1", s.max_time_steps);
  check_section(section_);
  validate(s.material, "chain");
  const std::size_t n = poses_.size();
  velocities_.assign(2 * n, Vec3::Zero());
  external_ = forces_ = stiffness_velocity_ = changes_ = prescribed_velocities_ = velocities_;
  answers_.resize(n);
  group_nodes_.reserve(512);  // 2,048 rows; past that add_compliance() allocates
  prescribed_.assign(2 * n, 0);
  masses_.assign(n, 0.0);
  inertias_.assign(n, Vec3::Zero());
  stiffness_diagonal_.assign(n, Mat6::Zero());
  stiffness_lower_.assign(n - 1, Mat6::Zero());
  world_inertia_.assign(n, Mat3::Zero());
  frames_.resize(n);
  predicted_.resize(n);
  systems_.resize(as_size(s.max_time_steps));
  for (System& system : systems_) {
    system.diagonal = system.inverse_pivot = system.node_compliance = stiffness_diagonal_;
    system.lower = system.elimination = stiffness_lower_;
  }
  const double E = s.material.young_modulus, G = s.material.lame_mu(), rho = s.material.density;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    Beam beam;
    beam.length = (poses_[i + 1].position - poses_[i].position).norm();
    if (!(beam.length > 0.0)) fail_input("nodes {} and {} of a chain coincide or are not finite", i, i + 1);
    const double L2 = beam.length * beam.length;
    const auto shear = [&](double inertia) {
      return 1.0 / (1.0 / (section_.shear_factor * G * section_.area) + L2 / (12.0 * E * inertia));
    };
    beam.stiffness << E * section_.area, shear(section_.inertia_z), shear(section_.inertia_y), G * section_.torsion,
        E * section_.inertia_y, E * section_.inertia_z;
    beam.rest_strain.setZero();
    beams_.push_back(beam);
    beams_.back().rest_strain = compute_strain(i).value;
    const double half = 0.5 * rho * beam.length;
    for (const std::size_t node : {i, i + 1}) {
      masses_[node] += half * section_.area;
      inertias_[node] += half * Vec3(section_.inertia_y + section_.inertia_z, section_.inertia_y, section_.inertia_z);
    }
  }
  std::vector<std::int32_t> frame;
  TriangleMesh tube = make_tube(n, section_.radius, frame);
  skin_ = FrameSkin(std::move(tube), std::move(frame));
  update_skin();
}

}  // namespace palpate
