#include "palpate/record/recording.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>

#include "../src/columns.h"
#include "palpate/core/error.h"
#include "sample_rows.h"

namespace palpate::recording_test {
namespace {

constexpr std::size_t kTickBytes = 39 * 8 + 4 * 4;
constexpr std::size_t kStepBytes = 10 * 8 + 2 * 4;
constexpr std::size_t kHeadBytes = 8;

/// Every field's bits in file order.
template <typename Row>
std::vector<std::uint64_t> bits(const Row& row) {
  std::vector<std::uint64_t> all;
  visit_columns(row, [&](const Column&, const auto& value) {
    std::uint64_t b = 0;
    std::memcpy(&b, &value, sizeof(value));
    all.push_back(b);
  });
  return all;
}

std::string input_error_of(const std::string& path) {
  try {
    read_recording(path);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Recording, RoundTripKeepsEveryBit) {
  const TempPath path("roundtrip.palpate");
  write_sample(path.str(), 600, false);  // realtime: computing times are kept too
  const Recording read = read_recording(path.str());
  const RecordingHeader expected = sample_header(false);
  EXPECT_FALSE(read.cut);
  EXPECT_EQ(read.header.palpate, kVersion);
  EXPECT_EQ(read.header.scene_name, expected.scene_name);
  EXPECT_EQ(read.header.scene, expected.scene);
  EXPECT_EQ(read.header.tools.front().method, expected.tools.front().method);
  EXPECT_FALSE(read.header.lockstep);
  EXPECT_EQ(read.header.dt, expected.dt);
  EXPECT_EQ(read.header.slow_period, expected.slow_period);
  EXPECT_EQ(read.header.latency, expected.latency);
  ASSERT_EQ(read.ticks().size(), 600u);
  ASSERT_EQ(read.steps.size(), 30u);
  for (unsigned i = 0; i < 600; ++i) ASSERT_EQ(bits(read.ticks()[i]), bits(random_tick(i)));
  for (unsigned i = 0; i < 30; ++i) ASSERT_EQ(bits(read.steps[i]), bits(random_step(i)));
}

TEST(Recording, KeepsInfinitySubnormalsAndSignedZero) {
  const TempPath path("special.palpate");
  TickRow row;
  row.residual = std::numeric_limits<double>::infinity();
  row.energy = -0.0;
  row.model_age = std::numeric_limits<double>::denorm_min();
  {
    RecordingWriter writer(path.str(), sample_header(true));
    writer.add(row);
  }
  EXPECT_EQ(bits(read_recording(path.str()).ticks().at(0)), bits(row));
}

TEST(Recording, HasNoByteBeyondHeaderAndPackedRows) {
  const TempPath path("size.palpate");
  write_sample(path.str(), 600, true);
  const std::string bytes = read_bytes(path.str());
  const std::size_t header = bytes.find('\n', kMagic.size()) + 1;
  // 600 ticks leave in chunks of 256, 256 and 88, each with the steps among them; then DONE.
  EXPECT_EQ(bytes.size(), header + 600 * kTickBytes + 30 * kStepBytes + 7 * kHeadBytes);
}

TEST(Recording, LockstepRunsGiveEqualBytesThoughTheirComputingTimesDiffer) {
  const TempPath a("same_a.palpate");
  const TempPath b("same_b.palpate");
  for (const double measured : {1e-6, -std::nan("77")}) {
    RecordingWriter writer(measured > 0 ? a.str() : b.str(), sample_header(true));
    for (unsigned i = 0; i < 300; ++i) {
      TickRow tick = random_tick(i);
      tick.tick_time = measured;
      tick.residual = measured > 0 ? kNotMeasured : measured;  // NaNs of different bits
      writer.add(tick);
      StepRow step = random_step(i);
      step.step_time = measured;
      step.stage_time.fill(measured);
      writer.add(step);
    }
  }
  EXPECT_EQ(read_bytes(a.str()), read_bytes(b.str()));
  const Recording read = read_recording(a.str());
  EXPECT_EQ(std::bit_cast<std::uint64_t>(read.ticks().at(7).tick_time), 0x7ff8000000000000u);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(read.steps.at(7).stage_time[3]), 0x7ff8000000000000u);
}

TEST(Recording, TruncatedAtAnyByteGivesAllCompleteRowsOrSaysThatTheHeaderIsCut) {
  const TempPath whole("whole.palpate");
  const TempPath cut("cut.palpate");
  write_sample(whole.str(), 25, true);
  const std::string bytes = read_bytes(whole.str());
  const std::size_t header = bytes.find('\n', kMagic.size()) + 1;
  const std::size_t first_tick = header + kHeadBytes;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    write_bytes(cut.str(), bytes.substr(0, length));
    if (length + 1 < header) {  // without its line end alone, the header is still whole
      ASSERT_NE(input_error_of(cut.str()), "") << length;
      continue;
    }
    const Recording read = read_recording(cut.str());
    ASSERT_TRUE(read.cut) << length;
    const std::size_t ticks = length < first_tick ? 0 : std::min<std::size_t>(25, (length - first_tick) / kTickBytes);
    ASSERT_EQ(read.ticks().size(), ticks) << length;
    if (ticks > 0) {
      ASSERT_EQ(read.ticks().back().sent.force, random_tick(static_cast<unsigned>(ticks - 1)).sent.force);
    }
  }
}

TEST(Recording, FlushedRowsSurviveAKill) {
  const TempPath path("killed.palpate");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RecordingWriter writer(path.str(), sample_header(true));
    for (unsigned i = 0; i < 10; ++i) writer.add(random_tick(i));
    writer.flush();
    for (unsigned i = 10; i < 20; ++i) writer.add(random_tick(i));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const Recording read = read_recording(path.str());
  EXPECT_TRUE(read.cut);
  EXPECT_EQ(read.ticks().size(), 10u);
}

TEST(Recording, DamagedBytesNeverCrashTheReader) {
  const TempPath path("damaged.palpate");
  write_sample(path.str(), 25, true);
  const std::string bytes = read_bytes(path.str());
  std::mt19937 random(3);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = bytes;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    write_bytes(path.str(), damaged);
    refused += input_error_of(path.str()).empty() ? 0 : 1;  // any other exception fails the test
  }
  EXPECT_GT(refused, 100);
}

TEST(Recording, EveryHeaderByteMayBeAnything) {
  const TempPath path("header.palpate");
  write_sample(path.str(), 1, true);
  const std::string bytes = read_bytes(path.str());
  const std::size_t header = bytes.find('\n', kMagic.size()) + 1;
  for (std::size_t i = 0; i < header; ++i) {
    for (const char c : {'\0', '"', '9'}) {
      std::string damaged = bytes;
      damaged[i] = c;
      write_bytes(path.str(), damaged);
      input_error_of(path.str());
    }
  }
}

TEST(Recording, ErrorsNameFilePlaceValueAndWhatIsAllowed) {
  const TempPath path("errors.palpate");
  write_bytes(path.str(), "solid cube\n");
  std::string error = input_error_of(path.str());
  EXPECT_NE(error.find(path.str()), std::string::npos);
  EXPECT_NE(error.find("byte 0: found \"solid cube"), std::string::npos) << error;

  write_sample(path.str(), 1, true);
  std::string bytes = read_bytes(path.str());
  const std::size_t chunk = bytes.find('\n', kMagic.size()) + 1;
  bytes.replace(chunk, 4, "TOCK");
  write_bytes(path.str(), bytes);
  error = input_error_of(path.str());
  EXPECT_NE(error.find("byte " + std::to_string(chunk)), std::string::npos) << error;
  EXPECT_NE(error.find("\"TOCK\"; allowed: TICK, STEP, DONE"), std::string::npos) << error;

  bytes.replace(chunk, 8, "TICK\xff\xff\xff\xff");
  write_bytes(path.str(), bytes);
  EXPECT_NE(input_error_of(path.str()).find("chunk of 4294967295 rows; allowed: at most 65536"), std::string::npos);

  write_sample(path.str(), 1, true);
  write_bytes(path.str(), read_bytes(path.str()) + "x");
  EXPECT_NE(input_error_of(path.str()).find("bytes follow the DONE mark"), std::string::npos);
}

TEST(Recording, FoldersAndMissingFilesAreRefused) {
  EXPECT_NE(input_error_of("/no/such/file"), "");
  EXPECT_NE(input_error_of("/tmp"), "");
  EXPECT_NE(input_error_of("/dev/zero"), "");
  EXPECT_NE(input_error_of("/dev/null"), "");
}

TEST(Recording, ColumnsAreFoundByNameSoOtherVersionsCanBeRead) {
  const TempPath path("columns.palpate");
  const std::string header =
      R"({"palpate":"9.0","scene_name":"s","scene":"","method":"m","runtime":"realtime","dt":0.001,"slow_period":0,)"
      R"("latency":0,"tick_columns":[{"name":"novelty","unit":"K","type":"f32"},{"name":"sent_force_y","unit":"N",)"
      R"("type":"f64"},{"name":"time","unit":"s","type":"f64"}],"step_columns":[{"name":"time","unit":"s","type":"f64"}]})";
  const float novelty = 300.0f;
  const double force = -2.5, time = 0.25;
  std::string row(20, '\0');
  std::memcpy(row.data(), &novelty, 4);
  std::memcpy(row.data() + 4, &force, 8);
  std::memcpy(row.data() + 12, &time, 8);
  using namespace std::string_literals;
  write_bytes(path.str(), std::string(kMagic) + header + "\nTICK\1\0\0\0"s + row + "DONE\0\0\0\0"s);
  const Recording read = read_recording(path.str());
  ASSERT_EQ(read.ticks().size(), 1u);
  EXPECT_EQ(read.ticks()[0].time, time);
  EXPECT_EQ(read.ticks()[0].sent.force, Vec3(0, force, 0));
  EXPECT_FALSE(read.cut);
}

TEST(RecordingWriter, SaysWhyItCannotWrite) {
  const std::string missing = "/no/such/folder/run.palpate";
  try {
    const RecordingWriter writer(missing, sample_header(true));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(missing + ": cannot create"), std::string::npos) << e.what();
  }
  const TempPath never_made("never_made.palpate");
  RecordingHeader header = sample_header(true);
  header.dt = 0.0;
  EXPECT_THROW(RecordingWriter(never_made.str(), header), InputError);
  header = sample_header(true);
  header.scene = "\xff\xfe";
  EXPECT_THROW(RecordingWriter(never_made.str(), header), InputError);
  EXPECT_FALSE(std::filesystem::exists(never_made.str()));
}

TEST(RecordingWriter, ReportsAFullDiskOnceAndForEver) {
  // A limit on the file's size stands in for a full disk: write(2) takes what fits, then fails.
  const TempPath path("full.palpate");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  rlimit limit = old_limit;
  limit.rlim_cur = 100000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string error;
  {
    RecordingWriter writer(path.str(), sample_header(true));
    for (unsigned i = 0; i < 1000; ++i) {
      try {
        writer.add(random_tick(i));
      } catch (const InputError& e) {
        error = e.what();
        EXPECT_THROW(writer.add(random_tick(i)), InputError);
        EXPECT_THROW(writer.close(), InputError);
        break;
      }
    }
  }
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  EXPECT_NE(error.find("at byte 100000: File too large"), std::string::npos) << error;
  const Recording read = read_recording(path.str());
  EXPECT_TRUE(read.cut);
  EXPECT_GT(read.ticks().size(), 256u);  // the second chunk of 80 kB was torn, its whole rows are there
}

TEST(CheckReplayable, RefusesWhatADeviceCannotPlay) {
  RecordedTrack track;
  EXPECT_THROW(check_replayable(track, "r"), InputError);
  for (unsigned i = 0; i < 3; ++i) track.ticks.push_back(random_tick(i));
  track.ticks[1].tick_time = kNotMeasured;
  EXPECT_NO_THROW(check_replayable(track, "r"));
  const auto refused_with = [&](auto damage) {
    RecordedTrack bad = track;
    damage(bad.ticks[2]);
    try {
      check_replayable(bad, "r");
    } catch (const InputError& e) {
      return std::string(e.what()).find("r: tick row 2: ") == 0;
    }
    return false;
  };
  EXPECT_TRUE(refused_with([](TickRow& r) { r.device.position.y() = std::nan(""); }));
  EXPECT_TRUE(refused_with([](TickRow& r) { r.device.rotation.coeffs() *= 1.001; }));
  EXPECT_TRUE(refused_with([](TickRow& r) { r.device_velocity.angular.x() = INFINITY; }));
  EXPECT_TRUE(refused_with([](TickRow& r) { r.time = 0.001; }));
}

TEST(WriteCsv, NumbersReadBackToTheSameBits) {
  const TempPath csv("run.csv");
  const TempPath steps(std::filesystem::path(steps_csv_path(csv.str()))
                           .filename()
                           .string()
                           .substr(std::to_string(::getpid()).size() + 1));
  Recording recording;
  for (unsigned i = 0; i < 5; ++i) recording.ticks().push_back(random_tick(i));
  recording.steps.push_back(random_step(0));
  write_csv(recording, csv.str());
  std::ifstream file(csv.str());
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line.substr(0, 24), "time [s],device_x [m],de");
  for (const TickRow& row : recording.ticks()) {
    ASSERT_TRUE(std::getline(file, line));
    std::istringstream cells(line);
    visit_columns(row, [&](const Column& column, const auto& value) {
      std::string cell;
      ASSERT_TRUE(std::getline(cells, cell, ',')) << column.name();
      EXPECT_EQ(std::strtod(cell.c_str(), nullptr), static_cast<double>(value)) << column.name();
    });
  }
  EXPECT_FALSE(std::getline(file, line));
  EXPECT_EQ(read_bytes(steps.str()).substr(0, 23), "time [s],step_time [s],");
}

TEST(WriteCsv, StepsLieBesideTheTicks) {
  EXPECT_EQ(steps_csv_path("a/run.csv"), "a/run_steps.csv");
  EXPECT_EQ(steps_csv_path("a.b/run"), "a.b/run_steps");
}

TEST(RecordingDocs, PythonReaderReadsWhatTheWriterWrote) {
  if (std::system("python3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  const std::string docs = read_bytes("docs/recording.md");
  const std::size_t begin = docs.find("```python\n");
  ASSERT_NE(begin, std::string::npos) << "run from the project's folder";
  const std::size_t code = begin + 10;
  const TempPath script("read.py"), path("python.palpate"), out("python.txt");
  write_bytes(script.str(), docs.substr(code, docs.find("```", code) - code));
  write_sample(path.str(), 300, true);
  std::string bytes = read_bytes(path.str());
  bytes.resize(bytes.size() - 10 * kTickBytes);  // ends within the second chunk of ticks
  for (const bool cut : {false, true}) {
    if (cut) write_bytes(path.str(), bytes);
    const Recording read = read_recording(path.str());
    ASSERT_EQ(read.cut, cut);
    const std::string command = "python3 " + script.str() + " " + path.str() + " > " + out.str();
    ASSERT_EQ(std::system(command.c_str()), 0);
    const Vec3& f = read.ticks().back().sent.force;
    EXPECT_EQ(read_bytes(out.str()),
              fmt::format("{} {} {} {} {}\n", read.ticks().size(), read.steps.size(), f.x(), f.y(), f.z()));
  }
}

}  // namespace
}  // namespace palpate::recording_test
