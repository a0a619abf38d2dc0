#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

// docs/papers-claims.md against what is expected of the experiments. Tests run in the folder of the sources.
namespace palpate::papers_claims_test {
namespace {

using Claims = std::map<std::string, bool>;  ///< name, and whether it is expected to hold

std::map<std::string, Claims> read_expected() {
  std::ifstream file("experiments/expected.json");
  std::map<std::string, Claims> out;
  const nlohmann::json all = nlohmann::json::parse(file);
  for (const auto& [experiment, claims] : all.at("full").items()) {
    for (const auto& [name, holds] : claims.items()) out[experiment][name] = holds.is_boolean() && holds.get<bool>();
  }
  return out;
}

/// A row of the page that names an experiment.
struct Row {
  std::string experiment;
  std::vector<std::string> patterns;  ///< of claims; `*` stands for any words
  std::string hold;                   ///< "yes", "no", or how many of how many
};

std::vector<Row> read_page() {
  std::ifstream file("docs/papers-claims.md");
  std::vector<Row> out;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
    if (cells.size() < 6 || cells[3].find('`') == std::string::npos) continue;
    const auto trimmed = [](const std::string& cell, const char* marks) {
      const std::size_t first = cell.find_first_not_of(marks), last = cell.find_last_not_of(marks);
      return first == std::string::npos ? std::string() : cell.substr(first, last - first + 1);
    };
    Row row{trimmed(cells[3], " `"), {}, trimmed(cells[5], " ")};
    for (std::size_t at = cells[4].find('"'); at != std::string::npos; at = cells[4].find('"', at + 1)) {
      const std::size_t end = cells[4].find('"', at + 1);
      row.patterns.push_back(cells[4].substr(at + 1, end - at - 1));
      at = end;
    }
    out.push_back(std::move(row));
  }
  return out;
}

bool matches(const std::string& name, const std::string& pattern) {
  const std::string escaped = std::regex_replace(pattern, std::regex(R"([.^$+(){}\[\]\\|?])"), R"(\$&)");
  return std::regex_match(name, std::regex(std::regex_replace(escaped, std::regex(R"(\*)"), ".*")));
}

TEST(PapersClaims, PageSaysWhatIsExpected) {
  const std::map<std::string, Claims> expected = read_expected();
  const std::vector<Row> rows = read_page();
  ASSERT_FALSE(rows.empty());
  for (const Row& row : rows) {
    ASSERT_TRUE(expected.contains(row.experiment)) << row.experiment;
    std::set<std::string> named;
    std::size_t held = 0;
    for (const std::string& pattern : row.patterns) {
      bool any = false;
      for (const auto& [name, holds] : expected.at(row.experiment)) {
        if (!matches(name, pattern)) continue;
        any = true;
        if (named.insert(name).second) held += holds ? 1 : 0;
      }
      EXPECT_TRUE(any) << row.experiment << " has no claim like " << pattern;
    }
    const std::string hold = held == named.size() ? "yes"
                             : held == 0          ? "no"
                                                  : std::to_string(held) + " of " + std::to_string(named.size());
    EXPECT_EQ(row.hold, hold) << row.experiment << ": " << row.patterns.front();
  }
}

TEST(PapersClaims, EveryClaimOfAPaperIsOnThePage) {
  const std::vector<Row> rows = read_page();
  const auto is_papers = [](const std::string& experiment) {
    if (experiment.ends_with(", stand-in")) return false;
    for (const char* paper : {"dervaux-", "otaduy-", "knott-", "zhuang-", "susa-"}) {
      if (experiment.starts_with(paper)) return true;
    }
    return false;
  };
  for (const auto& [experiment, claims] : read_expected()) {
    if (!is_papers(experiment)) continue;
    for (const auto& [name, holds] : claims) {
      const bool named = std::ranges::any_of(rows, [&](const Row& row) {
        return row.experiment == experiment &&
               std::ranges::any_of(row.patterns, [&](const std::string& p) { return matches(name, p); });
      });
      EXPECT_TRUE(named) << experiment << ": " << name;
    }
  }
}

}  // namespace
}  // namespace palpate::papers_claims_test
