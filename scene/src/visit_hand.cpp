#include "visit_hand.h"

#include "palpate/core/error.h"
#include "palpate/haptics/scripted.h"
#include "palpate/haptics/simulated.h"
#include "palpate/record/replay_hand.h"
#include "visit_body.h"

namespace palpate {
namespace {

constexpr std::size_t kMaxKeyframes = 100000;
constexpr std::size_t kMaxParts = 1000;

using MakePath = std::function<std::unique_ptr<HandPath>()>;

/// Wraps settings whose path is made, and so checked, when it is needed.
template <typename Settings>
MakePath path_maker(Settings settings) {
  return [settings = std::move(settings)] { return make_path(settings); };
}

void visit_keyframes(Fields& f, MakePath& make) {
  KeyframePathSettings s;
  std::string interpolation = "smooth";
  bool turned = false;
  bool gripped = false;
  f.choice({.name = "interpolation", .doc = "smooth (no overshoot, rest at the ends) or linear"}, interpolation,
           {"smooth", "linear"});
  f.list({.name = "keyframes", .doc = "where the hand is when", .required = true}, kMaxKeyframes, [&](Fields& k) {
    double time = 0.0;
    Vec3 position = Vec3::Zero();
    Quat rotation = Quat::Identity();
    double grip = 0.0;
    k.number({.name = "time", .doc = "since the start", .unit = "s", .required = true}, time, kNotNegative);
    k.vector({.name = "position", .doc = "of the hand", .unit = "m", .required = true}, position);
    visit_rotation(k, rotation);
    k.number({.name = "grip", .doc = "how far the hand is closed"}, grip, {0.0, 1.0});
    turned = turned || rotation.vec().norm() > 0.0;
    gripped = gripped || grip > 0.0;
    s.times.push_back(time);
    s.positions.push_back(position);
    s.rotations.push_back(rotation);
    s.grips.push_back(grip);
  });
  if (!turned) s.rotations.clear();
  if (!gripped) s.grips.clear();
  s.interpolation = interpolation == "linear" ? PathInterpolation::kLinear : PathInterpolation::kSmooth;
  make = path_maker(std::move(s));
}

void visit_sine(Fields& f, MakePath& make) {
  SinePathSettings s;
  f.vector({.name = "start", .doc = "mean position at the beginning", .unit = "m"}, s.start);
  f.vector({.name = "velocity", .doc = "drift under the sine", .unit = "m/s"}, s.velocity);
  f.vector({.name = "amplitude", .doc = "of the sine", .unit = "m"}, s.amplitude);
  f.number({.name = "frequency", .doc = "of the sine", .unit = "Hz"}, s.frequency, {0.0, 500.0});
  f.number({.name = "phase", .doc = "at the beginning", .unit = "rad"}, s.phase, kAnyNumber);
  visit_rotation(f, s.rotation);
  f.vector({.name = "rotation_amplitude", .doc = "rotation vector that swings with the sine", .unit = "rad"},
           s.rotation_amplitude);
  f.number({.name = "start_time", .doc = "the hand waits that long", .unit = "s"}, s.start_time, kNotNegative);
  f.number({.name = "ramp_time", .doc = "motion comes in and goes out over this time", .unit = "s"}, s.ramp_time,
           kNotNegative);
  f.number({.name = "duration", .doc = "of the motion; 0: for ever", .unit = "s"}, s.duration, kNotNegative);
  make = path_maker(s);
}

void visit_press_and_slide(Fields& f, MakePath& make) {
  PressAndSlidePathSettings s;
  f.vector({.name = "start", .doc = "before the approach", .unit = "m"}, s.start);
  visit_rotation(f, s.rotation);
  f.vector({.name = "direction", .doc = "of pressing; any length"}, s.direction);
  f.number({.name = "depth", .doc = "way from start along the direction", .unit = "m"}, s.depth, kAnyNumber);
  f.number({.name = "approach_time", .doc = "of the way down", .unit = "s"}, s.approach_time, kPositive);
  f.number({.name = "hold_time", .doc = "after the approach and before the retreat", .unit = "s"}, s.hold_time,
           kNotNegative);
  f.vector({.name = "slide_direction", .doc = "sideways; any length"}, s.slide_direction);
  f.number({.name = "slide_distance", .doc = "of one stroke", .unit = "m"}, s.slide_distance, {0.0, 10.0, true});
  f.number({.name = "slide_speed", .doc = "in the middle of a stroke", .unit = "m/s"}, s.slide_speed, kPositive);
  f.number({.name = "slide_ramp", .doc = "time to reach that speed, and to stop", .unit = "s"}, s.slide_ramp,
           kNotNegative);
  f.integer({.name = "strokes", .doc = "1: there; 2: there and back; …"}, s.strokes, {0, 100000});
  f.number({.name = "retract_time", .doc = "of the way up", .unit = "s"}, s.retract_time, kPositive);
  make = path_maker(s);
}

void visit_tap(Fields& f, MakePath& make) {
  TapPathSettings s;
  f.vector({.name = "start", .doc = "at rest between taps", .unit = "m"}, s.start);
  visit_rotation(f, s.rotation);
  f.vector({.name = "direction", .doc = "of a tap; any length"}, s.direction);
  f.number({.name = "depth", .doc = "of a tap", .unit = "m"}, s.depth, kAnyNumber);
  f.number({.name = "period", .doc = "of one tap", .unit = "s"}, s.period, kPositive);
  f.integer({.name = "count", .doc = "of taps; 0: for ever"}, s.count, {0, 1000000});
  make = path_maker(s);
}

void visit_circle(Fields& f, MakePath& make) {
  CirclePathSettings s;
  f.vector({.name = "centre", .doc = "of the circle", .unit = "m"}, s.centre);
  visit_rotation(f, s.rotation);
  f.vector({.name = "axis", .doc = "right-handed about this; any length"}, s.axis);
  f.number({.name = "radius", .doc = "of the circle", .unit = "m"}, s.radius, kNotNegative);
  f.number({.name = "frequency", .doc = "turns a second", .unit = "Hz"}, s.frequency, {0.0, 500.0});
  f.number({.name = "lead_in", .doc = "time to reach the speed, and to stop", .unit = "s"}, s.lead_in, kNotNegative);
  f.number({.name = "turns", .doc = "0: for ever"}, s.turns, kNotNegative);
  make = path_maker(s);
}

std::vector<Kind> single_kinds(MakePath& make) {
  return {{"keyframes", "through given positions at given times", [&](Fields& f) { visit_keyframes(f, make); }},
          {"sine", "a drift with a sine on top", [&](Fields& f) { visit_sine(f, make); }},
          {"press_and_slide", "down, sideways, up", [&](Fields& f) { visit_press_and_slide(f, make); }},
          {"tap", "down and up again", [&](Fields& f) { visit_tap(f, make); }},
          {"circle", "round and round", [&](Fields& f) { visit_circle(f, make); }}};
}

void visit_sequence(Fields& f, MakePath& make) {
  SequencePathSettings s;
  std::vector<MakePath> parts;
  f.number({.name = "blend_time", .doc = "from the end of one part to the beginning of the next", .unit = "s"},
           s.blend_time, kNotNegative);
  f.list({.name = "parts", .doc = "one after another; all but the last must end", .required = true}, kMaxParts,
         [&](Fields& part) {
           MakePath one;
           part.kind(single_kinds(one));
           parts.push_back(std::move(one));
         });
  make = [s, parts] {
    std::vector<std::unique_ptr<HandPath>> paths;
    for (const MakePath& part : parts) paths.push_back(part());
    return make_path(s, std::move(paths));
  };
}

/// "path" and "tremor" of a hand.
void visit_path(Fields& f, MakePath& make) {
  f.object({.name = "path", .doc = "what the hand does", .required = true}, [&](Fields& p) {
    std::vector<Kind> kinds = single_kinds(make);
    kinds.push_back({"sequence", "several paths in a row", [&](Fields& k) { visit_sequence(k, make); }});
    p.kind(kinds);
  });
  f.object({.name = "tremor", .doc = "what a hand cannot hold still"}, [&](Fields& t) {
    TremorPathSettings s;
    int seed = 1;
    t.number({.name = "rms", .doc = "of the added displacement", .unit = "m"}, s.rms, {0.0, 0.1});
    t.number({.name = "low", .doc = "lower end of the band", .unit = "Hz"}, s.low, {0.0, 500.0, true});
    t.number({.name = "high", .doc = "upper end of the band", .unit = "Hz"}, s.high, {0.0, 500.0, true});
    t.integer({.name = "seed", .doc = "same seed, same tremor"}, seed, {0, 2e9});
    s.seed = static_cast<std::uint64_t>(seed);
    make = [s, base = std::move(make)] { return make_path(s, base()); };
  });
}

void visit_impedance(Fields& f, HandImpedance& hand) {
  f.number({.name = "mass", .doc = "of the hand that goes with the handle", .unit = "kg"}, hand.mass, {0.0, 100.0});
  f.number({.name = "damping", .doc = "of the grip", .unit = "N·s/m"}, hand.damping, {0.0, 1e4});
  f.number({.name = "stiffness", .doc = "of the grip; 0: follows by damping alone", .unit = "N/m"}, hand.stiffness,
           {0.0, 1e6});
}

void visit_simulated(Fields& f, SimulatedDeviceSettings& s, MakePath& path) {
  std::string preset = "omega";
  const auto presets = simulated_device_presets();
  f.choice({.name = "preset", .doc = "class of device whose figures are the defaults below"}, preset, presets);
  s = simulated_device_preset(preset);
  f.number({.name = "mass", .doc = "apparent at the handle", .unit = "kg"}, s.mass, {0.0, 100.0, true});
  f.number({.name = "damping", .doc = "viscous, of the device", .unit = "N·s/m"}, s.damping, {0.0, 1e4});
  f.number({.name = "coulomb_friction", .doc = "of the device", .unit = "N"}, s.coulomb_friction, {0.0, 100.0});
  f.number({.name = "max_force", .doc = "its motors give no more", .unit = "N"}, s.max_force, {0.0, 1e6, true});
  f.number({.name = "encoder_resolution", .doc = "positions are read as multiples of this; 0: exactly", .unit = "m"},
           s.encoder_resolution, {0.0, 0.1});
  f.boolean({.name = "delay_output", .doc = "a force takes effect one tick late"}, s.delay_output);
  f.object({.name = "impedance", .doc = "of the hand that holds it"}, [&](Fields& o) { visit_impedance(o, s.hand); });
  visit_path(f, path);
}

}  // namespace

void visit_hand(Fields& f, Scene& scene) {
  MakePath path;
  SimulatedDeviceSettings simulated;
  std::string file;
  std::string chosen;
  f.kind({{"scripted", "goes its way whatever it meets",
           [&](Fields& k) {
             chosen = "scripted";
             visit_path(k, path);
           }},
          {"simulated", "a device with inertia, held by a hand that feels",
           [&](Fields& k) {
             chosen = "simulated";
             visit_simulated(k, simulated, path);
           }},
          {"replay", "the hand of a recording", [&](Fields& k) {
             chosen = "replay";
             k.text({.name = "file", .doc = "a recording; relative to the scene file", .required = true}, file);
           }}});
  if (f.place().empty()) return;
  scene.hand = chosen;
  if (chosen == "replay") {
    scene.make_device = [file = resolve_file(file, scene.file)] { return make_replay_device(file); };
  } else if (chosen == "scripted") {
    scene.make_device = [path]() -> std::unique_ptr<Device> { return std::make_unique<ScriptedDevice>(path()); };
  } else {
    scene.make_device = [path, simulated]() -> std::unique_ptr<Device> {
      return std::make_unique<SimulatedDevice>(simulated, path());
    };
  }
  try {
    scene.make_device();
  } catch (const InputError& error) {
    fail_input("{}: {}", f.place(), error.what());
  }
}

}  // namespace palpate
