#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "../src/columns.h"
#include "palpate/core/error.h"
#include "palpate/record/recording.h"
#include "palpate/record/replay_hand.h"
#include "sample_rows.h"

// Recordings of several tools.
namespace palpate::tools_recording_test {
namespace {

constexpr unsigned kOffset = 5000;  ///< between the seeds of two tools

RecordingHeader two_hands() {
  RecordingHeader header = sample_header(true);
  header.tools = {{"left", "limited"}, {"right", "direct"}};
  return header;
}

/// The ticks of tool t are random_tick(t · kOffset + i); a step after each twentieth.
void write_two(const std::string& path, unsigned ticks) {
  RecordingWriter writer(path, two_hands());
  for (unsigned i = 0; i < ticks; ++i) {
    for (unsigned tool = 0; tool < 2; ++tool) {
      TickRow row = random_tick(tool * kOffset + i);
      row.time = 1e-3 * i;
      writer.add(row, tool);
    }
    if (i % 20 == 19) writer.add(random_step(i / 20));
  }
  writer.close();
}

template <typename Do>
std::string error_of(Do action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string read_error(const std::string& path) {
  return error_of([&] { read_recording(path); });
}

/// The file with another list of tools in its header.
std::string with_tools(std::string bytes, const std::string& tools) {
  const std::size_t begin = bytes.find("\"tools\":");
  const std::size_t end = bytes.find(']', begin) + 1;
  return bytes.replace(begin, end - begin, "\"tools\":" + tools);
}

TEST(ToolsRecording, KeepsEveryToolsTicksApartAndTheStepsOnce) {
  const TempPath path("two.palpate");
  write_two(path.str(), 600);
  const Recording read = read_recording(path.str());
  EXPECT_FALSE(read.cut);
  ASSERT_EQ(read.tracks.size(), 2u);
  EXPECT_EQ(read.tracks[0].name, "left");
  EXPECT_EQ(read.tracks[0].method, "limited");
  EXPECT_EQ(read.tracks[1].name, "right");
  EXPECT_EQ(read.tracks[1].method, "direct");
  EXPECT_EQ(read.header.tools.size(), 2u);
  EXPECT_EQ(read.steps.size(), 30u);
  for (unsigned tool = 0; tool < 2; ++tool) {
    ASSERT_EQ(read.tracks[tool].ticks.size(), 600u);
    for (unsigned i = 0; i < 600; ++i) {
      const TickRow& row = read.tracks[tool].ticks[i];
      ASSERT_EQ(row.time, 1e-3 * i);
      ASSERT_EQ(row.sent.force, random_tick(tool * kOffset + i).sent.force);
    }
  }
}

// What keeps files of one tool as they have always been: nothing in them tells that there could be more.
TEST(ToolsRecording, OneToolWithoutANameNeedsNoList) {
  const TempPath path("one.palpate");
  write_sample(path.str(), 30, true);
  const std::string bytes = read_bytes(path.str());
  EXPECT_EQ(bytes.find("\"tools\""), std::string::npos);
  EXPECT_EQ(bytes.find("TIC1"), std::string::npos);
  const Recording read = read_recording(path.str());
  ASSERT_EQ(read.tracks.size(), 1u);
  EXPECT_EQ(read.tracks[0].name, "tool");
  EXPECT_EQ(read.tracks[0].method, "limited");
}

TEST(ToolsRecording, OneToolWithANameKeepsIt) {
  const TempPath path("named.palpate");
  RecordingHeader header = sample_header(true);
  header.tools = {{"right hand", "direct"}};
  RecordingWriter(path.str(), header).close();
  const Recording read = read_recording(path.str());
  ASSERT_EQ(read.tracks.size(), 1u);
  EXPECT_EQ(read.tracks[0].name, "right hand");
  EXPECT_EQ(read.tracks[0].method, "direct");
}

TEST(ToolsRecording, TruncatedAtAnyByteGivesWholeRowsOfBothTools) {
  const TempPath whole("two_whole.palpate"), cut("two_cut.palpate");
  write_two(whole.str(), 3);
  const std::string bytes = read_bytes(whole.str());
  const std::size_t header = bytes.find('\n', kMagic.size()) + 1;
  std::size_t last[2] = {0, 0};
  for (std::size_t length = header; length < bytes.size(); ++length) {
    write_bytes(cut.str(), bytes.substr(0, length));
    const Recording read = read_recording(cut.str());
    ASSERT_TRUE(read.cut);
    for (const std::size_t tool : {0u, 1u}) {
      const std::size_t count = read.tracks[tool].ticks.size();
      ASSERT_GE(count, last[tool]) << length;
      ASSERT_LE(count, last[tool] + 1) << length;
      last[tool] = count;
    }
  }
  EXPECT_EQ(last[0], 3u);
  EXPECT_EQ(last[1], 3u);
}

TEST(ToolsRecording, DamagedBytesNeverCrashTheReader) {
  const TempPath path("two_damaged.palpate");
  write_two(path.str(), 12);
  const std::string bytes = read_bytes(path.str());
  std::mt19937 random(5);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = bytes;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    write_bytes(path.str(), damaged);
    read_error(path.str());  // any exception but InputError fails the test
  }
}

TEST(ToolsRecording, ListsOfToolsThatCannotBeAreRefused) {
  const TempPath path("two_hostile.palpate");
  write_two(path.str(), 2);
  const std::string bytes = read_bytes(path.str());
  const auto refused = [&](const std::string& tools, const std::string& why) {
    write_bytes(path.str(), with_tools(bytes, tools));
    const std::string error = read_error(path.str());
    EXPECT_NE(error.find(why), std::string::npos) << tools << ": " << error;
    EXPECT_EQ(error.find(path.str()), 0u) << error;
  };
  refused("[]", "header has 0 tools; allowed: 1 to 4");
  std::string many;
  for (int i = 0; i < 5; ++i) many += fmt::format("{}{{\"name\":\"{}\",\"method\":\"m\"}}", i ? "," : "", i);
  refused("[" + many + "]", "header has 5 tools; allowed: 1 to 4");
  refused(R"([{"name":"a","method":"m"},{"name":"a","method":"m"}])",
          "tool 2 of the header is called \"a\", as another");
  refused(R"([{"name":"","method":"m"}])", "tool 1 of the header has an empty name");
  refused(R"([{"name":7,"method":"m"}])", "header's \"name\" is a number; allowed: a string");
  refused(R"([{"name":"a"}])", "header has no \"method\"");
  refused(R"("left")", "header's \"tools\" is a string; allowed: a array");
  refused("[3]", "header has no \"name\"");
}

// The second tool's chunk follows two lists that promise only one.
TEST(ToolsRecording, ChunkOfAToolThatTheHeaderDoesNotHaveIsRefused) {
  const TempPath path("two_unknown.palpate");
  write_two(path.str(), 2);
  write_bytes(path.str(), with_tools(read_bytes(path.str()), R"([{"name":"left","method":"limited"}])"));
  const std::string error = read_error(path.str());
  EXPECT_NE(error.find("damaged: found chunk \"TIC1\"; allowed: TICK, STEP, DONE"), std::string::npos) << error;
}

TEST(ToolsRecordingWriter, RefusesToolsThatItDoesNotHave) {
  const TempPath path("two_writer.palpate");
  RecordingHeader header = two_hands();
  RecordingWriter writer(path.str(), header);
  EXPECT_NE(error_of([&] { writer.add(TickRow{}, 2); }).find("a tick of tool 3 was added; the recording has 2"),
            std::string::npos);
  const TempPath never("never.palpate");
  for (const std::vector<RecordedTool>& tools :
       {std::vector<RecordedTool>{}, std::vector<RecordedTool>{{"a", "m"}, {"a", "m"}},
        std::vector<RecordedTool>{{"", "m"}}, std::vector<RecordedTool>{{"\xff", "m"}},
        std::vector<RecordedTool>(5, RecordedTool{})}) {
    header.tools = tools;
    EXPECT_THROW(RecordingWriter(never.str(), header), InputError);
  }
  EXPECT_FALSE(std::filesystem::exists(never.str()));
}

TEST(FindTrack, ByNameElseTheOnlyOneElseByPlace) {
  Recording two;
  two.tracks = {{{"left", "m"}, {}}, {{"right", "m"}, {}}};
  EXPECT_EQ(find_track(two, "r", "right").name, "right");
  EXPECT_EQ(find_track(two, "r", "right", 0).name, "right");
  EXPECT_EQ(find_track(two, "r").name, "left");
  EXPECT_EQ(find_track(two, "r", "", 1).name, "right");
  EXPECT_EQ(error_of([&] { find_track(two, "r", "", 2); }),
            "r: has no tool number 3; say which one is meant, there are: left, right");
  EXPECT_EQ(error_of([&] { find_track(two, "r", "rihgt"); }),
            "r: no tool is called \"rihgt\"; there are: left, right. Did you mean \"right\"?");
  Recording one;
  EXPECT_EQ(find_track(one, "r", "", 3).name, "tool") << "the only one plays in any hand";
  EXPECT_NE(error_of([&] { find_track(one, "r", "left"); }), "");
}

TEST(ReplayHand, PlaysTheTrackOfItsTool) {
  const TempPath path("two_replay.palpate");
  write_two(path.str(), 3);
  for (unsigned tool = 0; tool < 2; ++tool) {
    const Vec3 there = random_tick(tool * kOffset).device.position;
    EXPECT_EQ(make_replay_device(path.str(), {}, tool)->read(0.0).pose.position, there);
    EXPECT_EQ(make_replay_device(path.str(), tool == 0 ? "left" : "right")->read(0.0).pose.position, there);
  }
  EXPECT_THROW(make_replay_device(path.str(), "middle"), InputError);
}

TEST(ReplayHand, OfOneToolIsNotHurtByTheTrackOfAnother) {
  const TempPath path("two_half.palpate");
  {
    RecordingWriter writer(path.str(), two_hands());
    writer.add(random_tick(0), 0);  // the other tool has no ticks
  }
  EXPECT_NO_THROW(make_replay_device(path.str(), "left"));
  EXPECT_EQ(error_of([&] { make_replay_device(path.str(), "right"); }), path.str() + ": right: no ticks to replay");
}

TEST(WriteCsv, EveryToolHasAFileOfItsOwn) {
  Recording two;
  two.tracks = {{{"left", "m"}, {}}, {{"right", "m"}, {}}};
  EXPECT_EQ(tick_csv_paths(two, "a/run.csv"), (std::vector<std::string>{"a/run_left.csv", "a/run_right.csv"}));
  EXPECT_EQ(tick_csv_paths(Recording{}, "a/run.csv"), (std::vector<std::string>{"a/run.csv"}));
  two.tracks[0].ticks = {random_tick(1)};
  two.tracks[1].ticks = {random_tick(2), random_tick(3)};
  const std::string base = (std::filesystem::temp_directory_path() / fmt::format("{}_csv.csv", ::getpid())).string();
  write_csv(two, base);
  std::vector<std::string> files = tick_csv_paths(two, base);
  files.push_back(steps_csv_path(base));
  const std::size_t lines[] = {2, 3, 1};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string text = read_bytes(files[i]);
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), lines[i]) << files[i];
    std::filesystem::remove(files[i]);
  }
  EXPECT_FALSE(std::filesystem::exists(base));
}

// Names come from a file that anybody may have written.
TEST(WriteCsv, NoNameLeadsElsewhereAndNoTwoFilesAreOne) {
  Recording r;
  r.tracks = {{{"../../x", "m"}, {}}, {{"a b", "m"}, {}}, {{"a_b", "m"}, {}}, {{"steps", "m"}, {}}};
  EXPECT_EQ(tick_csv_paths(r, "run.csv"),
            (std::vector<std::string>{"run_______x.csv", "run_a_b.csv", "run_a_b_2.csv", "run_steps_2.csv"}));
}

TEST(RecordingDocs, PythonReaderReadsSeveralTools) {
  if (std::system("python3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  const std::string docs = read_bytes("docs/recording.md");
  const std::size_t code = docs.find("```python\n") + 10;
  const TempPath script("two.py"), path("two_python.palpate"), out("two_python.txt");
  write_bytes(
      script.str(),
      docs.substr(code, docs.find("```", code) - code) +
          "print(*(t['name'] for t in header['tools']), len(rows['TIC1']), rows['TIC1'][-1]['sent_force_y'])\n");
  write_two(path.str(), 300);
  const std::string command = "python3 " + script.str() + " " + path.str() + " > " + out.str();
  ASSERT_EQ(std::system(command.c_str()), 0);
  const Vec3 f = random_tick(299).sent.force;
  EXPECT_EQ(read_bytes(out.str()), fmt::format("300 15 {} {} {}\nleft right 300 {}\n", f.x(), f.y(), f.z(),
                                               random_tick(kOffset + 299).sent.force.y()));
}

}  // namespace
}  // namespace palpate::tools_recording_test
