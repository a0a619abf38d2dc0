#include "reduced/reduced_body.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "palpate/core/simd.h"
#include "reduced/flat.h"

namespace palpate::reduced {
namespace {

/// What a loop over the states goes through, four at a time. Numbers beyond the states are zero.
int round_up(int states) noexcept {
  return (states + 3) & ~3;
}

double sum(simd::Double4 x) noexcept {
  return (x[0] + x[1]) + (x[2] + x[3]);
}

}  // namespace

ReducedBody::ReducedBody(const FemBody& original, std::vector<std::uint8_t> fixed, double dt)
    : triangles_(original.surface().triangles.begin(), original.surface().triangles.end()),
      fixed_(std::move(fixed)),
      dt_(dt),
      q_(Eigen::VectorXd::Zero(kMaxStates)),
      nodes_(original.make_elastic_forces(), original.node_count(), dt),
      carrier_begin_(1, 0),
      velocities_(original.surface().positions.size() + as_size(kStateBlocks), Vec3::Zero()),
      left_out_(original.surface().positions.size(), Vec3::Zero()),
      positions_(original.surface().positions.begin(), original.surface().positions.end()),
      is_watched_(positions_.size(), 1),
      is_pinned_(positions_.size(), 0),
      sides_(positions_.size(), 0),
      vertex_force_(positions_.size(), Vec3::Zero()),
      reach_number_(positions_.size(), -1),
      since_(q_),
      change_(q_),
      push_(q_),
      ahead_(q_),
      answers_(3 * kMaxReached, 3 * kMaxReached),
      patch_ways_(3 * kMaxPatchVertices) {
  list_carriers(original);
  for (int v = 0; v < vertex_count(); ++v) watched_.push_back(v);
  forces_.reserve(positions_.size());
  touched_.reserve(positions_.size() + as_size(6 * kMaxRows));
  pushed_.reserve(positions_.size());
  rows_.reserve(kMaxRows, 6 * kMaxRows, 3 * kMaxReached);
  reached_.reserve(as_size(kMaxReached));
  is_asked_.reserve(as_size(kMaxReached));
}

void ReducedBody::list_carriers(const FemBody& original) {
  const SurfaceCarriers all(original);
  for (std::size_t v = 0; v < all.vertices(); ++v) {
    carriers_.insert(carriers_.end(), all.of(v).begin(), all.of(v).end());
    if (all.of(v).empty()) carriers_.push_back({0, 0.0});  // no triangle has it, and nobody touches it
    const auto first = carriers_.begin() + carrier_begin_.back();
    // Its frame is that of the node that carries most of it, which stands first.
    const auto most = std::max_element(first, carriers_.end(),
                                       [](const Carrier& a, const Carrier& b) { return a.weight < b.weight; });
    std::iter_swap(first, most);
    carrier_begin_.push_back(static_cast<int>(carriers_.size()));
  }
}

void ReducedBody::pin(const BodyPoint& point) {
  if (point.element < 0) return;
  for (const std::int32_t v : triangles_[as_size(point.element)]) is_pinned_[as_size(v)] = 1;
}

void ReducedBody::use(const BodyView<const double>& model) noexcept {
  model_.emplace(model);
}

void ReducedBody::begin(const BodyView<const double>& model) noexcept {
  use(model);
  q_.setZero();
  speed() = model.start;
  nodes_.begin(model);
  settle();
}

void ReducedBody::carry(const BodyView<const double>& model) noexcept {
  use(model);
  nodes_.carry(model, q_, speed());
  settle();
}

/// Nodes, frames or basis are others: the surface stays where it is, and moves to where they have it as u fades.
void ReducedBody::settle() noexcept {
  look_ += 1.0;
  since_ = q_ - nodes_.base();
  for (const std::int32_t v : watched_) {
    const VertexMotion motion = compute_motion(v);
    velocities_[as_size(v)] = motion.velocity;
    if (fixed_[as_size(v)]) continue;
    left_out_[as_size(v)] = positions_[as_size(v)] - find_carried(v) - motion.way;
  }
}

/// Where the nodes that carry a vertex had it at the last look [m].
Vec3 ReducedBody::find_carried(int v) const noexcept {
  Vec3 x = Vec3::Zero();
  for (int i = carrier_begin_[as_size(v)]; i < carrier_begin_[as_size(v) + 1]; ++i)
    x += carriers_[as_size(i)].weight * nodes_.places()[as_size(carriers_[as_size(i)].node)];
  return x;
}

void ReducedBody::set_velocities(std::span<const Vec3> velocities) noexcept {
  std::copy(velocities.begin(), velocities.end(), velocities_.begin());
}

bool ReducedBody::linearise(std::span<const double> time_steps) noexcept {
  clear_forces();
  pushed_.clear();
  // Whoever divides a step, or asks for two, does not have the model for it.
  return model_ && time_steps.size() == 1 && time_steps[0] == dt_;
}

void ReducedBody::clear_forces() noexcept {
  for (const std::int32_t v : touched_) vertex_force_[as_size(v)].setZero();
  touched_.clear();
}

void ReducedBody::add_force(int vertex, const Vec3& force) noexcept {
  Vec3& there = vertex_force_[as_size(vertex)];
  // One whose forces cancelled for a moment is in the list already.
  if (there.isZero(0.0) && std::find(touched_.begin(), touched_.end(), vertex) == touched_.end())
    touched_.push_back(vertex);
  there += force;
}

/// Φ of a vertex times numbers of the states, in the vertex' frame.
Vec3 ReducedBody::multiply(int v, const double* states) const noexcept {
  const double* rows = model_->Phi.data() + 3 * v * kMaxStates;
  simd::Double4 x{}, y{}, z{};
  for (int j = 0; j < round_up(used()); j += 4) {
    const simd::Double4 s = simd::load(states + j);
    x = simd::madd(simd::load(rows + j), s, x);
    y = simd::madd(simd::load(rows + kMaxStates + j), s, y);
    z = simd::madd(simd::load(rows + 2 * kMaxStates + j), s, z);
  }
  return {sum(x), sum(y), sum(z)};
}

/// RΦ of a vertex times numbers of the states.
Vec3 ReducedBody::move_vertex(int v, const double* states) const noexcept {
  return turn(v) * multiply(v, states);
}

/// RΦ of a vertex times how far the states have gone since the last look, and times their velocities, on one way
/// through Φ.
ReducedBody::VertexMotion ReducedBody::compute_motion(int v) const noexcept {
  const double* rows = model_->Phi.data() + 3 * v * kMaxStates;
  const double *since = since_.data(), *speeds = speed().data();
  simd::Double4 way[3] = {}, velocity[3] = {};
  for (int j = 0; j < round_up(used()); j += 4) {
    const simd::Double4 q = simd::load(since + j), dq = simd::load(speeds + j);
    for (int k = 0; k < 3; ++k) {
      const simd::Double4 Phi = simd::load(rows + k * kMaxStates + j);
      way[k] = simd::madd(Phi, q, way[k]);
      velocity[k] = simd::madd(Phi, dq, velocity[k]);
    }
  }
  return {turn(v) * Vec3(sum(way[0]), sum(way[1]), sum(way[2])),
          turn(v) * Vec3(sum(velocity[0]), sum(velocity[1]), sum(velocity[2]))};
}

/// states += (RΦ)ᵀ of a vertex times a force.
void ReducedBody::push_states(int v, const Vec3& world_force, double* states) const noexcept {
  const Vec3 force = turn(v).transpose() * world_force;
  const double* rows = model_->Phi.data() + 3 * v * kMaxStates;
  const simd::Double4 x = simd::fill(force.x()), y = simd::fill(force.y()), z = simd::fill(force.z());
  for (int j = 0; j < round_up(used()); j += 4) {
    simd::Double4 s = simd::madd(simd::load(rows + j), x, simd::load(states + j));
    s = simd::madd(simd::load(rows + kMaxStates + j), y, s);
    simd::store(states + j, simd::madd(simd::load(rows + 2 * kMaxStates + j), z, s));
  }
}

/// Δq̇ of a tick without contacts.
void ReducedBody::compute_change(Eigen::Ref<Eigen::VectorXd> change) const noexcept {
  const int r = used();
  const auto v = speed().head(r);
  change.tail(kMaxStates - r).setZero();
  ahead_.head(r) = q_.head(r) + (dt_ + model_->damping_stiffness) * v;
  change.head(r) = nodes_.pull().head(r) - model_->damping_one * v;
  change.head(r) += nodes_.compute_lead(q_) * nodes_.lacked().head(r);
  change.head(r).noalias() -= model_->K.topLeftCorner(r, r) * ahead_.head(r);
  subtract_turning(model_->turning.topLeftCorner(r, std::min(r, kTurningStates)), q_.head(r), change.head(r));
  if (model_->has_D != 0.0) change.head(r).noalias() -= model_->D.topLeftCorner(r, r) * v;
}

void ReducedBody::compute_free_motion(int, std::span<Vec3> dv) noexcept {
  compute_change(flat(dv.subspan(positions_.size())));
  const double* states = dv[positions_.size()].data();
  for (const std::int32_t v : watched_)
    dv[as_size(v)] = move_vertex(v, states) - model_->fade[v] / dt_ * left_out_[as_size(v)];
}

/// How vertex v answers to a force on vertex w within a tick, each in its own frame [m/N].
Mat3 ReducedBody::compute_answer(int v, int w) const noexcept {
  const auto i = static_cast<int>(model_->number[v]), k = static_cast<int>(model_->number[w]);
  if (i >= 0 && k >= 0) return model_->patch_W.block<3, 3>(3 * i, 3 * k);
  Mat3 out;
  for (int j = 0; j < 3; ++j) {
    const double* row = model_->Phi.data() + (3 * w + j) * kMaxStates;
    out.col(j) = dt_ * multiply(v, row);
  }
  if (v == w) out.diagonal().array() += model_->single[v];
  return out;
}

bool ReducedBody::add_compliance(int, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  if (J.rows() > kMaxRows) return false;
  rows_.begin(J.rows());
  return add_rows(J, W);
}

bool ReducedBody::add_fresh_compliance(int, const BlockRows& J, std::span<const std::int32_t> fresh,
                                       Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  if (J.rows() > kMaxRows) return false;
  rows_.begin(J.rows(), fresh);
  return add_rows(J, W);
}

/// The number of a vertex among reached_; −1 if there is no room for it.
int ReducedBody::reach(std::int32_t vertex) {
  std::int32_t& number = reach_number_[as_size(vertex)];
  if (number < 0 && reached_.size() < as_size(kMaxReached)) {
    number = static_cast<std::int32_t>(reached_.size());
    reached_.push_back(vertex);
    is_asked_.push_back(0);
  }
  return number;
}

/// Fills rows_, reached_ and is_asked_. False if J has more vertices than there is room for.
bool ReducedBody::group_rows(const BlockRows& J) {
  reached_.clear();
  is_asked_.clear();
  bool fits = true;
  for (int i = 0; fits && i < J.rows();) {
    const int count = RowCompliance::count_group(J, i);
    rows_.begin_group(i, count);
    for (std::size_t n = 0; n < J.row(i).size(); ++n) {
      const std::int32_t vertex = J.row(i)[n].block;
      if (fixed_[as_size(vertex)]) continue;
      const int number = reach(vertex);
      fits = fits && number >= 0;
      if (!fits) break;
      if (rows_.is_group_wanted()) is_asked_[as_size(number)] = 1;
      std::array<Vec3, 3> values;
      for (int r = 0; r < count; ++r) values[as_size(r)] = turn(vertex).transpose() * J.row(i + r)[n].value;
      rows_.add(3 * number, std::span(values).first(as_size(count)));
    }
    i += count;
  }
  for (const std::int32_t v : reached_) reach_number_[as_size(v)] = -1;
  return fits;
}

bool ReducedBody::add_rows(const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  if (!group_rows(J)) return false;
  const auto count = static_cast<int>(reached_.size());
  // As small as they are, so that they stay in the cache.
  Eigen::Map<Eigen::MatrixXd> answers(answers_.data(), 3 * count, 3 * count);
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k <= i; ++k) {
      const bool i_asked = is_asked_[as_size(i)] != 0, k_asked = is_asked_[as_size(k)] != 0;
      if (!i_asked && !k_asked) continue;
      const Mat3 answer = compute_answer(reached_[as_size(i)], reached_[as_size(k)]);
      if (k_asked) answers.block<3, 3>(3 * i, 3 * k) = answer;
      if (i_asked && k < i) answers.block<3, 3>(3 * k, 3 * i) = answer.transpose();
    }
  }
  rows_.add_to(answers, W);
  return true;
}

void ReducedBody::compute_correction(int, const BlockRows& J, std::span<const double> lambda,
                                     std::span<Vec3> dv) noexcept {
  std::fill(dv.begin(), dv.end(), Vec3::Zero());
  clear_forces();
  for (int i = 0; i < J.rows(); ++i) {
    const double force = lambda[as_size(i)];
    if (force == 0.0) continue;
    for (const BlockRows::Entry& e : J.row(i)) {
      if (!fixed_[as_size(e.block)]) add_force(e.block, force * e.value);
    }
  }
  change_.setZero();  // by forces within the patch
  push_.setZero();    // by others
  for (const std::int32_t v : touched_)
    push_states(v, vertex_force_[as_size(v)], (model_->number[v] >= 0.0 ? change_ : push_).data());
  compute_left_out();
  change_ += push_;
  flat(dv.subspan(positions_.size())) = change_;
  for (const std::int32_t v : watched_) dv[as_size(v)] = move_vertex(v, change_.data());
  for (const LeftOut& l : pushed_) dv[as_size(l.vertex)] += l.way / dt_;
}

/// What the forces do to vertices beyond what the states do: R f, R = W − dt ΦΦᵀ within the patch.
void ReducedBody::compute_left_out() noexcept {
  pushed_.clear();
  if (touched_.empty()) return;
  bool any = false;
  for (const std::int32_t v : touched_) {
    const bool alone = model_->number[v] < 0.0;
    if (alone) pushed_.push_back({v, model_->single[v] * vertex_force_[as_size(v)]});
    any = any || !alone;
  }
  if (!any) return;
  const auto count = static_cast<int>(model_->patch_vertices);
  auto ways = patch_ways_.head(3 * count);  // in the vertices' frames
  ways.setZero();
  for (const std::int32_t w : touched_) {
    const auto k = static_cast<int>(model_->number[w]);
    if (k < 0) continue;
    const Vec3 force = turn(w).transpose() * vertex_force_[as_size(w)];
    const auto W = model_->patch_W.block(0, 3 * k, 3 * count, 3);
    ways += force.x() * W.col(0) + force.y() * W.col(1) + force.z() * W.col(2);
  }
  for (int i = 0; i < count; ++i) {
    const auto v = static_cast<std::int32_t>(model_->patch[i]);
    pushed_.push_back({v, turn(v) * (ways.segment<3>(3 * i) - dt_ * multiply(v, change_.data()))});
  }
}

void ReducedBody::advance(double h, std::span<const Vec3> dv) noexcept {
  speed() += flat(dv.subspan(positions_.size()));
  q_ += h * speed();
  since_ = q_ - nodes_.base();
  for (const std::int32_t v : touched_) work_ += h * vertex_force_[as_size(v)].dot(move_vertex(v, speed().data()));
  for (const std::int32_t i : watched_) {
    const auto v = as_size(i);
    positions_[v] += h * (velocities_[v] + dv[v]);
    velocities_[v] += dv[v] + model_->fade[i] / dt_ * left_out_[v];
  }
  for (int v = 0; v < vertex_count(); ++v) left_out_[as_size(v)] *= 1.0 - model_->fade[v];
  for (const LeftOut& l : pushed_) {
    left_out_[as_size(l.vertex)] += l.way;
    velocities_[as_size(l.vertex)] -= l.way / dt_;
  }
  if (nodes_.work(*model_, q_, speed(), work_)) settle();
  forces_.clear();
  for (const std::int32_t v : touched_) forces_.push_back({v, vertex_force_[as_size(v)]});
  refresh_slice();
}

void ReducedBody::update_vertex(int v) noexcept {
  const VertexMotion motion = compute_motion(v);
  positions_[as_size(v)] = find_carried(v) + left_out_[as_size(v)] + motion.way;
  velocities_[as_size(v)] = motion.velocity;
}

void ReducedBody::refresh_slice() noexcept {
  const int begin = slice_ * vertex_count() / kSlices, end = (slice_ + 1) * vertex_count() / kSlices;
  for (int v = begin; v < end; ++v) {
    if (!is_watched_[as_size(v)]) update_vertex(v);
  }
  slice_ = (slice_ + 1) % kSlices;
}

void ReducedBody::watch(std::span<const BoundingBox> regions, std::span<const ContactShape::Plane> solids) noexcept {
  double fastest = 0.0;
  for (int v = 0; v < vertex_count(); ++v) fastest = std::max(fastest, velocities_[as_size(v)].squaredNorm());
  // Since a vertex was last looked at, and until the next look.
  const double slack = 2.0 * kSlices * dt_ * std::sqrt(fastest);
  std::copy(is_pinned_.begin(), is_pinned_.end(), is_watched_.begin());
  // A triangle's box meets a region unless all of its corners are beyond one of the region's sides.
  const auto take_meeting = [&] {
    for (const auto& [i, j, k] : triangles_) {
      if (sides_[as_size(i)] & sides_[as_size(j)] & sides_[as_size(k)]) continue;
      is_watched_[as_size(i)] = is_watched_[as_size(j)] = is_watched_[as_size(k)] = 1;
    }
  };
  for (const BoundingBox& region : regions) {
    const Vec3 lower = region.lower.array() - slack, upper = region.upper.array() + slack;
    for (std::size_t v = 0; v < positions_.size(); ++v) {
      const Vec3& x = positions_[v];
      unsigned sides = 0;
      for (int k = 0; k < 3; ++k) sides |= (x[k] < lower[k] ? 1U : 0U) << k | (x[k] > upper[k] ? 8U : 0U) << k;
      sides_[v] = static_cast<std::uint8_t>(sides);
    }
    take_meeting();
  }
  for (const ContactShape::Plane& plane : solids) {
    for (std::size_t v = 0; v < positions_.size(); ++v)
      sides_[v] = plane.normal.dot(positions_[v]) < plane.offset + slack ? 0 : 1;
    take_meeting();
  }
  watched_.clear();
  for (int v = 0; v < vertex_count(); ++v) {
    if (is_watched_[as_size(v)]) watched_.push_back(v);
  }
  for (const std::int32_t v : watched_) update_vertex(v);
  // None would stand for all: where nothing is near, one is as good as another.
  if (watched_.empty()) watched_.push_back(0);
  ++version_;
}

BodyEnergy ReducedBody::compute_energy() const noexcept {
  // Of what the states move; the elements' as of the last look.
  if (!model_) return {};
  Eigen::Matrix<double, kMaxStates, 1> momentum;
  multiply_mass(*model_, dt_, speed(), momentum);
  BodyEnergy out;
  out.kinetic = 0.5 * speed().dot(momentum);
  out.elastic = nodes_.elastic_energy();
  return out;
}

void ReducedBody::predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept {
  for (const std::int32_t i : watched_) {
    const auto v = as_size(i);
    positions[v] = positions_[v] + h * (velocities_[v] + dv[v]);
  }
}

Vec3 ReducedBody::compute_point(const BodyPoint& point) const noexcept {
  const auto& corners = triangles_[as_size(point.element)];
  Vec3 x = Vec3::Zero();
  for (int k = 0; k < 3; ++k) x += point.weights[k] * positions_[as_size(corners[as_size(k)])];
  return x;
}

int ReducedBody::compute_point_row(const BodyPoint& point, const Vec3& direction,
                                   std::span<BlockRows::Entry> out) const noexcept {
  const auto& corners = triangles_[as_size(point.element)];
  int count = 0;
  for (int k = 0; k < 3; ++k) {
    if (point.weights[k] != 0.0) out[as_size(count++)] = {corners[as_size(k)], point.weights[k] * direction};
  }
  std::sort(out.begin(), out.begin() + count, [](const auto& a, const auto& b) { return a.block < b.block; });
  return count;
}

}  // namespace palpate::reduced
