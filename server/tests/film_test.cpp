#include "../src/film.h"

#include <gtest/gtest.h>

#include "../src/page_request.h"

namespace palpate::film_test {
namespace {

float read_float(const std::string& bytes, std::size_t at) {
  float value = 0.0F;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Any moment can be shown, in any order: the last that was seen before it.
TEST(Film, ShowsWhatWasSeenAtATime) {
  Film film("r", "s", "m", "g");
  for (int i = 0; i <= 100; ++i) {
    Snapshot now;
    now.force[1] = static_cast<float>(i);
    film.add(0.01 * i, now);
    film.add(TickSample{0.01F * static_cast<float>(i), {}, 0.0F, 0.0F});
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

// However long a recording, its film stays within its memory, and covers all of it.
TEST(Film, ThinsOutInsteadOfGrowing) {
  Film film("r", "s", "m", "g");
  const std::string surface(1u << 20, 'x');
  const int count = 3 * static_cast<int>(Film::kMaxBytes >> 20);
  for (int i = 0; i < count; ++i) {
    film.add(0.1 * i, {});
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
  EXPECT_EQ(parse_request(R"({"type":"seek","value":1.5})")->value, 1.5);
  for (const char* bad :
       {"", "{", "[]", "1", "{}", R"({"type":1})", R"({"type":"nonsense"})", R"({"type":"hold"})",
        R"({"type":"hold","position":[1,2]})", R"({"type":"hold","position":[1,2,1e9]})",
        R"({"type":"hold","position":[1,2,3],"rotation":[0,0,0,0]})", R"({"type":"hold","position":[1,2,3],"grip":2})",
        R"({"type":"hold","position":[1,2,3],"grip":"x"})", R"({"type":"seek"})", R"({"type":"seek","value":"x"})",
        R"({"type":"record","on":1})", R"({"type":"play"})"})
    EXPECT_FALSE(parse_request(bad)) << bad;
}

}  // namespace
}  // namespace palpate::film_test
