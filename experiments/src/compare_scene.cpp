#include "palpate/experiments/compare_scene.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "palpate/haptics/replay.h"
#include "palpate/methods/registry.h"
#include "palpate/record/replay_hand.h"
#include "run_jobs.h"

namespace palpate {
namespace {

/// A hand that is played back on the device that it had: a force or torque that the device could not give in the
/// truth's run is none here either.
class SameDevice final : public Device {
 public:
  SameDevice(std::vector<DeviceState> track, const DeviceInfo& device)
      : replay_(std::move(track)), info_(replay_.info()) {
    info_.max_force = device.max_force;
    info_.max_torque = device.max_torque;
  }
  const DeviceInfo& info() const noexcept override { return info_; }
  DeviceState read(double time) noexcept override { return replay_.read(time); }
  void write(const SafeWrench& wrench) noexcept override { replay_.write(wrench); }

 private:
  ReplayDevice replay_;
  DeviceInfo info_;
};

/// The hands of a run, played back to another, `shift` [m] beside.
class Replays {
 public:
  Replays(const Scene& scene, const SceneRun& run, const std::vector<Vec3>& shifts = {}) {
    const std::vector<const RunData*> tools = run.all();
    for (std::size_t i = 0; i < tools.size(); ++i) {
      std::vector<DeviceState> track = device_track(tools[i]->ticks);
      for (DeviceState& state : track) {
        if (!shifts.empty()) state.pose.position += shifts[i];
      }
      replays_.push_back(std::make_unique<SameDevice>(std::move(track), make_device(scene, i)->info()));
    }
  }
  std::vector<Device*> devices() const {
    std::vector<Device*> out;
    for (const auto& replay : replays_) out.push_back(replay.get());
    return out;
  }

 private:
  std::vector<std::unique_ptr<SameDevice>> replays_;
};

/// Across the mean force of each tool, so that to first order the hand goes as deep as before.
std::vector<Vec3> make_shifts(const SceneRun& truth) {
  std::vector<Vec3> out;
  for (const RunData* tool : truth.all()) {
    Vec3 sum = Vec3::Zero();
    for (const TickRow& row : tool->ticks) sum += row.sent.force;
    out.push_back(kHandShift * (sum.norm() > 0.0 ? sum.normalized().unitOrthogonal() : Vec3(Vec3::UnitX())));
  }
  return out;
}

/// The ticks of a run with half the time step that are ticks of the whole one too.
RunData every_second(const RunData& run) {
  RunData out = run;
  out.ticks.clear();
  for (std::size_t i = 0; i < run.ticks.size(); i += 2) out.ticks.push_back(run.ticks[i]);
  return out;
}

/// The part of a run before `time` [s], with what it takes to judge its forces.
RunData before(const RunData& run, double time) {
  RunData out;
  out.name = run.name;
  out.tool = run.tool;
  for (const TickRow& row : run.ticks) {
    if (row.time < time) out.ticks.push_back(row);
  }
  return out;
}

/// How long a tool of the truth was in contact [s].
double contact_time(const RunData& truth, double dt) {
  const auto touches = [](const TickRow& row) { return row.sent.force.norm() > kContactForce; };
  return dt * static_cast<double>(std::ranges::count_if(truth.ticks, touches));
}

SceneRun run_method(const Scene& scene, World& world, const RunControl& control, const std::string& method,
                    std::vector<Device*> devices) {
  SceneRunOptions once;
  once.method = method;
  once.control = control;
  return run_scene(scene, world, once, std::move(devices));
}

/// Past the last tick of a trial.
std::size_t find_trial_end(const SceneRun& reference, double contact_seconds) {
  const std::vector<const RunData*> tools = reference.all();
  const std::vector<TickRow>& first = tools.front()->ticks;
  double contact = 0.0;
  std::size_t end = 0;
  for (; end < first.size() && contact < contact_seconds; ++end) {
    const auto touches = [&](const RunData* tool) { return tool->ticks[end].sent.force.norm() > kContactForce; };
    if (end > 0 && std::ranges::any_of(tools, touches)) contact += first[end].time - first[end - 1].time;
  }
  return end;
}

/// Root of the sum of the squared errors of the force up to there, added over the tools.
double sum_errors(const SceneRun& run, const SceneRun& reference, std::size_t end) {
  const std::vector<const RunData*> tools = run.all(), truth = reference.all();
  double error = 0.0;
  for (std::size_t k = 0; k < tools.size(); ++k) {
    double sum = 0.0;
    for (std::size_t i = 0; i < std::min(end, tools[k]->ticks.size()); ++i)
      sum += (tools[k]->ticks[i].sent.force - truth[k]->ticks[i].sent.force).squaredNorm();
    error += std::sqrt(sum);
  }
  return error;
}

/// Everything that one comparison runs.
class SceneComparer {
 public:
  SceneComparer(const Scene& scene, const SceneCompareOptions& options) : scene_(scene), options_(options) {
    World world = make_world(scene);
    methods_ = choose_methods(scene, world, options.methods, skipped_);
    for (const std::string& name : options.without) std::erase(methods_, find_method(name).name);
    distance_ = make_surface_distance(world);
    choose_hands();
    add_jobs();
    run_jobs(scene, jobs_, options.threads, options.stop, options.progress);
    gather();
  }

  SceneComparison take() { return std::move(out_); }

 private:
  void choose_hands() {
    const bool felt = feels(scene_);
    using enum ComparedHand;
    std::vector<ComparedHand> hands = {kReplayed};
    if (!felt) {
      out_.lead = "The hand goes its way whatever it feels, so that all methods get the same motion.";
    } else if (fitting_hand(scene_) == kClosedLoop) {
      hands = {kClosedLoop, kReplayed};
      out_.lead =
          "The hand feels and bodies move away from it: the closed loop tells which method is right here. With the "
          "replayed hand a method is punished for bodies that lie elsewhere, whoever pushed them.";
    } else {
      hands = {kReplayed, kClosedLoop};
      out_.lead =
          "The hand feels, and what it touches stays: with the replayed hand the forces of all methods are compared at "
          "the same places; the closed loop adds where each method pushes the hand.";
    }
    if (options_.hand) hands = {*options_.hand};
    for (const ComparedHand hand : hands) out_.hands.push_back({hand, {}});
  }

  /// Closed loops need no truth and fill the second core while it runs; what replays its hand comes after.
  void add_jobs() {
    const int truth = options_.reference ? -1 : 0;
    if (options_.reference) {
      truth_ = *options_.reference;
    } else {
      add("reference", scene_.run.seconds, -1, [this](World& world, const RunControl& control) {
        truth_ = run_method(scene_, world, control, "reference", {});
      });
    }
    if (options_.truth_error) add_truth_jobs(truth);  // first: they are the longest
    runs_.resize(out_.hands.size(), std::vector<SceneRun>(methods_.size()));
    for (const ComparedHand hand : {ComparedHand::kClosedLoop, ComparedHand::kReplayed}) {
      const auto part = std::ranges::find(out_.hands, hand, &SceneComparison::Part::hand);
      if (part == out_.hands.end()) continue;
      for (std::size_t m = 0; m < methods_.size(); ++m)
        add_method(hand, m, runs_[as_size(part - out_.hands.begin())][m], truth);
    }
  }

  void add_method(ComparedHand hand, std::size_t m, SceneRun& to, int truth) {
    const bool replayed = hand == ComparedHand::kReplayed;
    add(methods_[m], scene_.run.seconds, replayed ? truth : -1,
        [this, m, replayed, &to](World& world, const RunControl& control) {
          std::optional<Replays> replays;
          if (replayed) replays.emplace(scene_, truth_);
          to = run_method(scene_, world, control, methods_[m], replays ? replays->devices() : std::vector<Device*>{});
        });
  }

  void add_truth_jobs(int truth) {
    // Half the time step is twice the work.
    add("reference at half the time step", 2.0 * scene_.run.seconds, feels(scene_) ? truth : -1,
        [this](World& world, const RunControl& given) {
          Scene finer = scene_;
          finer.run.dt *= 0.5;
          RunControl control = given;
          if (given.progress) control.progress = [&](double t) { given.progress(2.0 * t); };
          std::optional<Replays> replays;
          if (feels(scene_)) replays.emplace(scene_, truth_);
          finer_ =
              run_method(finer, world, control, "reference", replays ? replays->devices() : std::vector<Device*>{});
        });
    add("reference with the hand beside", scene_.run.seconds, truth, [this](World& world, const RunControl& control) {
      const Replays replays(scene_, truth_, make_shifts(truth_));
      shifted_ = run_method(scene_, world, control, "reference", replays.devices());
    });
  }

  void add(std::string name, double seconds, int after, std::function<void(World&, const RunControl&)> run) {
    jobs_.push_back({std::move(name), std::move(run), seconds, after});
  }

  void gather() {
    out_.stopped = options_.stop && options_.stop->load(std::memory_order_relaxed);
    for (std::size_t h = 0; h < out_.hands.size(); ++h) {
      Comparison& c = out_.hands[h].comparison;
      c.reference = truth_;
      c.skipped = skipped_;
      c.stopped = out_.stopped;
      add_metrics(c.reference, nullptr, distance_, c.metrics);
      for (SceneRun& run : runs_[h]) {
        if (run.data.ticks.empty()) continue;  // stopped before
        add_metrics(run, &c.reference, distance_, c.metrics);
        c.runs.push_back(std::move(run));
      }
    }
    find_strays();
    const bool all = options_.methods.empty() && (!options_.hand || !feels(scene_));
    if (all && !out_.stopped) out_.chosen = find_nearest(out_);
    if (!options_.truth_error || out_.stopped) return;
    for (std::size_t i = 0; i < scene_.tools.size(); ++i) {
      const RunData& truth = *truth_.all()[i];
      TruthError error;
      error.finer = every_second(finer_.data_of(i));
      error.finer.name = "reference at half the time step";
      error.half_step = compute_metrics(error.finer, &truth);
      const ShiftResult shift = compare_shifted(truth, shifted_.data_of(i), scene_.tools[i].tool.coupling.stiffness);
      error.shift_error = shift.error;
      error.chaotic_from = shift.from;
      if (!std::isnan(shift.from)) add_before_chaos(i, error);
      out_.truth.push_back(std::move(error));
    }
  }

  void find_strays() {
    const Comparison* replayed = feels(scene_) ? out_.find(ComparedHand::kReplayed) : nullptr;
    if (!replayed) return;
    for (const SceneRun& run : replayed->runs) {
      for (std::size_t k = 0; k < scene_.tools.size(); ++k) {
        const RunData &own = *run.all()[k], &truth = *truth_.all()[k];
        StrayTool stray{own.name, own.tool, 0.0, 0.0};
        double peak = 0.0;
        for (std::size_t i = 0; i < std::min(own.ticks.size(), truth.ticks.size()); ++i) {
          peak = std::max(peak, truth.ticks[i].sent.force.norm());
          const double distance = (own.ticks[i].tool.position - truth.ticks[i].tool.position).norm();
          stray.distance = std::max(stray.distance, distance);
        }
        stray.force = stray.distance * scene_.tools[k].tool.coupling.stiffness;
        if (stray.force > kStrayForce * std::max(peak, kLightTouch)) out_.strays.push_back(std::move(stray));
      }
    }
  }

  void add_before_chaos(std::size_t tool, TruthError& error) {
    const RunData truth = before(*truth_.all()[tool], error.chaotic_from);
    const RunData shifted = before(*shifted_.all()[tool], error.chaotic_from);
    error.half_step_before = compute_metrics(before(error.finer, error.chaotic_from), &truth);
    error.contact_before = contact_time(truth, scene_.run.dt);
    error.shift_error_before = compare_shifted(truth, shifted, scene_.tools[tool].tool.coupling.stiffness).error;
    for (SceneComparison::Part& part : out_.hands) {
      part.before_chaos.push_back({truth.name, compute_metrics(truth, nullptr), true, truth.tool});
      for (const SceneRun& run : part.comparison.runs) {
        const RunData early = before(*run.all()[tool], error.chaotic_from);
        part.before_chaos.push_back({early.name, compute_metrics(early, &truth), false, early.tool});
      }
    }
  }

  const Scene& scene_;
  const SceneCompareOptions& options_;
  std::vector<std::string> methods_;
  std::vector<SkippedMethod> skipped_;
  SignedDistance distance_;
  std::vector<RunJob> jobs_;
  SceneRun truth_, finer_, shifted_;
  std::vector<std::vector<SceneRun>> runs_;  ///< by hand and method
  SceneComparison out_;
};

}  // namespace

std::string_view explain(ComparedHand hand) noexcept {
  return hand == ComparedHand::kReplayed
             ? "Replayed hand: every method gets the very motion that the hand made in the truth's run, and forces are "
               "compared at the same places."
             : "Closed loop: every method moves its own simulated hand, as a person would feel it; where it pushes the "
               "hand is part of the error.";
}

bool feels(const Scene& scene) noexcept {
  return std::ranges::any_of(
      scene.tools, [](const HeldTool& held) { return std::holds_alternative<SceneSimulatedHand>(held.hand.kind); });
}

bool bodies_move_away(const Scene& scene) noexcept {
  return std::ranges::any_of(scene.bodies, [](const SceneBody& body) {
    if (const auto* soft = std::get_if<SceneSoft>(&body.kind)) return soft->fixed.empty();
    if (const auto* chain = std::get_if<SceneChain>(&body.kind)) return chain->clamp == SceneChain::Clamp::kNone;
    return std::holds_alternative<SceneRigid>(body.kind);
  });
}

ComparedHand fitting_hand(const Scene& scene) noexcept {
  return feels(scene) && bodies_move_away(scene) ? ComparedHand::kClosedLoop : ComparedHand::kReplayed;
}

bool is_in_contact(const SceneRun& truth) noexcept {
  const auto touches = [](const TickRow& row) { return row.sent.force.norm() > kContactForce; };
  return std::ranges::any_of(truth.data.ticks, touches) || std::ranges::any_of(truth.others, [&](const RunData& data) {
           return std::ranges::any_of(data.ticks, touches);
         });
}

std::string find_nearest(const SceneComparison& comparison, double contact_seconds,
                         const std::function<bool(const SceneRun&)>& may) {
  if (!is_in_contact(comparison.leading().reference)) return {};
  const std::size_t end = find_trial_end(comparison.leading().reference, contact_seconds);
  std::map<std::string, double> worst;
  for (const SceneComparison::Part& part : comparison.hands) {
    std::map<std::string, double> errors;
    for (const SceneRun& run : part.comparison.runs) {
      if (!may || may(run)) errors[run.data.name] = sum_errors(run, part.comparison.reference, end);
    }
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [name, error] : errors) best = std::min(best, error);
    for (const auto& [name, error] : errors)
      worst[name] = std::max(worst[name], best > 0.0 ? error / best : error > 0.0 ? 1e9 : 1.0);
  }
  const auto least = std::ranges::min_element(worst, {}, [](const auto& entry) { return entry.second; });
  return least == worst.end() ? std::string() : least->first;
}

const Comparison* SceneComparison::find(ComparedHand hand) const noexcept {
  const auto part = std::ranges::find(hands, hand, &Part::hand);
  return part == hands.end() ? nullptr : &part->comparison;
}

ShiftResult compare_shifted(const RunData& truth, const RunData& shifted, double stiffness) {
  ShiftResult out;
  const std::size_t n = std::min(truth.ticks.size(), shifted.ticks.size());
  if (n < 2) return out;
  double peak = 0.0, contact = 0.0, all = 0.0;
  for (std::size_t i = 0; i < n; ++i) peak = std::max(peak, truth.ticks[i].sent.force.norm());
  std::size_t touching = 0;
  std::vector<double> difference(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double f = truth.ticks[i].sent.force.norm();
    difference[i] = (shifted.ticks[i].sent.force - truth.ticks[i].sent.force).squaredNorm();
    all += difference[i];
    if (f <= std::max(kContactForce, kContactShare * peak)) continue;
    contact += f * f;
    ++touching;
  }
  if (peak < kLightTouch || touching == 0) return out;
  out.error = 100.0 * std::sqrt(all / contact);
  const double rms = std::sqrt(contact / static_cast<double>(touching));
  const double limit = std::max(kShiftLimit * rms, 2.0 * stiffness * kHandShift);
  const double dt = (truth.ticks[n - 1].time - truth.ticks[0].time) / static_cast<double>(n - 1);
  const auto window = std::max<std::size_t>(1, as_size(std::lround(kShiftWindow / dt)));
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += difference[i];
    if (i >= window) sum -= difference[i - window];
    if (i + 1 < window || std::sqrt(std::max(0.0, sum) / static_cast<double>(window)) <= limit) continue;
    out.from = truth.ticks[i + 1 - window].time;
    break;
  }
  return out;
}

SceneComparison compare_scene(const Scene& scene, const SceneCompareOptions& options) {
  return SceneComparer(scene, options).take();
}

}  // namespace palpate
