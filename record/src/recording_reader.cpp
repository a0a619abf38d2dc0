#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "columns.h"
#include "palpate/core/error.h"
#include "palpate/record/recording.h"
#include "tool_names.h"

namespace palpate {
namespace {

using Json = nlohmann::json;

/// Sequential bytes of a file, with the offset for messages.
class Input {
 public:
  explicit Input(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb"), &std::fclose) {
    if (!file_) fail_input("{}: cannot open the recording: {}", path, std::strerror(errno));
  }

  /// Reads up to `count` bytes; fewer only at the end of the file.
  std::size_t read(char* bytes, std::size_t count) {
    const std::size_t n = std::fread(bytes, 1, count, file_.get());
    if (n < count && std::ferror(file_.get())) {
      fail_input("{}: cannot read at byte {}: {}", path_, offset_ + n, std::strerror(errno));
    }
    offset_ += n;
    return n;
  }

  const std::string& path() const { return path_; }
  std::uint64_t offset() const { return offset_; }

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::uint64_t offset_ = 0;
};

const Json& member(const Input& in, const Json& json, const char* name, Json::value_t type) {
  const auto it = json.find(name);
  if (it == json.end()) fail_input("{}: byte {}: header has no \"{}\"", in.path(), kMagic.size(), name);
  if (it->type() != type && !(type == Json::value_t::number_float && it->is_number())) {
    fail_input("{}: byte {}: header's \"{}\" is a {}; allowed: a {}", in.path(), kMagic.size(), name, it->type_name(),
               Json(type).type_name());
  }
  return *it;
}

std::string text_member(const Input& in, const Json& json, const char* name) {
  return member(in, json, name, Json::value_t::string).get<std::string>();
}

double period_member(const Input& in, const Json& json, const char* name, bool zero_allowed) {
  const double value = member(in, json, name, Json::value_t::number_float).get<double>();
  if (!std::isfinite(value) || value < 0.0 || (value == 0.0 && !zero_allowed)) {
    fail_input("{}: byte {}: header's \"{}\" is {}; allowed: finite and {} 0", in.path(), kMagic.size(), name, value,
               zero_allowed ? "≥" : ">");
  }
  return value;
}

void read_magic(Input& in) {
  std::string found(kMagic.size(), '\0');
  found.resize(in.read(found.data(), found.size()));
  if (found != kMagic) {
    fail_input("{}: byte 0: found {}, not a recording; allowed: a file that begins with {}", in.path(),
               quote_for_message(found), quote_for_message(kMagic));
  }
}

Json read_header_json(Input& in) {
  std::string line;
  for (char c = 0; in.read(&c, 1) == 1 && c != '\n';) {
    line += c;
    if (line.size() > kMaxHeaderBytes) {
      fail_input("{}: byte {}: header line goes on past {} bytes", in.path(), in.offset(), kMaxHeaderBytes);
    }
  }
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) {
    fail_input("{}: byte {}: header is cut or damaged: {}; allowed: one line with a JSON object", in.path(),
               kMagic.size(), quote_for_message(line));
  }
  return json;
}

/// Files of one tool without a name of its own have no list of them.
std::vector<RecordedTool> parse_tools(const Input& in, const Json& json) {
  if (!json.contains("tools")) return {{std::string(kOnlyTool), text_member(in, json, "method")}};
  const Json& list = member(in, json, "tools", Json::value_t::array);
  if (list.empty() || list.size() > kMaxTools) {
    fail_input("{}: byte {}: header has {} tools; allowed: 1 to {}", in.path(), kMagic.size(), list.size(), kMaxTools);
  }
  std::vector<RecordedTool> tools;
  for (const Json& item : list) {
    RecordedTool tool{text_member(in, item, "name"), text_member(in, item, "method")};
    const std::string problem = find_name_problem(tools, tool.name);
    if (!problem.empty()) {
      fail_input("{}: byte {}: tool {} of the header {}", in.path(), kMagic.size(), tools.size() + 1, problem);
    }
    tools.push_back(std::move(tool));
  }
  return tools;
}

RecordingHeader parse_header(const Input& in, const Json& json) {
  RecordingHeader header;
  header.palpate = text_member(in, json, "palpate");
  header.scene_name = text_member(in, json, "scene_name");
  header.scene = text_member(in, json, "scene");
  header.tools = parse_tools(in, json);
  const std::string runtime = text_member(in, json, "runtime");
  if (runtime != "lockstep" && runtime != "realtime") {
    fail_input("{}: byte {}: header's \"runtime\" is {}; allowed: lockstep, realtime", in.path(), kMagic.size(),
               quote_for_message(runtime));
  }
  header.lockstep = runtime == "lockstep";
  header.dt = period_member(in, json, "dt", false);
  header.slow_period = period_member(in, json, "slow_period", true);
  header.latency = period_member(in, json, "latency", true);
  return header;
}

/// Where each column of Row lies in a packed row of this file.
struct Layout {
  static constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> offsets;  ///< in the order of visit_columns; kAbsent where the file lacks the column
  std::size_t row_bytes = 0;
};

struct FileColumn {
  std::string name;
  std::string type;
  std::size_t offset = 0;
};

/// Parses the list `key` of the header and finds the columns of Row in it by name.
template <typename Row>
Layout parse_layout(const Input& in, const Json& json, const char* key) {
  constexpr std::size_t kMaxColumns = 256;
  const Json& list = member(in, json, key, Json::value_t::array);
  if (list.size() > kMaxColumns) {
    fail_input("{}: byte {}: \"{}\" has {} columns; allowed: {}", in.path(), kMagic.size(), key, list.size(),
               kMaxColumns);
  }
  Layout layout;
  std::vector<FileColumn> columns;
  for (const Json& item : list) {
    FileColumn column{text_member(in, item, "name"), text_member(in, item, "type"), layout.row_bytes};
    if (column.type != "f64" && column.type != "f32" && column.type != "i32" && column.type != "u32") {
      fail_input("{}: byte {}: column {} of \"{}\" has type {}; allowed: f64, f32, i32, u32", in.path(), kMagic.size(),
                 quote_for_message(column.name), key, quote_for_message(column.type));
    }
    layout.row_bytes += column.type == "f64" ? 8 : 4;
    columns.push_back(std::move(column));
  }
  const Row row;
  visit_columns(row, [&](const Column& wanted, const auto& value) {
    const auto same_name = [&](const FileColumn& c) { return c.name == wanted.name(); };
    const auto it = std::find_if(columns.begin(), columns.end(), same_name);
    layout.offsets.push_back(it == columns.end() ? Layout::kAbsent : it->offset);
    if (it != columns.end() && it->type != type_name(value)) {
      fail_input("{}: byte {}: column \"{}\" of \"{}\" has type {}; allowed: {}", in.path(), kMagic.size(), it->name,
                 key, it->type, type_name(value));
    }
  });
  if (layout.offsets.front() == Layout::kAbsent) {
    fail_input("{}: byte {}: \"{}\" has no column \"time\"", in.path(), kMagic.size(), key);
  }
  return layout;
}

/// Reads `count` rows; returns false if the file ends first.
template <typename Row>
bool read_rows(Input& in, const Layout& layout, std::uint32_t count, std::vector<Row>& rows) {
  std::string packed(layout.row_bytes, '\0');
  for (std::uint32_t r = 0; r < count; ++r) {
    if (in.read(packed.data(), packed.size()) < packed.size()) return false;
    Row& row = rows.emplace_back();
    std::size_t i = 0;
    visit_columns(row, [&](const Column&, auto& value) {
      const std::size_t offset = layout.offsets[i++];
      if (offset != Layout::kAbsent) std::memcpy(&value, packed.data() + offset, sizeof(value));
    });
  }
  return true;
}

/// Reads all chunks; returns false if the file ends before its closing mark.
bool read_chunks(Input& in, const Layout& tick_layout, const Layout& step_layout, Recording& recording) {
  std::vector<std::string> tags;
  for (std::size_t i = 0; i < recording.tracks.size(); ++i) tags.push_back(tick_tag(i));
  for (;;) {
    const std::uint64_t start = in.offset();
    char head[kTagBytes + sizeof(std::uint32_t)];
    if (in.read(head, sizeof head) < sizeof head) return false;
    const std::string_view tag(head, kTagBytes);
    std::uint32_t count = 0;
    std::memcpy(&count, head + kTagBytes, sizeof count);
    const auto tool = std::find(tags.begin(), tags.end(), tag);
    if (tool == tags.end() && tag != kStepTag && tag != kDoneTag) {
      fail_input("{}: byte {}: damaged: found chunk {}; allowed: {}, STEP, DONE", in.path(), start,
                 quote_for_message(tag), fmt::join(tags, ", "));
    }
    if (tag == kDoneTag) {
      if (count != 0 || in.read(head, 1) != 0) fail_input("{}: byte {}: bytes follow the DONE mark", in.path(), start);
      return true;
    }
    if (count > kMaxChunkRows) {
      fail_input("{}: byte {}: damaged: chunk of {} rows; allowed: at most {}", in.path(), start, count, kMaxChunkRows);
    }
    const bool whole = tool == tags.end()
                           ? read_rows(in, step_layout, count, recording.steps)
                           : read_rows(in, tick_layout, count, recording.tracks[as_size(tool - tags.begin())].ticks);
    if (!whole) return false;
  }
}

}  // namespace

Recording read_recording(const std::string& path) {
  Input in(path);
  read_magic(in);
  const Json json = read_header_json(in);
  Recording recording;
  recording.header = parse_header(in, json);
  recording.tracks.clear();
  for (const RecordedTool& tool : recording.header.tools) recording.tracks.push_back({tool, {}});
  const Layout tick_layout = parse_layout<TickRow>(in, json, "tick_columns");
  const Layout step_layout = parse_layout<StepRow>(in, json, "step_columns");
  recording.cut = !read_chunks(in, tick_layout, step_layout, recording);
  return recording;
}

void check_replayable(const RecordedTrack& track, const std::string& name) {
  if (track.ticks.empty()) fail_input("{}: no ticks to replay", name);
  double last = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < track.ticks.size(); ++i) {
    const TickRow& row = track.ticks[i];
    if (!std::isfinite(row.time) || row.time <= last) {
      fail_input("{}: tick row {}: time is {} s after {} s; allowed: finite and increasing", name, i, row.time, last);
    }
    last = row.time;
    const Vec3& p = row.device.position;
    if (!p.allFinite()) {
      fail_input("{}: tick row {}: device position is ({}, {}, {}) m; allowed: finite", name, i, p.x(), p.y(), p.z());
    }
    const double norm = row.device.rotation.norm();
    if (!(std::abs(norm - 1.0) <= 1e-6)) {
      fail_input("{}: tick row {}: norm of device rotation is {}; allowed: 1 ± 1e-6", name, i, norm);
    }
    if (!row.device_velocity.linear.allFinite() || !row.device_velocity.angular.allFinite()) {
      fail_input("{}: tick row {}: device velocity is not finite", name, i);
    }
  }
}

}  // namespace palpate
