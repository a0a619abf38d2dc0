#include <algorithm>
#include <cctype>
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

/// `run.csv` with `_x` → `run_x.csv`.
std::string with_suffix(const std::string& path, const std::string& suffix) {
  const std::size_t name = path.find_last_of('/') + 1;
  const std::size_t dot = path.find_last_of('.');
  const bool has_extension = dot != std::string::npos && dot > name;
  return has_extension ? path.substr(0, dot) + suffix + path.substr(dot) : path + suffix;
}

/// A name comes from a file, and must not lead into another folder. Letters of all languages stay.
std::string make_file_part(std::string name) {
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) == 0 && c != '-') c = '_';
  }
  return name;
}

}  // namespace

std::string steps_csv_path(const std::string& path) {
  return with_suffix(path, "_steps");
}

std::vector<std::string> tick_csv_paths(const Recording& recording, const std::string& path) {
  if (recording.tracks.size() == 1) return {path};
  std::vector<std::string> taken = {steps_csv_path(path)};
  for (const RecordedTrack& track : recording.tracks) {
    const std::string suffix = "_" + make_file_part(track.name);
    std::string file = with_suffix(path, suffix);
    for (int n = 2; std::find(taken.begin(), taken.end(), file) != taken.end(); ++n)
      file = with_suffix(path, fmt::format("{}_{}", suffix, n));
    taken.push_back(file);
  }
  taken.erase(taken.begin());
  return taken;
}

void write_csv(const Recording& recording, const std::string& path) {
  const std::vector<std::string> paths = tick_csv_paths(recording, path);
  for (std::size_t i = 0; i < paths.size(); ++i) write_rows(recording.tracks[i].ticks, paths[i]);
  write_rows(recording.steps, steps_csv_path(path));
}

}  // namespace palpate
