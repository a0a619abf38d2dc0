#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiments.h"
#include "knott_grounds.h"
#include "stopwatch.h"

// Safety of `limited`: hands that go anywhere, at up to half a metre a second, through shapes of every kind. Whatever
// they do, the proxy may not get inside, no force may exceed what the coupling gives for the hand's depth, and there is
// no force in free space.
namespace palpate {
namespace {

/// Where the surface of what is touched is now, seen by nobody who takes part.
class Surface {
 public:
  explicit Surface(const World& world) : world_(world) {
    if (world.is_static()) {
      tree_.emplace(world.static_surfaces()[0].surface.mesh());
      return;
    }
    for (std::size_t i = 0; i < world.bodies().size() && body_ < 0; ++i) {
      if (!world.is_tool(static_cast<int>(i))) body_ = static_cast<int>(i);
    }
    const BodySurface now = world.bodies()[as_size(body_)].body->surface();
    tree_.emplace(
        TriangleMesh{{now.positions.begin(), now.positions.end()}, {now.triangles.begin(), now.triangles.end()}});
  }

  double distance(const Vec3& p) const { return tree_->signed_distance(p); }

  /// Follows its body; returns the longest way of any of its vertices since [m].
  double follow() {
    if (body_ < 0) return 0.0;
    const BodySurface now = world_.bodies()[as_size(body_)].body->surface();
    double most = 0.0;
    for (std::size_t v = 0; v < now.positions.size(); ++v)
      most = std::max(most, (now.positions[v] - tree_->mesh().vertices[v]).norm());
    tree_->refit(now.positions);
    return most;
  }

 private:
  const World& world_;
  std::optional<TriangleTree> tree_;
  int body_ = -1;  ///< −1: it does not move
};

/// Watches a run and keeps only what matters.
class Watch final : public RunSink {
 public:
  Watch(const World& world, const VirtualCouplingSettings& coupling)
      : world_(world), coupling_(coupling), surface_(world) {}

  void add(const TickRow& row) override {
    ++ticks;
    if (!row.tool.position.allFinite() || !row.wanted.force.allFinite()) {
      ++not_finite;
      return;
    }
    const double force = row.wanted.force.norm();
    largest_force = std::max(largest_force, force);
    contact += row.contacts > 0 ? 1 : 0;
    iterations = std::max(iterations, row.iterations);
    unsettled += row.iterations >= 30 ? 1 : 0;
    compare_with_depth(row, force);
    if (world_.is_static()) compare_with_proxy(row, force);
    last_ = row.tool.position;
    last_hand_ = row.device.position;
  }
  void add(const StepRow&) override {
    recent_ = last_moved_;
    last_moved_ = surface_.follow();
    way_ += last_moved_;
  }

  std::uint64_t ticks = 0, not_finite = 0, inside = 0, contact = 0, unsettled = 0, felt_free = 0;
  std::uint64_t deep = 0, too_weak = 0, too_strong = 0;
  int iterations = 0;
  double deepest = 0.0;        ///< [m]
  double excess = -1.0;        ///< of the force over what the coupling may give [N]
  double free_force = 0.0;     ///< largest beyond the damper's where nothing lies between proxy and hand [N]
  double largest_force = 0.0;  ///< [N]
  double above = 0.0;          ///< largest force beyond stiffness × way [N]
  double force_sum = 0.0, spring_sum = 0.0;  ///< of the force, and of stiffness × depth, where the hand is deep [N]

 private:
  /// The force against the hand's own depth below the mesh, of which the method knows nothing. A proxy outside is at
  /// least as far from the hand as the nearest point of the surface, so the spring gives at least that; and it is no
  /// farther than hand and surface have gone, together, since there was no force.
  void compare_with_depth(const TickRow& row, double force) {
    const double depth = -surface_.distance(row.device.position),
                 damper = coupling_.damping * row.device_velocity.linear.norm();
    if (ticks > 1) way_ += (row.device.position - last_hand_).norm();
    if (depth <= 0.0 && force < 1e-3) way_ = recent_ + last_moved_;
    const double beyond = force - coupling_.stiffness * way_;
    above = std::max(above, beyond);
    too_strong += beyond > kMargin ? 1 : 0;
    if (depth < kDeep) return;
    ++deep;
    force_sum += force;
    spring_sum += coupling_.stiffness * depth;
    too_weak += force < 0.9 * coupling_.stiffness * depth - damper ? 1 : 0;
  }

  void compare_with_proxy(const TickRow& row, double force) {
    const Vec3& x = row.tool.position;
    const double distance = surface_.distance(x);
    deepest = std::max(deepest, -distance);
    inside += distance < -1e-9 ? 1 : 0;
    // Before the tick or after it: one that slides off an edge still feels the face that it left.
    WorldHit hit;
    const bool blocked = world_.find_first_hit(x, row.device.position, hit) ||
                         (ticks > 1 && world_.find_first_hit(last_, row.device.position, hit));
    const Vec3 speed = (x - last_) / 1e-3 - row.device_velocity.linear;
    // What the coupling may give: its spring for the depth, and its damper.
    const double allowed = coupling_.stiffness * (row.device.position - x).norm() + coupling_.damping * speed.norm();
    if (ticks > 1) excess = std::max(excess, force - allowed);
    // In the tick that ends a contact the damper still acts.
    const double felt = blocked ? 0.0 : force - coupling_.damping * speed.norm();
    free_force = std::max(free_force, felt);
    felt_free += felt > 0.1 ? 1 : 0;
  }

  static constexpr double kMargin = 0.5;  ///< for the damper [N]
  static constexpr double kDeep = 1e-3;   ///< [m]
  const World& world_;
  const VirtualCouplingSettings& coupling_;
  Surface surface_;
  Vec3 last_ = Vec3::Zero(), last_hand_ = Vec3::Zero();
  double way_ = 0.0;                        ///< of hand and surface since there was no force [m]
  double recent_ = 0.0, last_moved_ = 0.0;  ///< of the surface in the two last slow steps [m]
};

double share_of(std::uint64_t part, std::uint64_t all) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(1, all));
}

/// Everything that was seen of some grounds.
struct Total {
  double seconds = 0.0, deepest = 0.0, excess = -1.0;
  std::uint64_t not_finite = 0, unsettled = 0, felt_free = 0, ticks = 0, deep = 0, too_weak = 0, too_strong = 0;
  BothTimes tick_times;
  bool stopped = false;

  void add(const Watch& w) {
    deepest = std::max(deepest, w.deepest);
    excess = std::max(excess, w.excess);
    not_finite += w.not_finite;
    unsettled += w.unsettled;
    felt_free += w.felt_free;
    ticks += w.ticks;
    deep += w.deep;
    too_weak += w.too_weak;
    too_strong += w.too_strong;
  }
};

Table make_ground_table(const std::string& title) {
  Table table;
  table.title = title;
  table.columns = {"in contact",          "deepest inside",           "largest force", "force over k × depth",
                   "force with free way", "ticks of ≥ 30 iterations", "tick, mean",    "tick, p99.9"};
  table.note = fmt::format(
      "Force over k × depth: both in the mean, where the hand is 1 mm below the surface or deeper. Times: {}.",
      kBothClocks);
  return table;
}

void walk(Ground ground, double seconds, Random& random, const ExperimentOptions& options, double done, Total& total,
          Table& table) {
  Scene& scene = ground.scene;
  scene.first().guards.safety.ramp_time = 0.0;
  scene.run.seconds = seconds;
  scene.first().hand.kind = SceneScriptedHand{.path = make_random_walk(ground.box, seconds, random)};
  World world = make_world(scene, ground.extras);
  const std::unique_ptr<Device> device = make_device(scene);
  Method method = make_method(scene, "limited", world, *device);
  Watch watch(world, scene.first().tool.coupling);
  Stopwatch stopwatch;
  RunControl control;
  control.stop = options.stop;
  if (options.progress) control.progress = [&](double) { options.progress(ground.name, done); };
  RunParts parts(method, *device, &watch, scene.first().guards);
  parts.watch = &stopwatch;
  const RunSummary summary = run_lockstep(scene.run, parts, control);
  total.seconds += summary.seconds;
  total.stopped = total.stopped || summary.stopped;
  total.tick_times.processor.merge(stopwatch.ticks.processor);
  total.tick_times.wall.merge(stopwatch.ticks.wall);
  total.add(watch);
  const bool still = world.is_static();
  table.rows.push_back({ground.name,
                        {{fmt::format("{:.0f} %", share_of(watch.contact, watch.ticks))},
                         {still ? format_quantity(watch.deepest, "m") : "–"},
                         {format_quantity(watch.largest_force, "N")},
                         {fmt::format("{:.2f}", watch.force_sum / watch.spring_sum)},
                         {still ? format_quantity(watch.free_force, "N") : "–"},
                         {fmt::format("{}", watch.unsettled)},
                         {format_times(stopwatch.ticks, TimeOf::kMean)},
                         {format_times(stopwatch.ticks, TimeOf::kP999)}}});
}

/// The force against the depth of the hand, which is found from the mesh alone.
void add_depth_claims(const std::string& before, const Total& total, std::vector<MeasuredClaim>& claims) {
  using Relation = MeasuredClaim::Relation;
  claims.push_back({before + "ticks whose state or force was not finite", "always finite",
                    static_cast<double>(total.not_finite), 0.0, Relation::kAtMost, ""});
  claims.push_back({before + "force below 90 % of stiffness × the hand's depth below the mesh: share of the ticks in "
                             "which that is 1 mm or more",
                    "a proxy outside is at least so far away", share_of(total.too_weak, total.deep), 1.0,
                    Relation::kAtMost, "%"});
  claims.push_back({before + "force 0.5 N or more above stiffness × the way of hand and surface since there was none: "
                             "share of the ticks",
                    "a proxy is left behind by no more", share_of(total.too_strong, total.ticks), 0.01,
                    Relation::kAtMost, "%"});
}

}  // namespace

ExperimentResult run_knott_random_walk(const ExperimentOptions& options) {
  const int kShapes = options.choose(20, 10), kMoving = options.choose(7, 2);
  const double kSecondsEach = options.choose(180.0, 2.0), kSecondsMoving = options.choose(60.0, 2.0);
  Random random(2015);
  Table still = make_ground_table("Shapes that do not move"), moving = make_ground_table("Moving and soft shapes");
  Total of_still, of_moving;
  for (int i = 0; i < kShapes && !of_still.stopped; ++i)
    walk(make_static_ground(i, random), kSecondsEach, random, options, static_cast<double>(i) / kShapes, of_still,
         still);
  for (int i = 0; i < kMoving && !of_still.stopped && !of_moving.stopped; ++i)
    walk(make_moving_ground(i, random), kSecondsMoving, random, options, static_cast<double>(i) / kMoving, of_moving,
         moving);
  ExperimentResult out;
  using Relation = MeasuredClaim::Relation;
  out.claims = {
      {"simulated time", "asked: an hour", of_still.seconds, kShapes * kSecondsEach - 1e-6, Relation::kAtLeast, "s"},
      {"deepest that the proxy ever was inside", "never inside", of_still.deepest, 1e-9, Relation::kAtMost, "m"},
      {"force above stiffness × (hand to proxy) + damping × speed", "never", std::max(0.0, of_still.excess), 1e-6,
       Relation::kAtMost, "N"},
      {"share of ticks with more than 0.1 N while nothing lies between proxy and hand", "none in free space",
       share_of(of_still.felt_free, of_still.ticks), 0.01, Relation::kAtMost, "%"},
      {"share of ticks of 30 iterations or more", "\"within less than 30 iterations\"",
       share_of(of_still.unsettled, of_still.ticks), 0.1, Relation::kAtMost, "%"},
  };
  add_depth_claims("", of_still, out.claims);
  add_depth_claims("moving and soft: ", of_moving, out.claims);
  add_time_claims("tick, mean", "asked: 5 % of the period", of_still.tick_times, TimeOf::kMean, 50e-6, out.claims);
  add_time_claims("tick, p99.9", "asked: 25 % of the period", of_still.tick_times, TimeOf::kP999, 250e-6, out.claims);
  out.report.title = "An hour of random hands over 20 random shapes, and over moving and soft ones";
  out.report.paragraphs = {
      "A hand goes through random points in and around each shape, at up to 0.5 m/s, now and then right through it; "
      "the slow loop runs at 30 Hz, one period late. Nothing is smoothed or limited behind the method. Single ticks in "
      "which the proxy slides off an edge may still bear the force of the face that it left (the table's \"force with "
      "free way\"); the truth's proxy, which has its mass, swings on the coupling there, with up to 22 N and in 0.2 % "
      "of the ticks.",
      "The depth of the hand is found from the mesh, where the slow loop has it, and not from the proxy, by whose "
      "distance the method limits its force."};
  out.report.tables = {std::move(still), std::move(moving)};
  return out;
}

}  // namespace palpate
