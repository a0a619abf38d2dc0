#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "palpate/bodies/explicit_tets.h"
#include "palpate/bodies/nonlinear_tets.h"
#include "palpate/methods/interpolation_settings.h"
#include "zhuang_runs.h"

// Zhuang & Canny 2000, section 5.1: "the ratio between a collision free integration time step and that of a penalty
// collision is on the order of hundreds if not more". A finger goes into a soft block and stays; the largest step that
// survives is searched for, with each way of contact.
namespace palpate {
namespace zhuang_timestep {
namespace {

using namespace zhuang;
using Relation = MeasuredClaim::Relation;
using Scheme = InterpolationSettings::Contact;

constexpr double kDepth = 0.001;     ///< of the finger [m]
constexpr double kTouching = 0.012;  ///< height of the finger when it begins to touch [m]
constexpr int kStepsEach = 16;       ///< of the integration in a slow step
constexpr double kTooFast = 5.0;     ///< a node that is faster says that the step is too long [m/s]

struct Case {
  std::string name;
  Scheme contact = Scheme::kInelastic;
  double stiffness = 1.0;  ///< [N/m]
  bool touches = true;
};

struct Outcome {
  bool stable = true;
  double penetration = 0.0;  ///< of the deepest node, mean of the last third [m]
  double force = 0.0;        ///< [N]
};

/// 0.15 s at that integration step, of which the finger moves for the first 0.05 s.
Outcome press(const Scene& original, World& world, const Case& which, double dt) {
  Scene scene = original;
  set_slow_period(scene, kStepsEach * dt, 0.0);
  scene.run.dt = scene.run.slow_period;
  InterpolationSettings& s = scene.methods.get<InterpolationSettings>("interpolation");
  s.contact = which.contact;
  s.penalty_stiffness = which.stiffness;
  s.time_step = dt;
  const std::unique_ptr<Device> start = make_device(scene);
  HandDriven driver(make_method(scene, "interpolation", world, *start));
  Outcome out;
  double deep = 0.0;
  int samples = 0;
  DeviceState hand = start->read(0.0);
  const double top = which.touches ? hand.pose.position.y() : 1.0;
  const int steps = static_cast<int>(std::ceil(0.15 / scene.run.slow_period));
  for (int i = 0; i < steps && out.stable; ++i) {
    const double share = std::min(1.0, i * scene.run.slow_period / 0.05);
    hand.pose.position.y() = top + (which.touches ? share * (kTouching - kDepth - top) : 0.0);
    const TickResult felt = driver.tick(hand);
    const StepReport report = driver.step();
    out.stable = report.converged && compute_fastest(world) < kTooFast;
    if (i * scene.run.slow_period > 0.1) {
      // What still bounces is out of contact at times: the mean.
      deep += report.penetration;
      ++samples;
    }
    out.force = felt.wrench.force.norm();
  }
  out.penetration = samples > 0 ? deep / samples : 0.0;
  return out;
}

/// To 0.2 %.
double find_largest_step(const Scene& scene, World& world, const Case& which, double guess,
                         const ExperimentOptions& options) {
  const auto is_stable = [&](double dt) {
    // Once stopped, whatever ends the search soonest.
    return options.stopped() ? dt < guess : press(scene, world, which, dt).stable;
  };
  return zhuang::find_largest(guess, 1.3, options.choose(1.002, 1.1), is_stable);
}

/// The ratio of steps at a depth [m], between the penalties that were tried; both are powers of the stiffness.
double ratio_at(const Series& ratios, double depth) {
  const double x = std::log10(depth);
  for (std::size_t i = 0; i + 1 < ratios.x.size(); ++i) {
    const double from = ratios.x[i], to = ratios.x[i + 1];
    if (from < x || to > x || !std::isfinite(from) || !std::isfinite(to)) continue;
    const double share = from == to ? 0.0 : (from - x) / (from - to);
    return std::pow(10.0, ratios.y[i] + share * (ratios.y[i + 1] - ratios.y[i]));
  }
  return kNotAvailable;
}

}  // namespace

static ExperimentResult reproduce_timestep(const ExperimentOptions& options) {
  PressedBlock block;
  if (options.quick) block.cell = 0.015;
  block.damping = 200.0;  // so that springs come to rest; it does not change how long steps may be
  const Scene scene = make_pressed_block(block);
  World world = make_world(scene);
  const ExplicitTets tets(dynamic_cast<const NonlinearTets&>(*world.bodies()[0].body));
  const double bound = tets.compute_stable_step();
  double lightest = 1.0;
  for (int i = 0; i < tets.node_count(); ++i) lightest = std::min(lightest, tets.mass(i));

  ExperimentResult out;
  Table table;
  table.title = "Largest stable step";
  table.columns = {"step", "of the contact-free one", "penetration at rest", "force"};
  Series ratios;
  ratios.name = "penalty";
  Case free_case{"no contact", Scheme::kInelastic, 1.0, false};
  const double free = find_largest_step(scene, world, free_case, 1.2 * bound, options);
  const auto add = [&](const Case& which, double guess, Outcome& outcome) {
    if (options.progress) options.progress(which.name, 0.0);
    const double step = which.touches ? find_largest_step(scene, world, which, guess, options) : free;
    outcome = press(scene, world, which, 0.5 * std::min(step, bound));
    table.rows.push_back({which.name,
                          {{format_quantity(step, "s")},
                           {fmt::format("1 / {:.3g}", free / step)},
                           {format_quantity(outcome.penetration, "m")},
                           {format_quantity(outcome.force, "N")}},
                          !which.touches});
    return step;
  };
  Outcome none, ours, paper;
  add(free_case, bound, none);
  const double with_ours = add({"inelastic", Scheme::kInelastic}, free, ours);
  const double with_paper = add({"the paper's", Scheme::kPaper}, free, paper);
  for (const double k : {1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}) {
    if (options.stopped() || (options.quick && k > 1e5)) break;
    Outcome outcome;
    const double guess = 2.0 / std::sqrt(4.0 / (free * free) + k / lightest);
    const double step = add({fmt::format("penalty, {:.0e} N/m a node", k), Scheme::kPenalty, k}, guess, outcome);
    ratios.x.push_back(std::log10(outcome.penetration));
    ratios.y.push_back(std::log10(free / step));
  }
  table.note = fmt::format(
      "The bound from the elements' spectra is {} at rest: {:.2f} times smaller than need be. Penetration: deepest "
      "node, mean from 0.1 s to 0.15 s, at half of the step.",
      format_quantity(bound, "s"), free / bound);
  out.claims = {
      {"bound from the elements, of the largest stable step", "must not be above 1", bound / free, 1.0,
       Relation::kAtMost, ""},
      {"stable step with the inelastic scheme, of the contact-free one", "\"avoid adding extra artificial stiffness\"",
       with_ours / free, 0.99, Relation::kAtLeast, ""},
      {"the same with the paper's own scheme", "\"avoid adding extra artificial stiffness\"", with_paper / free, 0.99,
       Relation::kAtLeast, ""},
      {"penetration that the inelastic scheme leaves", "\"no relative motion … normal to the surface\"",
       ours.penetration, 1e-5, Relation::kAtMost, "m"},
      {"penetration that the paper's scheme leaves", "\"no relative motion … normal to the surface\"",
       paper.penetration, 1e-5, Relation::kAtMost, "m"},
  };
  for (const double depth : {1e-4, 1e-5})
    out.claims.push_back({fmt::format("contact-free step over that of a penalty that lets {:.0f} µm in", 1e6 * depth),
                          "\"on the order of hundreds if not more\"", ratio_at(ratios, depth), 100.0,
                          Relation::kAtLeast, ""});
  out.report.title = "How long integration steps may be, with and without contact";
  out.report.paragraphs = {
      "A ball of 12 mm goes 1 mm into a soft block (E = 20 kPa, 1,280 tets) and stays. A step is too long if a node "
      "gets "
      "faster than 5 m/s. A penalty's penetration is its force over its stiffness; the schemes leave none but "
      "rounding, "
      "so no spring is as tight: the stiffest tried still lets more in."};
  out.report.tables = {table};
  Plot plot;
  plot.title = "Penalty: contact-free step over its own, against the penetration that it leaves";
  plot.x_label = "decimal logarithm of the penetration in metres";
  plot.y_label = "decimal logarithm of the ratio";
  std::reverse(ratios.x.begin(), ratios.x.end());
  std::reverse(ratios.y.begin(), ratios.y.end());
  plot.series = {ratios};
  out.report.plots = {plot};
  return out;
}

}  // namespace zhuang_timestep

ExperimentResult run_zhuang_timestep(const ExperimentOptions& options) {
  return zhuang_timestep::reproduce_timestep(options);
}

}  // namespace palpate
