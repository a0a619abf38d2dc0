#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "columns.h"
#include "palpate/core/error.h"
#include "palpate/record/recording.h"

namespace palpate {
namespace {

/// Closes `file`; throws if that or any earlier write failed.
void finish(std::FILE* file, const std::string& path) {
  const bool failed = std::ferror(file) != 0;
  const int close_result = std::fclose(file);
  if (failed || close_result != 0) fail_input("{}: cannot write: {}", path, std::strerror(errno));
}

template <typename Row>
void write_rows(const std::vector<Row>& rows, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail_input("{}: cannot create: {}", path, std::strerror(errno));
  std::string line;
  const auto put_line = [&] {
    line.back() = '\n';
    std::fwrite(line.data(), 1, line.size(), file);
    line.clear();
  };
  const Row names;
  visit_columns(names, [&](const Column& column, const auto&) {
    fmt::format_to(std::back_inserter(line), "{}{} [{}],", column.stem, column.part, column.unit);
  });
  put_line();
  for (const Row& row : rows) {
    visit_columns(row,
                  [&](const Column&, const auto& value) { fmt::format_to(std::back_inserter(line), "{},", value); });
    put_line();
  }
  finish(file, path);
}

}  // namespace

std::string steps_csv_path(const std::string& path) {
  const std::size_t name = path.find_last_of('/') + 1;
  const std::size_t dot = path.find_last_of('.');
  const bool has_extension = dot != std::string::npos && dot > name;
  return has_extension ? path.substr(0, dot) + "_steps" + path.substr(dot) : path + "_steps";
}

void write_csv(const Recording& recording, const std::string& path) {
  write_rows(recording.ticks, path);
  write_rows(recording.steps, steps_csv_path(path));
}

}  // namespace palpate
