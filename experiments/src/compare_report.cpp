#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "palpate/experiments/compare_scene.h"

namespace palpate {
namespace {

std::string hand_name(ComparedHand hand) {
  return std::string(kComparedHandNames[static_cast<std::size_t>(hand)]);
}

/// Those of one tool, the truth left out, the nearest to the truth first. Errors in newtons have the same order.
std::vector<const NamedMetrics*> rank(const Comparison& comparison, const std::string& tool) {
  std::vector<const NamedMetrics*> out;
  for (const NamedMetrics& m : comparison.metrics) {
    if (!m.truth && m.tool == tool) out.push_back(&m);
  }
  std::ranges::stable_sort(
      out, [](const auto* a, const auto* b) { return a->metrics.force_error_rms < b->metrics.force_error_rms; });
  return out;
}

const NamedMetrics* find(const Comparison& comparison, const std::string& name, const std::string& tool) {
  const auto same = [&](const NamedMetrics& m) { return m.name == name && m.tool == tool; };
  const auto found = std::ranges::find_if(comparison.metrics, same);
  return found == comparison.metrics.end() ? nullptr : &*found;
}

/// In percent, or in newtons where the touch is too light for that.
std::string error_text(const Metrics& m) {
  return std::isnan(m.force_error_relative) ? format_quantity(m.force_error_rms, "N")
                                            : format_quantity(m.force_error_relative, "%");
}

/// Which method is nearest to the truth, in one sentence.
std::string describe_best(const SceneComparison& comparison, const std::string& tool) {
  const SceneComparison::Part& part = comparison.hands.front();
  const std::vector<const NamedMetrics*> ranked = rank(part.comparison, tool);
  if (ranked.empty()) return {};
  std::string text =
      fmt::format("Nearest to the truth: {}, off by {}", ranked[0]->name, error_text(ranked[0]->metrics));
  if (ranked.size() > 1) text += fmt::format(", then {}, {}", ranked[1]->name, error_text(ranked[1]->metrics));
  text += fmt::format(" ({}).", hand_name(part.hand));
  return tool.empty() ? text : tool + ": " + text;
}

std::vector<TableCell> error_cells(const Metrics* m) {
  const Metrics none;
  const Metrics& from = m ? *m : none;
  return {{format_quantity(from.force_error_relative, "%")}, {format_quantity(from.force_error_rms, "N")}};
}

/// Both hands side by side, the nearest to the truth first, below it what the truth itself is worth.
Table make_overview(const SceneComparison& comparison, std::size_t tool) {
  const RunData& truth = *comparison.leading().reference.all().at(tool);
  Table table;
  table.title = truth.tool.empty() ? "How far from the truth" : truth.tool + ": how far from the truth";
  for (const SceneComparison::Part& part : comparison.hands) {
    table.columns.push_back("Force error, " + hand_name(part.hand));
    table.columns.push_back("RMS, " + hand_name(part.hand));
  }
  for (const char* column : {"Can be noticed", "Direction off by", "Delay", "Tick, 99 %", "Slow step, 99 %"})
    table.columns.emplace_back(column);
  std::vector<std::size_t> best(comparison.hands.size(), 0);
  const std::vector<const NamedMetrics*> ranked = rank(comparison.leading(), truth.tool);
  for (const NamedMetrics* m : ranked) {
    TableRow row{m->name == comparison.chosen ? m->name + " (auto)" : m->name, {}, false};
    for (const SceneComparison::Part& part : comparison.hands) {
      const NamedMetrics* own = find(part.comparison, m->name, truth.tool);
      const std::vector<const NamedMetrics*> order = rank(part.comparison, truth.tool);
      std::vector<TableCell> cells = error_cells(own ? &own->metrics : nullptr);
      for (TableCell& cell : cells) cell.best = own && order.size() > 1 && order.front() == own;
      row.cells.insert(row.cells.end(), cells.begin(), cells.end());
    }
    const Metrics& x = m->metrics;
    for (const auto& [value, unit] : {std::pair{x.noticeable_share, "%"},
                                      {x.direction_error, "°"},
                                      {x.force_delay, "s"},
                                      {x.tick_time_p99, "s"},
                                      {x.step_time_p99, "s"}})
      row.cells.push_back({format_quantity(value, unit)});
    table.rows.push_back(std::move(row));
  }
  if (tool < comparison.truth.size()) {
    const Metrics& own = comparison.truth[tool].half_step;
    TableRow row{"the truth at half the time step", {}, true};
    for (const SceneComparison::Part& part : comparison.hands) {
      // With a hand of its own it would not be the same hand.
      const bool same = part.hand == ComparedHand::kReplayed || comparison.hands.size() == 1;
      for (TableCell& cell : error_cells(same ? &own : nullptr)) row.cells.push_back(std::move(cell));
    }
    for (const auto& [value, unit] :
         {std::pair{own.noticeable_share, "%"}, {own.direction_error, "°"}, {own.force_delay, "s"}})
      row.cells.push_back({format_quantity(value, unit)});
    row.cells.resize(table.columns.size(), {"–"});
    table.rows.push_back(std::move(row));
  }
  table.note = fmt::format(
      "The four columns before the times are of the {}. \"Can be noticed\": share of the contact in which the error is "
      "above {:.0f} % of the force.",
      hand_name(comparison.hands.front().hand), 100.0 * kNoticeable);
  return table;
}

}  // namespace

std::vector<std::string> describe_truth(const SceneComparison& comparison) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < comparison.truth.size(); ++i) {
    const TruthError& t = comparison.truth[i];
    const std::string& tool = comparison.leading().reference.all().at(i)->tool;
    const std::string of = tool.empty() ? "" : tool + ": ";
    out.push_back(fmt::format(
        "{}The truth's own error: with half the time step and the same hand its force changes by {}. Methods that are "
        "nearer than that to it cannot be told apart.",
        of, error_text(t.half_step)));
    if (!std::isnan(t.chaotic_from))
      out.push_back(fmt::format(
          "{}The scene is chaotic from {:.2f} s on: a hand {} beside feels another force there ({} in all). What is "
          "compared after that is luck in part.",
          of, t.chaotic_from, format_quantity(kHandShift, "m"), format_quantity(t.shift_error, "%")));
  }
  return out;
}

Report make_report(const Scene& scene, const World& world, const SceneComparison& comparison) {
  Report report;
  report.title = fmt::format("{}: methods compared", scene.name);
  report.subtitle = describe_run(scene);
  if (!scene.description.empty()) report.paragraphs.push_back(scene.description);
  const std::vector<const RunData*> tools = comparison.leading().reference.all();
  for (const RunData* tool : tools) {
    std::string best = describe_best(comparison, tool->tool);
    if (!best.empty()) report.paragraphs.push_back(std::move(best));
  }
  report.paragraphs.push_back(comparison.lead);
  for (const SceneComparison::Part& part : comparison.hands) {
    if (comparison.hands.size() > 1) report.paragraphs.emplace_back(explain(part.hand));
  }
  for (std::string& sentence : describe_truth(comparison)) report.paragraphs.push_back(std::move(sentence));
  for (const SkippedMethod& s : comparison.leading().skipped)
    report.paragraphs.push_back(fmt::format("Left out: {} ({}).", s.name, s.reason));
  for (std::size_t i = 0; i < tools.size(); ++i) report.tables.push_back(make_overview(comparison, i));
  for (const SceneComparison::Part& part : comparison.hands) {
    RunPlotOptions plots;
    if (comparison.truth.size() == 1) {
      plots.finer = &comparison.truth[0].finer;
      if (const double from = comparison.truth[0].chaotic_from; !std::isnan(from))
        plots.marks = {{from, "chaotic from here"}};
    }
    const bool both = comparison.hands.size() > 1;
    if (both) report.views.push_back(hand_name(part.hand));
    add_comparison(report, world, part.comparison, both ? hand_name(part.hand) : "", plots);
  }
  return report;
}

std::string make_json(const Scene& scene, const SceneComparison& comparison) {
  using Json = nlohmann::ordered_json;
  const auto key = [](ComparedHand hand) { return kComparedHandKeys[static_cast<std::size_t>(hand)]; };
  const auto metrics = [](const Comparison& c) { return Json::parse(make_metrics_json(c.metrics)); };
  const Comparison* replayed = comparison.find(ComparedHand::kReplayed);
  const Comparison* closed = comparison.find(ComparedHand::kClosedLoop);
  const Json runs = metrics(replayed ? *replayed : *closed);
  Json out = {{"scene", scene.name},     {"leading", key(comparison.hands.front().hand)},
              {"lead", comparison.lead}, {"hand", key(replayed ? ComparedHand::kReplayed : ComparedHand::kClosedLoop)},
              {"runs", runs["runs"]},    {"units", runs["units"]}};
  if (!comparison.chosen.empty()) out["auto"] = comparison.chosen;
  if (replayed && closed) out["closed_loop"] = {{"runs", metrics(*closed)["runs"]}};
  for (std::size_t i = 0; i < comparison.truth.size(); ++i) {
    const TruthError& t = comparison.truth[i];
    const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
    Json error = Json::object();
    if (const std::string& tool = comparison.leading().reference.all().at(i)->tool; !tool.empty()) error["tool"] = tool;
    error.update({{"force_error_relative", number(t.half_step.force_error_relative)},
                  {"force_error_rms", number(t.half_step.force_error_rms)},
                  {"hand_shift", kHandShift},
                  {"hand_shift_error_relative", number(t.shift_error)},
                  {"chaotic_from", number(t.chaotic_from)}});
    out["truth_error"].push_back(std::move(error));
  }
  out["skipped"] = Json::array();
  for (const SkippedMethod& s : comparison.leading().skipped)
    out["skipped"].push_back({{"name", s.name}, {"reason", s.reason}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace palpate
