#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "../src/live_body.h"
#include "live_rig.h"
#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/corotational_hexes.h"
#include "palpate/bodies/particle.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/hex_grid.h"

// What a tick finds on the body that stands for a soft one, most of whose surface lies where it was some ticks ago, is
// what the full finder finds on the soft one itself.
namespace palpate::live_finder_test {
namespace {

using namespace live_rig;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double unit() { return uniform_(engine_); }  ///< from −1 to 1
  Vec3 vector() { return {unit(), unit(), unit()}; }
  int below(int count) { return static_cast<int>(engine_() % static_cast<unsigned>(count)); }

 private:
  std::mt19937 engine_;
  std::uniform_real_distribution<double> uniform_{-1.0, 1.0};
};

/// What a hand may hold, at some place and with some motion.
struct RandomTool {
  std::unique_ptr<Body> body;
  ContactShape shape;
};

constexpr std::array kKinds = {"point", "sphere", "box",  "convex rod", "convex capsule",
                               "ring",  "rod",    "wire", "soft block", "sheet"};

RandomTool make_rigid(Random& random, const TriangleMesh& surface, const Vec3& place, const Vec3& velocity) {
  RigidBodySettings settings;
  settings.surface = surface;
  settings.pose = {place, rotation_from_vector(std::numbers::pi * random.vector())};
  settings.velocity = {velocity, 5.0 * random.vector()};
  RandomTool out;
  out.shape.kind = ContactShape::Surface{};
  out.body = std::make_unique<RigidBody>(settings);
  return out;
}

RandomTool make_wire(Random& random, const Vec3& place, const Vec3& velocity) {
  BeamChainSettings settings;
  std::vector<Vec3> points = {place - 0.03 * random.vector().normalized()};
  const Vec3 along = (place - points[0]) / 3.0;
  for (int i = 1; i < 7; ++i) points.push_back(points.back() + along + 0.002 * random.vector());
  settings.rest = make_chain_poses(points);
  settings.section = make_round_section(0.0015 + 0.001 * random.unit(), 0.3);
  settings.material = {.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1000.0};
  auto chain = std::make_unique<BeamChain>(settings);
  chain->set_velocities(std::vector<Vec3>(as_size(chain->block_count()), velocity));
  RandomTool out;
  out.shape.kind = ContactShape::Chain{};
  out.body = std::move(chain);
  return out;
}

RandomTool make_soft(Random& random, const Vec3& place, const Vec3& velocity) {
  const Material material{.young_modulus = 1e4, .poisson_ratio = 0.3, .density = 1000.0};
  TetMesh mesh = make_tet_block(Vec3(0.012, 0.01, 0.016), {2, 2, 2});
  const Quat turn = rotation_from_vector(std::numbers::pi * random.vector());
  for (Vec3& v : mesh.vertices) v = place + turn * v + 5e-4 * random.vector();
  auto body = std::make_unique<CorotationalTets>(mesh, std::span(&material, 1));
  body->set_velocities(std::vector<Vec3>(as_size(body->block_count()), velocity));
  RandomTool out;
  out.shape.kind = ContactShape::Surface{};
  out.body = std::move(body);
  return out;
}

RandomTool make_random_tool(Random& random, std::size_t kind, const Vec3& place) {
  const Vec3 velocity = std::pow(10.0, 1.5 * random.unit() - 1.5) * random.vector();
  const std::string_view name = kKinds[kind];
  if (name == "point") {
    RandomTool out;
    auto point = std::make_unique<Particle>(0.01, place);
    point->set_velocities(std::array{velocity});
    out.shape.kind = ContactShape::Point{0.004 + 0.003 * random.unit()};
    out.body = std::move(point);
    return out;
  }
  if (name == "wire") return make_wire(random, place, velocity);
  if (name == "soft block") return make_soft(random, place, velocity);
  const TriangleMesh surface = name == "ring"             ? make_torus(0.012, 0.004, 16, 10)
                               : name == "convex capsule" ? make_capsule(0.005, 0.02, 12)
                               : name == "sheet" ? make_sine_surface({.size_x = 0.03, .size_z = 0.02, .cell = 0.004})
                                                 : make_cylinder(0.006, 0.03, 12, 3);
  RandomTool out = make_rigid(random, surface, place, velocity);
  if (name == "sphere") out.shape.kind = ContactShape::Sphere{.radius = 0.005 + 0.003 * random.unit()};
  if (name == "box") out.shape.kind = ContactShape::Box{.size = Vec3(0.01, 0.012, 0.02) + 0.005 * random.vector()};
  if (name.starts_with("convex")) out.shape.kind = ContactShape::Hull{};
  if (name == "sheet") out.shape.kind = ContactShape::Surface{.two_sided = true, .half_thickness = 0.001};
  return out;
}

/// Soft bodies: a block whose surface is its nodes, a finer one, and an organ whose surface is carried by hexes.
std::vector<std::unique_ptr<FemBody>> make_bodies() {
  const Material material{.young_modulus = 1e4, .poisson_ratio = 0.35, .density = 1000.0};
  std::vector<std::unique_ptr<FemBody>> out;
  out.push_back(make_block(true, 2e4, 4));
  out.push_back(make_block(true, 2e4, 6));
  const TriangleMesh organ = make_organ(0.1, 20);
  out.push_back(std::make_unique<CorotationalHexes>(make_voxels(TriangleTree(organ), {.cell = 0.02}),
                                                    std::span(&material, 1), organ));
  return out;
}

/// A soft body, and the one that stands for it in the fast loop.
struct Twins {
  FemBody& body;
  const std::vector<Vec3> rest;
  live::LiveBody twin;
  const live::BodyLayout layout;
  std::vector<double> numbers;
  std::vector<Vec3> nodes, change;
  Vec3 middle = Vec3::Zero();

  explicit Twins(FemBody& original)
      : body(original),
        rest(original.positions().begin(), original.positions().end()),
        twin(original, live::Answer::kTick, kTick),
        layout(original.node_count(), 0),
        numbers(layout.size(), 0.0),
        nodes(rest),
        change(rest.size(), Vec3::Zero()) {
    layout.view(numbers.data()).number.setConstant(-1.0);
    for (const Vec3& p : rest) middle += p / static_cast<double>(rest.size());
  }
  /// Puts the nodes of both there, and says how far they are about to go.
  void place(Random& random, std::span<const Vec3> places) {
    nodes.assign(places.begin(), places.end());
    for (Vec3& c : change) c = 0.3 * random.vector();
    body.set_positions(nodes);
    body.set_velocities(std::vector<Vec3>(nodes.size(), Vec3::Zero()));
    auto model = layout.view(numbers.data());
    for (std::size_t i = 0; i < nodes.size(); ++i) model.place.segment<3>(3 * static_cast<Eigen::Index>(i)) = nodes[i];
    twin.place(layout.view(static_cast<const double*>(numbers.data())), {});
  }
};

/// What is deeper in a body than this may look for its way out beyond what is kept up to date [m]. The margin that a
/// LiveBody keeps.
constexpr double kCovered = 0.003;

struct Count {
  long states = 0, touching = 0, contacts = 0, partial = 0;
};

/// A tool goes its way for some ticks near a body whose nodes go theirs.
void compare_on_the_way(Random& random, Twins& twins, std::size_t kind, int states, Count& count) {
  std::vector<Vec3> from = twins.rest, speed = twins.rest;
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] += 0.002 * random.vector();
    speed[i] = 0.3 * random.vector();
  }
  const std::span<const Vec3> surface = twins.body.surface().positions;
  const Vec3 at = surface[as_size(random.below(static_cast<int>(surface.size())))];
  const Vec3 place = at + (kind < 2 ? 0.003 : 0.008) * (at - twins.middle).normalized() + 0.006 * random.vector();
  const RandomTool tool = make_random_tool(random, kind, place);
  const ContactFinderSettings of_tick = ContactFinderSettings().for_ticks();
  ContactFinder whole(of_tick), tick(of_tick);
  for (ContactFinder* finder : {&whole, &tick}) finder->add(tool.body.get(), tool.shape);
  whole.add(&twins.body, make_surface());
  tick.add(&twins.twin, make_surface());
  const std::vector<Vec3> still(as_size(tool.body->block_count()), Vec3::Zero());
  double time = 0.0, depth = 0.0;
  BoundingBox last;
  std::vector<Contact> a, b;
  for (int s = 0; s < states; ++s) {
    std::vector<Vec3> now = from;
    for (std::size_t i = 0; i < now.size(); ++i) now[i] += time * speed[i];
    twins.place(random, now);
    // As a tick does: where the tool was tells where it is.
    BoundingBox box = tick.swept_box(0);
    box.lower.array() -= depth;
    box.upper.array() += depth;
    const double way =
        2.0 * (box.lower - last.lower).cwiseAbs().cwiseMax((box.upper - last.upper).cwiseAbs()).maxCoeff();
    if (s == 1 || (s > 1 && !twins.twin.covers(box, way))) twins.twin.watch(box);
    last = box;
    const FreshSurface part = twins.twin.fresh_surface();
    const bool partial = !part.vertices.empty() && part.vertices.size() < 3 * surface.size() / 4;
    const std::array<std::span<const Vec3>, 2> dv{still, twins.change};
    const double deepest = whole.find(kTick, dv, a).deepest;
    depth = tick.find(kTick, dv, b).deepest;
    tool.body->advance(kTick, still);
    time += kTick;
    if (std::max(deepest, depth) > kCovered) continue;
    ASSERT_EQ(a.size(), b.size()) << kKinds[kind] << ", state " << s;
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(a[i].id, b[i].id) << kKinds[kind];
      ASSERT_NEAR(a[i].gap, b[i].gap, 1e-9) << kKinds[kind];
      ASSERT_NEAR((a[i].normal - b[i].normal).norm(), 0.0, 1e-9) << kKinds[kind];
    }
    ++count.states;
    count.partial += partial;
    count.touching += !a.empty();
    count.contacts += std::ssize(a);
  }
  // The next tool begins elsewhere.
  twins.twin.watch({.lower = Vec3::Constant(-1.0), .upper = Vec3::Constant(1.0)});
}

TEST(Live, TicksContactsAreThoseOfTheFullFinder) {
  Random random(7);
  std::array<Count, kKinds.size()> counts;
  constexpr int kTools = 850, kStates = 21;
  const std::vector<std::unique_ptr<FemBody>> bodies = make_bodies();
  std::vector<std::unique_ptr<Twins>> twins;
  for (const auto& body : bodies) twins.push_back(std::make_unique<Twins>(*body));
  for (std::size_t t = 0; t < kTools; ++t) {
    const std::size_t kind = t % kKinds.size();
    compare_on_the_way(random, *twins[t / kKinds.size() % twins.size()], kind, kStates, counts[kind]);
    if (HasFatalFailure()) FAIL() << "tool " << t;
  }
  long states = 0, partial = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    states += counts[k].states;
    partial += counts[k].partial;
    EXPECT_GT(counts[k].touching, counts[k].states / 4) << kKinds[k];
    EXPECT_GT(counts[k].contacts, counts[k].states / 4) << kKinds[k];
  }
  EXPECT_GE(states, 10000);
  EXPECT_GT(partial, states / 2) << "most of the surface is left where it was";
}

}  // namespace
}  // namespace palpate::live_finder_test
