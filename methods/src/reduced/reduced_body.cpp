#include "reduced/reduced_body.h"

#include <algorithm>

#include "palpate/core/simd.h"
#include "reduced/flat.h"

namespace palpate::reduced {
ReducedBody::ReducedBody(const BodySurface& original, std::vector<std::uint8_t> fixed, double dt)
    : triangles_(original.triangles.begin(), original.triangles.end()),
      fixed_(std::move(fixed)),
      dt_(dt),
      q_(Eigen::VectorXd::Zero(kMaxStates)),
      velocities_(as_size(kStateBlocks) + original.positions.size(), Vec3::Zero()),
      left_out_(original.positions.size(), Vec3::Zero()),
      positions_(original.positions.begin(), original.positions.end()),
      surface_velocities_(original.velocities.begin(), original.velocities.end()),
      vertex_force_(original.positions.size(), Vec3::Zero()),
      old_q_(q_),
      old_speed_(q_),
      change_(q_),
      ahead_(q_),
      J_states_(kMaxStates, kMaxRows),
      patch_number_(as_size(kMaxPatchVertices), -1),
      RJ_(3 * kMaxPatchVertices, kMaxRows) {
  forces_.reserve(positions_.size());
  watched_.reserve(positions_.size());
  is_watched_.resize(positions_.size());
  touched_.reserve(as_size(6 * kMaxRows));
  entries_.reserve(as_size(6 * kMaxRows));
  reached_.reserve(as_size(kMaxPatchVertices));
}

void ReducedBody::use(const BodyView<const double>& model) noexcept {
  model_.emplace(model);
}

void ReducedBody::begin(const BodyView<const double>& model) noexcept {
  use(model);
  old_q_ = q_;
  old_speed_ = speed();
  q_ = model.start_place;
  speed() = model.start;
}

void ReducedBody::replay(std::span<const VertexForce> forces) noexcept {
  const int r = used();
  compute_change(change_);
  for (const VertexForce& f : forces) {
    for (int k = 0; k < 3; ++k) change_.head(r) += f.force[k] * model_->Phi.row(3 * f.vertex + k).head(r).transpose();
  }
  speed().head(r) += change_.head(r);
  q_.head(r) += dt_ * speed().head(r);
}

void ReducedBody::keep_states() noexcept {
  change_ = old_q_ - model_->seen_place;
  change_.noalias() -= model_->seen * q_;
  q_.noalias() += model_->seen.transpose() * change_;
  change_ = old_speed_;
  change_.noalias() -= model_->seen * speed();
  speed().noalias() += model_->seen.transpose() * change_;
}

void ReducedBody::end_replay() noexcept {
  const int r = used();
  // Nobody feels a vertex that was not watched: it begins where the model has it.
  for (int v = 0; v < vertex_count(); ++v) {
    Vec3& u = left_out_[as_size(v)];
    u.setZero();
    if (fixed_[as_size(v)] || !(watches_all() || is_watched_[as_size(v)])) continue;
    u = positions_[as_size(v)] - model_->place.segment<3>(3 * v);
    u.noalias() -= model_->Phi.middleRows<3>(3 * v).leftCols(r) * q_.head(r);
  }
  update_surface();
}

void ReducedBody::set_velocities(std::span<const Vec3> velocities) noexcept {
  std::copy_n(velocities.begin(), kStateBlocks, velocities_.begin());
  update_surface();
}

bool ReducedBody::linearise(std::span<const double> time_steps) noexcept {
  for (const std::int32_t v : touched_) vertex_force_[as_size(v)].setZero();
  touched_.clear();
  // Whoever divides a step, or asks for two, does not have the model for it.
  return model_ && time_steps.size() == 1 && time_steps[0] == dt_;
}

/// Δq̇ of a tick without contacts.
void ReducedBody::compute_change(Eigen::Ref<Eigen::VectorXd> change) const noexcept {
  const int r = used();
  const auto v = flat(velocities_).head(r);
  change.tail(kMaxStates - r).setZero();
  change.head(r) = model_->c.head(r);
  ahead_.head(r) = q_.head(r) + dt_ * v;
  change.head(r).noalias() -= model_->K.topLeftCorner(r, r) * ahead_.head(r);
  change.head(r).noalias() -= model_->D.topLeftCorner(r, r) * v;
}

void ReducedBody::compute_free_motion(int, std::span<Vec3> dv) noexcept {
  compute_change(flat(dv).head(kMaxStates));
  for (int v = 0; v < vertex_count(); ++v)
    dv[as_size(kStateBlocks + v)] = -model_->fade[v] / dt_ * left_out_[as_size(v)];
}

bool ReducedBody::add_compliance(int, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  const int rows = J.rows(), r = used(), blocks = (r + 2) / 3;
  if (rows > kMaxRows) return false;
  const int tiles = (rows + kTile - 1) / kTile;
  J_states_.topLeftCorner(std::min(kMaxStates, 3 * blocks + 3), kTile * tiles).setZero();
  entries_.clear();
  for (int i = 0; i < rows; ++i) {
    for (const BlockRows::Entry& e : J.row(i)) {
      if (e.block < kStateBlocks)
        J_states_.col(i).segment<3>(3 * e.block) += e.value;
      else if (const std::int32_t v = e.block - kStateBlocks; !fixed_[as_size(v)])
        entries_.push_back({i, v, static_cast<std::int32_t>(model_->number[v]), e.value});
    }
  }
  for (int i = 0; i < rows; i += kTile) {
    for (int k = 0; k <= i; k += kTile) add_tile(i, k, W);
  }
  add_patch_compliance(W);
  return true;
}

/// W += dt (JΦ)(JΦ)ᵀ for a square of rows i … and columns k …, and its mirror image.
void ReducedBody::add_tile(int i, int k, Eigen::Ref<Eigen::MatrixXd> W) const noexcept {
  std::array<std::array<simd::Double4, kTile>, kTile> sum{};
  for (int j = 0; j < used(); j += 4) {
    std::array<simd::Double4, kTile> a, b;
    for (int n = 0; n < kTile; ++n) {
      a[as_size(n)] = simd::load(&J_states_(j, i + n));
      b[as_size(n)] = simd::load(&J_states_(j, k + n));
    }
    for (std::size_t n = 0; n < kTile; ++n) {
      for (std::size_t m = 0; m < kTile; ++m) sum[n][m] = simd::madd(a[n], b[m], sum[n][m]);
    }
  }
  const auto rows = static_cast<int>(W.rows());
  for (int n = 0; n < std::min(kTile, rows - i); ++n) {
    for (int m = 0; m < std::min(kTile, rows - k); ++m) {
      if (k + m > i + n) continue;
      const simd::Double4 parts = sum[as_size(n)][as_size(m)];
      const double both = dt_ * ((parts[0] + parts[1]) + (parts[2] + parts[3]));
      W(i + n, k + m) += both;
      if (k + m < i + n) W(k + m, i + n) += both;
    }
  }
}

/// W += J R Jᵀ at the vertices, of which only those touched count.
void ReducedBody::add_patch_compliance(Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  reached_.clear();
  for (VertexEntry& e : entries_) {
    if (e.patch < 0) {
      for (const VertexEntry& other : entries_) {
        if (other.vertex == e.vertex) W(e.row, other.row) += model_->single[e.vertex] * e.value.dot(other.value);
      }
      continue;
    }
    std::int32_t& number = patch_number_[as_size(e.patch)];
    if (number < 0) {
      number = static_cast<std::int32_t>(reached_.size());
      reached_.push_back(e.patch);
    }
  }
  const auto rows = W.rows();
  const auto count = 3 * std::ssize(reached_);
  auto RJ = RJ_.topLeftCorner(count, rows);
  RJ.setZero();
  for (const VertexEntry& e : entries_) {
    if (e.patch < 0) continue;
    for (std::size_t i = 0; i < reached_.size(); ++i)
      RJ.col(e.row).segment<3>(3 * static_cast<Eigen::Index>(i)).noalias() +=
          model_->patch_R.block<3, 3>(3 * reached_[i], 3 * e.patch) * e.value;
  }
  for (const VertexEntry& e : entries_) {
    if (e.patch < 0) continue;
    const auto at = 3 * patch_number_[as_size(e.patch)];
    for (int k = 0; k < 3; ++k) W.col(e.row) += e.value[k] * RJ.row(at + k).transpose();
  }
  for (const std::int32_t p : reached_) patch_number_[as_size(p)] = -1;
  reached_.clear();
}

void ReducedBody::compute_correction(int, const BlockRows& J, std::span<const double> lambda,
                                     std::span<Vec3> dv) noexcept {
  std::fill(dv.begin(), dv.end(), Vec3::Zero());
  for (const std::int32_t v : touched_) vertex_force_[as_size(v)].setZero();
  touched_.clear();
  for (int i = 0; i < J.rows(); ++i) {
    const double force = lambda[as_size(i)];
    if (force == 0.0) continue;
    for (const BlockRows::Entry& e : J.row(i)) {
      if (e.block < kStateBlocks) {
        dv[as_size(e.block)] += force * e.value;
      } else {
        const std::int32_t vertex = e.block - kStateBlocks;
        if (vertex_force_[as_size(vertex)].isZero(0.0)) touched_.push_back(vertex);
        vertex_force_[as_size(vertex)] += force * e.value;
      }
    }
  }
  // A vertex whose forces cancelled for a moment is in the list twice.
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const std::int32_t from : touched_) {
    const Vec3 push = vertex_force_[as_size(from)] / dt_;
    const auto column = static_cast<int>(model_->number[from]);
    if (column < 0) dv[as_size(kStateBlocks + from)] += model_->single[from] * push;
    for (int i = 0; column >= 0 && i < static_cast<int>(model_->patch_vertices); ++i)
      dv[as_size(kStateBlocks + static_cast<int>(model_->patch[i]))] +=
          model_->patch_R.block<3, 3>(3 * i, 3 * column) * push;
  }
}

void ReducedBody::advance(double h, std::span<const Vec3> dv) noexcept {
  speed() += flat(dv).head(kMaxStates);
  q_ += h * speed();
  for (std::size_t i = 0; i < left_out_.size(); ++i) left_out_[i] += h * dv[as_size(kStateBlocks) + i];
  forces_.clear();
  for (const std::int32_t v : touched_) forces_.push_back({v, vertex_force_[as_size(v)]});
  update_surface();
}

void ReducedBody::update_surface() noexcept {
  const int r = used();
  if (!watches_all()) {
    for (const std::int32_t v : watched_) update_vertex(v);
    return;
  }
  flat(positions_) = model_->place + flat(left_out_);
  flat(positions_).noalias() += model_->Phi.leftCols(r) * q_.head(r);
  flat(surface_velocities_).noalias() = model_->Phi.leftCols(r) * speed().head(r);
}

void ReducedBody::update_vertex(int v) noexcept {
  const int r = used();
  const auto rows = model_->Phi.middleRows<3>(3 * v).leftCols(r);
  positions_[as_size(v)] = model_->place.segment<3>(3 * v) + left_out_[as_size(v)];
  positions_[as_size(v)].noalias() += rows * q_.head(r);
  surface_velocities_[as_size(v)].noalias() = rows * speed().head(r);
}

void ReducedBody::watch_all() noexcept {
  if (watches_all()) return;
  watched_.clear();
  ++version_;
  update_surface();
}

void ReducedBody::watch(std::span<const BoundingBox> regions, std::span<const ContactShape::Plane> solids) noexcept {
  watch_all();
  std::fill(is_watched_.begin(), is_watched_.end(), 0);
  for (const auto& t : triangles_) {
    BoundingBox box;
    for (const std::int32_t v : t) box.add(positions_[as_size(v)]);
    const auto meets = [&](const BoundingBox& region) {
      return (box.lower.array() <= region.upper.array()).all() && (region.lower.array() <= box.upper.array()).all();
    };
    const auto is_low = [&](const ContactShape::Plane& plane) {
      return plane.normal.dot(box.center()) - 0.5 * plane.normal.cwiseAbs().dot(box.size()) < plane.offset;
    };
    if (std::none_of(regions.begin(), regions.end(), meets) && std::none_of(solids.begin(), solids.end(), is_low))
      continue;
    for (const std::int32_t v : t) is_watched_[as_size(v)] = 1;
  }
  for (std::size_t v = 0; v < is_watched_.size(); ++v) {
    if (is_watched_[v]) watched_.push_back(static_cast<std::int32_t>(v));
  }
  // None stands for all: where nothing is near, one is as good as another.
  if (watched_.empty()) watched_.push_back(0);
  if (watched_.size() == positions_.size()) watched_.clear();
  ++version_;
}

BodyEnergy ReducedBody::compute_energy() const noexcept {
  // Of the states alone: M = dt (1 − D − dt K), since A(dt) is one.
  if (!model_) return {};
  const int r = used();
  const auto v = flat(velocities_).head(r);
  const auto K = model_->K.topLeftCorner(r, r);
  BodyEnergy out;
  out.kinetic = 0.5 * dt_ * (v.squaredNorm() - v.dot(model_->D.topLeftCorner(r, r) * v) - dt_ * v.dot(K * v));
  out.elastic = 0.5 * q_.head(r).dot(K * q_.head(r));
  return out;
}

void ReducedBody::predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept {
  const int r = used();
  auto out = flat(positions);
  ahead_.head(r) = h * (flat(velocities_).head(r) + flat(dv).head(r));
  if (!watches_all()) {
    for (const std::int32_t v : watched_) {
      Vec3& x = positions[as_size(v)];
      x = positions_[as_size(v)] + h * dv[as_size(kStateBlocks + v)];
      x.noalias() += model_->Phi.middleRows<3>(3 * v).leftCols(r) * ahead_.head(r);
    }
    return;
  }
  out.noalias() = model_->Phi.leftCols(r) * ahead_.head(r);
  out += flat(positions_) + h * flat(dv).tail(out.size());
}

Vec3 ReducedBody::compute_point(const BodyPoint& point) const noexcept {
  const auto& corners = triangles_[as_size(point.element)];
  Vec3 x = Vec3::Zero();
  for (int k = 0; k < 3; ++k) {
    const std::int32_t v = corners[as_size(k)];
    if (watches_all() || is_watched_[as_size(v)] || point.weights[k] == 0.0) {
      x += point.weights[k] * positions_[as_size(v)];
      continue;
    }
    const int r = used();  // a joint's
    Vec3 place = model_->place.segment<3>(3 * v) + left_out_[as_size(v)];
    place.noalias() += model_->Phi.middleRows<3>(3 * v).leftCols(r) * q_.head(r);
    x += point.weights[k] * place;
  }
  return x;
}

int ReducedBody::compute_point_row(const BodyPoint& point, const Vec3& direction,
                                   std::span<BlockRows::Entry> out) const noexcept {
  auto corners = triangles_[as_size(point.element)];
  Eigen::Matrix<double, kMaxStates, 1> row;
  const int r = used(), blocks = (r + 2) / 3;
  row.head(3 * blocks).setZero();
  std::array<std::pair<int, double>, 3> vertices;
  int count = 0;
  bool moves = false;
  for (int k = 0; k < 3; ++k) {
    const int v = corners[as_size(k)];
    const double weight = point.weights[k];
    if (weight == 0.0) continue;
    vertices[as_size(count++)] = {v, weight};
    if (fixed_[as_size(v)]) continue;
    moves = true;
    for (int j = 0; j < 3; ++j) row.head(r) += weight * direction[j] * model_->Phi.row(3 * v + j).head(r).transpose();
  }
  int written = 0;
  for (int b = 0; moves && b < blocks; ++b) out[as_size(written++)] = {b, row.segment<3>(3 * b)};
  std::sort(vertices.begin(), vertices.begin() + count);
  for (int k = 0; k < count; ++k) {
    const auto [v, weight] = vertices[as_size(k)];
    out[as_size(written++)] = {kStateBlocks + v, weight * direction};
  }
  return written;
}

}  // namespace palpate::reduced
