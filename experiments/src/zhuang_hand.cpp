#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "palpate/bodies/fem_body.h"
#include "palpate/scene/builtin.h"
#include "zhuang_runs.h"

// Zhuang & Canny 2000, Fig. 1: a virtual hand and a soft cantilever beam. Five proxies take its end, lift it, twist it
// and let it go.
namespace palpate {
namespace zhuang_hand {
namespace {

using namespace zhuang;
using Relation = MeasuredClaim::Relation;

constexpr double kHoldFrom = 2.0, kOpenFrom = 4.2;  ///< when the hand has closed, and begins to open [s]

/// What is looked at along the way.
struct Track {
  std::vector<double> time, tip;
  std::array<std::vector<double>, 5> force;  ///< sizes [N]
  double jump_error = 0.0;                   ///< largest |jump in a tick − slow difference / ticks| [N]
  double deepest = 0.0;                      ///< penetration at the end of a slow step while the hand holds [m]
  int fewest = 5;                            ///< fingers that feel something while the hand holds
  bool good = true;
};

double compute_tip(const FemBody& beam) {
  double sum = 0.0;
  int count = 0;
  for (int i = 0; i < beam.node_count(); ++i) {
    const auto k = as_size(i);
    if (beam.rest_positions()[k].x() < 0.0799) continue;
    sum += beam.positions()[k].y();
    ++count;
  }
  return sum / count;
}

Track follow(const Scene& scene, const ExperimentOptions& options) {
  World world = make_world(scene);
  const std::unique_ptr<Device> device = make_device(scene);
  HandDriven driver(make_method(scene, "interpolation", world, *device));
  const auto& beam = dynamic_cast<const FemBody&>(*world.bodies()[0].body);
  const int each = static_cast<int>(std::lround(scene.run.slow_period / scene.run.dt));
  const int ticks = static_cast<int>(std::lround(scene.run.seconds / scene.run.dt));
  Track out;
  std::vector<std::array<Vec3, 5>> shown;
  for (int i = 0; i < ticks; ++i) {
    if (options.stop && options.stop->load()) break;
    const double time = i * scene.run.dt;
    if (i % each == 0) {
      const StepReport report = driver.step();
      out.good = out.good && report.converged && !report.overflow;
      if (time > kHoldFrom && time < kOpenFrom) out.deepest = std::max(out.deepest, report.penetration);
      if (options.progress) options.progress("hand", time / scene.run.seconds);
    }
    const TickResult felt = driver.tick(device->read(time));
    shown.emplace_back();
    int feeling = 0;
    for (std::size_t f = 0; f < 5; ++f) {
      shown.back()[f] = felt.finger_forces[f];
      if (felt.finger_forces[f].norm() > 1e-3) ++feeling;
    }
    if (time > kHoldFrom + 0.1 && time < kOpenFrom) out.fewest = std::min(out.fewest, feeling);
    if (i % 5 != 0) continue;
    out.time.push_back(time);
    out.tip.push_back(compute_tip(beam));
    for (std::size_t f = 0; f < 5; ++f) out.force[f].push_back(felt.finger_forces[f].norm());
  }
  // In each slow period the force goes in equal parts from what it was to what it is at the end.
  for (std::size_t first = as_size(each); first + as_size(each) < shown.size(); first += as_size(each)) {
    for (std::size_t f = 0; f < 5; ++f) {
      const Vec3 part = (shown[first + as_size(each) - 1][f] - shown[first - 1][f]) / each;
      for (std::size_t i = first; i < first + as_size(each); ++i)
        out.jump_error = std::max(out.jump_error, (shown[i][f] - shown[i - 1][f] - part).norm());
    }
  }
  return out;
}

double value_at(const Track& track, const std::vector<double>& values, double time) {
  const auto at = std::lower_bound(track.time.begin(), track.time.end(), time);
  return at == track.time.end() ? kNotAvailable : values[as_size(at - track.time.begin())];
}

}  // namespace

static ExperimentResult reproduce_hand(const ExperimentOptions& options) {
  Scene scene = load_builtin_scene("zhuang-hand");
  if (options.quick) std::get<SceneSoft>(scene.bodies[0].kind).cell *= 2.0;
  set_slow_period(scene, 0.033, 0.0);  // whole ticks, so that equal parts can be looked for
  const Track track = follow(scene, options);
  double highest = -1.0;
  for (std::size_t i = 0; i < track.time.size(); ++i) {
    if (track.time[i] > kHoldFrom && track.time[i] < kOpenFrom) highest = std::max(highest, track.tip[i]);
  }
  const double sag = value_at(track, track.tip, 1.2), after = track.tip.empty() ? kNotAvailable : track.tip.back();
  ExperimentResult out;
  out.claims = {
      {"every slow step integrated whole and finite (1: yes)", "stable", track.good ? 1.0 : 0.0, 1.0,
       Relation::kAtLeast, ""},
      {"fingers that feel the beam at once while it is held",
       "\"multiple virtual proxies (for instance, a virtual hand)\"", static_cast<double>(track.fewest), 5.0,
       Relation::kAtLeast, ""},
      {"the beam's end is lifted by", "large global deformation", highest - sag, 0.05, Relation::kAtLeast, "m"},
      {"let go, it comes back to its sag within", "–", std::abs(after - sag), 0.005, Relation::kAtMost, "m"},
      {"deepest node in a finger while the hand holds", "non-penetration", track.deepest, 1e-4, Relation::kAtMost, "m"},
      {"force between two states: largest difference from equal parts", "\"a simple linear interpolation\"",
       track.jump_error, 1e-12, Relation::kAtMost, "N"},
  };
  out.report.title = "A hand of five proxies on a soft cantilever";
  out.report.paragraphs = {
      "After Zhuang & Canny 2000, Fig. 1: four fingers below and a thumb above close on the end of a beam of 2,500 "
      "tets "
      "that hangs by its weight, lift it, twist it and let it go. Slow loop at 30 Hz."};
  Plot tip;
  tip.title = "Height of the beam's end";
  tip.x_label = "time";
  tip.x_unit = "s";
  tip.y_label = "height";
  tip.y_unit = "m";
  tip.series = {{"end", track.time, track.tip, SeriesStyle::kMethod}};
  tip.note = "The hand closes until 2 s, lifts until 2.8 s, twists there and back until 4.2 s and opens until 4.6 s.";
  Plot forces = tip;
  forces.title = "What the fingers feel";
  forces.y_label = "force";
  forces.y_unit = "N";
  forces.series.clear();
  forces.note.clear();
  const char* names[] = {"thumb", "index", "middle", "ring", "little"};
  for (std::size_t f = 0; f < 5; ++f)
    forces.series.push_back({names[f], track.time, track.force[f], SeriesStyle::kMethod});
  out.report.plots = {tip, forces};
  return out;
}

}  // namespace zhuang_hand

ExperimentResult run_zhuang_hand(const ExperimentOptions& options) {
  return zhuang_hand::reproduce_hand(options);
}

}  // namespace palpate
