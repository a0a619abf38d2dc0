#include <gtest/gtest.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstring>

#include "palpate/experiments/compare.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/methods/limited_settings.h"
#include "palpate/scene/builtin.h"

// Laws that a whole run obeys, from the scene to the force in the hand: nothing depends on where the origin is, on left
// and right, on how a delay is divided, or on a tool's name.
namespace palpate::run_laws_test {
namespace {

/// A point pressed 4 mm into a static box whose top is at y = 0, and slid along x and z.
Scene make_pressing(double friction) {
  Scene scene;
  scene.name = "pressing";
  scene.run.seconds = 0.8;
  scene.bodies.resize(1);
  scene.bodies[0].kind = SceneStatic{.shape = {.kind = BoxShape{.size = Vec3(0.4, 0.1, 0.4), .cells = 6}}};
  scene.bodies[0].position = Vec3(0.0, -0.05, 0.0);
  scene.bodies[0].friction = friction;
  SceneKeyframePath path;
  path.keyframes = {{.time = 0.0, .position = Vec3(0.01, 0.01, 0.0)},
                    {.time = 0.3, .position = Vec3(0.01, -0.004, 0.0)},
                    {.time = 0.8, .position = Vec3(0.06, -0.004, 0.02)}};
  HeldTool& held = scene.first();
  held.hand.kind = SceneScriptedHand{.path = path};
  held.tool.coupling.stiffness = 500.0;
  held.guards.safety.ramp_time = 0.0;
  return scene;
}

SceneKeyframePath& path_of(Scene& scene) {
  return std::get<SceneKeyframePath>(*find_path(scene.first().hand));
}

RunData run(const Scene& scene, const std::string& method) {
  World world = make_world(scene);
  return run_scene(scene, world, {.method = method}).data;
}

const char* const kMethods[] = {"reference", "direct", "halfspace", "limited"};

/// The largest difference of the forces sent, those of `a` changed by `map` [N].
template <typename Map>
double compute_difference(const RunData& a, const RunData& b, const Map& map) {
  EXPECT_EQ(a.ticks.size(), b.ticks.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < std::min(a.ticks.size(), b.ticks.size()); ++i)
    worst = std::max(worst, (map(a.ticks[i].sent.force) - b.ticks[i].sent.force).norm());
  return worst;
}

Vec3 same(const Vec3& f) {
  return f;
}

double peak_of(const RunData& run) {
  double peak = 0.0;
  for (const TickRow& row : run.ticks) peak = std::max(peak, row.sent.force.norm());
  return peak;
}

// 4 mm on 500 N/m. The last stretch is slid at 0.1 m/s without friction, so the force is the spring's alone.
TEST(RunLaws, ForceOnAWallIsStiffnessTimesDepth) {
  for (const char* method : kMethods) {
    const RunData data = run(make_pressing(0.0), method);
    EXPECT_NEAR(data.ticks.back().sent.force.y(), 2.0, 1e-3) << method;
  }
}

// Far from everything the hand feels the proxy's inertia m a alone. A smooth way d in a time T from rest to rest
// accelerates by 6 d / T² at most, and a spring that is pulled at once gives no more than twice what it gives at last.
TEST(RunLaws, WithoutContactTheHandFeelsNoMoreThanTheProxysInertia) {
  Scene scene = make_pressing(0.5);
  double fastest = 0.0;
  std::vector<SceneKeyframe>& keyframes = path_of(scene).keyframes;
  for (SceneKeyframe& k : keyframes) k.position.y() += 0.1;
  for (std::size_t i = 1; i < keyframes.size(); ++i) {
    const double time = keyframes[i].time - keyframes[i - 1].time;
    fastest = std::max(fastest, 6.0 * (keyframes[i].position - keyframes[i - 1].position).norm() / (time * time));
  }
  const double mass = std::get<ScenePointTool>(scene.first().tool.kind).mass;
  for (const char* method : kMethods) EXPECT_LT(peak_of(run(scene, method)), 2.0 * mass * fastest) << method;
}

/// What moves the proxy by one metre within a tick, m/h² + b/h + k [N/m]: how much of an error of its place is felt.
double compute_grasp(const Scene& scene) {
  const VirtualCouplingSettings& c = scene.first().tool.coupling;
  const double mass = std::get<ScenePointTool>(scene.first().tool.kind).mass, h = scene.run.dt;
  return mass / (h * h) + c.damping / h + c.stiffness;
}

// A point keeps a skin of 1e-10 of the size of its coordinates from a surface (point_slide.h), which is the one thing
// that knows of the origin: twice the largest coordinate, 0.57 m, gives 1.2e-10 m, and the force that belongs to it.
TEST(RunLaws, NothingDependsOnWhereTheOriginIs) {
  const Vec3 offset(0.25, -0.5, 0.125);
  Scene moved = make_pressing(0.3);
  moved.bodies[0].position += offset;
  for (SceneKeyframe& k : path_of(moved).keyframes) k.position += offset;
  for (const char* method : kMethods) {
    const RunData here = run(make_pressing(0.3), method);
    ASSERT_GT(peak_of(here), 1.0);
    EXPECT_LT(compute_difference(here, run(moved, method), same), 1.2e-10 * compute_grasp(moved)) << method;
  }
}

// The hand goes the mirror image's way over the mirror image of the box, which it is itself. `limited` stops iterating
// when the proxy moves by less than its tolerance, in either run.
TEST(RunLaws, LeftIsTheMirrorImageOfRight) {
  Scene mirrored = make_pressing(0.3);
  for (SceneKeyframe& k : path_of(mirrored).keyframes) k.position.x() *= -1.0;
  const auto mirror = [](const Vec3& f) { return Vec3(-f.x(), f.y(), f.z()); };
  for (const char* method : kMethods) {
    const RunData here = run(make_pressing(0.3), method);
    EXPECT_LT(compute_difference(here, run(mirrored, method), mirror),
              2.0 * LimitedSettings{}.tolerance * compute_grasp(mirrored))
        << method;
    EXPECT_GT(compute_difference(here, run(mirrored, method), same), 0.1) << "friction pulls the other way";
  }
}

// Coulomb: what slides is held back by μ times what presses, against the motion.
TEST(RunLaws, SlidingIsHeldBackByFrictionTimesPressure) {
  for (const double mu : {0.1, 0.3}) {
    // In the middle of the slide, where the hand neither speeds up nor slows down much.
    const RunData data = run(make_pressing(mu), "reference");
    const Vec3 f = data.ticks[550].sent.force;
    EXPECT_NEAR(std::hypot(f.x(), f.z()), mu * f.y(), 1e-3 * f.y()) << mu;
    EXPECT_LT(f.x(), 0.0);
    EXPECT_LT(f.z(), 0.0);
  }
}

// A delay is a delay, wherever it comes from.
TEST(RunLaws, ExtraLatencyAddsToTheLatency) {
  Scene one = make_pressing(0.3), two = one;
  one.run.latency = 0.035;
  two.run.latency = 0.02;
  two.run.extra_latency = 0.015;
  for (const char* method : {"direct", "halfspace"}) {
    EXPECT_EQ(compute_difference(run(one, method), run(two, method), same), 0.0) << method;
  }
  // A plane is the same however late it comes; a force is not.
  EXPECT_GT(compute_difference(run(one, "direct"), run(make_pressing(0.3), "direct"), same), 1e-3);
}

TEST(RunLaws, ModelIsAsOldAsTheRatesSay) {
  const Scene scene = make_pressing(0.0);
  const RunData data = run(scene, "halfspace");
  double oldest = 0.0, youngest = 1.0;
  for (const TickRow& row : data.ticks) {
    if (row.model_age == 0.0) continue;  // none has come yet
    oldest = std::max(oldest, row.model_age);
    youngest = std::min(youngest, row.model_age);
  }
  EXPECT_NEAR(youngest, scene.run.latency, 1e-9);
  EXPECT_NEAR(oldest, scene.run.latency + scene.run.slow_period - scene.run.dt, 1e-9);
}

TEST(RunLaws, NameOfAToolIsOnlyAName) {
  Scene named = make_pressing(0.3);
  named.first().name = "left";
  named.name = "other";
  for (const char* method : kMethods)
    EXPECT_EQ(compute_difference(run(make_pressing(0.3), method), run(named, method), same), 0.0) << method;
}

TEST(RunLaws, WrittenSceneRunsAsTheOneThatWasWritten) {
  const Scene scene = make_pressing(0.3);
  const Scene read = parse_scene(write_scene(scene), "x.json");
  for (const char* method : kMethods)
    EXPECT_EQ(compute_difference(run(scene, method), run(read, method), same), 0.0) << method;
}

// A hand that goes its way whatever it meets is at the end where it would have been without the wall, and has done the
// work against friction: energy given to it is negative, and no method makes any.
TEST(RunLaws, FrictionTakesEnergyFromTheHand) {
  for (const char* method : {"reference", "halfspace", "limited"}) {
    const RunData data = run(make_pressing(0.3), method);
    EXPECT_LT(data.ticks.back().energy, -0.3 * 2.0 * 0.04) << method;  // μ N times most of the way
  }
}

TEST(RunLaws, ErrorAgainstItselfIsNothing) {
  const Scene scene = make_pressing(0.3);
  const RunData truth = run(scene, "reference");
  const Metrics m = compute_metrics(truth, &truth);
  EXPECT_EQ(m.force_error_rms, 0.0);
  EXPECT_EQ(m.force_error_max, 0.0);
  EXPECT_EQ(m.force_error_relative, 0.0);
}

// On a flat wall at rest a plane is the whole truth, so the classic contact model has no error left but its start.
TEST(RunLaws, HalfspaceOnAFlatWallEndsAtTheTruth) {
  const Scene scene = make_pressing(0.0);
  World world = make_world(scene);
  CompareOptions options;
  options.methods = {"halfspace"};
  const Comparison c = compare_methods(scene, world, options);
  const Vec3 truth = c.reference.data.ticks.back().sent.force;
  EXPECT_LT((c.runs[0].data.ticks.back().sent.force - truth).norm(), 1e-6);
  EXPECT_LT(c.metrics[1].metrics.force_error_relative, 5.0);
}

#ifdef __GLIBC__
// Memory that is freed and asked for is filled with bytes of another kind: a place read beyond its end shows them.
TEST(RunLaws, NothingDependsOnWhatLiesInMemory) {
  Scene scene = load_builtin_scene("wire-on-slab");
  scene.run.seconds = 1.0;
  std::vector<RunData> runs;
  for (const int filling : {0, 0x3f, 0x7f}) {
    mallopt(M_PERTURB, filling);
    runs.push_back(run(scene, "compliance"));
  }
  mallopt(M_PERTURB, 0);
  double largest = 0.0;
  for (const RunData& other : runs) {
    ASSERT_EQ(other.ticks.size(), runs[0].ticks.size());
    for (std::size_t i = 0; i < other.ticks.size(); ++i) {
      ASSERT_EQ(other.ticks[i].wanted.force, runs[0].ticks[i].wanted.force) << other.ticks[i].time;
      largest = std::max(largest, other.ticks[i].wanted.force.norm());
    }
  }
  EXPECT_GT(largest, 0.1);  // the wire lies on the slab
}
#endif

}  // namespace
}  // namespace palpate::run_laws_test
