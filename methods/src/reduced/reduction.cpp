#include "reduced/reduction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reduced/flat.h"
#include "surface_carriers.h"

namespace palpate::reduced {
namespace {

constexpr int kNearVertices = 24;  // of the patch, by distance from the tools, and from other bodies; the others bear
constexpr double kFarSpacings = 1.5;  // beyond which nothing is near another body
constexpr int kLoads = 32;            // vertices whose answers to a lasting force may be in the basis
constexpr int kQuickLoads = 10;       // and to one within a tick
constexpr int kLargeBody = 4500;      // nodes; some 20,000 tets
/// Large bodies have fewer states: everything that is done with all nodes takes their number, or its square.
constexpr int kLargeBodyStates = 64;

}  // namespace

Reduction::Reduction(FemBody& body, const Settings& settings, SecondThread* second)
    : body_(body), second_(second), dt_(settings.dt), slow_period_(settings.slow_period), weight_begin_(1, 0) {
  const BodySurface surface = body.surface();
  const auto vertices = static_cast<int>(surface.positions.size());
  const SurfaceCarriers carriers(body);
  for (std::size_t v = 0; v < carriers.vertices(); ++v) {
    for (const SurfaceCarriers::Carrier& at : carriers.of(v)) {
      if (!body.is_prescribed(at.node)) weights_.push_back({at.node, at.weight});
    }
    weight_begin_.push_back(static_cast<int>(weights_.size()));
  }
  const Eigen::Index n = 3 * body.node_count();
  for (Basis& b : bases_) {
    b.Phi.setZero(n, kMaxStates);
    b.turned.assign(as_size(body.node_count()), Mat3::Identity());
  }
  for (auto& elements : elements_) elements = body.make_elastic_forces();
  start_turned_ = ahead_turned_ = turns_ = bases_[0].turned;
  speed_ = Eigen::VectorXd::Zero(kMaxStates);
  elastic_ = start_elastic_ = force_ = push_force_ = Eigen::VectorXd::Zero(n);
  impulses_.assign(3 * as_size(vertices), 0.0);
  push_ = impulses_;
  for (int i = 0; i < body.node_count(); ++i) unknowns_ += body.is_prescribed(i) ? 0 : 3;
  free_body_ = unknowns_ == 3 * body.node_count();
  mass_.resize(n);
  const double alpha = body.damping_masses()[0] / body.masses()[0];
  bool uniform = body.uniform_stiffness_damping().has_value();
  for (int i = 0; i < body.node_count(); ++i) {
    mass_.segment<3>(3 * i).setConstant(body.masses()[as_size(i)]);
    const double error = body.damping_masses()[as_size(i)] - alpha * body.masses()[as_size(i)];
    uniform = uniform && std::abs(error) <= 1e-12 * (1.0 + alpha) * body.masses()[as_size(i)];
  }
  root_mass_ = mass_.cwiseSqrt();
  if (uniform) rayleigh_ = {alpha, *body.uniform_stiffness_damping()};
  large_ = body.node_count() > kLargeBody;
  most_states_ = std::min(settings.states, large_ ? kLargeBodyStates : kMaxStates);
  if (rayleigh_ && (settings.factor_steps > 1 || (settings.factor_steps == 0 && large_))) {
    aged_.emplace(body, AgedFactors::Settings{{slow_period_, dt_}, alpha, rayleigh_->beta, settings.factor_steps});
    answer_memory_[kStep].emplace(n, 2 * kMaxStates);
    answer_memory_[kTick].emplace(n, kMaxStates);
  }
  scratch_.fill(body.make_solve_scratch());
  most_patch_ = aged_ ? kMaxPatchVertices : std::min(kMaxPatchVertices, body.max_rows() / 3);
  double length = 0.0;
  for (const auto& t : surface.triangles)
    length += (surface.positions[as_size(t[1])] - surface.positions[as_size(t[0])]).norm();
  spacing_ = length / static_cast<double>(surface.triangles.size());
}

std::vector<std::uint8_t> Reduction::make_fixed() const {
  std::vector<std::uint8_t> fixed(weight_begin_.size() - 1);
  for (std::size_t v = 0; v < fixed.size(); ++v) fixed[v] = weights(static_cast<int>(v)).empty() ? 1 : 0;
  return fixed;
}

void Reduction::add_to_nodes(int vertex, const Vec3& value, Eigen::Ref<Eigen::VectorXd> nodes) const {
  for (const Weight& w : weights(vertex)) nodes.segment<3>(3 * w.node) += w.weight * value;
}

void Reduction::follow(const FastState& fast) {
  const auto known =
      std::find_if(bases_.begin(), bases_.end(), [&](const Basis& b) { return b.number == fast.model_number; });
  if (fast.model_number == 0 || known == bases_.end() || fast.tick <= tick_) return;
  const double time = static_cast<double>(fast.tick - tick_) * dt_;
  push_force_.setZero();
  for (int v = 0; v + 1 < static_cast<int>(weight_begin_.size()); ++v) {
    Vec3 push;
    for (int k = 0; k < 3; ++k) {
      const std::size_t at = as_size(3 * v + k);
      push[k] = push_[at] = fast.motion.impulses[at] - impulses_[at];
      impulses_[at] = fast.motion.impulses[at];
    }
    if (!push.isZero(0.0)) add_to_nodes(v, push / time, push_force_);
  }
  tick_ = fast.tick;
  using Vector = Eigen::Map<const Eigen::VectorXd>;
  speed_ = Vector(fast.motion.speed.data(), kMaxStates);
  for (std::size_t i = 0; i < turns_.size(); ++i) turns_[i] = Eigen::Map<const Mat3>(&fast.motion.turns[9 * i]);
  Eigen::VectorXd place = known->Phi * Vector(fast.motion.since.data(), kMaxStates);
  Eigen::VectorXd velocity = known->Phi * speed_;
  turn_nodes(place, [&](std::size_t i) { return turns_[i]; });
  turn_nodes(velocity, [&](std::size_t i) { return turns_[i]; });
  place += Vector(fast.motion.places.data(), place.size());
  if (!place.allFinite() || !velocity.allFinite()) return;
  followed_ = &*known;
  body_.set_positions(as_nodes(place));
  body_.set_velocities(as_nodes(velocity));
}

void Reduction::begin_with(const BodyView<const double>& model) {
  followed_ = &bases_[newest_];
  speed_ = model.start;
  for (int i = 0; i < body_.node_count(); ++i) turns_[as_size(i)] = model.start_turn(i) * model.turn(i).transpose();
}

/// With the nodes at these places: the forces of the elements [N], and how far those around each node have turned from
/// their rest.
void Reduction::compute_turned(std::span<const Vec3> places, int thread, Eigen::VectorXd& forces,
                               std::vector<Mat3>& turned) {
  ElasticForces& elements = *elements_[as_size(thread)];
  forces.resize(mass_.size());
  elements.begin(places);
  elements.add(0, elements.pieces());
  elements.finish(as_nodes(forces));
  elements.compute_turns(0, body_.node_count(), turned);
}

/// From the world's frame, where the body is, to the nodes' frames where it is linearised: Rᵀ.
void Reduction::turn_ahead(Eigen::Ref<Eigen::VectorXd> nodes) const {
  turn_nodes(nodes, [&](std::size_t i) { return Mat3(ahead_turned_[i] * start_turned_[i].transpose()); });
}

/// The patch: what is near the tools, what was pushed in the last period, hardest first, and what is near other bodies.
/// Loads are ranked by what they may weigh in the next period.
void Reduction::choose_vertices(const Distances& distances) {
  std::vector<int> order(weight_begin_.size() - 1);
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int v) { return weights(v).empty(); });
  const auto push = [&](int v) { return Eigen::Map<const Vec3>(&push_[as_size(3 * v)]).norm(); };
  const auto sort_by = [&](const auto& value) {
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return value(a) < value(b); });
  };
  const auto add = [&](int v) {
    if (patch_.size() < as_size(most_patch_) && std::find(patch_.begin(), patch_.end(), v) == patch_.end())
      patch_.push_back(v);
  };
  sort_by([&](int v) { return distances.tools[as_size(v)]; });
  const auto all = static_cast<int>(order.size());
  const int near = std::min(most_patch_, all <= 2 * kNearVertices ? all : kNearVertices);
  patch_.assign(order.begin(), order.begin() + near);
  sort_by([&](int v) { return -push(v); });
  quick_.clear();
  for (const int v : order) {
    if (push(v) == 0.0) break;
    for (int k = 0; k < 3 && quick_.size() < 3 * kQuickLoads; ++k) quick_.push_back({v, k, 1.0});
    add(v);
  }
  // How far it is from touching another body, in spacings; it may come to bear before the next model.
  const auto gap = [&](int v) { return std::max(0.0, distances.others[as_size(v)] / spacing_ - 0.5); };
  sort_by([&](int v) { return distances.others[as_size(v)]; });
  int beside = 0;
  for (const int v : order) {
    if (gap(v) > kFarSpacings || (gap(v) > 0.0 && ++beside > kNearVertices)) break;
    add(v);
  }
  const auto rank = [&](int v) {
    const double far = distances.tools[as_size(v)] / spacing_;
    return std::max({push(v) > 0.0 ? 1.0 : 0.0, 0.7 / (1.0 + gap(v) * gap(v)), 1.0 / (1.0 + far * far)});
  };
  loads_.clear();
  for (const int v : patch_) {
    for (int k = 0; k < 3; ++k) loads_.push_back({v, k, rank(v)});
  }
  std::stable_sort(loads_.begin(), loads_.end(), [](const Load& a, const Load& b) { return a.rank > b.rank; });
  if (loads_.size() > 3 * kLoads) loads_.resize(3 * kLoads);
}

void Reduction::clear_prescribed(Eigen::Ref<Eigen::VectorXd> nodes) const {
  for (int i = 0; i < body_.node_count(); ++i) {
    if (body_.is_prescribed(i)) nodes.segment<3>(3 * i).setZero();
  }
}

bool Reduction::make_model(const Wanted& wanted, const Distances& distances, BodyView<double> out) {
  struct GoBack {  // ahead is only where it is linearised
    FemBody& body;
    Eigen::VectorXd& place;
    ~GoBack() { body.set_positions(as_nodes(place)); }
  } go_back{body_, place_};
  go_ahead(wanted.ahead);
  choose_vertices(distances);
  tick_ = wanted.tick;
  if (!make_vectors()) return false;
  const Basis& before = bases_[newest_];
  newest_ = (newest_ + 1) % bases_.size();
  Basis& basis = bases_[newest_];
  basis.number = wanted.number;
  basis.turned = ahead_turned_;
  make_basis(basis);
  Eigen::MatrixXd true_stiffness;
  const int beside = (aged_ ? 3 : 2) * kMaxStates / 5;  // of S, so that both take about as long
  const auto fill_beside = [&] {
    fill(basis, out);
    fill_residuals(out);
    fill_handover(before, basis, 0, beside, out);
    factor_ahead(wanted.ahead);
  };
  do_both(fill_beside, [&] {
    if (!free_body_) true_stiffness = compute_true_stiffness(basis);
    fill_handover(before, basis, beside, kMaxStates, out);
  });
  out.before = static_cast<double>(before.number);
  fill_turning(basis, true_stiffness, out);
  basis.K = out.K.topLeftCorner(basis.states, basis.states);
  basis.D = out.D.topLeftCorner(basis.states, basis.states);
  basis.damping_one = out.damping_one;
  basis.damping_stiffness = out.damping_stiffness;
  basis.has_D = out.has_D != 0.0;
  basis.turning = out.turning.topLeftCorner(basis.states, turning_states(basis.states));
  const auto is_finite = [](const auto&... parts) { return (parts.allFinite() && ...); };
  return is_finite(place_, out.node_force, out.start, out.start_force, out.carry, basis.turning, W_, W_step_);
}

}  // namespace palpate::reduced
