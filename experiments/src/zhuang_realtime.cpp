#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "stopwatch.h"
#include "zhuang_runs.h"

// Zhuang & Canny 2000, section 6: "real-time graphics and haptics for a mesh of several hundred vertices". How many are
// there in real time on one core of this machine, and how does the cost grow?
namespace palpate {
namespace zhuang_realtime {
namespace {

using namespace zhuang;
using Relation = MeasuredClaim::Relation;

constexpr double kPeriod = 1.0 / 30.0;

struct Load {
  int vertices = 0, steps = 0;
  /// Of a slow step over the slow period, median: processor time, and by the wall clock.
  double share = 0.0, wall_share = 0.0;
};

Load measure(int cells) {
  PressedBlock block;
  block.young = 1e4;
  block.size = Vec3::Constant(0.1);
  block.cell = 0.1 / cells;
  block.damping = 2.0;
  block.radius = 0.02;
  Scene scene = make_pressed_block(block);
  set_slow_period(scene, kPeriod, 0.0);
  World world = make_world(scene);
  const std::unique_ptr<Device> device = make_device(scene);
  HandDriven driver(make_method(scene, "interpolation", world, *device));
  Load out;
  out.vertices = world.bodies()[0].body->block_count();
  DeviceState hand = device->read(0.0);
  hand.pose.position.y() = 0.0205;
  std::vector<double> times, wall_times;
  for (int i = 0; i < 12; ++i) {
    hand.pose.position.y() -= 0.0005;
    driver.tick(hand);
    const ClockReading start = read_clocks();
    out.steps = driver.step().iterations;
    const ClockReading end = read_clocks();
    times.push_back(1e-9 * static_cast<double>(end.processor - start.processor) / kPeriod);
    wall_times.push_back(1e-9 * static_cast<double>(end.wall - start.wall) / kPeriod);
  }
  for (std::vector<double>* all : {&times, &wall_times}) std::nth_element(all->begin(), all->begin() + 6, all->end());
  out.share = times[6];
  out.wall_share = wall_times[6];
  return out;
}

}  // namespace

static ExperimentResult reproduce_realtime(const ExperimentOptions& options) {
  ExperimentResult out;
  Table table;
  table.title = "A slow step of 33 ms";
  table.columns = {"integration steps", "processor time over real time", "wall clock over real time",
                   "a step and vertex"};
  Series series;
  series.name = "pressed block, E = 10 kPa";
  double at_five_thousand = kNotAvailable, wall_at_five_thousand = kNotAvailable;
  for (const int cells : {6, 8, 10, 12, 14, 17, 20}) {
    if ((options.stop && options.stop->load()) || (options.quick && cells > 10)) break;
    if (options.progress) options.progress(fmt::format("{}³ cells", cells), 0.0);
    const Load load = measure(cells);
    table.rows.push_back({fmt::format("{} vertices", load.vertices),
                          {{fmt::format("{}", load.steps)},
                           {fmt::format("{:.3f}", load.share)},
                           {fmt::format("{:.3f}", load.wall_share)},
                           {format_quantity(load.share * kPeriod / load.steps / load.vertices, "s")}}});
    series.x.push_back(load.vertices);
    series.y.push_back(load.share);
    if (!std::isnan(at_five_thousand) || load.vertices < 5000) continue;
    at_five_thousand = load.share;
    wall_at_five_thousand = load.wall_share;
  }
  // Slope of a line through the logarithms, and where it meets 1.
  double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  const auto n = static_cast<double>(series.x.size());
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double x = std::log(series.x[i]), y = std::log(series.y[i]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx), offset = (sy - slope * sx) / n;
  table.note = fmt::format(
      "Grows with the power {:.2f} of the vertices (a body of the same size with n times the cells along each edge has "
      "n³ "
      "times the vertices and n times the steps: 4/3). At that rate real time ends at {:.0f} vertices.",
      slope, std::exp(-offset / slope));
  out.claims = {
      {"processor time over real time at 5,000 vertices or more, E = 10 kPa, in contact",
       "\"several hundred vertices\"", at_five_thousand, 1.0, Relation::kAtMost, "", true},
      {"wall clock over real time at 5,000 vertices or more, E = 10 kPa, in contact", "\"several hundred vertices\"",
       wall_at_five_thousand, 1.0, Relation::kAtMost, "", true},
      {"power of the growth", "4/3", slope, 1.6, Relation::kAtMost, "", true},
  };
  out.report.title = "Vertices in real time on one core";
  out.report.paragraphs = {
      "A block of 0.1 m, E = 10 kPa, ν = 0.3, pressed by a ball of 20 mm; steps at nine tenths of the stable one, "
      "looked "
      "up again every eighth. Processor time of the slow thread: what else runs on the machine does not count, though "
      "it shares caches and memory; and by the clock on the wall, where it does."};
  out.report.tables = {table};
  Plot plot;
  plot.title = "Processor time over real time";
  plot.x_label = "vertices";
  plot.y_label = "share";
  plot.series = {series};
  out.report.plots = {plot};
  return out;
}

}  // namespace zhuang_realtime

ExperimentResult run_zhuang_realtime(const ExperimentOptions& options) {
  return zhuang_realtime::reproduce_realtime(options);
}

}  // namespace palpate
