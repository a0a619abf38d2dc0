#include "live_body.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "surface_carriers.h"

namespace palpate::live {
namespace {

/// What comes near is watched from so far away [m].
constexpr double kReach = 0.008;
/// What must be left of that in a tick beside the tool's way: the alarm distance, and what the surface does in it [m].
constexpr double kLeastReach = 0.003;

Vec3 at(const Eigen::Map<const Eigen::VectorXd>& v, std::size_t i) noexcept {
  return v.segment<3>(3 * static_cast<Eigen::Index>(i));
}

}  // namespace

LiveBody::LiveBody(const FemBody& original, Answer answer, double dt)
    : triangles_(original.surface().triangles.begin(), original.surface().triangles.end()),
      answer_(answer),
      dt_(dt),
      weight_begin_(1, 0),
      positions_(original.positions().begin(), original.positions().end()) {
  const BodySurface surface = original.surface();
  surface_positions_.assign(surface.positions.begin(), surface.positions.end());
  surface_velocities_.assign(surface_positions_.size(), Vec3::Zero());
  const SurfaceCarriers carriers(original);
  for (std::size_t v = 0; v < carriers.vertices(); ++v) {
    for (const SurfaceCarriers::Carrier& c : carriers.of(v)) weights_.push_back({c.node, c.weight});
    most_nodes_ = std::max(most_nodes_, static_cast<int>(weights_.size()) - weight_begin_.back());
    double sum = 0.0;
    for (auto w = weights_.begin() + weight_begin_.back(); w != weights_.end(); ++w) sum += std::abs(w->weight);
    stretch_ = std::max(stretch_, sum);
    weight_begin_.push_back(static_cast<int>(weights_.size()));
  }
  for (int i = 0; i < original.node_count(); ++i) fixed_.push_back(original.is_prescribed(i) ? 1 : 0);
  still_.assign(positions_.size(), Vec3::Zero());
  force_ = away_ = along_ = offset_ = ahead_ = still_;
  watched_from_ = positions_;
  watched_.resize(surface_positions_.size());
  std::iota(watched_.begin(), watched_.end(), 0);
  is_watched_.resize(watched_.size());
  sides_.resize(watched_.size());
  rows_.reserve(kMaxRows, kMaxRows * max_row_entries(), 3 * kMaxKnown);
  moved_.resize(3 * kMaxKnown);
}

/// W f of the model at the known nodes, and what others do by themselves.
void LiveBody::displace(std::span<Vec3> out) noexcept {
  std::fill(out.begin(), out.end(), Vec3::Zero());
  auto moved = moved_.head(3 * known());
  moved.setZero();
  for (std::size_t from = 0; from < force_.size(); ++from) {
    const Vec3& f = force_[from];
    if (f.isZero(0.0)) continue;
    const int column = 3 * number(static_cast<std::int32_t>(from));
    if (column < 0) {
      if (fixed_[from] == 0) out[from] += model_->single * f;
      continue;
    }
    const auto W = model_->W.topRows(3 * known());
    moved += f.x() * W.col(column) + f.y() * W.col(column + 1) + f.z() * W.col(column + 2);
  }
  for (int i = 0; i < known(); ++i) out[as_size(static_cast<int>(model_->node[i]))] += moved.segment<3>(3 * i);
}

void LiveBody::begin(const BodyView<const double>& model, double age) noexcept {
  model_.emplace(model);
  // In a step's answer what is away from the path is so by the force of now; otherwise that is not known.
  std::fill(away_.begin(), away_.end(), Vec3::Zero());
  if (answer_ == Answer::kStep) displace(away_);
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    if (answer_ == Answer::kStep) away_[i] -= at(model.answered, i);
    offset_[i] = positions_[i] - at(model.place, i) - age * at(model.rate, i) - away_[i];
  }
}

void LiveBody::place(const BodyView<const double>& model, const PathTime& time) noexcept {
  model_.emplace(model);
  const double passes = time.age_then - time.age, fades = time.left_then - time.left;
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    positions_[i] = at(model.place, i) + time.age * at(model.rate, i) + time.left * offset_[i] + away_[i];
    along_[i] = passes * at(model.rate, i) + fades * offset_[i];
    ahead_[i] = along_[i] - at(model.answered, i) - model.settle * away_[i];
    if (fixed_[i] != 0) ahead_[i].setZero();
  }
  update_surface();
}

bool LiveBody::linearise(std::span<const double> time_steps) noexcept {
  std::fill(force_.begin(), force_.end(), Vec3::Zero());
  return model_ && time_steps.size() == 1 && time_steps[0] == dt_;
}

void LiveBody::compute_free_motion(int, std::span<Vec3> dv) noexcept {
  for (std::size_t i = 0; i < dv.size(); ++i) dv[i] = ahead_[i] / dt_;
}

bool LiveBody::add_compliance(int, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  if (J.rows() > kMaxRows) return false;
  rows_.begin(J.rows());
  return add_rows(J, W);
}

bool LiveBody::add_fresh_compliance(int, const BlockRows& J, std::span<const std::int32_t> fresh,
                                    Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  if (J.rows() > kMaxRows) return false;
  rows_.begin(J.rows(), fresh);
  return add_rows(J, W);
}

/// What nodes that are not known answer to their own forces, between this row and the others.
void LiveBody::add_single(const BlockRows& J, int row, const BlockRows::Entry& entry,
                          Eigen::Ref<Eigen::MatrixXd> W) const noexcept {
  for (int j = 0; j < J.rows(); ++j) {
    if (!rows_.is_wanted(row) && !rows_.is_wanted(j)) continue;
    for (const BlockRows::Entry& other : J.row(j)) {
      if (other.block == entry.block) W(row, j) += model_->single * entry.value.dot(other.value);
    }
  }
}

bool LiveBody::add_rows(const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  for (int i = 0; i < J.rows();) {
    const int count = RowCompliance::count_group(J, i);
    rows_.begin_group(i, count);
    for (std::size_t n = 0; n < J.row(i).size(); ++n) {
      const std::int32_t block = J.row(i)[n].block;
      const int k = number(block);
      if (k >= 0) {
        std::array<Vec3, 3> values;
        for (int r = 0; r < count; ++r) values[as_size(r)] = J.row(i + r)[n].value;
        rows_.add(3 * k, std::span(values).first(as_size(count)));
      } else if (fixed_[as_size(block)] == 0) {
        for (int r = 0; r < count; ++r) add_single(J, i + r, J.row(i + r)[n], W);
      }
    }
    i += count;
  }
  rows_.add_to(model_->W.topLeftCorner(3 * known(), 3 * known()), W);
  return true;
}

void LiveBody::compute_correction(int, const BlockRows& J, std::span<const double> lambda,
                                  std::span<Vec3> dv) noexcept {
  std::fill(force_.begin(), force_.end(), Vec3::Zero());
  for (int i = 0; i < J.rows(); ++i) {
    for (const BlockRows::Entry& e : J.row(i)) force_[as_size(e.block)] += lambda[as_size(i)] * e.value;
  }
  displace(dv);
  for (Vec3& v : dv) v /= dt_;
}

void LiveBody::advance(double h, std::span<const Vec3> dv) noexcept {
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    positions_[i] += h * dv[i];
    away_[i] += h * dv[i] - along_[i];
  }
  update_surface();
}

Vec3 LiveBody::compute_vertex(std::int32_t vertex) const noexcept {
  Vec3 x = Vec3::Zero();
  for (const Weight& w : weights(vertex)) x += w.weight * positions_[as_size(w.node)];
  return x;
}

void LiveBody::update_surface() noexcept {
  for (const std::int32_t v : watched_) surface_positions_[as_size(v)] = compute_vertex(v);
}

void LiveBody::watch(const BoundingBox& box) noexcept {
  region_.lower = box.lower.array() - kReach;
  region_.upper = box.upper.array() + kReach;
  std::copy(positions_.begin(), positions_.end(), watched_from_.begin());
  for (std::size_t v = 0; v < surface_positions_.size(); ++v) {
    const Vec3& x = surface_positions_[v] = compute_vertex(static_cast<std::int32_t>(v));
    unsigned sides = 0;
    for (int k = 0; k < 3; ++k)
      sides |= (x[k] < region_.lower[k] ? 1U : 0U) << k | (x[k] > region_.upper[k] ? 8U : 0U) << k;
    sides_[v] = static_cast<std::uint8_t>(sides);
  }
  // A triangle's box meets the region unless all of its corners are beyond one of the region's sides.
  std::fill(is_watched_.begin(), is_watched_.end(), 0);
  for (const auto& [i, j, k] : triangles_) {
    if (sides_[as_size(i)] & sides_[as_size(j)] & sides_[as_size(k)]) continue;
    is_watched_[as_size(i)] = is_watched_[as_size(j)] = is_watched_[as_size(k)] = 1;
  }
  watched_.clear();
  for (std::size_t v = 0; v < is_watched_.size(); ++v) {
    if (is_watched_[v] != 0) watched_.push_back(static_cast<std::int32_t>(v));
  }
  // None would stand for all: where nothing is near, one is as good as another.
  if (watched_.empty()) watched_.push_back(0);
  ++version_;
}

bool LiveBody::covers(const BoundingBox& box, double way) const noexcept {
  double farthest = 0.0;
  for (std::size_t i = 0; i < positions_.size(); ++i)
    farthest = std::max(farthest, (positions_[i] - watched_from_[i]).squaredNorm());
  const double margin = kLeastReach + way + stretch_ * std::sqrt(farthest);
  return (box.lower.array() - margin >= region_.lower.array()).all() &&
         (box.upper.array() + margin <= region_.upper.array()).all();
}

void LiveBody::predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept {
  for (const std::int32_t v : watched_) {
    Vec3 x = Vec3::Zero();
    for (const Weight& w : weights(v)) x += w.weight * dv[as_size(w.node)];
    positions[as_size(v)] = surface_positions_[as_size(v)] + h * x;
  }
}

Vec3 LiveBody::compute_point(const BodyPoint& point) const noexcept {
  const auto& corners = triangles_[as_size(point.element)];
  Vec3 x = Vec3::Zero();
  for (int k = 0; k < 3; ++k) x += point.weights[k] * surface_positions_[as_size(corners[as_size(k)])];
  return x;
}

int LiveBody::compute_point_row(const BodyPoint& point, const Vec3& direction,
                                std::span<BlockRows::Entry> out) const noexcept {
  const auto& corners = triangles_[as_size(point.element)];
  int count = 0;
  for (int k = 0; k < 3; ++k) {
    if (point.weights[k] == 0.0) continue;
    for (const Weight& w : weights(corners[as_size(k)])) {
      const auto known =
          std::find_if(out.begin(), out.begin() + count, [&](const BlockRows::Entry& e) { return e.block == w.node; });
      const Vec3 value = point.weights[k] * w.weight * direction;
      if (known != out.begin() + count)
        known->value += value;
      else
        out[as_size(count++)] = {w.node, value};
    }
  }
  std::sort(out.begin(), out.begin() + count,
            [](const BlockRows::Entry& a, const BlockRows::Entry& b) { return a.block < b.block; });
  return count;
}

}  // namespace palpate::live
