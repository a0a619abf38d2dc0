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

const Metrics* find(const std::vector<NamedMetrics>& metrics, const std::string& name, const std::string& tool) {
  const auto same = [&](const NamedMetrics& m) { return m.name == name && m.tool == tool; };
  const auto found = std::ranges::find_if(metrics, same);
  return found == metrics.end() ? nullptr : &found->metrics;
}

/// In percent, or in newtons where the touch is too light for that.
std::string error_text(const Metrics& m) {
  return std::isnan(m.force_error_relative) ? format_quantity(m.force_error_rms, "N")
                                            : format_quantity(m.force_error_relative, "%");
}

/// "direct 18.2 %, accelerance 20.1 %": of all methods of one tool, in this order, by `metrics`.
std::string list_errors(const std::vector<const NamedMetrics*>& order, const std::vector<NamedMetrics>& metrics) {
  std::vector<std::string> parts;
  for (const NamedMetrics* m : order) {
    if (const Metrics* own = find(metrics, m->name, m->tool))
      parts.push_back(fmt::format("{} {}", m->name, error_text(*own)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// When the scene becomes chaotic for that tool [s]; NaN if nowhere.
double chaos_of(const SceneComparison& comparison, std::size_t tool) {
  return tool < comparison.truth.size() ? comparison.truth[tool].chaotic_from : kNotAvailable;
}

std::vector<TableCell> error_cells(const Metrics* m) {
  const Metrics none;
  const Metrics& from = m ? *m : none;
  return {{format_quantity(from.force_error_relative, "%")}, {format_quantity(from.force_error_rms, "N")}};
}

/// The error, in newtons too, and where the scene becomes chaotic that of the whole run beside it.
void add_errors(TableRow& row, const Metrics* judged, const Metrics* whole, bool chaotic) {
  for (TableCell& cell : error_cells(judged)) row.cells.push_back(std::move(cell));
  if (chaotic) row.cells.push_back(error_cells(whole).front());
}

/// The row of a method: its errors with all hands, then more of the one that leads, then times.
TableRow make_method_row(const SceneComparison& comparison, const NamedMetrics& m, bool chaotic) {
  TableRow row{m.name == comparison.chosen ? m.name + " (auto)" : m.name, {}, false};
  for (const SceneComparison::Part& part : comparison.hands) {
    const std::vector<const NamedMetrics*> order = rank_methods(part, m.tool);
    const Metrics* whole = find(part.comparison.metrics, m.name, m.tool);
    const std::size_t first = row.cells.size();
    add_errors(row, chaotic ? find(part.before_chaos, m.name, m.tool) : whole, whole, chaotic);
    const bool best = order.size() > 1 && order.front()->name == m.name;
    row.cells[first].best = row.cells[first + 1].best = best;
  }
  // Where it is chaotic `m` is of the time before, which knows no computing times.
  const Metrics& whole = *find(comparison.leading().metrics, m.name, m.tool);
  for (const auto& [value, unit] : {std::pair{m.metrics.noticeable_share, "%"},
                                    {m.metrics.direction_error, "°"},
                                    {m.metrics.force_delay, "s"},
                                    {whole.tick_time_p99, "s"},
                                    {whole.step_time_p99, "s"}})
    row.cells.push_back({format_quantity(value, unit)});
  return row;
}

TableRow make_truth_row(const SceneComparison& comparison, const TruthError& error) {
  const bool chaotic = !std::isnan(error.chaotic_from);
  const Metrics& judged = chaotic ? error.half_step_before : error.half_step;
  TableRow row{"the truth at half the time step", {}, true};
  for (const SceneComparison::Part& part : comparison.hands) {
    // With a hand of its own it would not be the same hand.
    const bool same = part.hand == ComparedHand::kReplayed || comparison.hands.size() == 1;
    add_errors(row, same ? &judged : nullptr, same ? &error.half_step : nullptr, chaotic);
  }
  for (const auto& [value, unit] :
       {std::pair{judged.noticeable_share, "%"}, {judged.direction_error, "°"}, {judged.force_delay, "s"}})
    row.cells.push_back({format_quantity(value, unit)});
  return row;
}

/// All hands side by side, the nearest to the truth first, below it what the truth itself is worth.
Table make_overview(const SceneComparison& comparison, std::size_t tool) {
  const RunData& truth = *comparison.leading().reference.all().at(tool);
  const double chaos = chaos_of(comparison, tool);
  const bool chaotic = !std::isnan(chaos);
  const std::string until = chaotic ? fmt::format(" until {:.2f} s", chaos) : "";
  Table table;
  table.title = truth.tool.empty() ? "How far from the truth" : truth.tool + ": how far from the truth";
  for (const SceneComparison::Part& part : comparison.hands) {
    const std::string hand = hand_name(part.hand);
    table.columns.push_back(fmt::format("Force error{}, {}", until, hand));
    table.columns.push_back(fmt::format("RMS{}, {}", until, hand));
    if (chaotic) table.columns.push_back(fmt::format("Force error, whole run, {}", hand));
  }
  for (const char* column : {"Can be noticed", "Direction off by", "Delay", "Tick, 99 %", "Slow step, 99 %"})
    table.columns.emplace_back(column);
  for (const NamedMetrics* m : rank_methods(comparison.hands.front(), truth.tool))
    table.rows.push_back(make_method_row(comparison, *m, chaotic));
  if (tool < comparison.truth.size()) {
    table.rows.push_back(make_truth_row(comparison, comparison.truth[tool]));
    table.rows.back().cells.resize(table.columns.size(), {"–"});
  }
  table.note = fmt::format(
      "The three columns before the times are of the {}{}. \"Can be noticed\": share of the contact in which the error "
      "is above {:.0f} % of the force.",
      hand_name(comparison.hands.front().hand), until, 100.0 * kNoticeable);
  return table;
}

/// What a tenth of a millimetre does to the truth, and what of the errors is worth anything then.
void describe_chaos(const SceneComparison& comparison, const TruthError& error, const std::string& tool,
                    std::vector<std::string>& out) {
  const std::string of = tool.empty() ? "" : tool + ": ";
  out.push_back(fmt::format(
      "{}The scene is chaotic from {:.2f} s on: a hand {} beside feels another force from then on ({} in all, {} until "
      "then). Errors after that are luck in part; compare methods by those until then ({} of contact), and take no two "
      "of them for different that are within {} of each other.",
      of, error.chaotic_from, format_quantity(kHandShift, "m"), format_quantity(error.shift_error, "%"),
      format_quantity(error.shift_error_before, "%"), format_quantity(error.contact_before, "s"),
      format_quantity(error.shift_error_before, "%")));
  const SceneComparison::Part& part = comparison.hands.front();
  const std::vector<const NamedMetrics*> order = rank_methods(part, tool);
  if (order.size() < 2) return;
  out.push_back(fmt::format("{}Off the truth until {:.2f} s ({}): {}. Over the whole run: {}.", of, error.chaotic_from,
                            hand_name(part.hand), list_errors(order, part.before_chaos),
                            list_errors(order, part.comparison.metrics)));
}

}  // namespace

std::vector<const NamedMetrics*> rank_methods(const SceneComparison::Part& part, const std::string& tool) {
  const auto is_its = [&](const NamedMetrics& m) { return m.tool == tool; };
  const bool chaotic = std::ranges::any_of(part.before_chaos, is_its);
  std::vector<const NamedMetrics*> out;
  for (const NamedMetrics& m : chaotic ? part.before_chaos : part.comparison.metrics) {
    if (!m.truth && m.tool == tool) out.push_back(&m);
  }
  // Errors in percent have the same order, where there are any.
  std::ranges::stable_sort(
      out, [](const auto* a, const auto* b) { return a->metrics.force_error_rms < b->metrics.force_error_rms; });
  return out;
}

namespace {

/// Where the nearest method is too slow for its tick on this machine: which is the nearest that is not.
std::string describe_holding(const SceneComparison& comparison, const std::vector<const NamedMetrics*>& ranked) {
  const std::vector<TickRow>& ticks = comparison.leading().reference.data.ticks;
  if (ticks.size() < 2) return {};
  const double dt = (ticks.back().time - ticks.front().time) / static_cast<double>(ticks.size() - 1);
  const auto tick_time = [&](const NamedMetrics* m) {
    return find(comparison.leading().metrics, m->name, m->tool)->tick_time_p99;
  };
  if (!(tick_time(ranked.front()) > dt)) return {};
  const auto fits = std::ranges::find_if(ranked, [&](const NamedMetrics* m) { return tick_time(m) <= dt; });
  const std::string slow =
      fmt::format(" Its ticks take {} on this machine (99 %), and there are {}: not for real time;",
                  format_quantity(tick_time(ranked.front()), "s"), format_quantity(dt, "s"));
  if (fits == ranked.end()) return slow + " and no other's fit either.";
  std::string text =
      slow + fmt::format(" of those that fit {} is the nearest, {}", (*fits)->name, error_text((*fits)->metrics));
  const auto next = std::find_if(fits + 1, ranked.end(), [&](const NamedMetrics* m) { return tick_time(m) <= dt; });
  if (next != ranked.end()) text += fmt::format(", then {}, {}", (*next)->name, error_text((*next)->metrics));
  return text + ".";
}

}  // namespace

std::vector<std::string> describe_nearest(const SceneComparison& comparison) {
  std::vector<std::string> out;
  const SceneComparison::Part& part = comparison.hands.front();
  const std::vector<const RunData*> tools = comparison.leading().reference.all();
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const std::vector<const NamedMetrics*> ranked = rank_methods(part, tools[i]->tool);
    if (ranked.empty()) continue;
    const double chaos = chaos_of(comparison, i);
    std::string text = tools[i]->tool.empty() ? "" : tools[i]->tool + ": ";
    text += std::isnan(chaos)
                ? "Nearest to the truth: "
                : fmt::format("Nearest to the truth until {:.2f} s, after which the scene is chaotic: ", chaos);
    text += fmt::format("{}, off by {}", ranked[0]->name, error_text(ranked[0]->metrics));
    if (ranked.size() > 1) text += fmt::format(", then {}, {}", ranked[1]->name, error_text(ranked[1]->metrics));
    text += fmt::format(" ({}).", hand_name(part.hand));
    out.push_back(text + describe_holding(comparison, ranked));
  }
  return out;
}

std::vector<std::string> describe_strays(const SceneComparison& comparison) {
  std::vector<std::string> out;
  for (const StrayTool& s : comparison.strays)
    out.push_back(fmt::format(
        "{}With the replayed hand the tool of {} comes to be {} from where the truth's is, while the hand goes the "
        "truth's way: what it feels there is the coupling's spring, stretched to up to {}, and not how {} touches.",
        s.tool.empty() ? "" : s.tool + ": ", s.method, format_quantity(s.distance, "m"), format_quantity(s.force, "N"),
        s.method));
  return out;
}

std::vector<std::string> describe_truth(const SceneComparison& comparison) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < comparison.truth.size(); ++i) {
    const TruthError& t = comparison.truth[i];
    const std::string& tool = comparison.leading().reference.all().at(i)->tool;
    const bool chaotic = !std::isnan(t.chaotic_from);
    out.push_back(fmt::format(
        "{}The truth's own error: with half the time step and the same hand its force changes by {}{}. Methods that "
        "are nearer than that to it cannot be told apart.",
        tool.empty() ? "" : tool + ": ", error_text(chaotic ? t.half_step_before : t.half_step),
        chaotic ? fmt::format(" until {:.2f} s", t.chaotic_from) : ""));
    if (chaotic) describe_chaos(comparison, t, tool, out);
  }
  return out;
}

Report make_report(const Scene& scene, const World& world, const SceneComparison& comparison) {
  Report report;
  report.title = fmt::format("{}: methods compared", scene.name);
  report.subtitle = describe_run(scene);
  if (!scene.description.empty()) report.paragraphs.push_back(scene.description);
  const std::vector<const RunData*> tools = comparison.leading().reference.all();
  for (std::string& sentence : describe_nearest(comparison)) report.paragraphs.push_back(std::move(sentence));
  report.paragraphs.push_back(comparison.lead);
  for (const SceneComparison::Part& part : comparison.hands) {
    if (comparison.hands.size() > 1) report.paragraphs.emplace_back(explain(part.hand));
  }
  for (std::string& sentence : describe_truth(comparison)) report.paragraphs.push_back(std::move(sentence));
  for (std::string& sentence : describe_strays(comparison)) report.paragraphs.push_back(std::move(sentence));
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

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

std::string_view key(ComparedHand hand) {
  return kComparedHandKeys[static_cast<std::size_t>(hand)];
}

/// {"contact", "hand_shift_error_relative", "truth": {…}, "replayed": {method: {…}}, "closed_loop": …}: of one tool,
/// until the scene becomes chaotic.
Json before_chaos_json(const SceneComparison& comparison, const TruthError& error, std::size_t tool) {
  const auto errors = [](const Metrics& m) {
    return Json{{"force_error_relative", number(m.force_error_relative)},
                {"force_error_rms", number(m.force_error_rms)}};
  };
  Json out = {{"contact", number(error.contact_before)},
              {"hand_shift_error_relative", number(error.shift_error_before)},
              {"truth", errors(error.half_step_before)}};
  for (const SceneComparison::Part& part : comparison.hands) {
    Json& methods = out[std::string(key(part.hand))] = Json::object();
    for (const NamedMetrics* m : rank_methods(part, comparison.leading().reference.all().at(tool)->tool))
      methods[m->name] = errors(m->metrics);
  }
  return out;
}

}  // namespace

std::string make_json(const Scene& scene, const SceneComparison& comparison) {
  const auto metrics = [](const Comparison& c) { return Json::parse(make_metrics_json(c.metrics)); };
  const Comparison* replayed = comparison.find(ComparedHand::kReplayed);
  const Comparison* closed = comparison.find(ComparedHand::kClosedLoop);
  const Json runs = metrics(replayed ? *replayed : *closed);
  Json out = {{"scene", scene.name},     {"leading", key(comparison.hands.front().hand)},
              {"lead", comparison.lead}, {"hand", key(replayed ? ComparedHand::kReplayed : ComparedHand::kClosedLoop)},
              {"runs", runs["runs"]},    {"units", runs["units"]}};
  std::vector<std::string> summary = describe_nearest(comparison);
  for (std::string& sentence : describe_truth(comparison)) summary.push_back(std::move(sentence));
  for (std::string& sentence : describe_strays(comparison)) summary.push_back(std::move(sentence));
  out["summary"] = summary;
  if (!comparison.chosen.empty()) out["auto"] = comparison.chosen;
  if (replayed && closed) out["closed_loop"] = {{"runs", metrics(*closed)["runs"]}};
  for (std::size_t i = 0; i < comparison.truth.size(); ++i) {
    const TruthError& t = comparison.truth[i];
    Json error = Json::object();
    if (const std::string& tool = comparison.leading().reference.all().at(i)->tool; !tool.empty()) error["tool"] = tool;
    error.update({{"force_error_relative", number(t.half_step.force_error_relative)},
                  {"force_error_rms", number(t.half_step.force_error_rms)},
                  {"hand_shift", kHandShift},
                  {"hand_shift_error_relative", number(t.shift_error)},
                  {"chaotic_from", number(t.chaotic_from)}});
    if (!std::isnan(t.chaotic_from)) error["before_chaos"] = before_chaos_json(comparison, t, i);
    out["truth_error"].push_back(std::move(error));
  }
  out["skipped"] = Json::array();
  for (const SkippedMethod& s : comparison.leading().skipped)
    out["skipped"].push_back({{"name", s.name}, {"reason", s.reason}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace palpate
