#include "live_answer.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "palpate/bodies/beam_chain.h"

namespace palpate::live {
namespace {

/// Rows of constraints among others that are eliminated; with more they keep their forces.
constexpr std::size_t kMaxHeld = 300;
/// Of a body that others hold in so many places that little room is left, so many nodes are known at least.
constexpr int kLeastKnown = 24;

const ConstraintSide* find_side(const Constraint& c, const ConstraintSide& of) noexcept {
  for (const ConstraintSide* s : {&c.a, &c.b}) {
    if (s->kind == of.kind && s->body == of.body) return s;
  }
  return nullptr;
}

}  // namespace

Answers::Answers(const MethodContext& c, const Layout& layout, Answer answer)
    : world_(c.world), layout_(layout), tool_(c.body()), answer_(answer), slow_period_(c.slow_period) {
  for (const int i : layout_.soft) {
    Soft& s = soft_.emplace_back();
    s.index = i;
    s.body = dynamic_cast<FemBody*>(c.world.body(i));
    const BodySurface surface = s.body->surface();
    std::vector<BodyPoint> corner(surface.positions.size());
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
      for (int k = 0; k < 3; ++k)
        corner[as_size(surface.triangles[t][as_size(k)])] =
            BodyPoint::on_surface(static_cast<std::int32_t>(t), Vec3::Unit(k));
    }
    std::vector<BlockRows::Entry> entries(as_size(s.body->max_row_entries()));
    s.vertex_begin.push_back(0);
    for (const BodyPoint& point : corner) {
      const int count = point.element < 0 ? 0 : s.body->compute_point_row(point, Vec3::UnitX(), entries);
      for (const BlockRows::Entry& e : std::span(entries).first(as_size(count))) {
        if (e.value.x() != 0.0) s.vertex_node.push_back(e.block);
      }
      s.vertex_begin.push_back(static_cast<int>(s.vertex_node.size()));
    }
    s.distance.resize(as_size(s.body->node_count()));
    s.force = Eigen::VectorXd::Zero(3 * s.body->node_count());
  }
  for (const int i : layout_.whole) list_points(i, i == tool_ ? c.tool.radius() : 0.0);
}

/// Points of a body so close to each other that no node lies unseen between them.
void Answers::list_points(int index, double radius) {
  const Body& body = *world_.body(index);
  const bool is_point = world_.bodies()[as_size(index)].shape.is<ContactShape::Point>();
  constexpr double kSpacing = 0.004;  // [m]
  constexpr int kMostParts = 8;
  if (is_point) {
    points_.push_back({&body, BodyPoint::centre(), radius});
  } else if (const auto* chain = dynamic_cast<const BeamChain*>(&body)) {
    for (int i = 0; i + 1 < chain->node_count(); ++i) {
      for (const double share : {0.0, 0.5, 1.0})
        points_.push_back({&body, BodyPoint::on_chain(i, share, Vec3::Zero()), radius});
    }
    return;  // its surface is a skin around these: triangles of it are no places of a chain
  }
  const BodySurface surface = body.surface();
  for (std::size_t t = 0; t < surface.triangles.size() && !is_point; ++t) {
    double longest = 0.0;
    for (std::size_t k = 0; k < 3; ++k)
      longest = std::max(longest, (surface.positions[as_size(surface.triangles[t][k])] -
                                   surface.positions[as_size(surface.triangles[t][(k + 1) % 3])])
                                      .norm());
    const int parts = std::clamp(static_cast<int>(std::ceil(longest / kSpacing)), 1, kMostParts);
    for (int i = 0; i <= parts; ++i) {
      for (int j = 0; i + j <= parts; ++j)
        points_.push_back({&body,
                           BodyPoint::on_surface(static_cast<std::int32_t>(t),
                                                 Vec3(i, j, parts - i - j) / static_cast<double>(parts)),
                           radius});
    }
  }
}

bool Answers::compute(const SolvedStep& step, double* model) {
  places_.clear();
  const Body* tool = world_.body(tool_);
  for (const Point& p : points_) {
    const Vec3 now = p.body->compute_point(p.at);
    places_.push_back({now, p.radius});
    for (const double share : {0.5, 1.0}) {
      if (p.body == tool && way_.norm() > 1e-3) places_.push_back({now + share * way_, p.radius});
    }
  }
  choose_others(step);
  for (Soft& s : soft_) choose_nodes(step, s);
  if (!assemble(step)) return false;
  eliminate_others();
  int first = 0;
  bool finite = true;
  for (std::size_t k = 0; k < soft_.size(); ++k) {
    BodyView<double> out = layout_.at[k].view(model);
    out.settle = answer_ == Answer::kTick ? compute_settle(soft_[k]) : 1.0;
    write(soft_[k], first, out);
    finite = finite && out.answered.allFinite() && std::isfinite(out.settle);
    first += 3 * static_cast<int>(soft_[k].known.size());
  }
  return finite && W_.topLeftCorner(first, first).allFinite();
}

/// Rows of all contacts that are not the tick's and hold, as the slow solve left them; what slips gives way.
void Answers::choose_others(const SolvedStep& step) {
  held_.clear();
  const ConstraintProblem& problem = step.problem();
  for (int i = step.first_contact(); i < static_cast<int>(problem.constraints().size()); ++i) {
    const Contact& contact = step.contacts()[as_size(i - step.first_contact())];
    const Constraint& c = problem.constraints()[as_size(i)];
    const double* l = step.lambda().data() + c.first_row;
    if (is_the_ticks(contact) || !(l[0] > 0.0)) continue;
    const bool sticks = std::hypot(l[1], l[2]) < (1.0 - 1e-6) * c.friction * l[0];
    for (int r = 0; r < (sticks ? 3 : 1); ++r) held_.push_back({i, r});
  }
  if (held_.size() > kMaxHeld) held_.clear();
}

/// Of each node, by the vertices that it carries.
void Answers::measure_distances(Soft& s) {
  std::fill(s.distance.begin(), s.distance.end(), HUGE_VAL);
  const auto positions = s.body->surface().positions;
  BoundingBox box;
  for (const Place& p : places_) box.add(p.x);
  constexpr double kLook = 0.04;  // what is further away is known by its distance from the box [m]
  for (std::size_t v = 0; v < positions.size(); ++v) {
    const Vec3& x = positions[v];
    double nearest = (x - x.cwiseMax(box.lower).cwiseMin(box.upper)).norm();
    if (nearest < kLook) {
      nearest = HUGE_VAL;
      double least = HUGE_VAL;  // of those of one radius
      for (std::size_t i = 0; i < places_.size(); ++i) {
        least = std::min(least, (places_[i].x - x).squaredNorm());
        if (i + 1 < places_.size() && places_[i + 1].radius == places_[i].radius) continue;
        nearest = std::min(nearest, std::sqrt(least) - places_[i].radius);
        least = HUGE_VAL;
      }
    }
    for (int i = s.vertex_begin[v]; i < s.vertex_begin[v + 1]; ++i) {
      double& of_node = s.distance[as_size(s.vertex_node[as_size(i)])];
      of_node = std::min(of_node, nearest);
    }
  }
}

/// Those that bear the tool or what is rigid, and then the nearest.
void Answers::choose_nodes(const SolvedStep& step, Soft& s) {
  measure_distances(s);
  s.force.setZero();
  const ConstraintSide& side = step.side(s.index);
  const BlockRows& J = step.rows(s.index);
  for (std::size_t i = 0; i < step.contacts().size(); ++i) {
    const Contact& contact = step.contacts()[i];
    const Constraint& c = step.problem().constraints()[as_size(step.first_contact()) + i];
    const ConstraintSide* own = find_side(c, side);
    if (!own || !is_the_ticks(contact)) continue;
    for (int r = 0; r < 3; ++r) {
      const double force = step.lambda()[as_size(c.first_row + r)];
      if (force == 0.0) continue;
      for (const BlockRows::Entry& e : J.row(own->first + r)) {
        s.force.segment<3>(3 * e.block) += force * e.value;
        s.distance[as_size(e.block)] = -HUGE_VAL;
      }
    }
  }
  int others = 0;
  for (const Other& o : held_) others += find_side(step.problem().constraints()[as_size(o.constraint)], side) ? 1 : 0;
  const int room = std::min(kMaxKnown, std::max(kLeastKnown, (s.body->max_rows() - others) / 3));
  s.known.clear();
  for (int i = 0; i < s.body->node_count(); ++i) {
    if (!s.body->is_prescribed(i) && s.distance[as_size(i)] < HUGE_VAL) s.known.push_back(i);
  }
  const auto nearer = [&](int a, int b) {
    return std::pair(s.distance[as_size(a)], a) < std::pair(s.distance[as_size(b)], b);
  };
  if (static_cast<int>(s.known.size()) > room) {
    std::nth_element(s.known.begin(), s.known.begin() + room, s.known.end(), nearer);
    s.known.resize(as_size(room));
  }
  std::sort(s.known.begin(), s.known.end());
}

/// W of the known nodes of all bodies, then of the rows that hold.
bool Answers::assemble(const SolvedStep& step) {
  const int which = answer_ == Answer::kTick ? 1 : 0;
  int first = 0;
  for (const Soft& s : soft_) first += 3 * static_cast<int>(s.known.size());
  const auto all = first + static_cast<int>(held_.size());
  W_.setZero(all, all);
  int at = 0;
  for (Soft& s : soft_) {
    rows_.clear();
    s.rows.clear();
    for (const int node : s.known) {
      for (int k = 0; k < 3; ++k) {
        rows_.begin_row();
        rows_.add(node, Vec3::Unit(k));
        s.rows.push_back(at++);
      }
    }
    int other = first;
    for (const Other& o : held_) {
      const ConstraintSide* side = find_side(step.problem().constraints()[as_size(o.constraint)], step.side(s.index));
      if (side) {
        rows_.begin_row();
        for (const BlockRows::Entry& e : step.rows(s.index).row(side->first + o.offset)) rows_.add(e.block, e.value);
        s.rows.push_back(other);
      }
      ++other;
    }
    const auto n = static_cast<Eigen::Index>(s.rows.size());
    if (n == 0) continue;
    own_.setZero(n, n);
    if (!s.body->add_compliance(which, rows_, own_)) return false;
    for (Eigen::Index j = 0; j < n; ++j) {
      for (Eigen::Index i = 0; i < n; ++i) W_(s.rows[as_size(i)], s.rows[as_size(j)]) += own_(i, j);
    }
  }
  return true;
}

/// What others hold gives way with them: W −= W_to W_oo⁻¹ W_ot.
void Answers::eliminate_others() {
  const auto held = static_cast<Eigen::Index>(held_.size());
  const Eigen::Index n = W_.rows() - held;
  if (held == 0) return;
  Eigen::MatrixXd W_held = W_.block(n, n, held, held);
  W_held.diagonal().array() += 1e-12 * W_held.diagonal().cwiseAbs().maxCoeff();
  const Eigen::MatrixXd X = W_held.ldlt().solve(W_.block(n, 0, held, n));
  W_.topLeftCorner(n, n) -= (W_.block(0, n, n, held) * X).eval();
}

/// W(dt) over W(ΔT) where the body bears the tool: a constant force then leads to what it does in a slow step. Of a
/// body that does not bear, where it is nearest.
double Answers::compute_settle(Soft& s) {
  rows_.clear();
  if (s.force.isZero(0.0)) {
    constexpr std::size_t kNearest = 8;
    std::vector<int> nearest = s.known;
    const auto count = std::min(kNearest, nearest.size());
    std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(count), nearest.end(),
                      [&](int a, int b) { return s.distance[as_size(a)] < s.distance[as_size(b)]; });
    nearest.resize(count);
    std::sort(nearest.begin(), nearest.end());
    for (int k = 0; k < 3; ++k) {
      rows_.begin_row();
      for (const int node : nearest) rows_.add(node, Vec3::Unit(k));
    }
  } else {
    rows_.begin_row();
    for (int i = 0; i < s.body->node_count(); ++i) {
      if (!s.force.segment<3>(3 * i).isZero(0.0) && !s.body->is_prescribed(i)) rows_.add(i, s.force.segment<3>(3 * i));
    }
  }
  std::array<double, 2> answer{};
  for (int which = 0; which < 2; ++which) {
    own_.setZero(rows_.rows(), rows_.rows());
    if (!s.body->add_compliance(which, rows_, own_)) return 1.0;
    answer[as_size(which)] = own_.trace();
  }
  return answer[0] > 0.0 ? std::clamp(answer[1] / answer[0], 0.0, 1.0) : 1.0;
}

void Answers::write(const Soft& s, int first, BodyView<double> out) const {
  const auto k = static_cast<int>(s.known.size());
  out.known = k;
  out.number.setConstant(-1.0);
  out.W.topLeftCorner(3 * k, 3 * k) = W_.block(first, first, 3 * k, 3 * k);
  out.single = k > 0 ? out.W.topLeftCorner(3 * k, 3 * k).trace() / (3.0 * k) : 0.0;
  // Nodes that are not known go as the step moves them; that matters little, for they are far from the tool.
  for (int i = 0; i < s.body->node_count(); ++i)
    out.answered.segment<3>(3 * i) = (s.body->is_prescribed(i) ? 0.0 : out.single) * s.force.segment<3>(3 * i);
  for (int i = 0; i < k; ++i) {
    const int node = s.known[as_size(i)];
    out.node[i] = node;
    out.number[node] = i;
  }
  for (int i = 0; i < k; ++i) {
    auto moved = out.answered.segment<3>(3 * s.known[as_size(i)]);
    moved.setZero();
    for (int j = 0; j < k; ++j) moved += out.W.block<3, 3>(3 * i, 3 * j) * s.force.segment<3>(3 * s.known[as_size(j)]);
  }
}

}  // namespace palpate::live
