#include "palpate/scene/scene.h"

#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fields.h"
#include "json_value.h"
#include "palpate/core/error.h"
#include "palpate/methods/registry.h"
#include "visit_body.h"
#include "visit_hand.h"
#include "visit_methods.h"

namespace palpate {
namespace {

/// A scene is written by people; a file above this size is something else [bytes].
constexpr std::uintmax_t kMaxFileSize = 16u << 20;
constexpr std::size_t kMaxBodies = 1000;

void visit_rates(Fields& f, RunSettings& run) {
  run.latency = std::numeric_limits<double>::quiet_NaN();
  f.number({.name = "dt", .doc = "fast period", .unit = "s"}, run.dt, {1e-5, 0.1});
  f.number({.name = "slow_period", .doc = "slow period ΔT", .unit = "s"}, run.slow_period, {1e-5, 10.0});
  f.number({.name = "latency",
            .doc = "from the start of a slow step to its model in the fast loop, in lockstep; default: slow_period",
            .unit = "s"},
           run.latency, {0.0, 10.0});
  f.number(
      {.name = "extra_latency", .doc = "added to every model's way to the fast loop, in real time too", .unit = "s"},
      run.extra_latency, {0.0, 1.0});
  f.number({.name = "stall_from", .doc = "no slow step begins from here … (lockstep; shows the watchdog)", .unit = "s"},
           run.stall_from, kNotNegative);
  f.number({.name = "stall_until", .doc = "… to here", .unit = "s"}, run.stall_until, kNotNegative);
}

void visit_world(Fields& f, WorldSettings& w) {
  f.vector({.name = "gravity", .doc = "on all bodies but a point or rigid tool", .unit = "m/s²"}, w.gravity);
  f.number({.name = "alarm_distance", .doc = "features nearer than this may touch within a step", .unit = "m"},
           w.contacts.alarm_distance, {0.0, 1.0, true});
  f.integer({.name = "max_contacts", .doc = "room; the nearest are kept"}, w.contacts.max_contacts, {1, 100000});
  f.number({.name = "overlap_time", .doc = "bodies that overlap part with this time constant", .unit = "s"},
           w.overlap_time, {0.0, 10.0, true});
  f.number({.name = "push_out_speed", .doc = "bodies that overlap part no faster than this", .unit = "m/s"},
           w.push_out_speed, {0.0, 1e3});
  f.number({.name = "max_turn", .doc = "steps in which a body that touches turns further are divided", .unit = "rad"},
           w.max_turn, {0.0, 10.0, true});
  f.object({.name = "solver", .doc = "of the contact forces"}, [&](Fields& o) {
    o.choice({.name = "name", .doc = "how"}, w.solver_name, {"gauss_seidel", "accelerated", "direct"});
    o.number({.name = "tolerance", .doc = "largest residual", .unit = "m"}, w.solver.tolerance, {0.0, 1.0, true});
    o.integer({.name = "max_iterations", .doc = "at most"}, w.solver.max_iterations, {1, 1000000});
    o.number(
        {.name = "max_seconds", .doc = "time limit; 0: none. With one, runs no longer repeat to the bit", .unit = "s"},
        w.solver.max_seconds, {0.0, 10.0});
    o.boolean({.name = "pyramid", .doc = "friction pyramid instead of the cone"}, w.solver.pyramid);
  });
}

void visit_safety(Fields& f, SafetySettings& s) {
  f.number({.name = "max_force", .doc = "largest force sent; the device's own limit if that is lower", .unit = "N"},
           s.max_force, {0.0, 1000.0, true});
  f.number({.name = "max_torque", .doc = "largest torque sent", .unit = "N·m"}, s.max_torque, {0.0, 100.0, true});
  f.number({.name = "max_force_rate", .doc = "fastest change of force", .unit = "N/s"}, s.max_force_rate,
           {0.0, 1e9, true});
  f.number({.name = "max_torque_rate", .doc = "fastest change of torque", .unit = "N·m/s"}, s.max_torque_rate,
           {0.0, 1e9, true});
  f.number({.name = "ramp_time", .doc = "force comes in over this time at start", .unit = "s"}, s.ramp_time,
           {0.0, 60.0});
  f.number({.name = "stale_after",
            .doc = "model age at which the force begins to fade; default: latency + 2 slow_period",
            .unit = "s"},
           s.stale_after, {0.0, 60.0, true});
  f.number({.name = "fade_time", .doc = "force fades over this time", .unit = "s"}, s.fade_time, {0.0, 60.0});
}

void visit_passivity(Fields& f, PassivitySettings& s) {
  f.number({.name = "allowance", .doc = "energy that may be given to the hand before the controller acts", .unit = "J"},
           s.allowance, {0.0, 1e3});
  f.number({.name = "credit_limit", .doc = "most energy taken from the hand that is remembered", .unit = "J"},
           s.credit_limit, {0.0, 1e3});
  f.number({.name = "debt_limit", .doc = "most energy given to the hand that is remembered", .unit = "J"}, s.debt_limit,
           {0.0, 1e3});
  f.number({.name = "max_damping", .doc = "most damping that the controller adds", .unit = "N·s/m"}, s.max_damping,
           {0.0, 1e4});
  f.number({.name = "max_rotational_damping",
            .doc = "most rotational damping that the controller adds",
            .unit = "N·m·s/rad"},
           s.max_rotational_damping, {0.0, 10.0});
}

/// The scene format. `scene.file` is set.
void visit_scene(Fields& f, Scene& scene) {
  int format = 1;
  f.integer({.name = "format", .doc = "of this file: 1", .required = true}, format, {1, 1});
  f.text({.name = "name", .doc = "short name; default: the file's name"}, scene.name);
  f.text({.name = "description", .doc = "one or two sentences"}, scene.description);
  f.number({.name = "seconds", .doc = "length of a run", .unit = "s"}, scene.run.seconds, {0.0, 1e6, true});
  std::vector<std::string_view> methods;
  for (const MethodInfo& m : registered_methods()) methods.push_back(m.name);
  f.choice({.name = "method", .doc = "how forces are rendered"}, scene.method, methods);
  f.object({.name = "methods", .doc = "what each method may be told"}, [&](Fields& o) {
    o.object({.name = "limited", .doc = "Knott & Kuhlen 2015"},
             [&](Fields& m) { visit_limited(m, scene.methods.limited); });
    o.object({.name = "compliance", .doc = "Dervaux et al. 2013"},
             [&](Fields& m) { visit_compliance(m, scene.methods.compliance); });
    o.object({.name = "jacobian", .doc = "Otaduy & Gross 2007"},
             [&](Fields& m) { visit_jacobian(m, scene.methods.jacobian); });
    o.object({.name = "interpolation", .doc = "Zhuang & Canny 2000"},
             [&](Fields& m) { visit_interpolation(m, scene.methods.interpolation); });
    o.object({.name = "accelerance", .doc = "Susa, Sato & Hasegawa 2011; also its baseline, impulse"},
             [&](Fields& m) { visit_accelerance(m, scene.methods.accelerance); });
  });
  const double unset = std::numeric_limits<double>::quiet_NaN();
  scene.run.latency = unset;
  scene.run.safety.stale_after = unset;
  f.object({.name = "rates", .doc = "of the two loops"}, [&](Fields& o) { visit_rates(o, scene.run); });
  f.object({.name = "tool", .doc = "what the hand holds"}, [&](Fields& o) { visit_tool(o, scene.file, scene); });
  f.object({.name = "world", .doc = "gravity, contact detection and solver"},
           [&](Fields& o) { visit_world(o, scene.world); });
  f.object({.name = "safety", .doc = "limits on what reaches the hand"},
           [&](Fields& o) { visit_safety(o, scene.run.safety); });
  f.object({.name = "passivity", .doc = "present: a controller takes out energy that the loop generated"},
           [&](Fields& o) {
             if (!scene.run.passivity) scene.run.passivity.emplace();
             visit_passivity(o, *scene.run.passivity);
           });
  f.list({.name = "bodies", .doc = "what can be touched", .required = true}, kMaxBodies, [&](Fields& o) {
    scene.bodies.emplace_back();
    visit_body(o, scene.file, scene.bodies.back());
  });
  f.list({.name = "joints", .doc = "what holds bodies together"}, kMaxBodies, [&](Fields& o) {
    scene.joints.emplace_back();
    visit_joint(o, scene.joints.back());
  });
  f.object({.name = "hand", .doc = "who or what moves the device", .required = true},
           [&](Fields& o) { visit_hand(o, scene); });
}

std::string read_file(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail_input("{}: no such file", file);
  if (!std::filesystem::is_regular_file(status)) fail_input("{}: not a file", file);
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (!error && size > kMaxFileSize) fail_input("{}: {} bytes; a scene file has at most {}", file, size, kMaxFileSize);
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) fail_input("{}: cannot be read", file);
  return text;
}

}  // namespace

Scene parse_scene(std::string text, const std::string& file) {
  Scene scene;
  scene.file = file;
  scene.text = std::move(text);
  scene.name = std::filesystem::path(file).stem().string();
  read_fields(parse_json(scene.text, file), file, [&](Fields& f) { visit_scene(f, scene); });
  if (scene.bodies.empty()) fail_input("{}: bodies is empty; give at least one", file);
  RunSettings& run = scene.run;
  if (std::isnan(run.latency)) run.latency = run.slow_period;
  if (std::isnan(run.safety.stale_after)) run.safety.stale_after = run.latency + 2.0 * run.slow_period;
  try {
    validate(run);
  } catch (const InputError& error) {
    fail_input("{}: {}", file, error.what());
  }
  return scene;
}

Scene load_scene(const std::string& file) {
  return parse_scene(read_file(file), file);
}

std::string make_scene_schema() {
  Scene scene;
  return describe_fields("Palpate scene", [&](Fields& f) { visit_scene(f, scene); });
}

namespace {

int find_body(const World& world, const SceneJoint& joint, const std::string& name) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    if (world.bodies()[i].name == name) return static_cast<int>(i);
    if (world.bodies()[i].body) names.emplace_back(world.bodies()[i].name);
  }
  fail_input("{}: no body that moves is called \"{}\"; there are: {}", joint.place, name, join_words(names));
}

void add_joint(World& world, const SceneJoint& s) {
  Joint joint = s.joint;
  joint.body_a = find_body(world, s, s.a);
  joint.body_b = s.b.empty() ? -1 : find_body(world, s, s.b);
  const auto body_of = [&](int i) { return i < 0 ? nullptr : world.bodies()[static_cast<std::size_t>(i)].body.get(); };
  const Body* b = body_of(joint.body_b);
  const Pose place{s.position, Quat::FromTwoVectors(Vec3::UnitX(), s.axis)};
  const Joint ends = make_joint(joint.kind, body_of(joint.body_a), b, place);
  joint.point_a = ends.point_a;
  joint.point_b = ends.point_b;
  joint.frame_a = ends.frame_a;
  joint.frame_b = ends.frame_b;
  for (const Vec3& p : s.curve) joint.curve.push_back(b ? b->find_point(p) : BodyPoint{-1, Vec3::Zero(), p});
  try {
    world.add(std::move(joint));
  } catch (const InputError& error) {
    fail_input("{}: {}", s.place, error.what());
  }
}

}  // namespace

ToolSettings make_tool_settings(const Scene& scene) {
  ToolSettings tool = scene.tool;
  if (scene.add_tool_shapes) scene.add_tool_shapes(tool);
  return tool;
}

RecordingHeader make_recording_header(const Scene& scene, const std::string& method, bool lockstep) {
  RecordingHeader header;
  header.scene_name = scene.name;
  header.scene = scene.text;
  header.method = method;
  header.lockstep = lockstep;
  header.dt = scene.run.dt;
  header.slow_period = scene.run.slow_period;
  header.latency = scene.run.extra_latency + (lockstep ? scene.run.latency : 0.0);
  return header;
}

World make_world(const Scene& scene) {
  World world(scene.world);
  for (const SceneBody& body : scene.bodies) body.add_to(world, body);
  const bool in_world = scene.tool.kind == ToolSettings::Kind::kPoint ? !world.is_static()
                                                                      : scene.tool.kind != ToolSettings::Kind::kFingers;
  if (in_world) {
    try {
      add_tool(world, make_tool_settings(scene), scene.make_device()->read(0.0).pose);
    } catch (const InputError& error) {
      fail_input("{}: {}", scene.file, error.what());
    }
  }
  for (const SceneJoint& joint : scene.joints) add_joint(world, joint);
  world.prepare();
  return world;
}

Method make_method(const Scene& scene, std::string_view name, World& world, Device& device) {
  const MethodInfo& info = find_method(name);
  if (const std::string reason = info.refuse(world, scene.tool); !reason.empty())
    fail_input("{}: method {} cannot be used here: {}", scene.file, name, reason);
  world.reset();
  return info.make(
      {world, make_tool_settings(scene), scene.run.dt, scene.run.slow_period, device.read(0.0), scene.methods});
}

std::string data_folder() {
  const char* folder = std::getenv("PALPATE_DATA");
  return folder && *folder ? folder : "../shared/data";
}

std::vector<std::string> find_warnings(const Scene& scene, const Device& device) {
  std::vector<std::string> warnings;
  if (auto warning = find_coupling_warning(scene.tool.coupling, device.info(), scene.run.dt)) {
    warnings.push_back(std::move(*warning));
  }
  return warnings;
}

}  // namespace palpate
