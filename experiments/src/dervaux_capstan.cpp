#include "dervaux_capstan.h"

#include <fmt/format.h>

#include <cmath>

#include "dervaux_run.h"
#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/scene/builtin.h"

// Euler's capstan equation: a wire that slips around a cylinder by an angle φ has tensions in the ratio e^(μφ).
namespace palpate::dervaux {
namespace {

constexpr double kGravity = 9.81, kFriction = 0.3;

/// What the wire shows while it slips.
struct Slip {
  double ratio = 0.0;     ///< of the two tensions where the wire meets the cylinder, the larger over the smaller
  double expected = 0.0;  ///< e^(μφ)
  double angle = 0.0;     ///< φ [rad]
};

/// By how much the wire turns from the span that comes up from the hand to that which goes down to the weight [rad].
/// The beams next to the handle and to the weight are left out: the coupling bends the first, and neither is on the
/// cylinder.
double compute_wrap(const BeamChain& wire) {
  const int n = wire.node_count();
  constexpr int kEnds = 3;
  const auto direction = [&](int i) { return (wire.node_pose(i + 1).position - wire.node_pose(i).position).eval(); };
  double turned = 0.0;
  for (int i = kEnds; i + 2 + kEnds < n; ++i) {
    const Vec3 a = direction(i), b = direction(i + 1);
    turned -= std::atan2(a.x() * b.y() - a.y() * b.x(), a.dot(b));
  }
  return turned;
}

struct Capstan {
  SceneRun run;
  Slip pulled, yielded;
  std::vector<double> time, angle;
};

/// Mean over a time in which the hand moves slowly and evenly.
Slip measure(const Capstan& capstan, const Scene& scene, double weight, std::pair<double, double> when, bool pulled) {
  Vec3 hand = Vec3::Zero();
  double count = 0.0, angle = 0.0, angles = 0.0, height = 0.0;
  for (const TickRow& row : capstan.run.data.ticks) {
    if (row.time < when.first || row.time >= when.second) continue;
    hand += row.wanted.force;
    height += row.device.position.y();
    count += 1.0;
  }
  for (std::size_t i = 0; i < capstan.time.size(); ++i) {
    if (capstan.time[i] < when.first || capstan.time[i] >= when.second) continue;
    angle += capstan.angle[i];
    angles += 1.0;
  }
  const auto& tool = std::get<SceneChainTool>(scene.first().tool.kind);
  const double per_metre = tool.material.density * M_PI * tool.radius * tool.radius * kGravity;
  // Both spans hang straight down from the height of the axis; the rest of the wire lies on the cylinder.
  const double near = -height / count, far = tool.length - near - M_PI * 0.0308;
  const double at_hand = (hand / count).norm() + per_metre * near, at_weight = weight + per_metre * far;
  Slip out;
  out.angle = angle / angles;
  out.ratio = pulled ? at_hand / at_weight : at_weight / at_hand;
  out.expected = std::exp(kFriction * out.angle);
  return out;
}

Capstan run_capstan(Scene scene, const std::string& method, const std::string& name, const ExperimentOptions& options) {
  World world = make_world(scene);
  double weight = 0.0;
  for (const WorldBody& b : world.bodies()) {
    if (b.name == "weight") weight = dynamic_cast<const RigidBody&>(*b.body).mass() * kGravity;
  }
  Capstan out;
  WatchedRun run{method, name, {}, true};
  double next = 0.0;
  run.watch = [&](double time, World& w, const StepReport&) {
    if (time < next - 1e-9) return;
    next = time + 0.02;
    out.time.push_back(time);
    out.angle.push_back(compute_wrap(dynamic_cast<const BeamChain&>(*w.body(w.tools()[0]))));
  };
  out.run = run_watched(scene, world, sample_hand(scene), run, options);
  out.pulled = measure(out, scene, weight, {7.3, 8.3}, true);
  out.yielded = measure(out, scene, weight, {10.3, 11.3}, false);
  return out;
}

}  // namespace

void add_capstan(ExperimentResult& out, const ExperimentOptions& options) {
  const Scene scene = load_builtin_scene("capstan");
  Scene held = scene;
  held.methods.get<ComplianceSettings>("compliance").lookahead = 0.0;
  held.methods.get<ComplianceSettings>("compliance").contacts = ComplianceSettings::Contacts::kHeld;
  Table table;
  table.title = "A wire around the cylinder: ratio of its tensions";
  table.columns = {"angle", "pulled", "capstan equation", "yielded", "capstan equation "};
  Plot plot;
  plot.title = "A wire around the cylinder: force in the hand";
  plot.x_label = "time";
  plot.x_unit = "s";
  plot.y_label = "force";
  plot.y_unit = "N";
  struct Case {
    const char* name;
    const char* method;
    const Scene& scene;
  };
  for (const Case& c : {Case{"reference", "reference", scene}, Case{"compliance", "compliance", scene},
                        Case{"compliance, held (the paper)", "compliance", held}}) {
    // The quick form has the default alone, but as fine as it is: of coarser cells and beams the angles are too large.
    if (options.quick && std::string_view(c.name) != "compliance") continue;
    const Capstan run = run_capstan(c.scene, c.method, c.name, options);
    for (const bool pulled : {true, false}) {
      const Slip& slip = pulled ? run.pulled : run.yielded;
      out.claims.push_back({fmt::format("capstan, {}: tensions while the hand {}, off from e^(μφ) by", c.name,
                                        pulled ? "pulls" : "yields"),
                            "the capstan equation", 100.0 * std::abs(slip.ratio / slip.expected - 1.0), 10.0,
                            MeasuredClaim::Relation::kAtMost, "%"});
    }
    table.rows.push_back({c.name,
                          {{fmt::format("{:.1f}°", run.pulled.angle * 180.0 / M_PI)},
                           {fmt::format("{:.3f}", run.pulled.ratio)},
                           {fmt::format("{:.3f}", run.pulled.expected)},
                           {fmt::format("{:.3f}", run.yielded.ratio)},
                           {fmt::format("{:.3f}", run.yielded.expected)}},
                          &c.scene == &scene && std::string_view(c.method) == "reference"});
    Series series;
    series.name = c.name;
    series.style = std::string_view(c.method) == "reference" ? SeriesStyle::kReference : SeriesStyle::kMethod;
    for (const TickRow& row : run.run.data.ticks) {
      series.x.push_back(row.time);
      series.y.push_back(row.wanted.force.norm());
    }
    plot.series.push_back(std::move(series));
  }
  out.report.tables.push_back(std::move(table));
  out.report.plots.push_back(std::move(plot));
}

}  // namespace palpate::dervaux
