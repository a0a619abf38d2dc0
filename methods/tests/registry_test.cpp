#include "palpate/methods/registry.h"

#include <gtest/gtest.h>

#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/accelerance_settings.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/methods/limited_settings.h"

namespace palpate::registry_test {
namespace {

enum class Kind { kPoint, kRigid, kChain, kSoft, kFingers };

ToolSettings make_tool(Kind kind) {
  ToolSettings tool;
  if (kind == Kind::kRigid) tool.kind = HeldRigid{.surface = make_box(Vec3(0.02, 0.02, 0.02), 1)};
  if (kind == Kind::kChain) tool.kind = HeldChain{.radius = 0.002};
  if (kind == Kind::kSoft)
    tool.kind = HeldSoft{.volume = make_tet_block(Vec3(0.02, 0.02, 0.02), {1, 1, 1}), .hold_radius = 0.02};
  if (kind == Kind::kFingers) tool.kind.emplace<HeldFingers>().fingers.resize(1);
  return tool;
}

constexpr Kind kKinds[] = {Kind::kPoint, Kind::kRigid, Kind::kChain, Kind::kSoft, Kind::kFingers};

World make_static_world() {
  World world;
  world.add({"table", TriangleTree(make_box(Vec3(0.2, 0.02, 0.2), 1)), 0.2});
  return world;
}

/// A cube on a table, and, if there is one, a tool above it.
World make_moving_world(std::optional<Kind> tool) {
  World world = make_static_world();
  RigidBodySettings cube;
  cube.surface = make_box(Vec3(0.04, 0.04, 0.04), 1);
  cube.mass = compute_mass_properties(cube.surface, 1000.0);
  cube.pose.position.y() = 0.03;
  WorldBody body;
  body.name = "cube";
  body.body = std::make_unique<RigidBody>(cube);
  body.shape.kind = ContactShape::Hull{};
  world.add(std::move(body));
  Pose above;
  above.position.y() = 0.3;
  if (tool) add_tool(world, registry_test::make_tool(*tool), above);
  world.prepare();
  return world;
}

/// What make_method() says about it; empty if it makes a method.
std::string try_to_make(const MethodInfo& info, World& world, const ToolSettings& tool) {
  DeviceState start;
  start.pose.position.y() = 0.3;
  try {
    const Method method = make_method(info, {world, tool, 0.001, 0.02, start});
    EXPECT_TRUE(method.fast) << info.name;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()), "") << info.name;
    return error.what();
  }
  return {};
}

/// The method is made exactly where it has no reason not to be, and the reason is what is said.
void expect_reason_or_method(const MethodInfo& info, World& world, const ToolSettings& tool) {
  const std::string reason = info.refuse({world, tool}), said = try_to_make(info, world, tool);
  EXPECT_EQ(said.empty(), reason.empty()) << info.name << ": " << said;
  if (!reason.empty()) {
    EXPECT_EQ(said, "method " + info.name + " cannot be used here: " + reason);
  }
}

TEST(MakeMethod, NamesTheReasonWhereTheWorldHasNoTool) {
  for (const MethodInfo& info : registered_methods()) {
    for (const Kind kind : kKinds) {
      World world = make_moving_world({});
      expect_reason_or_method(info, world, make_tool(kind));
    }
    // Those that put no pointer of their own into the world need a tool in it.
    World world = make_moving_world({});
    if (info.name != "accelerance" && info.name != "impulse") {
      EXPECT_NE(try_to_make(info, world, make_tool(Kind::kPoint)), "") << info.name;
    }
  }
}

TEST(MakeMethod, NamesTheReasonWhereTheToolIsAnotherThanTheWorldHas) {
  for (const MethodInfo& info : registered_methods()) {
    for (const Kind in_world : {Kind::kPoint, Kind::kRigid, Kind::kChain, Kind::kSoft}) {
      for (const Kind said : kKinds) {
        World world = make_moving_world(in_world);
        const ToolSettings tool = make_tool(said);
        expect_reason_or_method(info, world, tool);
        if (said != in_world) {
          EXPECT_NE(info.refuse({world, tool}), "")
              << info.name << " " << static_cast<int>(in_world) << " " << static_cast<int>(said);
        }
      }
    }
  }
}

TEST(MakeMethod, NamesTheReasonWhereNothingMoves) {
  for (const MethodInfo& info : registered_methods()) {
    for (const Kind kind : kKinds) {
      World world = make_static_world();
      expect_reason_or_method(info, world, make_tool(kind));
    }
  }
}

TEST(MakeMethod, ChecksTheSettingsOfThisMethodAndOfTheOneItSharesThemWith) {
  World world = make_moving_world(Kind::kPoint);
  MethodSettings settings;
  settings.get<AcceleranceSettings>("accelerance").reach = -1.0;
  for (const char* name : {"accelerance", "impulse"}) {
    try {
      make_method(name, {world, {}, 0.001, 0.02, {}, settings});
      FAIL() << name;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), "accelerance: reach = -1: must be above 0 and at most 10 m");
    }
  }
  EXPECT_NO_THROW(make_method("jacobian", {world, {}, 0.001, 0.02, {}, settings}));
  EXPECT_THROW(make_method("jacobian", {world, {}, 0.0, 0.02, {}}), InputError);
  EXPECT_THROW(make_method("jacobian", {world, {}, 0.02, 0.001, {}}), InputError);
}

TEST(MethodSettings, AreEqualIfEveryMethodIsToldTheSame) {
  MethodSettings a, b;
  EXPECT_EQ(a, b);
  a.get<LimitedSettings>("limited");  // touched, not changed
  EXPECT_EQ(a, b);
  EXPECT_EQ(b, a);
  a.get<LimitedSettings>("limited").radius = 0.03;
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(b == a);
  b = a;
  EXPECT_EQ(a, b);
  b.get<LimitedSettings>("limited").radius = 0.04;
  EXPECT_EQ(a.get<LimitedSettings>("limited").radius, 0.03) << "a copy is another object";
}

TEST(MethodSettings, AreFoundByNameAndType) {
  const MethodSettings settings;
  EXPECT_EQ(settings.get<JacobianSettings>("jacobian"), JacobianSettings{});
  EXPECT_THROW(settings.get<LimitedSettings>("jacobian"), std::logic_error);
  try {
    settings.get<JacobianSettings>("jacobain");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("Did you mean \"jacobian\"?"), std::string::npos) << error.what();
  }
  EXPECT_THROW(settings.get<AcceleranceSettings>("impulse"), InputError) << "they are accelerance's";
}

struct HumSettings {
  double pitch = 440.0;
  bool operator==(const HumSettings&) const = default;
};

void describe(Fields& f, HumSettings& s) {
  f.number({.name = "pitch", .doc = "of the hum", .unit = "Hz"}, s.pitch, 440.0, {1.0, 1000.0});
}

struct Nothing {
  MessageHeader header;
};

class HumFast final : public TypedFastHalf<Nothing, Nothing> {
 public:
  TickResult tick(const DeviceState&, const Nothing&, Nothing&) noexcept override { return {}; }
};

Method make_hum(const MethodContext&) {
  return {layout_of<Nothing>(), layout_of<Nothing>(), nullptr, std::make_unique<HumFast>()};
}

std::string refuse_nothing(const ToolInWorld&) {
  return {};
}

std::string registration_error(MethodInfo info) {
  try {
    register_method(std::move(info));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(RegisterMethod, RefusesNamesThatAreTakenOrNoWordsAndSettingsThatNobodyHas) {
  const std::size_t before = registered_methods().size();
  EXPECT_EQ(registration_error({"jacobian", "", &make_hum, &refuse_nothing}), "there is a method \"jacobian\" already");
  for (const char* name : {"", "Hum", "two words", "größe"}) {
    EXPECT_NE(registration_error({name, "", &make_hum, &refuse_nothing}).find("allowed are small letters"),
              std::string::npos);
  }
  for (const char* owner : {"nobody", "reference", "impulse"}) {
    const auto shared = SettingsChoice::shared_with(owner);
    EXPECT_NE(registration_error({"hum", "", &make_hum, &refuse_nothing, shared}).find("no method has settings"),
              std::string::npos);
  }
  EXPECT_NE(registration_error({"hum", "", nullptr, &refuse_nothing}), "");
  EXPECT_NE(registration_error({"hum", "", &make_hum, nullptr}), "");
  EXPECT_EQ(registered_methods().size(), before);
}

TEST(RegisterMethod, MakesAMethodAndItsSettingsKnown) {
  const MethodInfo& first = registered_methods().front();
  register_method({"hum", "hums", &make_hum, &refuse_nothing, SettingsChoice::own<HumSettings>("of the hum")});
  register_method({"hum_too", "hums too", &make_hum, &refuse_nothing, SettingsChoice::shared_with("hum")});
  EXPECT_EQ(&first, &registered_methods().front()) << "references stay valid";
  EXPECT_EQ(find_method("hum").description, "hums");
  World world = make_static_world();
  MethodSettings settings;
  EXPECT_TRUE(make_method("hum", {world, {}, 0.001, 0.02, {}, settings}).fast);
  settings.get<HumSettings>("hum").pitch = 0.0;
  EXPECT_FALSE(settings == MethodSettings{});
  for (const char* name : {"hum", "hum_too"})
    EXPECT_THROW(make_method(name, {world, {}, 0.001, 0.02, {}, settings}), InputError) << name;
}

}  // namespace
}  // namespace palpate::registry_test
