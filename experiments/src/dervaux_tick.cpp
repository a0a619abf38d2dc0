
#include <fmt/format.h>

#include <algorithm>

#include "dervaux_run.h"
#include "experiments.h"
#include "palpate/core/clock.h"
#include "palpate/haptics/scripted.h"
#include "palpate/scene/builtin.h"

// What a tick and a slow step of the scheme cost. "The calculations in the high rate thread remain compatible with
// frequency of 1000 Hz" (Dervaux et al. 2013, section VI), with ten beams; the paper gives no times.
namespace palpate {
namespace {

/// Times the fast half by what the processor spends on it: what others do on a shared machine meanwhile does not count.
class TimedFast final : public FastHalf {
 public:
  TimedFast(std::unique_ptr<FastHalf> inner, Histogram& times, Histogram& contact_times)
      : inner_(std::move(inner)), times_(times), contact_times_(contact_times) {}
  TickResult tick_bytes(const DeviceState& device, const std::byte* model, std::byte* feedback) noexcept override {
    const std::int64_t start = processor_ns();
    const TickResult out = inner_->tick_bytes(device, model, feedback);
    const std::int64_t time = processor_ns() - start;
    times_.add(time);
    if (out.contacts >= 20) contact_times_.add(time);
    return out;
  }

 private:
  std::unique_ptr<FastHalf> inner_;
  Histogram& times_;
  Histogram& contact_times_;
};

/// The same for the slow half.
class TimedSlow final : public SlowHalf {
 public:
  TimedSlow(std::unique_ptr<SlowHalf> inner, Histogram& times) : inner_(std::move(inner)), times_(times) {}
  void step_bytes(const std::byte* feedback, std::byte* model, StepReport& report) override {
    const std::int64_t start = processor_ns();
    inner_->step_bytes(feedback, model, report);
    times_.add(processor_ns() - start);
    for (std::size_t s = 0; s < kStageCount; ++s)
      stages[s] += std::isnan(report.stage_time[s]) ? 0.0 : report.stage_time[s];
  }
  std::array<double, kStageCount> stages{};  ///< [s], all steps

 private:
  std::unique_ptr<SlowHalf> inner_;
  Histogram& times_;
};

struct Timed {
  std::string name;
  int beams = 0;
  Histogram ticks, contact_ticks, steps;
  std::array<double, kStageCount> stages{};
  int most_contacts = 0;
  RunData data;
};

void run_timed(const std::string& scene_name, int beams, Timed& out, const ExperimentOptions& options) {
  Scene scene = load_builtin_scene(scene_name);
  std::get<SceneChainTool>(scene.tool.kind).beams = beams;
  out.name = fmt::format("{}, {} beams", scene_name, beams);
  out.beams = beams;
  World world = make_world(scene);
  const std::unique_ptr<Device> device = make_device(scene);
  Method method = make_method(scene, "compliance", world, *device);
  auto slow = std::make_unique<TimedSlow>(std::move(method.slow), out.steps);
  const TimedSlow& timed = *slow;
  method.slow = std::move(slow);
  method.fast = std::make_unique<TimedFast>(std::move(method.fast), out.ticks, out.contact_ticks);
  struct Rows : RunSink {
    RunData data;
    void add(const TickRow& row) override { data.ticks.push_back(row); }
    void add(const StepRow& row) override { data.steps.push_back(row); }
  } rows;
  RunControl control;
  control.stop = options.stop;
  if (options.progress)
    control.progress = [&](double t) { options.progress(out.name, std::min(1.0, t / scene.run.seconds)); };
  run_lockstep(scene.run, {method, *device, &rows}, control);
  out.stages = timed.stages;
  out.data = std::move(rows.data);
  out.data.name = out.name;
  out.data.tick_times = out.ticks;
  for (const TickRow& row : out.data.ticks) out.most_contacts = std::max(out.most_contacts, row.contacts);
}

}  // namespace

ExperimentResult run_dervaux_tick(const ExperimentOptions& options) {
  std::vector<Timed> runs(4);
  run_timed("wire-on-slab", 10, runs[0], options);
  run_timed("wire-on-slab", 50, runs[1], options);
  run_timed("cylinder-wire", 10, runs[2], options);
  run_timed("cylinder-wire", 50, runs[3], options);

  ExperimentResult out;
  using Relation = MeasuredClaim::Relation;
  const std::string paper = "\"compatible with frequency of 1000 Hz\"";
  const auto share = [](const Histogram& times, double p, double period) {
    return times.count() ? 100e-9 * times.compute_percentile_ns(p) / period : kNotAvailable;
  };
  out.claims = {
      {"most contacts of ten beams at once", "none given", static_cast<double>(runs[0].most_contacts), 20.0,
       Relation::kAtLeast, ""},
      {"tick, 10 beams with 20 contacts or more: 99.9 %, of the period", paper,
       share(runs[0].contact_ticks, 0.999, 0.001), 50.0, Relation::kAtMost, "%"},
      {"tick, 50 beams on the slab: 99.9 %, of the period", paper, share(runs[1].ticks, 0.999, 0.001), 100.0,
       Relation::kAtMost, "%"},
      {"tick, 10 beams tied to the cylinder: 99.9 %, of the period", paper, share(runs[2].ticks, 0.999, 0.001), 50.0,
       Relation::kAtMost, "%"},
      {"slow step with 2,160 tets: 99 %, of the period", "\"simulated at 50 Hz\"", share(runs[0].steps, 0.99, 0.02),
       100.0, Relation::kAtMost, "%"},
  };
  Table table;
  table.title = "Processor time";
  table.columns = {"most contacts", "tick p50", "tick p99.9", "tick max", "step p50", "step p99"};
  Table stages;
  stages.title = "Slow step: mean time by stage";
  for (const std::string_view name : kStageNames) stages.columns.emplace_back(name);
  stages.note =
      "Free: both factorisations. Compliance: the problem at ΔT. Model: the same at dt without the tool, and "
      "publishing.";
  for (const Timed& r : runs) {
    TableRow row;
    row.name = r.name;
    const auto time = [](const Histogram& h, double p) {
      return format_quantity(1e-9 * h.compute_percentile_ns(p), "s");
    };
    row.cells = {{fmt::format("{}", r.most_contacts)},
                 {time(r.ticks, 0.5)},
                 {time(r.ticks, 0.999)},
                 {format_quantity(1e-9 * static_cast<double>(r.ticks.max_ns()), "s")},
                 {time(r.steps, 0.5)},
                 {time(r.steps, 0.99)}};
    table.rows.push_back(std::move(row));
    TableRow parts;
    parts.name = r.name;
    for (const double s : r.stages)
      parts.cells.push_back(
          {format_quantity(s / static_cast<double>(std::max<std::uint64_t>(1, r.steps.count())), "s")});
    stages.rows.push_back(std::move(parts));
  }
  out.report.title = "What a tick and a slow step cost";
  out.report.paragraphs = {"In lockstep, by the processor's own clock: what others do on the machine does not count."};
  out.report.tables = {std::move(table), std::move(stages)};
  std::vector<const RunData*> all;
  for (const Timed& r : runs) all.push_back(&r.data);
  out.report.plots = {
      dervaux::make_tick_plot("Contacts with a force", "contacts", "", {&runs[0].data, &runs[1].data},
                              [](const TickRow& r) { return static_cast<double>(r.contacts); }),
      dervaux::make_tick_plot("Iterations of the fast solve", "iterations", "", {&runs[0].data, &runs[1].data},
                              [](const TickRow& r) { return static_cast<double>(r.iterations); })};
  return out;
}

}  // namespace palpate
