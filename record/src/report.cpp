#include "palpate/record/report.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "palpate/core/error.h"
#include "palpate/core/version.h"

namespace palpate {
namespace embedded {
extern const std::string_view report_js;
extern const std::string_view report_css;
extern const std::string_view uplot_js;
extern const std::string_view uplot_css;
extern const std::string_view uplot_licence;
}  // namespace embedded

namespace {

constexpr std::size_t kPagePoints = 300'000;
constexpr std::size_t kFewestPoints = 2'000;  ///< to a series: two to a pixel of a usual plot

/// A JSON string that is safe inside <script>: no '<', so no "</script>" and no "<!--".
std::string json_text(std::string_view text) {
  const std::string quoted = nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::string out;
  for (const char c : quoted) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

void append_numbers(std::string& out, const std::vector<double>& values, int digits) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    if (std::isfinite(values[i])) {
      fmt::format_to(std::back_inserter(out), "{:.{}g}", values[i], digits);
    } else {
      out += "null";
    }
  }
  out += ']';
}

std::size_t points_for_each_series(const Report& report) {
  std::size_t series = 0;
  for (const Plot& plot : report.plots) series += plot.series.size();
  return std::max(kFewestPoints, kPagePoints / std::max<std::size_t>(series, 1));
}

constexpr std::string_view kind_name(PlotKind kind) {
  constexpr std::string_view kNames[] = {"time", "path", "histogram", "spectrum", "lines"};
  return kNames[static_cast<std::size_t>(kind)];
}

constexpr std::string_view style_name(SeriesStyle style) {
  switch (style) {
    case SeriesStyle::kReference:
      return "reference";
    case SeriesStyle::kDevice:
      return "device";
    case SeriesStyle::kSurface:
      return "surface";
    case SeriesStyle::kLimit:
      return "limit";
    case SeriesStyle::kMethod:
      break;
  }
  return "method";
}

/// {"plots": [{..., "series": [{"name", "style", "x": index into "xs", "y": [...]}]}], "xs": [[...]]}. Series that
/// share their x, as the methods of a comparison do, share it here too.
std::string make_plot_json(const Report& report) {
  const std::size_t limit = points_for_each_series(report);
  std::map<std::string, std::size_t> xs;
  std::string plots;
  for (const Plot& plot : report.plots) {
    if (!plots.empty()) plots += ',';
    plots += fmt::format(
        R"({{"kind":"{}","title":{},"view":{},"x_label":{},"x_unit":{},"y_label":{},"y_unit":{},"series":[)",
        kind_name(plot.kind), json_text(plot.title), json_text(plot.view), json_text(plot.x_label),
        json_text(plot.x_unit), json_text(plot.y_label), json_text(plot.y_unit));
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      const Series thin = decimate(plot.series[i], plot.kind, limit);
      std::string x;
      append_numbers(x, thin.x, 8);
      const std::size_t index = xs.try_emplace(std::move(x), xs.size()).first->second;
      plots += fmt::format(R"({}{{"name":{},"style":"{}","x":{},"y":)", i > 0 ? "," : "", json_text(thin.name),
                           style_name(thin.style), index);
      append_numbers(plots, thin.y, 6);
      plots += '}';
    }
    plots += "],\"marks\":[";
    for (std::size_t i = 0; i < plot.marks.size(); ++i) {
      plots += fmt::format(R"({}{{"x":{:.8g},"label":{}}})", i > 0 ? "," : "", plot.marks[i].x,
                           json_text(plot.marks[i].label));
    }
    plots += "]}";
  }
  std::vector<const std::string*> in_order(xs.size());
  for (const auto& [text, index] : xs) in_order[index] = &text;
  std::string x_lists;
  for (const std::string* text : in_order) x_lists.append(x_lists.empty() ? "" : ",").append(*text);
  std::string views;
  for (const std::string& view : report.views) views.append(views.empty() ? "" : ",").append(json_text(view));
  return fmt::format("{{\"plots\":[{}],\"xs\":[{}],\"views\":[{}]}}", plots, x_lists, views);
}

std::string make_claims_html(const std::vector<Claim>& claims) {
  if (claims.empty()) return "";
  std::string rows;
  for (const Claim& claim : claims) {
    const std::string reason =
        claim.holds || claim.reason.empty() ? "" : fmt::format("<p class=\"note\">{}</p>", escape_html(claim.reason));
    rows += fmt::format(
        "<tr><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"{}\">{}</td></tr>\n",
        escape_html(claim.name), reason, escape_html(claim.paper), escape_html(claim.measured),
        escape_html(claim.limit), claim.holds ? "holds" : "fails", claim.holds ? "✓ holds" : "✗ does not hold");
  }
  return "<section><h2>Claims</h2><div class=\"scroll\"><table class=\"claims\"><thead><tr><th>Claim</th><th>Paper</th>"
         "<th>Measured</th><th>Holds if</th><th>Verdict</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div></section>\n";
}

/// Those of other views than the first are hidden until the reader wants them.
std::string view_attribute(const std::string& view, const Report& report) {
  if (view.empty()) return "";
  const bool first = !report.views.empty() && report.views.front() == view;
  return fmt::format(" data-view=\"{}\"{}", escape_html(view), first ? "" : " hidden");
}

std::string make_table_html(const Table& table, const Report& report) {
  std::string html = fmt::format(
      "<section{}{}><h2>{}</h2><div class=\"scroll\"><table class=\"numbers\"><thead><tr><td></td>",
      table.narrow ? " class=\"narrow\"" : "", view_attribute(table.view, report), escape_html(table.title));
  for (const std::string& column : table.columns) html += fmt::format("<th scope=\"col\">{}</th>", escape_html(column));
  html += "</tr></thead><tbody>\n";
  for (const TableRow& row : table.rows) {
    html += fmt::format("<tr{}><th scope=\"row\">{}</th>", row.muted ? " class=\"muted\"" : "", escape_html(row.name));
    for (const TableCell& cell : row.cells) {
      // Two steps of the page's own colours are mixed, so that a map reads in the dark too.
      const std::string heat =
          std::isnan(cell.heat) ? ""
                                : fmt::format(" style=\"background:color-mix(in srgb,var(--hot) {:.0f}%,var(--cool))\"",
                                              100.0 * std::clamp(cell.heat, 0.0, 1.0));
      html += fmt::format("<td{}{}>{}</td>", cell.best ? " class=\"best\"" : "", heat, escape_html(cell.text));
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>";
  if (!table.note.empty()) html += fmt::format("<p class=\"note\">{}</p>", escape_html(table.note));
  return html + "</section>\n";
}

/// The switch between the views stands before the first table that belongs to one; narrow ones share a row.
std::string make_tables_html(const Report& report) {
  std::string html;
  bool switched = false, row = false;
  for (const Table& table : report.tables) {
    if (!switched && !table.view.empty()) {
      html += "<div class=\"views\"></div>\n";
      switched = true;
    }
    if (row != table.narrow) html += table.narrow ? "<div class=\"row\">\n" : "</div>\n";
    row = table.narrow;
    html += make_table_html(table, report);
  }
  return row ? html + "</div>\n" : html;
}

std::string make_plots_html(const Report& report) {
  const std::vector<Plot>& plots = report.plots;
  if (plots.empty()) return "";
  std::string html = "<section><h2>Plots</h2>\n<div id=\"methods\"></div>\n<div class=\"plots\">\n";
  for (std::size_t i = 0; i < plots.size(); ++i) {
    html += fmt::format(
        "<figure class=\"{}\" data-plot=\"{}\"{}><figcaption>{}</figcaption><div class=\"canvas\"></div>",
        plots[i].half_width ? "half" : "full", i, view_attribute(plots[i].view, report), escape_html(plots[i].title));
    if (!plots[i].note.empty()) html += fmt::format("<p class=\"note\">{}</p>", escape_html(plots[i].note));
    html += "</figure>\n";
  }
  return html + "</div></section>\n";
}

/// Which runs have the best value of a metric. One run, or all alike: none. Without a truth, none is nearest to it.
std::vector<bool> find_best(const std::vector<NamedMetrics>& runs, std::vector<double> values, Better better) {
  std::vector<bool> best(runs.size(), false);
  if (better == Better::kNone) return best;
  if (better == Better::kTruth) {
    const auto truth = std::ranges::find_if(runs, &NamedMetrics::truth);
    const double wanted = truth == runs.end() ? kNotAvailable : values[as_size(truth - runs.begin())];
    for (double& value : values) value = std::abs(value - wanted);
  }
  std::vector<double> rivals;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!runs[r].truth && std::isfinite(values[r])) rivals.push_back(values[r]);
  }
  std::ranges::sort(rivals);
  if (rivals.size() < 2 || rivals.front() == rivals.back()) return best;
  for (std::size_t r = 0; r < runs.size(); ++r) best[r] = !runs[r].truth && values[r] == rivals.front();
  return best;
}

}  // namespace

std::vector<Table> make_metrics_tables(const std::vector<NamedMetrics>& runs) {
  std::vector<std::vector<MetricValue>> values;
  for (const NamedMetrics& run : runs) values.push_back(list_metrics(run.metrics));
  std::vector<Table> tables;
  for (std::size_t group = 0; group < kMetricGroupNames.size(); ++group) {
    Table table;
    table.title = kMetricGroupNames[group];
    for (const NamedMetrics& run : runs) table.rows.push_back({run.name, {}, run.truth});
    const std::size_t metric_count = values.empty() ? 0 : values.front().size();
    for (std::size_t m = 0; m < metric_count; ++m) {
      const MetricValue& kind = values.front()[m];
      if (as_size(kind.group) != group) continue;
      if (std::ranges::all_of(values, [m](const auto& v) { return std::isnan(v[m].value); })) continue;
      table.columns.emplace_back(kind.label);
      std::vector<double> column;
      for (const std::vector<MetricValue>& v : values) column.push_back(v[m].value);
      const std::vector<bool> best = find_best(runs, column, kind.better);
      for (std::size_t r = 0; r < runs.size(); ++r) {
        table.rows[r].cells.push_back({format_quantity(column[r], kind.unit), best[r]});
      }
    }
    if (!table.columns.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string make_page_html(std::string_view title, std::string_view body) {
  std::string html = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  // Nothing may be loaded: the page is the same in ten years and on a machine without a network.
  html +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n";
  html += fmt::format("<title>{}</title>\n<style>{}\n{}</style>\n</head>\n<body>\n", escape_html(title),
                      embedded::uplot_css, embedded::report_css);
  return html.append(body).append("</body>\n</html>\n");
}

std::string make_report_html(const Report& report) {
  std::string html = fmt::format("<main>\n<header><h1>{}</h1>", escape_html(report.title));
  if (!report.subtitle.empty()) html += fmt::format("<p class=\"subtitle\">{}</p>", escape_html(report.subtitle));
  html += "</header>\n";
  for (const std::string& paragraph : report.paragraphs) html += fmt::format("<p>{}</p>\n", escape_html(paragraph));
  html += make_claims_html(report.claims);
  html += make_tables_html(report);
  html += make_plots_html(report);
  html += fmt::format("<footer>Made by Palpate {}.</footer>\n</main>\n", kVersion);
  if (!report.plots.empty()) {
    html += fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", make_plot_json(report));
    html += fmt::format("<script>/*\n{}*/\n{}</script>\n<script>{}</script>\n", embedded::uplot_licence,
                        embedded::uplot_js, embedded::report_js);
  }
  return make_page_html(report.title, html);
}

void write_report(const Report& report, const std::string& path) {
  const std::string html = make_report_html(report);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail_input("{}: cannot create the report: {}", path, std::strerror(errno));
  const bool written = std::fwrite(html.data(), 1, html.size(), file) == html.size();
  if (std::fclose(file) != 0 || !written) fail_input("{}: cannot write the report: {}", path, std::strerror(errno));
}

}  // namespace palpate
