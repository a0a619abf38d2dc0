#include "../src/film.h"

#include <gtest/gtest.h>

#include <array>

#include "../src/page_request.h"

namespace palpate::film_test {
namespace {

float read_float(const std::string& bytes, std::size_t at) {
  float value = 0.0F;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Film make_film(std::size_t tools = 1) {
  return Film("r", "s", "m", "g", std::vector<ShownTool>(tools));
}

/// Tags and bytes of a message's sections, in their order.
std::vector<std::pair<std::string, std::string>> read_sections(const std::string& message) {
  std::vector<std::pair<std::string, std::string>> out;
  for (std::size_t at = 0; at + 8 <= message.size();) {
    std::uint32_t length = 0;
    std::memcpy(&length, message.data() + at + 4, sizeof length);
    out.emplace_back(message.substr(at, 4), message.substr(at + 8, length));
    at += 8 + length;
  }
  return out;
}

// Any moment can be shown, in any order: the last that was seen before it.
TEST(Film, ShowsWhatWasSeenAtATime) {
  Film film = make_film();
  for (int i = 0; i <= 100; ++i) {
    Snapshot now;
    now.force[1] = static_cast<float>(i);
    film.add(0.01 * i, {&now, 1});
    film.add(TickSample{0.01F * static_cast<float>(i), {}, {}, 0.0F, 0.0F}, 0);
    if (i % 10 == 0) film.add_surface(0.01 * i, std::string(1, static_cast<char>('a' + i / 10)));
  }
  EXPECT_NEAR(film.seconds(), 1.0, 1e-12);
  for (const double t : {0.505, 0.105, 1.0, 0.0}) {
    const std::string frame = film.make_frame_at(t, 0.05);
    EXPECT_EQ(frame.substr(0, 4), "STAT");
    EXPECT_NEAR(read_float(frame, 8), t, 1e-6);
    EXPECT_EQ(read_float(frame, 8 + 4 * 16), std::floor(100.0 * t + 1e-9));  // force y
    EXPECT_EQ(*film.find_surface(t), std::string(1, static_cast<char>('a' + static_cast<int>(10.0 * t + 1e-9))));
  }
  EXPECT_NEAR(film.next_time(0.505), 0.51, 1e-12);
  EXPECT_NEAR(film.next_time(5.0), 1.0, 1e-12);
}

// A frame holds the tools one after the other, each with its own ticks, and the steps once.
TEST(Film, ShowsEveryToolWithItsOwnForces) {
  Film film = make_film(2);
  std::array<Snapshot, 2> now;
  now[0].force[1] = 1.5F;
  now[1].force[1] = -2.5F;
  film.add(0.0, now);
  film.add(TickSample{0.0F, {0.0F, 10.0F, 0.0F}, {}, 0.0F, 0.0F}, 0);
  film.add(TickSample{0.0F, {0.0F, 20.0F, 0.0F}, {}, 0.0F, 0.0F}, 1);
  film.add(TickSample{0.001F, {0.0F, 21.0F, 0.0F}, {}, 0.0F, 0.0F}, 1);
  film.add(StepSample{});
  const auto sections = read_sections(film.make_frame_at(0.01, 0.1));
  ASSERT_EQ(sections.size(), 7u);
  const char* tags[] = {"STAT", "FING", "TICK", "STAT", "FING", "TICK", "STEP"};
  for (std::size_t i = 0; i < sections.size(); ++i) EXPECT_EQ(sections[i].first, tags[i]);
  const std::size_t force_y = 16 * sizeof(float);
  EXPECT_EQ(read_float(sections[0].second, force_y), 1.5F);
  EXPECT_EQ(read_float(sections[3].second, force_y), -2.5F);
  for (const std::size_t stat : {0u, 3u}) EXPECT_FLOAT_EQ(read_float(sections[stat].second, 0), 0.01F);
  ASSERT_EQ(sections[2].second.size(), sizeof(TickSample));
  ASSERT_EQ(sections[5].second.size(), 2 * sizeof(TickSample));
  EXPECT_EQ(read_float(sections[2].second, 2 * sizeof(float)), 10.0F);
  EXPECT_EQ(read_float(sections[5].second, sizeof(TickSample) + 2 * sizeof(float)), 21.0F);
}

// However long a recording, its film stays within its memory, and covers all of it.
TEST(Film, ThinsOutInsteadOfGrowing) {
  Film film = make_film();
  const std::string surface(1u << 20, 'x');
  const int count = 3 * static_cast<int>(Film::kMaxBytes >> 20);
  for (int i = 0; i < count; ++i) {
    film.add(0.1 * i, std::array<Snapshot, 1>{});
    film.add_surface(0.1 * i, surface);
    EXPECT_LE(film.surface_bytes(), Film::kMaxBytes);
  }
  EXPECT_NE(film.find_surface(0.2), film.find_surface(0.1 * count));
  EXPECT_GT(film.surface_bytes(), Film::kMaxBytes / 4);
}

TEST(PageRequest, TakesWhatIsRightAndNothingElse) {
  const auto hold = parse_request(R"({"type":"hold","position":[1,2,3],"rotation":[0,0,2,0],"grip":0.5})");
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->pose.position, Vec3(1.0, 2.0, 3.0));
  EXPECT_EQ(hold->pose.rotation.y(), 1.0);
  EXPECT_EQ(hold->grip, 0.5);
  EXPECT_FALSE(parse_request(R"({"type":"hold","position":[1,2,3]})")->grip);
  EXPECT_EQ(hold->tool, 0u);
  EXPECT_EQ(parse_request(R"({"type":"hold","position":[1,2,3],"tool":1})")->tool, 1u);
  EXPECT_EQ(parse_request(R"({"type":"let_go","tool":3})")->tool, 3u);
  EXPECT_EQ(parse_request(R"({"type":"seek","value":1.5})")->value, 1.5);
  for (const char* bad : {"",
                          "{",
                          "[]",
                          "1",
                          "{}",
                          R"({"type":1})",
                          R"({"type":"nonsense"})",
                          R"({"type":"hold"})",
                          R"({"type":"hold","position":[1,2]})",
                          R"({"type":"hold","position":[1,2,1e9]})",
                          R"({"type":"hold","position":[1,2,3],"rotation":[0,0,0,0]})",
                          R"({"type":"hold","position":[1,2,3],"grip":2})",
                          R"({"type":"hold","position":[1,2,3],"grip":"x"})",
                          R"({"type":"seek"})",
                          R"({"type":"seek","value":"x"})",
                          R"({"type":"hold","position":[1,2,3],"tool":-1})",
                          R"({"type":"hold","position":[1,2,3],"tool":0.5})",
                          R"({"type":"hold","position":[1,2,3],"tool":"right"})",
                          R"({"type":"let_go","tool":null})",
                          R"({"type":"let_go","tool":[1]})",
                          R"({"type":"let_go","tool":true})",
                          R"({"type":"let_go","tool":1e99})",
                          R"({"type":"record","on":1})",
                          R"({"type":"play"})"})
    EXPECT_FALSE(parse_request(bad)) << bad;
}

}  // namespace
}  // namespace palpate::film_test
