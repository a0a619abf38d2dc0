#include "palpate/experiments/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "palpate/core/error.h"
#include "palpate/methods/live_limits.h"
#include "palpate/methods/registry.h"
#include "palpate/scene/warnings.h"

namespace palpate {
namespace {

/// Ends a run when the hands have felt something for long enough.
class ContactWatch final : public LoopWatch {
 public:
  explicit ContactWatch(std::int64_t ticks, const std::atomic<bool>* stop) : left_(ticks), stop_(stop) {}
  void after_tick(std::span<const TickRow> rows) noexcept override {
    const auto touches = [](const TickRow& row) { return row.sent.force.norm() > kContactForce; };
    if (std::any_of(rows.begin(), rows.end(), touches)) --left_;
    if (left_ <= 0 || (stop_ && stop_->load(std::memory_order_relaxed))) done_.store(true, std::memory_order_relaxed);
  }
  const std::atomic<bool>& done() const noexcept { return done_; }

 private:
  std::int64_t left_;
  const std::atomic<bool>* stop_;
  std::atomic<bool> done_{false};
};

/// The scene from its start until there was enough contact, in lockstep.
SceneRun run_trial(const Scene& scene, const std::string& method, const AdviceOptions& options) {
  World world = make_world(scene);
  ContactWatch watch(std::llround(options.contact_seconds / scene.run.dt), options.stop);
  SceneRunOptions once;
  once.method = method;
  once.watch = &watch;
  once.control.stop = &watch.done();
  const std::string what = method.empty() ? "trial" : method;
  if (options.progress) once.control.progress = [&](double t) { options.progress(what, 0.5 * t / scene.run.seconds); };
  return run_scene(scene, world, once);
}

/// What decides which methods are likely to be good.
struct SceneFacts {
  bool moves = false, soft = false, rigid = false;
  bool point = false;  ///< all hands hold points
  bool few = false;    ///< so few rigid bodies that live contacts have them in the tick

  explicit SceneFacts(const Scene& scene) {
    point = std::ranges::all_of(
        scene.tools, [](const HeldTool& held) { return std::holds_alternative<ScenePointTool>(held.tool.kind); });
    for (const SceneBody& body : scene.bodies) {
      soft = soft || std::holds_alternative<SceneSoft>(body.kind) || std::holds_alternative<SceneChain>(body.kind);
      rigid = rigid || std::holds_alternative<SceneRigid>(body.kind);
    }
    moves = soft || rigid;
    few = scene.tools.size() == 1 && count_rigid(scene) <= kMaxLiveRigid;
  }
};

struct Guess {
  int order;  ///< the lower the better
  const char* reason;
};

/// By what was measured in docs/choosing-a-method.md, and where each method comes from.
Guess guess(const std::string& method, const SceneFacts& facts) {
  constexpr int kLate = 50, kBaseline = 90;
  if (method == "direct") return {20, "simple, and often near: its force is a slow period late"};
  if (method == "impulse") return {kBaseline, "a baseline, for comparison with accelerance"};
  if (method == "double_coupling") return {kBaseline, "a baseline, for comparison with jacobian"};
  if (!facts.moves) {
    if (method == "limited") return {0, "a point on surfaces that stay is what it is made for"};
    if (method == "halfspace") return {10, "the classic model: one plane of what is around"};
    return {kLate, "nothing moves here"};
  }
  if (method == "reduced")
    return facts.soft ? Guess{0, "the nearest on soft bodies, and the dearest tick"}
                      : Guess{facts.few ? 0 : 5, "steps all that moves in the tick: for a few bodies"};
  if (!facts.soft) {
    if (method == "accelerance") return {facts.few ? 2 : 0, "rigid bodies that move are what it is made for"};
    if (facts.few && (method == "jacobian" || method == "compliance"))
      return {1, "the few rigid bodies move in its tick as they are, with all contacts"};
    if (method == "jacobian") return {10, "rigid bodies near the tool go on in its tick, with their contacts"};
    if (method == "compliance") return {40, "made for soft bodies; far off among loose ones"};
    return {kLate, "made for other worlds"};
  }
  if (method == "interpolation") return {5, "soft bodies that it integrates itself, shown a step late"};
  if (method == "jacobian") return {10, "a tool in a soft world is what it is made for"};
  if (method == "compliance") return {15, "all contacts and their compliance in the tick"};
  if (method == "limited" || method == "halfspace")
    return {60, "its planes follow a soft surface only at the slow rate"};
  return {30, "not known well enough to say"};
}

/// The first of the default order that `may` be taken; empty if there is none.
std::string find_first(const Scene& scene, const SceneComparison& trial,
                       const std::function<bool(const SceneRun&)>& may = {}) {
  World world = make_world(scene);
  for (const Suggestion& suggestion : suggest_methods(scene, world)) {
    for (const SceneRun& run : trial.leading().runs) {
      if (run.data.name == suggestion.method && (!may || may(run))) return suggestion.method;
    }
  }
  return {};
}

}  // namespace

std::vector<Suggestion> suggest_methods(const Scene& scene, World& world) {
  const SceneFacts facts(scene);
  std::vector<std::pair<int, Suggestion>> found;
  for (const MethodInfo& info : registered_methods()) {
    if (info.name == "reference") continue;
    const Guess g = guess(info.name, facts);
    const std::string refused = refuse_method(scene, info.name, world);
    found.push_back({refused.empty() ? g.order : 1000, {info.name, g.reason, refused}});
  }
  std::ranges::stable_sort(found, {}, [](const auto& entry) { return entry.first; });
  std::vector<Suggestion> out;
  for (auto& [order, suggestion] : found) out.push_back(std::move(suggestion));
  return out;
}

double holding_period(double step_time, double dt) noexcept {
  return std::max(dt, step_time / kLoad);
}

const std::string& Advice::choice(bool realtime) const {
  static const std::string kTruth = "reference";
  if (realtime && truth_fits) return kTruth;
  if (realtime && !holding.empty()) return holding;
  if (nearest.empty()) fail_input("\"auto\": no method but the truth can work on this scene");
  return nearest;
}

Advice advise(const Scene& given, const AdviceOptions& options) {
  Scene scene = given;
  Advice out;
  const SceneRun truth = run_trial(scene, "reference", options);
  scene.run.seconds = out.seconds = truth.summary.seconds;
  SceneCompareOptions compare;
  compare.truth_error = false;
  compare.threads = options.threads;
  compare.reference = &truth;
  compare.stop = options.stop;
  if (options.progress)
    compare.progress = [&](std::string_view what, double share) { options.progress(what, 0.5 + 0.5 * share); };
  out.trial = compare_scene(scene, compare);
  const auto holds = [&](const SceneRun& run) {
    return 1e-9 * run.summary.tick_times.compute_percentile_ns(0.99) < kLoad * scene.run.dt;
  };
  out.felt = is_in_contact(truth);
  out.truth_fits = out.felt && holds(truth);
  if (out.felt) {
    out.nearest = find_nearest(out.trial, options.contact_seconds);
    out.holding = find_nearest(out.trial, options.contact_seconds, holds);
  } else {
    out.nearest = find_first(scene, out.trial);
    out.holding = find_first(scene, out.trial, holds);
  }
  for (const SceneRun& run : out.trial.leading().runs) {
    if (run.data.name == out.holding)
      out.fastest = holding_period(1e-9 * run.summary.step_times.compute_percentile_ns(0.99), scene.run.dt);
  }
  out.trial.chosen = out.nearest;
  return out;
}

double measure_period(const Scene& scene, const AdviceOptions& options) {
  const RunSummary trial = run_trial(scene, {}, options).summary;
  if (trial.steps == 0) return scene.run.slow_period;
  return holding_period(1e-9 * trial.step_times.compute_percentile_ns(0.99), scene.run.dt);
}

std::optional<AutoChoice> settle_auto(Scene& scene, bool realtime, const AdviceOptions& options) {
  const auto is_auto = [](const HeldTool& held) { return held.method == kAutoMethod; };
  if (std::ranges::none_of(scene.tools, is_auto)) return {};
  const Advice advice = advise(scene, options);
  AutoChoice out{advice.choice(realtime), {}};
  if (!advice.felt)
    out.warning = fmt::format(
        "auto: the hand touches nothing in {:.3g} s, so that no trial can tell which method is nearest to the truth "
        "here; {} is taken by what is in the scene",
        advice.seconds, out.method);
  for (HeldTool& held : scene.tools) {
    if (is_auto(held)) held.method = out.method;
  }
  return out;
}

}  // namespace palpate
