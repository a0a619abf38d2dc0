#include "palpate/core/fields.h"

#include <gtest/gtest.h>

#include "palpate/core/error.h"

namespace palpate::fields_test {
namespace {

enum class Colour { kRed, kGreen };

struct Paint {
  double gloss = 0.5;
  int coats = 2;
  Colour colour = Colour::kRed;
};

struct Wall {
  Vec3 size = Vec3::Ones();
  Paint paint;
  std::optional<double> age;
  std::vector<Paint> layers;
  std::variant<double, Paint> kind;
  double thickness = 1.0;
};

void describe_paint(Fields& f, Paint& p) {
  f.number({.name = "gloss", .doc = "of the paint", .unit = "%"}, p.gloss, 0.5, {0.0, 1.0});
  f.integer({.name = "coats", .doc = "of it"}, p.coats, 2, {1, 9});
  f.choice<Colour>({.name = "colour", .doc = "of it"}, p.colour, Colour::kRed,
                   {{"red", Colour::kRed}, {"green", Colour::kGreen}});
}

void describe(Fields& f, Wall& w) {
  f.vector({.name = "size", .doc = "of the wall", .unit = "m"}, w.size, Vec3::Ones());
  f.object({.name = "paint", .doc = "on it"}, [&](Fields& o) { describe_paint(o, w.paint); });
  f.optional_number({.name = "age", .doc = "if known", .unit = "s"}, w.age, kNotNegative);
  f.list({.name = "layers", .doc = "below"}, {0, 3}, w.layers, describe_paint);
  f.object({.name = "kind", .doc = "of it"}, [&](Fields& o) {
    o.kind({make_kind<double>(
                "bare", "no paint", w.kind,
                [](Fields& k, double& x) { k.number({.name = "roughness", .doc = "of it"}, x, 0.0, kNotNegative); }),
            make_kind<Paint>("painted", "with paint", w.kind, describe_paint)});
  });
  f.number({.name = "thickness", .doc = "of the wall", .unit = "m"}, w.thickness, 1.0, kPositive);
  f.require(w.thickness <= w.size.z(), "thicker than it is long");
}

std::string error_of(const Wall& wall) {
  try {
    check_settings("wall", wall);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CheckedSettings, PassWhereEverythingIsWithinItsRange) {
  EXPECT_EQ(error_of({}), "");
}

TEST(CheckedSettings, ErrorNamesOwnerPathValueAndWhatIsAllowed) {
  Wall wall;
  wall.paint.gloss = 1.5;
  EXPECT_EQ(error_of(wall), "wall: paint.gloss = 1.5: must be 0 to 1 %");
  wall = {};
  wall.layers = {{}, {.coats = 0}};
  EXPECT_EQ(error_of(wall), "wall: layers[1].coats = 0: must be 1 to 9");
  wall = {};
  wall.age = -1.0;
  EXPECT_EQ(error_of(wall), "wall: age = -1: must be at least 0 s");
  wall = {};
  wall.kind = Paint{.gloss = 2.0};
  EXPECT_EQ(error_of(wall), "wall: kind.gloss = 2: must be 0 to 1 %");
  wall = {};
  wall.thickness = 2.0;
  EXPECT_EQ(error_of(wall), "wall: thicker than it is long");
  wall = {};
  wall.layers.resize(4);
  EXPECT_EQ(error_of(wall), "wall: layers: has 4 items; at most 3");
}

TEST(CheckedSettings, NotANumberIsNeverAllowed) {
  Wall wall;
  wall.paint.gloss = std::nan("");
  EXPECT_NE(error_of(wall), "");
  wall = {};
  wall.size.y() = std::nan("");
  EXPECT_NE(error_of(wall), "");
}

TEST(CheckedSettings, ValueOutsideAnEnumerationIsRefused) {
  Wall wall;
  wall.paint.colour = static_cast<Colour>(7);
  EXPECT_EQ(error_of(wall), "wall: paint.colour = \"\": must be one of: red, green");
}

TEST(Range, SaysWhatItHolds) {
  EXPECT_EQ(describe_range({1, 1}), "1");
  EXPECT_EQ(describe_range({0.0, 10.0}), "0 to 10");
  EXPECT_EQ(describe_range({0.0, 10.0, true}), "above 0 and at most 10");
  EXPECT_EQ(describe_range(kPositive), "above 0");
  EXPECT_FALSE(kPositive.contains(0.0));
  EXPECT_TRUE(kNotNegative.contains(0.0));
  EXPECT_FALSE(kAnyNumber.contains(std::nan("")));
}

}  // namespace
}  // namespace palpate::fields_test
