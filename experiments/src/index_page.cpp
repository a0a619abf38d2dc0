#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "palpate/experiments/expected.h"
#include "palpate/experiments/experiment.h"

namespace palpate {
namespace {

struct Paper {
  std::string_view prefix;  ///< of its experiments' names
  std::string_view title;
  std::string_view other{};  ///< an experiment of it whose name begins with something else
};
constexpr std::array kPapers = {
    Paper{"dervaux-", "Dervaux, Peterlík, Dequidt, Cotin & Duriez 2013: objects at different frequencies (compliance)"},
    Paper{"otaduy-", "Otaduy & Gross 2007: tool contact with compliant environments (jacobian)"},
    Paper{"knott-", "Knott & Kuhlen 2015: geometrically limited constraints (limited)", "sine-static-halfspace"},
    Paper{"zhuang-", "Zhuang & Canny 2000: global deformations (interpolation)"},
    Paper{"susa-", "Susa, Sato & Hasegawa 2011: multi-rate, multi-range (accelerance)"},
    Paper{"reduced-", "Palpate's own method (reduced)"},
    Paper{"", "Others"},
};

std::size_t paper_of(std::string_view experiment) {
  std::size_t i = 0;
  while (!experiment.starts_with(kPapers[i].prefix) && experiment != kPapers[i].other) ++i;
  return i;
}

struct Count {
  std::size_t claims = 0, held = 0, late = 0, changed = 0;  ///< late: times of this machine that do not hold
  void add(const NamedResult& result) {
    claims += result.claims.size();
    for (const MeasuredClaim& c : result.claims) {
      held += c.holds() ? 1 : 0;
      late += !c.holds() && depends_on_machine(c) ? 1 : 0;
    }
    changed += result.expected.changed(result.claims) ? 1 : 0;
  }
};

std::string describe_late(const Count& count) {
  if (count.late == 0) return {};
  return fmt::format(" ({} of them {} of this machine)", count.late, count.late == 1 ? "a time" : "times");
}

/// What there is to say of a claim beside its verdict.
std::string describe(const MeasuredClaim& claim, const ExpectedComparison::Entry& expected) {
  std::string out;
  if (!claim.holds() && !expected.reason.empty()) out = expected.reason;
  const char* change = expected.standing == Standing::kWorse    ? "It was expected to hold."
                       : expected.standing == Standing::kBetter ? "It was expected not to hold."
                                                                : "";
  if (*change) out += (out.empty() ? "" : " ") + std::string(change);
  if (claim.timed) out += (out.empty() ? "" : " ") + std::string("A time of this machine.");
  return out.empty() ? out : fmt::format("<p class=\"note\">{}</p>", escape_html(out));
}

std::string make_rows(const NamedResult& result) {
  std::string rows;
  for (std::size_t i = 0; i < result.claims.size(); ++i) {
    const MeasuredClaim& c = result.claims[i];
    const auto entry = i < result.expected.claims.size() ? result.expected.claims[i] : ExpectedComparison::Entry{};
    rows += fmt::format(
        "<tr><td class=\"{}\">{}</td><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td>{} {}</td></tr>\n",
        c.holds() ? "holds" : "fails", c.holds() ? "✓ holds" : "✗ does not hold", escape_html(c.name),
        describe(c, entry), escape_html(c.paper), escape_html(format_quantity(c.measured, c.unit)),
        c.relation == MeasuredClaim::Relation::kAtMost ? "≤" : "≥", escape_html(format_quantity(c.limit, c.unit)));
  }
  for (const std::string& name : result.expected.missing)
    rows += fmt::format(
        "<tr><td class=\"fails\">✗ missing</td><th scope=\"row\">{}<p class=\"note\">Expected, and not claimed any "
        "more.</p></th><td></td><td></td><td></td></tr>\n",
        escape_html(name));
  return rows;
}

/// What was found where, with links: a page of hundreds of claims needs one.
std::string make_contents(const std::vector<NamedResult>& results) {
  std::string rows;
  for (std::size_t p = 0; p < kPapers.size(); ++p) {
    bool first = true;
    for (const NamedResult& r : results) {
      if (paper_of(r.name) != p) continue;
      Count count;
      count.add(r);
      const std::size_t missed = count.claims - count.held;
      rows += fmt::format(
          "<tr><td>{}</td><th scope=\"row\"><a href=\"#{}\">{}</a></th><td>{}</td><td "
          "class=\"{}\">{}</td><td>{}</td></tr>\n",
          first ? escape_html(kPapers[p].title) : std::string(), escape_html(r.name), escape_html(r.name), count.held,
          missed > 0 ? "fails" : "", missed > 0 ? fmt::format("{}{}", missed, describe_late(count)) : std::string("–"),
          count.changed > 0 ? "no" : "yes");
      first = false;
    }
  }
  return "<section><div class=\"scroll\"><table class=\"claims contents\"><thead><tr><th>Paper</th><th>Experiment</th>"
         "<th>Hold</th><th>Do not</th><th>As expected</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div></section>\n";
}

std::string make_experiment_html(const NamedResult& result) {
  std::string description;
  for (const Experiment& e : registered_experiments()) {
    if (e.name == result.name) description = e.description;
  }
  std::string html = fmt::format("<h3 id=\"{}\"><a href=\"{}\">{}</a></h3><p>{}</p>", escape_html(result.name),
                                 escape_html(std::filesystem::path(result.report).filename().string()),
                                 escape_html(result.name), escape_html(description));
  for (const std::string& note : result.notes) html += fmt::format("<p class=\"note\">{}</p>", escape_html(note));
  return html +
         "<div class=\"scroll\"><table class=\"claims index\"><thead><tr><th>Verdict</th><th>Claim</th><th>Paper</th>"
         "<th>Measured</th><th>Holds if</th></tr></thead><tbody>\n" +
         make_rows(result) + "</tbody></table></div>\n";
}

}  // namespace

std::string make_experiments_index(const std::vector<NamedResult>& results, bool quick) {
  std::array<Count, kPapers.size()> papers;
  Count all;
  for (const NamedResult& r : results) {
    papers[paper_of(r.name)].add(r);
    all.add(r);
  }
  // Columns of the same widths in all tables, so that the eye can go down the page.
  std::string html =
      "<style>.index{table-layout:fixed;width:100%;min-width:900px}.index th:nth-child(1){width:13%}"
      ".index th:nth-child(2){width:38%}.index th:nth-child(3){width:25%}h3{margin:20px 0 0;font-size:16px}"
      "h3+p{margin:2px 0 6px;max-width:none}a{color:inherit}.index "
      "th[scope],.contents th[scope]{font-weight:400}.contents "
      "td:first-child{max-width:420px}.only{display:block;margin:12px 0}"
      "main:has(#only:checked) .index tr:has(td.holds){display:none}</style>\n<main>\n<header>";
  html += fmt::format("<h1>The papers' experiments{}</h1>", quick ? ", quick forms" : "");
  html += fmt::format(
      "<p class=\"subtitle\">{} experiments, {} claims: {} hold, {} do not{}; {}.</p></header>\n", results.size(),
      all.claims, all.held, all.claims - all.held, describe_late(all),
      all.changed == 0 ? "all as expected" : fmt::format("{} experiments are not as expected", all.changed));
  html +=
      "<p>Scenes, claims and limits were written before their first run. A claim that does not hold stands here with "
      "the reason that was found.</p>\n";
  if (quick)
    html +=
        "<p>Quick forms: shorter runs, fewer cases, coarser bodies. They tell when something changes, and are no "
        "results "
        "of the papers' experiments.</p>\n";
  html += make_contents(results);
  html += "<label class=\"only\"><input type=\"checkbox\" id=\"only\"> only what does not hold</label>\n";
  for (std::size_t p = 0; p < kPapers.size(); ++p) {
    if (papers[p].claims == 0) continue;
    html += fmt::format("<section><h2>{}</h2><p class=\"note\">{} of {} claims hold.</p>\n",
                        escape_html(kPapers[p].title), papers[p].held, papers[p].claims);
    for (const NamedResult& r : results) {
      if (paper_of(r.name) == p) html += make_experiment_html(r);
    }
    html += "</section>\n";
  }
  return make_page_html("The papers' experiments", html + "</main>\n");
}

}  // namespace palpate
