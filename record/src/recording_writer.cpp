#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "columns.h"
#include "palpate/core/error.h"
#include "palpate/core/log.h"
#include "palpate/record/recording.h"
#include "tool_names.h"

namespace palpate {
namespace {

static_assert(std::endian::native == std::endian::little, "recordings are little-endian; add a byte swap here");

constexpr std::uint64_t kCanonicalNan = 0x7ff8000000000000;

template <typename Value>
void append_raw(std::string& bytes, Value value) {
  char raw[sizeof(Value)];
  std::memcpy(raw, &value, sizeof(Value));
  bytes.append(raw, sizeof(Value));
}

template <typename Row>
nlohmann::ordered_json columns_json() {
  auto columns = nlohmann::ordered_json::array();
  const Row row;
  visit_columns(row, [&](const Column& column, const auto& value) {
    columns.push_back({{"name", column.name()}, {"unit", column.unit}, {"type", type_name(value)}});
  });
  return columns;
}

void check_period(const std::string& path, const char* name, double value, bool zero_allowed) {
  if (!std::isfinite(value) || value < 0.0 || (value == 0.0 && !zero_allowed)) {
    fail_input("{}: {} is {} s; allowed: finite and {} 0", path, name, value, zero_allowed ? "≥" : ">");
  }
}

void check_tools(const std::string& path, const std::vector<RecordedTool>& tools) {
  if (tools.empty() || tools.size() > kMaxTools)
    fail_input("{}: {} tools; allowed: 1 to {}", path, tools.size(), kMaxTools);
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const std::string problem = find_name_problem(std::span(tools).first(i), tools[i].name);
    if (!problem.empty()) fail_input("{}: tool {}: {}", path, i + 1, problem);
  }
}

std::string make_header_text(const std::string& path, const RecordingHeader& header) {
  check_period(path, "dt", header.dt, false);
  check_period(path, "slow_period", header.slow_period, true);
  check_period(path, "latency", header.latency, true);
  check_tools(path, header.tools);
  nlohmann::ordered_json json = {
      {"palpate", header.palpate},
      {"scene_name", header.scene_name},
      {"scene", header.scene},
      {"method", header.tools.front().method},
      {"runtime", header.lockstep ? "lockstep" : "realtime"},
      {"dt", header.dt},
      {"slow_period", header.slow_period},
      {"latency", header.latency},
      {"tick_columns", columns_json<TickRow>()},
      {"step_columns", columns_json<StepRow>()},
  };
  // One tool without a name of its own needs no list: such files are as they were when there was only ever one.
  if (header.tools.size() > 1 || header.tools.front().name != kOnlyTool) {
    for (const RecordedTool& tool : header.tools)
      json["tools"].push_back({{"name", tool.name}, {"method", tool.method}});
  }
  std::string text(kMagic);
  try {
    text += json.dump();  // escapes line ends, so the header stays one line
  } catch (const nlohmann::json::exception& e) {
    fail_input("{}: scene name, scene text, tools and methods must be UTF-8 ({})", path, e.what());
  }
  if (text.size() >= kMaxHeaderBytes) {
    fail_input("{}: the header with the scene text takes {} bytes; allowed: {}", path, text.size(), kMaxHeaderBytes);
  }
  return text + '\n';
}

}  // namespace

RecordingWriter::RecordingWriter(std::string path, const RecordingHeader& header)
    : path_(std::move(path)), lockstep_(header.lockstep), steps_{std::string(kStepTag), 0, {}} {
  const std::string text = make_header_text(path_, header);
  for (std::size_t i = 0; i < header.tools.size(); ++i) ticks_.push_back({tick_tag(i), 0, {}});
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail_input("{}: cannot create the recording: {}", path_, std::strerror(errno));
  try {
    write_bytes(text);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

RecordingWriter::~RecordingWriter() {
  if (file_ < 0) return;
  try {
    if (error_.empty()) close();
  } catch (const std::exception& e) {
    log::error("{}", e.what());
  }
  if (file_ >= 0) ::close(file_);
}

void RecordingWriter::add(const TickRow& row, std::size_t tool) {
  if (tool >= ticks_.size())
    fail_input("{}: a tick of tool {} was added; the recording has {}", path_, tool + 1, ticks_.size());
  add_row(ticks_[tool], row);
}
void RecordingWriter::add(const StepRow& row) {
  add_row(steps_, row);
}

template <typename Row>
void RecordingWriter::add_row(Chunk& chunk, const Row& row) {
  if (!error_.empty()) throw InputError(error_);
  if (file_ < 0) fail_input("{}: a row was added after close()", path_);
  visit_columns(row, [&](const Column& column, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
      const bool nan = std::isnan(value) || (lockstep_ && column.measured);
      append_raw(chunk.bytes, nan ? kCanonicalNan : std::bit_cast<std::uint64_t>(value));
    } else {
      append_raw(chunk.bytes, value);
    }
  });
  // All kinds leave together: 256 steps alone would be many seconds of a run to lose.
  if (++chunk.rows == kChunkRows) flush();
}

void RecordingWriter::flush() {
  if (!error_.empty()) throw InputError(error_);
  for (Chunk& ticks : ticks_) write_chunk(ticks);
  write_chunk(steps_);
}

void RecordingWriter::close() {
  if (!error_.empty()) throw InputError(error_);
  if (file_ < 0) return;
  flush();
  std::string mark(kDoneTag);
  append_raw(mark, std::uint32_t{0});
  write_bytes(mark);
  // Network file systems report a full disk only here.
  if (::close(std::exchange(file_, -1)) != 0) {
    error_ = fmt::format("{}: cannot finish the recording: {}", path_, std::strerror(errno));
    throw InputError(error_);
  }
}

void RecordingWriter::write_chunk(Chunk& chunk) {
  if (chunk.rows == 0) return;
  std::string bytes = chunk.tag;
  append_raw(bytes, std::exchange(chunk.rows, 0));
  bytes += chunk.bytes;
  chunk.bytes.clear();
  write_bytes(bytes);
}

void RecordingWriter::write_bytes(const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      error_ = fmt::format("{}: cannot write the recording at byte {}: {}", path_, written_,
                           n < 0 ? std::strerror(errno) : "the system took no bytes");
      throw InputError(error_);
    }
    done += as_size(n);
    written_ += static_cast<std::uint64_t>(n);
  }
}

}  // namespace palpate
