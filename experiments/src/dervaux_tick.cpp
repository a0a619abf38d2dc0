
#include <fmt/format.h>

#include <algorithm>

#include "dervaux_run.h"
#include "experiments.h"
#include "palpate/haptics/scripted.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/scene/builtin.h"
#include "stopwatch.h"

// What a tick and a slow step of the scheme cost. "The calculations in the high rate thread remain compatible with
// frequency of 1000 Hz" (Dervaux et al. 2013, section VI), with ten beams; the paper gives no times.
namespace palpate {
namespace {

struct Timed {
  std::string name;
  int beams = 0;
  BothTimes ticks, contact_ticks, steps;
  std::array<double, kStageCount> stages{};  ///< [s], all steps
  int most_contacts = 0;
  RunData data;
};

/// Times ticks and steps, those with many contacts apart.
class TickWatch final : public Stopwatch {
 public:
  explicit TickWatch(Timed& out) : out_(out) {}

  void after_tick(std::span<const TickRow> rows) noexcept override {
    if (rows[0].contacts >= 20) out_.contact_ticks.add(tick_start_);
    Stopwatch::after_tick(rows);
  }
  void after_step(const StepRow& step, std::span<const ToolMessages> tools) override {
    Stopwatch::after_step(step, tools);
    for (std::size_t s = 0; s < kStageCount; ++s)
      out_.stages[s] += std::isnan(step.stage_time[s]) ? 0.0 : step.stage_time[s];
  }

 private:
  Timed& out_;
};

void run_timed(const std::string& scene_name, int beams, Timed& out, const ExperimentOptions& options) {
  Scene scene = load_builtin_scene(scene_name);
  scene.methods.get<ComplianceSettings>("compliance").contacts = ComplianceSettings::Contacts::kHeld;  // the paper's
  std::get<SceneChainTool>(scene.first().tool.kind).beams = beams;
  out.name = fmt::format("{}, {} beams", scene_name, beams);
  out.beams = beams;
  World world = make_world(scene);
  const std::unique_ptr<Device> device = make_device(scene);
  Method method = make_method(scene, "compliance", world, *device);
  TickWatch stopwatch(out);
  struct Rows : RunSink {
    RunData data;
    void add(const TickRow& row) override { data.ticks.push_back(row); }
    void add(const StepRow& row) override { data.steps.push_back(row); }
  } rows;
  if (options.quick) scene.run.seconds = 1.0;
  RunControl control;
  control.stop = options.stop;
  if (options.progress)
    control.progress = [&](double t) { options.progress(out.name, std::min(1.0, t / scene.run.seconds)); };
  RunParts parts(method, *device, &rows, scene.first().guards);
  parts.watch = &stopwatch;
  run_lockstep(scene.run, parts, control);
  out.data = std::move(rows.data);
  out.data.name = out.name;
  out.ticks = stopwatch.ticks;
  out.steps = stopwatch.steps;
  out.data.tick_times = out.ticks.processor;
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
  out.claims = {{"most contacts of ten beams at once", "none given", static_cast<double>(runs[0].most_contacts), 20.0,
                 Relation::kAtLeast, ""}};
  add_time_claims("tick, 10 beams with 20 contacts or more: 99.9 %, of the period", paper, runs[0].contact_ticks,
                  TimeOf::kP999, 50.0, out.claims, 0.001);
  add_time_claims("tick, 50 beams on the slab: 99.9 %, of the period", paper, runs[1].ticks, TimeOf::kP999, 100.0,
                  out.claims, 0.001);
  add_time_claims("tick, 10 beams tied to the cylinder: 99.9 %, of the period", paper, runs[2].ticks, TimeOf::kP999,
                  50.0, out.claims, 0.001);
  add_time_claims("slow step with 2,160 tets: 99 %, of the period", "\"simulated at 50 Hz\"", runs[0].steps,
                  TimeOf::kP99, 100.0, out.claims, 0.02);
  Table table;
  table.title = "Processor time / wall clock";
  table.columns = {"most contacts", "tick p50", "tick p99.9", "tick max", "step p50", "step p99"};
  Table stages;
  stages.title = "Slow step: mean time by stage";
  for (const std::string_view name : kStageNames) stages.columns.emplace_back(name);
  stages.note =
      "By the wall clock. Free: both factorisations. Compliance: the problem at ΔT. Model: the same at dt without the "
      "tool, and "
      "publishing.";
  for (const Timed& r : runs) {
    TableRow row;
    row.name = r.name;
    const auto time = [](const BothTimes& t, double p) {
      return fmt::format("{} / {}", format_quantity(1e-9 * t.processor.compute_percentile_ns(p), "s"),
                         format_quantity(1e-9 * t.wall.compute_percentile_ns(p), "s"));
    };
    row.cells = {{fmt::format("{}", r.most_contacts)},
                 {time(r.ticks, 0.5)},
                 {time(r.ticks, 0.999)},
                 {time(r.ticks, 1.0)},
                 {time(r.steps, 0.5)},
                 {time(r.steps, 0.99)}};
    table.rows.push_back(std::move(row));
    TableRow parts;
    parts.name = r.name;
    for (const double s : r.stages)
      parts.cells.push_back(
          {format_quantity(s / static_cast<double>(std::max<std::uint64_t>(1, r.steps.wall.count())), "s")});
    stages.rows.push_back(std::move(parts));
  }
  out.report.title = "What a tick and a slow step cost";
  out.report.paragraphs = {
      "In lockstep, by both clocks: what the processor spends, which what others do on the machine hardly changes, and "
      "what the clock on the wall shows."};
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
