#include "palpate/bodies/fem_body.h"

#include <algorithm>
#include <cmath>

#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "stiffness_completion.h"

namespace palpate {

namespace {

/// Entries that a constraint row may have on average before filtering it allocates: two hexes' worth of a triangle.
constexpr int kEntriesPerRow = 48;

void validate(const FemSettings& s) {
  const auto require = [](const char* field, int value, int lowest, int highest) {
    if (value >= lowest && value <= highest) return;
    fail_input("fem.{} is {}, must be {} to {}", field, value, lowest, highest);
  };
  require("max_time_steps", s.max_time_steps, 1, 8);
  require("max_rows", s.max_rows, 0, 10000);
  require("order_trials", s.order_trials, 1, 100);
}

double* scalars(std::vector<Vec3>& v) noexcept {
  return v.data()->data();
}

Eigen::Map<Eigen::VectorXd> as_vector(std::span<Vec3> v) noexcept {
  return {v.data()->data(), static_cast<Eigen::Index>(3 * v.size())};
}

}  // namespace

FemBody::FemBody(Model&& model, const FemSettings& settings)
    : rest_positions_(std::move(model.rest_positions)),
      positions_(rest_positions_),
      velocities_(rest_positions_.size(), Vec3::Zero()),
      external_forces_(velocities_),
      masses_(std::move(model.masses)),
      damping_masses_(std::move(model.damping_masses)),
      prescribed_(rest_positions_.size(), 0),
      prescribed_velocities_(velocities_),
      uniform_damping_(model.uniform_damping),
      stiffness_damping_(model.stiffness_damping),
      stiffness_(std::make_shared<BlockPattern>(static_cast<int>(rest_positions_.size()), model.groups)),
      system_(stiffness_.shared_pattern()),
      system_masses_(masses_.size()),
      forces_(velocities_),
      stiffness_velocity_(velocities_),
      completion_(std::make_unique<StiffnessCompletion>(velocities_.size())),
      prescribed_changes_(velocities_),
      triangles_(std::move(model.surface.triangles)),
      vertex_begin_(std::move(model.vertex_begin)),
      vertex_node_(std::move(model.vertex_node)),
      vertex_weight_(std::move(model.vertex_weight)),
      surface_positions_(std::move(model.surface.vertices)),
      surface_velocities_(surface_positions_.size(), Vec3::Zero()),
      node_stress_(positions_.size()) {
  validate(settings);
  if (!uniform_damping_) {
    damping_ = std::make_unique<BlockMatrix>(stiffness_.shared_pattern());
    damping_completion_ = std::make_unique<StiffnessCompletion>(velocities_.size());
    damping_velocity_ = velocities_;
  }
  CholeskySettings cholesky;
  cholesky.max_rows = settings.max_rows;
  cholesky.order_trials = settings.order_trials;
  factors_.reserve(settings.max_time_steps);
  factors_.emplace_back(stiffness_.shared_pattern(), cholesky);
  while (static_cast<int>(factors_.size()) < settings.max_time_steps) factors_.push_back(factors_.front());
  time_steps_.reserve(settings.max_time_steps);
  lifts_.assign(settings.max_time_steps, velocities_);
  fixed_scale_.assign(settings.max_time_steps, 1.0);
  free_rows_.reserve(settings.max_rows, settings.max_rows * kEntriesPerRow);
  for (std::size_t v = 0; v + 1 < vertex_begin_.size(); ++v) {
    max_vertex_nodes_ = std::max(max_vertex_nodes_, vertex_begin_[v + 1] - vertex_begin_[v]);
  }
  update_surface_positions();
}

FemBody::~FemBody() = default;

void FemBody::save_state(std::span<double> out) const noexcept {
  const std::size_t half = 3 * positions_.size();
  std::copy_n(position_data(), half, out.data());
  std::copy_n(velocity_data(), half, out.data() + half);
}

void FemBody::restore_state(std::span<const double> state) noexcept {
  const std::size_t half = 3 * positions_.size();
  std::copy_n(state.data(), half, scalars(positions_));
  std::copy_n(state.data() + half, half, scalars(velocities_));
  update_surface_positions();
  update_surface_velocities();
}

void FemBody::set_positions(std::span<const Vec3> positions) noexcept {
  std::copy(positions.begin(), positions.end(), positions_.begin());
  update_surface_positions();
}

void FemBody::set_velocities(std::span<const Vec3> velocities) noexcept {
  std::copy(velocities.begin(), velocities.end(), velocities_.begin());
  update_surface_velocities();
}

void FemBody::prescribe(int block, const Vec3& velocity) noexcept {
  prescribed_count_ += prescribed_[block] ? 0 : 1;
  prescribed_[block] = 1;
  prescribed_velocities_[block] = velocity;
}

void FemBody::release(int block) noexcept {
  prescribed_count_ -= prescribed_[block] ? 1 : 0;
  prescribed_[block] = 0;
}

void FemBody::set_blocks_zero(const Assembly& out) const noexcept {
  std::fill_n(out.blocks, 9 * pattern().stored(), 0.0);
  if (out.damping_blocks) std::fill_n(out.damping_blocks, 9 * pattern().stored(), 0.0);
}

/// Returns whether it has left A(h) in system_, for the h that system_masses_ are of.
bool FemBody::assemble_forces(double h) noexcept {
  const auto zero = [](std::vector<Vec3>& v) { std::fill(v.begin(), v.end(), Vec3::Zero()); };
  zero(forces_);
  completion_->begin(velocities_);
  if (damping_) damping_completion_->begin(velocities_);
  const bool complete = assemble(
      {scalars(forces_), stiffness_.block(0).data(), damping_ ? damping_->block(0).data() : nullptr, completion_.get(),
       damping_completion_.get(), system_.block(0).data(), h + stiffness_damping_, system_masses_.data()});
  if (!complete) completion_->complete(velocities_, stiffness_);
  if (!complete && damping_) damping_completion_->complete(velocities_, *damping_);
  completion_->copy_product(stiffness_velocity_);
  if (damping_) damping_completion_->copy_product(damping_velocity_);
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const Vec3 damping = uniform_damping_ ? Vec3(stiffness_damping_ * stiffness_velocity_[i]) : damping_velocity_[i];
    forces_[i] += masses_[i] * gravity_ + external_forces_[i] - damping_masses_[i] * velocities_[i] - damping;
    prescribed_changes_[i] = prescribed_[i] ? Vec3(prescribed_velocities_[i] - velocities_[i]) : Vec3::Zero();
  }
  return complete && uniform_damping_;
}

void FemBody::assemble_system(double h) noexcept {
  const double factor = uniform_damping_ ? h + stiffness_damping_ : h;
  const double* K = stiffness_.block(0).data();
  const double* D = damping_ ? damping_->block(0).data() : nullptr;
  double* A = system_.block(0).data();
  const int count = 9 * pattern().stored();
  if (D) {
    for (int i = 0; i < count; ++i) A[i] = factor * K[i] + D[i];
  } else {
    for (int i = 0; i < count; ++i) A[i] = factor * K[i];
  }
  for (int i = 0; i < node_count(); ++i) system_.diagonal(i).diagonal().array() += system_masses_[i];
}

bool FemBody::linearise(std::span<const double> time_steps) noexcept {
  if (time_steps.size() > factors_.size()) return false;
  time_steps_.assign(time_steps.begin(), time_steps.end());
  const std::int64_t start = monotonic_ns();
  const auto set_masses = [&](double h) {
    for (std::size_t i = 0; i < masses_.size(); ++i) system_masses_[i] = masses_[i] / h + damping_masses_[i];
  };
  const double first = time_steps.empty() ? 1.0 : time_steps.front();
  set_masses(first);
  const bool has_system = assemble_forces(first);
  times_ = {monotonic_ns() - start, 0};
  const bool moves = std::any_of(prescribed_changes_.begin(), prescribed_changes_.end(),
                                 [](const Vec3& dv) { return dv != Vec3::Zero(); });
  bool good = true;
  for (std::size_t which = 0; which < time_steps.size(); ++which) {
    const std::int64_t assembling = monotonic_ns();
    if (which > 0) set_masses(time_steps[which]);
    if (which > 0 || !has_system) assemble_system(time_steps[which]);
    if (prescribed_count_ > 0) {
      std::fill(lifts_[which].begin(), lifts_[which].end(), Vec3::Zero());
      if (moves) system_.multiply(as_vector(prescribed_changes_), as_vector(lifts_[which]));
      fixed_scale_[which] = system_.diagonal(0)(0, 0);
      system_.fix(prescribed_, fixed_scale_[which]);
    }
    const std::int64_t factoring = monotonic_ns();
    good = factors_[which].factor(system_) && good;
    times_.assemble_ns += factoring - assembling;
    times_.factor_ns += monotonic_ns() - factoring;
  }
  return good;
}

void FemBody::compute_free_motion(int which, std::span<Vec3> dv) noexcept {
  const double h = time_steps_[which];
  for (std::size_t i = 0; i < dv.size(); ++i) dv[i] = forces_[i] - h * stiffness_velocity_[i];
  if (prescribed_count_ > 0) {
    for (std::size_t i = 0; i < dv.size(); ++i) {
      dv[i] = prescribed_[i] ? Vec3(fixed_scale_[which] * prescribed_changes_[i]) : Vec3(dv[i] - lifts_[which][i]);
    }
  }
  Eigen::Map<Eigen::MatrixXd> x(dv.data()->data(), static_cast<Eigen::Index>(3 * dv.size()), 1);
  factors_[which].solve(x);
  for (std::size_t i = 0; i < dv.size(); ++i) {
    if (prescribed_[i]) dv[i] = prescribed_changes_[i];
  }
}

const BlockRows& FemBody::without_prescribed(const BlockRows& J) noexcept {
  if (prescribed_count_ == 0) return J;
  free_rows_.clear();
  for (int r = 0; r < J.rows(); ++r) {
    free_rows_.begin_row();
    for (const BlockRows::Entry& entry : J.row(r)) {
      if (!prescribed_[entry.block]) free_rows_.add(entry.block, entry.value);
    }
  }
  return free_rows_;
}

bool FemBody::add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  if (J.rows() > factors_[which].settings().max_rows) return false;
  return factors_[which].add_compliance(without_prescribed(J), time_steps_[which], W);
}

void FemBody::compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                                 std::span<Vec3> dv) noexcept {
  const Eigen::Map<const Eigen::VectorXd> multipliers(lambda.data(), static_cast<Eigen::Index>(lambda.size()));
  factors_[which].solve_rows(without_prescribed(J), multipliers, as_vector(dv));
}

void FemBody::advance(double h, std::span<const Vec3> dv) noexcept {
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    velocities_[i] = prescribed_[i] ? prescribed_velocities_[i] : Vec3(velocities_[i] + dv[i]);
    positions_[i] += h * velocities_[i];
  }
  update_surface_positions();
  update_surface_velocities();
}

BodyEnergy FemBody::compute_energy() const noexcept {
  BodyEnergy energy;
  energy.elastic = compute_elastic_energy();
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    energy.kinetic += 0.5 * masses_[i] * velocities_[i].squaredNorm();
    energy.gravitational -= masses_[i] * gravity_.dot(positions_[i]);
  }
  return energy;
}

BodyMomentum FemBody::compute_momentum() const noexcept {
  BodyMomentum momentum;
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    momentum.linear += masses_[i] * velocities_[i];
    momentum.angular += masses_[i] * positions_[i].cross(velocities_[i]);
  }
  return momentum;
}

bool FemBody::compute_surface_stress(std::span<float> out) const noexcept {
  std::fill(node_stress_.begin(), node_stress_.end(), std::array<double, 2>{});
  add_stress(node_stress_);
  for (std::size_t v = 0; v < out.size(); ++v) {
    double stress = 0.0;
    for (int k = vertex_begin_[v]; k < vertex_begin_[v + 1]; ++k) {
      const auto& [sum, volume] = node_stress_[vertex_node_[k]];
      stress += vertex_weight_[k] * sum / volume;
    }
    out[v] = static_cast<float>(stress);
  }
  return true;
}

void FemBody::update_surface_positions() noexcept {
  for (std::size_t v = 0; v < surface_positions_.size(); ++v) {
    Vec3 p = Vec3::Zero();
    for (int k = vertex_begin_[v]; k < vertex_begin_[v + 1]; ++k) p += vertex_weight_[k] * positions_[vertex_node_[k]];
    surface_positions_[v] = p;
  }
}

void FemBody::update_surface_velocities() noexcept {
  for (std::size_t v = 0; v < surface_velocities_.size(); ++v) {
    Vec3 p = Vec3::Zero();
    for (int k = vertex_begin_[v]; k < vertex_begin_[v + 1]; ++k) p += vertex_weight_[k] * velocities_[vertex_node_[k]];
    surface_velocities_[v] = p;
  }
}

void FemBody::predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept {
  for (std::size_t v = 0; v < surface_positions_.size(); ++v) {
    Vec3 p = Vec3::Zero();
    for (int k = vertex_begin_[v]; k < vertex_begin_[v + 1]; ++k) {
      const int n = vertex_node_[k];
      p += vertex_weight_[k] * (positions_[n] + h * (velocities_[n] + dv[n]));
    }
    positions[v] = p;
  }
}

BodyPoint FemBody::find_point(const Vec3& p) const {
  return find_surface_point(surface(), p);
}

Vec3 FemBody::compute_point(const BodyPoint& point) const noexcept {
  Vec3 p = Vec3::Zero();
  for (int corner = 0; corner < 3; ++corner)
    p += point.weights[corner] * surface_positions_[triangles_[point.element][corner]];
  return p;
}

int FemBody::compute_point_row(const BodyPoint& point, const Vec3& direction,
                               std::span<BlockRows::Entry> out) const noexcept {
  int count = 0;
  for (int corner = 0; corner < 3; ++corner) {
    const int v = triangles_[point.element][corner];
    for (int k = vertex_begin_[v]; k < vertex_begin_[v + 1]; ++k) {
      const double weight = point.weights[corner] * vertex_weight_[k];
      if (weight == 0.0) continue;
      const int node = vertex_node_[k];
      int at = 0;
      while (at < count && out[at].block < node) ++at;
      if (at == count || out[at].block != node) {
        for (int i = count; i > at; --i) out[i] = out[i - 1];
        out[at] = {node, Vec3::Zero()};
        ++count;
      }
      out[at].value += weight * direction;
    }
  }
  return count;
}

}  // namespace palpate
