#include "palpate/bodies/fem_body.h"

#include <algorithm>
#include <cmath>

#include "palpate/bodies/polar.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "stiffness_completion.h"

namespace palpate {

namespace {

/// Entries that a constraint row may have on average before filtering it allocates: two hexes' worth of a triangle.
constexpr int kEntriesPerRow = 48;

/// A factorisation of fewer nodes takes no longer than waking a thread and finding the caches cold.
constexpr int kNodesForTwoThreads = 200;

void validate(const FemSettings& s) {
  const auto require = [](const char* field, int value, int lowest, int highest) {
    if (value >= lowest && value <= highest) return;
    fail_input("fem.{} is {}, must be {} to {}", field, value, lowest, highest);
  };
  require("max_time_steps", s.max_time_steps, 1, 8);
  require("max_rows", s.max_rows, 0, 10000);
  require("order_trials", s.order_trials, 1, 100);
  if (!(s.single_precision_error >= 0.0) || s.single_precision_error > 0.1)
    fail_input("fem.single_precision_error is {}, must be 0 to 0.1", s.single_precision_error);
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
      single_precision_error_(settings.single_precision_error),
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
  }
  CholeskySettings cholesky;
  cholesky.max_rows = settings.max_rows;
  cholesky.order_trials = settings.order_trials;
  systems_.assign(as_size(settings.max_time_steps), {.A = BlockMatrix(stiffness_.shared_pattern()),
                                                     .masses = masses_,
                                                     .factor = BlockCholesky(stiffness_.shared_pattern(), cholesky),
                                                     .single = {},
                                                     .lift = velocities_,
                                                     .free_rows = {},
                                                     .answers = {}});
  make_single_factors();
  std::vector<int> row_blocks(positions_.size(), 0);
  for (int j = 0; j < node_count(); ++j) {
    for (int at = pattern().column_begin(j); at < pattern().column_begin(j + 1); ++at) {
      ++row_blocks[j];
      if (pattern().row(at) != j) ++row_blocks[pattern().row(at)];
    }
  }
  most_row_scalars_ = 3 * *std::max_element(row_blocks.begin(), row_blocks.end());
  time_steps_.reserve(settings.max_time_steps);
  prescribed_nodes_.reserve(positions_.size());
  prescribed_blocks_.reserve(as_size(pattern().stored()));
  for (System& system : systems_) {
    system.free_rows.reserve(settings.max_rows, settings.max_rows * kEntriesPerRow);
    if (settings.max_rows >= kFewestRowsToKeep) system.answers.resize(3 * node_count(), kAnswersAtOnce);
  }
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
  prescribed_changed_ = prescribed_changed_ || !prescribed_[block];
  prescribed_[block] = 1;
  prescribed_velocities_[block] = velocity;
}

void FemBody::release(int block) noexcept {
  if (!left_out_.empty() && left_out_[block]) return;
  prescribed_changed_ = prescribed_changed_ || prescribed_[block];
  prescribed_[block] = 0;
}

void FemBody::leave_out_prescribed() {
  left_out_ = prescribed_;
  const BlockCholesky factor(stiffness_.shared_pattern(), systems_[0].factor.settings(), left_out_);
  for (System& system : systems_) system.factor = factor;
  make_single_factors();
  prescribed_changed_ = true;
}

void FemBody::make_single_factors() {
  if (!(single_precision_error_ > 0.0) || systems_.size() < 2) return;
  const BlockCholesky& factor = systems_[0].factor;
  const SingleBlockCholesky single(stiffness_.shared_pattern(), factor.settings(), left_out_, factor.order());
  for (std::size_t which = 1; which < systems_.size(); ++which) systems_[which].single = single;
}

void FemBody::set_handle(const Pose& handle, double radius) {
  held_nodes_.clear();
  Mat3 spread = Mat3::Zero();
  double mass = 0.0;
  for (int i = 0; i < node_count(); ++i) {
    const Vec3 arm = positions_[i] - handle.position;
    if (arm.norm() > radius) continue;
    held_nodes_.push_back({i, masses_[i], handle.rotation.conjugate() * arm});
    mass += masses_[i];
    const Vec3 first = held_nodes_.back().place - held_nodes_.front().place;
    spread += first * first.transpose();
  }
  // The second invariant vanishes where all lie in a line, whose turning about itself nothing would hold.
  const double second = 0.5 * (spread.trace() * spread.trace() - (spread * spread).trace());
  if (held_nodes_.size() < 3 || !(second > 1e-12 * radius * radius * radius * radius))
    fail_input("{} nodes lie within {} m of the handle; needed: three at least that are not in a line",
               held_nodes_.size(), radius);
  for (HeldNode& held : held_nodes_) held.share /= mass;
}

bool FemBody::set_grip(const Grip& grip) noexcept {
  grip_ = grip;
  return !held_nodes_.empty();
}

Vec3 FemBody::compute_held_force(const HeldNode& held) const noexcept {
  const Vec3 arm = grip_.target.rotation * held.place;
  const Vec3 way = grip_.target.position + arm - positions_[held.node];
  const Vec3 speed = grip_.target_velocity.linear + grip_.target_velocity.angular.cross(arm) - velocities_[held.node];
  return held.share * compute_spring_force(grip_.stiffness, way, grip_.damping, speed);
}

Pose FemBody::handle_pose() const noexcept {
  Vec3 middle = Vec3::Zero(), middle_place = Vec3::Zero();
  for (const HeldNode& held : held_nodes_) {
    middle += held.share * positions_[held.node];
    middle_place += held.share * held.place;
  }
  Mat3 F = Mat3::Zero();
  for (const HeldNode& held : held_nodes_)
    F += held.share * (positions_[held.node] - middle) * (held.place - middle_place).transpose();
  const Mat3 R = compute_rotation(F);
  return {middle - R * middle_place, Quat(R)};
}

Wrench FemBody::compute_grip() const noexcept {
  const Vec3 handle = handle_pose().position;
  Wrench sum;
  for (const HeldNode& held : held_nodes_) {
    const Vec3 force = compute_held_force(held);
    sum.force += force;
    sum.torque += (positions_[held.node] - handle).cross(force);
  }
  return sum;
}

void FemBody::set_blocks_zero(const Assembly& out) const noexcept {
  std::fill_n(out.blocks, 9 * pattern().stored(), 0.0);
  if (out.damping_blocks) std::fill_n(out.damping_blocks, 9 * pattern().stored(), 0.0);
}

void FemBody::set_masses(System& system, double h) const noexcept {
  const double rate = 1.0 / h;
  for (std::size_t i = 0; i < masses_.size(); ++i) system.masses[i] = rate * masses_[i] + damping_masses_[i];
  for (const HeldNode& held : held_nodes_)
    system.masses[held.node] += held.share * (grip_.damping + h * grip_.stiffness);
}

/// Returns whether it has left A(h) in the first system, for the h that its masses are of.
bool FemBody::assemble_forces(double h) noexcept {
  const auto zero = [](std::vector<Vec3>& v) { std::fill(v.begin(), v.end(), Vec3::Zero()); };
  zero(forces_);
  completion_->begin(velocities_);
  if (damping_) damping_completion_->begin(velocities_);
  const bool complete = assemble(
      {scalars(forces_), stiffness_.block(0).data(), damping_ ? damping_->block(0).data() : nullptr, completion_.get(),
       damping_completion_.get(), systems_[0].A.block(0).data(), h + stiffness_damping_, systems_[0].masses.data()});
  if (!complete) completion_->complete(velocities_, stiffness_);
  if (!complete && damping_) damping_completion_->complete(velocities_, *damping_);
  // Locals, for the compiler takes it that every store may change what `this` points to.
  const Vec3 gravity = gravity_;
  const double beta = uniform_damping_ ? stiffness_damping_ : 0.0;
  const Vec3 *external = external_forces_.data(), *v = velocities_.data();
  const double *mass = masses_.data(), *damping_mass = damping_masses_.data();
  Vec3 *force = forces_.data(), *Kv = stiffness_velocity_.data();
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    Kv[i] = completion_->product(i);
    force[i] += mass[i] * gravity + external[i] - damping_mass[i] * v[i] - beta * Kv[i];
  }
  if (damping_) {
    for (std::size_t i = 0; i < positions_.size(); ++i) forces_[i] -= damping_completion_->product(i);
  }
  for (const HeldNode& held : held_nodes_) {
    forces_[held.node] += compute_held_force(held);
    stiffness_velocity_[held.node] += held.share * grip_.stiffness * velocities_[held.node];
  }
  return complete && uniform_damping_;
}

void FemBody::list_prescribed() noexcept {
  if (!prescribed_changed_) return;
  prescribed_changed_ = false;
  prescribed_nodes_.clear();
  prescribed_blocks_.clear();
  const auto is_left_out = [&](int i) { return !left_out_.empty() && left_out_[i]; };
  for (int j = 0; j < node_count(); ++j) {
    if (prescribed_[j]) prescribed_nodes_.push_back(j);
    for (int at = pattern().column_begin(j) + 1; at < pattern().column_begin(j + 1); ++at) {
      const int i = pattern().row(at);
      if ((prescribed_[i] || prescribed_[j]) && !is_left_out(i) && !is_left_out(j)) prescribed_blocks_.push_back(at);
    }
  }
  std::fill(prescribed_changes_.begin(), prescribed_changes_.end(), Vec3::Zero());
}

void FemBody::assemble_system(System& system, double h) const noexcept {
  const double factor = uniform_damping_ ? h + stiffness_damping_ : h;
  const double* K = stiffness_.block(0).data();
  const double* D = damping_ ? damping_->block(0).data() : nullptr;
  double* A = system.A.block(0).data();
  const int count = 9 * pattern().stored();
  if (D) {
    for (int i = 0; i < count; ++i) A[i] = factor * K[i] + D[i];
  } else {
    for (int i = 0; i < count; ++i) A[i] = factor * K[i];
  }
  for (int i = 0; i < node_count(); ++i) system.A.diagonal(i).diagonal().array() += system.masses[i];
}

/// Of A with its diagonal scaled to one, at most. A less its masses is positive semidefinite, so that no eigenvalue is
/// below the least masses_i / A_ii; and as |A_ij| ≤ √(A_ii A_jj), none is above the number of scalars in a row.
double FemBody::bound_condition(const System& system) const noexcept {
  double most = 1.0;
  for (int i = 0; i < node_count(); ++i) {
    if (!prescribed_[i]) most = std::max(most, system.A.diagonal(i).diagonal().maxCoeff() / system.masses[i]);
  }
  return most_row_scalars_ * most;
}

bool FemBody::linearise(std::span<const double> time_steps) noexcept {
  if (!begin_linearise(time_steps)) return false;
  bool good = true;
  for (std::size_t which = 0; which < time_steps.size(); ++which) good = factor(static_cast<int>(which)) && good;
  return good;
}

bool FemBody::begin_linearise(std::span<const double> time_steps) noexcept {
  if (time_steps.size() > systems_.size()) return false;
  time_steps_.assign(time_steps.begin(), time_steps.end());
  const std::int64_t start = monotonic_ns();
  const double first = time_steps.empty() ? 1.0 : time_steps.front();
  set_masses(systems_[0], first);
  has_first_system_ = assemble_forces(first);
  list_prescribed();
  prescribed_move_ = false;
  for (const int i : prescribed_nodes_) {
    prescribed_changes_[i] = prescribed_velocities_[i] - velocities_[i];
    prescribed_move_ = prescribed_move_ || prescribed_changes_[i] != Vec3::Zero();
  }
  forces_ns_ = monotonic_ns() - start;
  return true;
}

bool FemBody::factor(int which) noexcept {
  const std::int64_t assembling = monotonic_ns();
  System& system = systems_[which];
  if (which > 0 || !has_first_system_) {
    set_masses(system, time_steps_[which]);
    assemble_system(system, time_steps_[which]);
  }
  if (prescribed_move_) system.A.multiply(as_vector(prescribed_changes_), as_vector(system.lift));
  system.in_single = system.single && 0x1p-24 * bound_condition(system) < single_precision_error_;
  system.fixed_scale = system.A.diagonal(0)(0, 0);
  Mat3* blocks = &system.A.block(0);
  for (const int at : prescribed_blocks_) blocks[at].setZero();
  for (const int i : prescribed_nodes_) system.A.diagonal(i) = system.fixed_scale * Mat3::Identity();
  const std::int64_t factoring = monotonic_ns();
  bool good = system.in_single && system.single->factor(system.A);
  if (!good) {
    system.in_single = false;
    good = system.factor.factor(system.A);
  }
  system.assemble_ns = factoring - assembling;
  system.factor_ns = monotonic_ns() - factoring;
  return good;
}

bool FemBody::factor_instead(int which, double h) noexcept {
  if (as_size(which) >= time_steps_.size()) return false;
  time_steps_[which] = h;
  if (which == 0) has_first_system_ = false;
  return factor(which);
}

FemBody::Times FemBody::times() const noexcept {
  Times times{forces_ns_, 0};
  for (std::size_t which = 0; which < time_steps_.size(); ++which) {
    times.assemble_ns += systems_[which].assemble_ns;
    times.factor_ns += systems_[which].factor_ns;
  }
  return times;
}

bool FemBody::allows_two_threads() const noexcept {
  return systems_.size() > 1 && node_count() >= kNodesForTwoThreads;
}

void FemBody::compute_free_motion(int which, std::span<Vec3> dv) noexcept {
  System& system = systems_[which];
  const double h = time_steps_[which];
  for (std::size_t i = 0; i < dv.size(); ++i) dv[i] = forces_[i] - h * stiffness_velocity_[i];
  if (prescribed_move_) {
    for (std::size_t i = 0; i < dv.size(); ++i) dv[i] -= system.lift[i];
  }
  for (const int i : prescribed_nodes_) dv[i] = system.fixed_scale * prescribed_changes_[i];
  solve(which, Eigen::Map<Eigen::MatrixXd>(dv.data()->data(), static_cast<Eigen::Index>(3 * dv.size()), 1));
  for (const int i : prescribed_nodes_) dv[i] = prescribed_changes_[i];
}

void FemBody::solve(int which, Eigen::Ref<Eigen::MatrixXd> x) noexcept {
  System& system = systems_[which];
  if (system.in_single) {
    system.single->solve(x);
  } else {
    system.factor.solve(x);
  }
}

FemBody::SolveScratch FemBody::make_solve_scratch() const {
  SolveScratch scratch{systems_[0].factor.make_scratch(), {}};
  for (const System& system : systems_) {
    if (system.single) scratch.single = system.single->make_scratch();
  }
  return scratch;
}

void FemBody::solve(int which, Eigen::Ref<Eigen::MatrixXd> x, SolveScratch& scratch) const noexcept {
  const System& system = systems_[which];
  if (system.in_single) {
    system.single->solve(x, scratch.single);
  } else {
    system.factor.solve(x, scratch.whole);
  }
}

void FemBody::solve_rows_of_compliance(int which, std::span<const int> rows, Eigen::Ref<Eigen::MatrixXd> x,
                                       SolveScratch& scratch) const noexcept {
  const System& system = systems_[which];
  if (system.in_single) {
    system.single->solve_rows_of_compliance(rows, x, scratch.single);
  } else {
    system.factor.solve_rows_of_compliance(rows, x, scratch.whole);
  }
}

void FemBody::multiply_damping(const Eigen::Ref<const Eigen::VectorXd>& x,
                               Eigen::Ref<Eigen::VectorXd> y) const noexcept {
  (damping_ ? *damping_ : stiffness_).multiply(x, y);
  if (!damping_) y *= stiffness_damping_;
  for (int i = 0; i < node_count(); ++i) y.segment<3>(3 * i) += damping_masses_[i] * x.segment<3>(3 * i);
}

void FemBody::compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                                 std::span<Vec3> dv) noexcept {
  const Eigen::Map<const Eigen::VectorXd> multipliers(lambda.data(), static_cast<Eigen::Index>(lambda.size()));
  System& system = systems_[which];
  const BlockRows& rows = without_prescribed(J, system);
  if (system.in_single) {
    system.single->solve_rows(rows, multipliers, as_vector(dv));
  } else {
    system.factor.solve_rows(rows, multipliers, as_vector(dv));
  }
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

}  // namespace palpate
