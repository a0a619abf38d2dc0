#include <filesystem>

#include "describe.h"
#include "describe_tools.h"
#include "scene_fields.h"

namespace palpate {
namespace {

constexpr std::size_t kMaxBodies = 1000;

void describe_solver(Fields& f, WorldSettings& w) {
  const WorldSettings d;
  f.word({.name = "name", .doc = "how"}, w.solver_name, d.solver_name, {"gauss_seidel", "accelerated", "direct"});
  f.number({.name = "tolerance", .doc = "largest residual", .unit = "m"}, w.solver.tolerance, d.solver.tolerance,
           {0.0, 1.0, true});
  f.integer({.name = "max_iterations", .doc = "at most"}, w.solver.max_iterations, d.solver.max_iterations,
            {1, 1000000});
  f.number(
      {.name = "max_seconds", .doc = "time limit; 0: none. With one, runs no longer repeat to the bit", .unit = "s"},
      w.solver.max_seconds, d.solver.max_seconds, {0.0, 10.0});
  f.boolean({.name = "pyramid", .doc = "friction pyramid instead of the cone"}, w.solver.pyramid, d.solver.pyramid);
}

void describe_run(Fields& f, RunSettings& run) {
  f.object({.name = "rates", .doc = "of the two loops", .def = "rates"}, [&](Fields& o) { describe_rates(o, run); });
}

template <typename Settings>
std::string write_settings(Settings settings) {
  return write_fields([&](Fields& f) { describe(f, settings); });
}

}  // namespace

bool operator==(const Material& a, const Material& b) {
  return write_settings(a) == write_settings(b);
}

bool operator==(const WorldSettings& a, const WorldSettings& b) {
  return write_settings(a) == write_settings(b);
}

void describe(Fields& f, WorldSettings& w) {
  const WorldSettings d;
  f.vector({.name = "gravity", .doc = "on all bodies but a point or rigid tool", .unit = "m/s²"}, w.gravity, d.gravity);
  f.number({.name = "alarm_distance", .doc = "features nearer than this may touch within a step", .unit = "m"},
           w.contacts.alarm_distance, d.contacts.alarm_distance, {0.0, 1.0, true});
  f.integer({.name = "max_contacts", .doc = "room; the nearest are kept"}, w.contacts.max_contacts,
            d.contacts.max_contacts, {1, 100000});
  f.integer({.name = "max_contacts_per_pair", .doc = "of two bodies; these stand for all"},
            w.contacts.max_contacts_per_pair, d.contacts.max_contacts_per_pair, {1, 100000});
  f.integer({.name = "max_contacts_per_soft_pair", .doc = "of two bodies of which one is soft; these stand for all"},
            w.contacts.max_contacts_per_soft_pair, d.contacts.max_contacts_per_soft_pair, {1, 100000});
  f.number({.name = "overlap_time", .doc = "bodies that overlap part with this time constant", .unit = "s"},
           w.overlap_time, d.overlap_time, {0.0, 10.0, true});
  f.number({.name = "push_out_speed", .doc = "bodies that overlap part no faster than this", .unit = "m/s"},
           w.push_out_speed, d.push_out_speed, {0.0, 1e3});
  f.number({.name = "max_turn", .doc = "steps in which a body that touches turns further are divided", .unit = "rad"},
           w.max_turn, d.max_turn, {0.0, 10.0, true});
  f.object({.name = "solver", .doc = "of the contact forces", .def = "solver"},
           [&](Fields& o) { describe_solver(o, w); });
}

void describe(Fields& f, Scene& scene) {
  int format = 1;
  f.text({.name = "$schema", .doc = "where an editor finds this schema"}, scene.schema, "");
  f.integer({.name = "format", .doc = "of this file: 1", .required = true}, format, 1, {1, 1});
  f.text({.name = "name", .doc = "short name; default: the file's name", .always = true}, scene.name,
         std::filesystem::path(scene.source.file).stem().string());
  f.text({.name = "description", .doc = "one or two sentences"}, scene.description, "");
  f.number({.name = "seconds", .doc = "length of a run", .unit = "s"}, scene.run.seconds, RunSettings{}.seconds,
           kRunSeconds);
  ToolsDescription tools(f, scene);
  tools.visit_method(f);
  f.object({.name = "methods", .doc = "what each method may be told", .def = "methods"},
           [&](Fields& o) { describe(o, scene.methods); });
  describe_run(f, scene.run);
  tools.visit_tool(f);
  f.object({.name = "world", .doc = "gravity, contact detection and solver", .def = "world"},
           [&](Fields& o) { describe(o, scene.world); });
  tools.visit_guards(f);
  f.list({.name = "bodies", .doc = "what can be touched", .required = true, .def = "body"}, {1, kMaxBodies},
         scene.bodies, [](Fields& o, SceneBody& body) { describe(o, body); });
  f.list({.name = "joints", .doc = "what holds bodies together", .def = "joint"}, {0, kMaxBodies}, scene.joints,
         [](Fields& o, SceneJoint& joint) { describe(o, joint); });
  tools.visit_rest(f);
}

}  // namespace palpate
