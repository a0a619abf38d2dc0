#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/core/version.h"
#include "palpate/runtime/run.h"

namespace palpate {

/// A tool of a recorded run.
struct RecordedTool {
  std::string name{kOnlyTool};  ///< no other tool of the run has it
  std::string method{};         ///< short name, as in docs/design.md
};

/// What a recording says about its run. Nothing here depends on the machine or the date: two lockstep runs of one scene
/// must give the same bytes.
struct RecordingHeader {
  std::string palpate = kVersion;  ///< version that wrote the file
  std::string scene_name;
  std::string scene;  ///< whole text of the scene file (UTF-8), so that a recording can be replayed alone
  std::vector<RecordedTool> tools = std::vector<RecordedTool>(1);  ///< 1 to kMaxTools
  bool lockstep = true;                                            ///< false: realtime
  double dt = 1e-3;                                                ///< fast period [s], > 0
  double slow_period = 0.0;                                        ///< ΔT [s], ≥ 0
  double latency = 0.0;  ///< from the start of a slow step until its model reaches the fast loop [s], ≥ 0
};

/// Writes a recording file row by row (format: docs/recording.md).
///
/// Thread: any one at a time that may do I/O; never the fast thread, whose rows come here through a ring. Rows are
/// gathered to chunks of at most kChunkRows; each chunk leaves by one write(2), so a process that is killed loses the
/// last unfinished chunk and nothing before it. NaNs are written with one fixed bit pattern, and in a lockstep file
/// the measured times (tick_time, step_time, stage times) are NaN whatever the rows hold: equal runs, equal bytes.
///
/// Errors (unwritable path, full disk) throw InputError from the constructor, add(), flush() or close(), naming the
/// file, the byte offset and the system's reason. After one, the file is readable up to the last whole row and every
/// further call throws the same error.
class RecordingWriter {
 public:
  static constexpr std::size_t kChunkRows = 256;

  /// Creates or overwrites `path` and writes the header.
  RecordingWriter(std::string path, const RecordingHeader& header);
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;
  /// Closes if close() was not called; an error then goes to the log.
  ~RecordingWriter();

  /// `tool` is its place in the header's list.
  void add(const TickRow& row, std::size_t tool = 0);
  void add(const StepRow& row);

  /// Hands every row added so far to the system.
  void flush();

  /// flush(), then the mark that says that the recording is whole. No rows may follow. Call it to see errors.
  void close();

 private:
  struct Chunk {
    std::string tag;
    std::uint32_t rows = 0;
    std::string bytes;  ///< packed rows
  };

  template <typename Row>
  void add_row(Chunk& chunk, const Row& row);
  void write_chunk(Chunk& chunk);
  void write_bytes(const std::string& bytes);

  std::string path_;
  std::string error_;  ///< of the first failed write; empty while all is well
  bool lockstep_;
  int file_ = -1;
  std::uint64_t written_ = 0;  ///< bytes
  std::vector<Chunk> ticks_;   ///< one for each tool
  Chunk steps_;
};

/// What one tool did in a run.
struct RecordedTrack : RecordedTool {
  std::vector<TickRow> ticks{};
};

/// A recording in memory.
struct Recording {
  RecordingHeader header;
  std::vector<RecordedTrack> tracks = std::vector<RecordedTrack>(1);  ///< of the header's tools, in their order
  std::vector<StepRow> steps;                                         ///< of the world that all tools share
  bool cut = false;  ///< the file ends before its closing mark: the run was killed or the file truncated

  /// Of the first tool, in most recordings the only one.
  std::vector<TickRow>& ticks() noexcept { return tracks.front().ticks; }
  const std::vector<TickRow>& ticks() const noexcept { return tracks.front().ticks; }
};

/// Reads a recording; of a truncated file all rows that are complete. Any bytes are safe to give: memory stays
/// proportional to the file's size, and what is not a recording throws InputError with the byte offset, the value found
/// and what is allowed. Columns are found by name, so files of versions with fewer or more columns can be read.
Recording read_recording(const std::string& path);

/// The track of the tool called `tool`. If that is empty, it is the only track there is, or else the one at `place`
/// (from 0). Throws InputError, which names `file` and the tools that there are.
const RecordedTrack& find_track(const Recording& recording, const std::string& file, std::string_view tool = {},
                                std::size_t place = 0);

/// Throws InputError, naming `name` and the row, unless the device's motion can drive a run again: at least one tick,
/// times finite and increasing, device poses and velocities finite, rotations unit quaternions to 1e-6.
void check_replayable(const RecordedTrack& track, const std::string& name);

/// Where write_csv() puts the slow steps: `run.csv` → `run_steps.csv`.
std::string steps_csv_path(const std::string& path);

/// Where write_csv() puts the ticks of each track: at `path` if there is only one, else `run.csv` → `run_left.csv`.
/// What in a tool's name is no letter, digit, "-" or "_" becomes "_", and no two files have the same name.
std::vector<std::string> tick_csv_paths(const Recording& recording, const std::string& path);

/// Writes the ticks as CSV to tick_csv_paths() and the slow steps to steps_csv_path(). One header line `name [unit]`;
/// numbers have as many digits as it takes to read back the same bits.
void write_csv(const Recording& recording, const std::string& path);

}  // namespace palpate
