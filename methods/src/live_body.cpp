#include "live_body.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "palpate/core/simd.h"
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
  rows_.reserve(kMaxRows);
  entries_.reserve(as_size(kMaxRows * max_row_entries()));
  WJ_.resize(3 * kMaxKnown, kMaxRows);
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

/// Fills rows_ and entries_; nodes that are not known answer to their own forces alone, which is added to W.
void LiveBody::group_rows(const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  rows_.clear();
  entries_.clear();
  const int rows = J.rows();
  const auto same_nodes = [&](int i, int j) {
    return std::ranges::equal(J.row(i), J.row(j), {}, &BlockRows::Entry::block, &BlockRows::Entry::block);
  };
  const auto add_single = [&](int i, const BlockRows::Entry& e) {
    for (int j = 0; j < rows; ++j) {
      for (const BlockRows::Entry& other : J.row(j)) {
        if (other.block == e.block) W(i, j) += model_->single * e.value.dot(other.value);
      }
    }
  };
  for (int i = 0; i < rows;) {
    const int count = i + 2 < rows && same_nodes(i, i + 1) && same_nodes(i, i + 2) ? 3 : 1;
    const std::size_t begin = entries_.size(), nodes = J.row(i).size();
    for (std::size_t n = 0; n < nodes; ++n) {
      const std::int32_t block = J.row(i)[n].block;
      const int k = number(block);
      if (k >= 0) {
        Entry& e = entries_.emplace_back(Entry{3 * k, {}});
        for (int r = 0; r < count; ++r) {
          for (int axis = 0; axis < 3; ++axis) e.value[axis][r] = J.row(i + r)[n].value[axis];
        }
      } else if (fixed_[as_size(block)] == 0) {
        for (int r = 0; r < count; ++r) add_single(i + r, J.row(i + r)[n]);
      }
    }
    rows_.push_back({i, count, begin, entries_.size()});
    i += count;
  }
}

bool LiveBody::add_compliance(int, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  if (J.rows() > kMaxRows) return false;
  group_rows(J, W);
  const auto known_W = model_->W.topRows(3 * known());
  for (const Rows& group : rows_) {
    for (int r = 0; r < group.count; ++r) {
      auto sum = WJ_.col(group.first + r).head(3 * known());
      if (group.begin == group.end) sum.setZero();
      for (std::size_t k = group.begin; k < group.end; ++k) {
        const Entry& e = entries_[k];
        const auto part = e.value[0][r] * known_W.col(e.column) + e.value[1][r] * known_W.col(e.column + 1) +
                          e.value[2][r] * known_W.col(e.column + 2);
        if (k == group.begin)
          sum = part;
        else
          sum += part;
      }
    }
  }
  // Rows below the diagonal, and the same above it.
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    for (int column = rows_[j].first; column < rows_[j].first + rows_[j].count; ++column) {
      const double* x = WJ_.col(column).data();
      for (std::size_t i = j; i < rows_.size(); ++i) {
        const Rows& group = rows_[i];
        simd::Double4 sum{};
        for (std::size_t k = group.begin; k < group.end; ++k) {
          const Entry& e = entries_[k];
          const double* at = x + e.column;
          sum += simd::load(e.value[0]) * at[0] + simd::load(e.value[1]) * at[1] + simd::load(e.value[2]) * at[2];
        }
        for (int r = 0; r < group.count; ++r) {
          W(group.first + r, column) += sum[r];
          if (i != j) W(column, group.first + r) += sum[r];
        }
      }
    }
  }
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
