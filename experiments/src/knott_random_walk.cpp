#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "knott_scenes.h"
#include "palpate/geometry/shapes.h"
#include "palpate/haptics/scripted.h"

// Safety of `limited`: hands that go anywhere, at up to half a metre a second, through shapes of every kind. Whatever
// they do, the proxy may not get inside, no force may exceed what the coupling gives for the hand's depth, and there is
// no force in free space.
namespace palpate {
namespace {

/// Reproducible on every machine (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform(double low, double high) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  }

 private:
  std::uint64_t state_;
};

TriangleMesh make_random_shape(int number, Random& random) {
  const double size = random.uniform(0.03, 0.06);
  switch (number % 10) {
    case 0:
      return make_noisy_sphere(size, static_cast<int>(random.uniform(300, 3000)), 0.15 * size, 100 + number);
    case 1:
      return make_box(Vec3(size, random.uniform(0.2, 2.0) * size, random.uniform(0.2, 2.0) * size), 1 + number % 5);
    case 2:
      return make_torus(size, random.uniform(0.2, 0.6) * size, 40, 24);
    case 3:
      return make_cylinder(0.5 * size, size, 24, 3);
    case 4:
      return make_organ(2.5 * size, 32);
    case 5:
      return make_figure(3.0 * size, 48);
    case 6:
      return make_box(Vec3(2.0 * size, 0.002, 2.0 * size), 4);  // a plate of 2 mm
    case 7:
      return make_capsule(0.3 * size, size, 20);
    case 8:
      return make_noisy_sphere(size, static_cast<int>(random.uniform(4000, 12000)), 0.01 * size, 100 + number);
    default:
      return make_sphere(size, 12);
  }
}

std::unique_ptr<HandPath> make_random_walk(const BoundingBox& box, double seconds, Random& random) {
  KeyframePathSettings path;
  const Vec3 half = 0.6 * box.size() + Vec3::Constant(0.01);
  double time = 0.0;
  // Begins outside, on top.
  Vec3 at = box.center() + Vec3(0.0, half.y() + 0.02, 0.0);
  path.times.push_back(time);
  path.positions.push_back(at);
  while (time < seconds + 1.0) {
    // Near the surface, mostly: short ways; now and then right through.
    const bool far = random.uniform(0.0, 1.0) < 0.2;
    Vec3 next;
    for (int k = 0; k < 3; ++k) {
      const double anywhere = box.center()[k] + random.uniform(-half[k], half[k]);
      next[k] =
          far ? anywhere
              : std::clamp(at[k] + random.uniform(-0.01, 0.01), box.center()[k] - half[k], box.center()[k] + half[k]);
    }
    time += std::max(0.02, (next - at).norm() / random.uniform(0.02, 0.5));
    path.times.push_back(time);
    path.positions.push_back(next);
    at = next;
  }
  return make_path(path);
}

/// Watches a run and keeps only what matters.
class Watch final : public RunSink {
 public:
  Watch(const World& world, const VirtualCouplingSettings& coupling) : world_(world), coupling_(coupling) {}

  void add(const TickRow& row) override {
    ++ticks;
    if (!row.tool.position.allFinite() || !row.wanted.force.allFinite()) {
      ++not_finite;
      return;
    }
    const Vec3& x = row.tool.position;
    const double distance = world_.static_surfaces()[0].surface.signed_distance(x);
    deepest = std::max(deepest, -distance);
    inside += distance < -1e-9 ? 1 : 0;
    const double force = row.wanted.force.norm();
    largest_force = std::max(largest_force, force);
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
    contact += row.contacts > 0 ? 1 : 0;
    iterations = std::max(iterations, row.iterations);
    unsettled += row.iterations >= 30 ? 1 : 0;
    last_ = x;
  }
  void add(const StepRow&) override {}

  std::uint64_t ticks = 0, not_finite = 0, inside = 0, contact = 0, unsettled = 0, felt_free = 0;
  int iterations = 0;
  double deepest = 0.0;        ///< [m]
  double excess = -1.0;        ///< of the force over what the coupling may give [N]
  double free_force = 0.0;     ///< largest beyond the damper's where nothing lies between proxy and hand [N]
  double largest_force = 0.0;  ///< [N]

 private:
  const World& world_;
  const VirtualCouplingSettings& coupling_;
  Vec3 last_ = Vec3::Zero();
};

}  // namespace

ExperimentResult run_knott_random_walk(const ExperimentOptions& options) {
  const int kShapes = options.choose(20, 10);
  const double kSecondsEach = options.choose(180.0, 2.0);
  Random random(2015);
  Table table;
  table.title = "Each shape";
  table.columns = {"triangles",     "in contact",          "deepest inside",
                   "largest force", "force with free way", "ticks of ≥ 30 iterations",
                   "tick, mean",    "tick, p99.9"};
  double seconds = 0.0, deepest = 0.0, excess = -1.0;
  std::uint64_t not_finite = 0, unsettled = 0, felt_free = 0, ticks = 0;
  Histogram tick_times;
  for (int i = 0; i < kShapes; ++i) {
    TriangleMesh mesh = make_random_shape(i, random);
    Scene scene = make_knott_scene(fmt::format("shape {}", i), "", kSecondsEach);
    scene.first().guards.safety.ramp_time = 0.0;
    const BoundingBox box = compute_bounding_box(mesh.vertices);
    const std::size_t triangles = mesh.triangles.size();
    World world(scene.world);
    world.add({"shape", TriangleTree(std::move(mesh)), random.uniform(0.0, 0.6)});
    ScriptedDevice device(make_random_walk(box, kSecondsEach, random));
    Method method = make_method(scene, "limited", world, device);
    Watch watch(world, scene.first().tool.coupling);
    RunControl control;
    control.stop = options.stop;
    if (options.progress) {
      control.progress = [&](double t) { options.progress("limited", (i + t / kSecondsEach) / kShapes); };
    }
    const RunSummary summary = run_lockstep(scene.run, {method, device, &watch, scene.first().guards}, control);
    seconds += summary.seconds;
    tick_times.merge(summary.tick_times);
    deepest = std::max(deepest, watch.deepest);
    excess = std::max(excess, watch.excess);
    not_finite += watch.not_finite;
    unsettled += watch.unsettled;
    felt_free += watch.felt_free;
    ticks += watch.ticks;
    table.rows.push_back({fmt::format("{}", i + 1),
                          {{fmt::format("{}", triangles)},
                           {fmt::format("{:.0f} %", 100.0 * static_cast<double>(watch.contact) /
                                                        static_cast<double>(std::max<std::uint64_t>(1, watch.ticks)))},
                           {format_quantity(watch.deepest, "m")},
                           {format_quantity(watch.largest_force, "N")},
                           {format_quantity(watch.free_force, "N")},
                           {fmt::format("{}", watch.unsettled)},
                           {format_quantity(1e-9 * summary.tick_times.mean_ns(), "s")},
                           {format_quantity(1e-9 * summary.tick_times.compute_percentile_ns(0.999), "s")}}});
    if (summary.stopped) break;
  }
  ExperimentResult out;
  using Relation = MeasuredClaim::Relation;
  out.claims = {
      {"simulated time", "asked: an hour", seconds, kShapes * kSecondsEach - 1e-6, Relation::kAtLeast, "s"},
      {"deepest that the proxy ever was inside", "never inside", deepest, 1e-9, Relation::kAtMost, "m"},
      {"ticks whose state or force was not finite", "always finite", static_cast<double>(not_finite), 0.0,
       Relation::kAtMost, ""},
      {"force above stiffness × (hand to proxy) + damping × speed", "never", std::max(0.0, excess), 1e-6,
       Relation::kAtMost, "N"},
      {"share of ticks with more than 0.1 N while nothing lies between proxy and hand", "none in free space",
       100.0 * static_cast<double>(felt_free) / static_cast<double>(std::max<std::uint64_t>(1, ticks)), 0.01,
       Relation::kAtMost, "%"},
      {"share of ticks of 30 iterations or more", "\"within less than 30 iterations\"",
       100.0 * static_cast<double>(unsettled) / static_cast<double>(std::max<std::uint64_t>(1, ticks)), 0.1,
       Relation::kAtMost, "%"},
      {"tick, mean", "asked: 5 % of the period", 1e-9 * tick_times.mean_ns(), 50e-6, Relation::kAtMost, "s", true},
      {"tick, p99.9", "asked: 25 % of the period", 1e-9 * tick_times.compute_percentile_ns(0.999), 250e-6,
       Relation::kAtMost, "s", true},
  };
  out.report.title = "An hour of random hands over 20 random shapes";
  out.report.paragraphs = {
      "A hand goes through random points in and around each shape, at up to 0.5 m/s, now and then right through it; "
      "the "
      "slow loop runs at 30 Hz, one period late. Nothing is smoothed or limited behind the method. Single ticks in "
      "which the proxy slides off an "
      "edge may still bear the force of the face that it left (the table's \"force with free way\"); the truth's "
      "proxy, "
      "which has its mass, swings on the coupling there, with up to 22 N and in 0.2 % of the ticks."};
  out.report.tables.push_back(std::move(table));
  return out;
}

}  // namespace palpate
