#include "describe.h"

namespace palpate {
namespace {

constexpr std::size_t kMaxKeyframes = 100000;
constexpr std::size_t kMaxParts = 1000;

void describe_keyframe(Fields& f, SceneKeyframe& s) {
  using Limits = KeyframePathSettings;
  const SceneKeyframe d;
  f.number({.name = "time", .doc = "since the start", .unit = "s", .required = true}, s.time, d.time, Limits::kTime);
  f.vector({.name = "position", .doc = "of the hand", .unit = "m", .required = true}, s.position, d.position);
  describe_rotation(f, s.rotation);
  f.number({.name = "grip", .doc = "how far the hand is closed"}, s.grip, d.grip, Limits::kGrip);
}

void describe_keyframes(Fields& f, SceneKeyframePath& s) {
  f.choice<PathInterpolation>({.name = "interpolation", .doc = "smooth (no overshoot, rest at the ends) or linear"},
                              s.interpolation, PathInterpolation::kSmooth,
                              {{"smooth", PathInterpolation::kSmooth}, {"linear", PathInterpolation::kLinear}});
  f.list({.name = "keyframes", .doc = "where the hand is when", .required = true, .def = "keyframe"},
         {1, kMaxKeyframes}, s.keyframes, describe_keyframe);
}

void describe_sine_path(Fields& f, SceneSinePath& s) {
  using Limits = SinePathSettings;
  const SceneSinePath d;
  f.vector({.name = "start", .doc = "mean position at the beginning", .unit = "m"}, s.start, d.start);
  f.vector({.name = "velocity", .doc = "drift under the sine", .unit = "m/s"}, s.velocity, d.velocity);
  f.vector({.name = "amplitude", .doc = "of the sine", .unit = "m"}, s.amplitude, d.amplitude);
  f.number({.name = "frequency", .doc = "of the sine", .unit = "Hz"}, s.frequency, d.frequency, Limits::kFrequency);
  f.number({.name = "phase", .doc = "at the beginning", .unit = "rad"}, s.phase, d.phase, Limits::kPhase);
  describe_rotation(f, s.rotation);
  f.vector({.name = "rotation_amplitude", .doc = "rotation vector that swings with the sine", .unit = "rad"},
           s.rotation_amplitude, d.rotation_amplitude);
  f.number({.name = "start_time", .doc = "the hand waits that long", .unit = "s"}, s.start_time, d.start_time,
           Limits::kTime);
  f.number({.name = "ramp_time", .doc = "motion comes in and goes out over this time", .unit = "s"}, s.ramp_time,
           d.ramp_time, Limits::kRamp);
  f.number({.name = "duration", .doc = "of the motion; 0: for ever", .unit = "s"}, s.duration, d.duration,
           Limits::kTime);
}

void describe_press_and_slide(Fields& f, ScenePressAndSlidePath& s) {
  using Limits = PressAndSlidePathSettings;
  const ScenePressAndSlidePath d;
  f.vector({.name = "start", .doc = "before the approach", .unit = "m"}, s.start, d.start);
  describe_rotation(f, s.rotation);
  f.vector({.name = "direction", .doc = "of pressing; any length"}, s.direction, d.direction);
  f.number({.name = "depth", .doc = "way from start along the direction", .unit = "m"}, s.depth, d.depth,
           Limits::kDepth);
  f.number({.name = "approach_time", .doc = "of the way down", .unit = "s"}, s.approach_time, d.approach_time,
           Limits::kMoveTime);
  f.number({.name = "hold_time", .doc = "after the approach and before the retreat", .unit = "s"}, s.hold_time,
           d.hold_time, Limits::kHoldTime);
  f.vector({.name = "slide_direction", .doc = "sideways; any length"}, s.slide_direction, d.slide_direction);
  f.number({.name = "slide_distance", .doc = "of one stroke", .unit = "m"}, s.slide_distance, d.slide_distance,
           Limits::kDistance);
  f.number({.name = "slide_speed", .doc = "in the middle of a stroke", .unit = "m/s"}, s.slide_speed, d.slide_speed,
           Limits::kSpeed);
  f.number({.name = "slide_ramp", .doc = "time to reach that speed, and to stop", .unit = "s"}, s.slide_ramp,
           d.slide_ramp, Limits::kRamp);
  f.integer({.name = "strokes", .doc = "1: there; 2: there and back; …"}, s.strokes, d.strokes, Limits::kStrokes);
  f.number({.name = "retract_time", .doc = "of the way up", .unit = "s"}, s.retract_time, d.retract_time,
           Limits::kMoveTime);
}

void describe_tap(Fields& f, SceneTapPath& s) {
  using Limits = TapPathSettings;
  const SceneTapPath d;
  f.vector({.name = "start", .doc = "at rest between taps", .unit = "m"}, s.start, d.start);
  describe_rotation(f, s.rotation);
  f.vector({.name = "direction", .doc = "of a tap; any length"}, s.direction, d.direction);
  f.number({.name = "depth", .doc = "of a tap", .unit = "m"}, s.depth, d.depth, Limits::kDepth);
  f.number({.name = "period", .doc = "of one tap", .unit = "s"}, s.period, d.period, Limits::kPeriod);
  f.integer({.name = "count", .doc = "of taps; 0: for ever"}, s.count, d.count, Limits::kCount);
}

void describe_circle(Fields& f, SceneCirclePath& s) {
  using Limits = CirclePathSettings;
  const SceneCirclePath d;
  f.vector({.name = "centre", .doc = "of the circle", .unit = "m"}, s.centre, d.centre);
  describe_rotation(f, s.rotation);
  f.vector({.name = "axis", .doc = "right-handed about this; any length"}, s.axis, d.axis);
  f.number({.name = "radius", .doc = "of the circle", .unit = "m"}, s.radius, d.radius, Limits::kRadius);
  f.number({.name = "frequency", .doc = "turns a second", .unit = "Hz"}, s.frequency, d.frequency, Limits::kFrequency);
  f.number({.name = "lead_in", .doc = "time to reach the speed, and to stop", .unit = "s"}, s.lead_in, d.lead_in,
           Limits::kLeadIn);
  f.number({.name = "turns", .doc = "0: for ever"}, s.turns, d.turns, Limits::kTurns);
}

/// Of a variant that has them among its alternatives.
template <typename Variant>
std::vector<FieldKind> single_kinds(Variant& path) {
  return {make_kind<SceneKeyframePath>("keyframes", "through given positions at given times", path, describe_keyframes),
          make_kind<SceneSinePath>("sine", "a drift with a sine on top", path, describe_sine_path),
          make_kind<ScenePressAndSlidePath>("press_and_slide", "down, sideways, up", path, describe_press_and_slide),
          make_kind<SceneTapPath>("tap", "down and up again", path, describe_tap),
          make_kind<SceneCirclePath>("circle", "round and round", path, describe_circle)};
}

void describe_sequence(Fields& f, SceneSequencePath& s) {
  f.number({.name = "blend_time", .doc = "from the end of one part to the beginning of the next", .unit = "s"},
           s.blend_time, SceneSequencePath{}.blend_time, SequencePathSettings::kBlendTime);
  f.list(
      {.name = "parts", .doc = "one after another; all but the last must end", .required = true, .def = "single_path"},
      {1, kMaxParts}, s.parts, [](Fields& o, SceneSinglePath& part) { o.kind(single_kinds(part)); });
}

/// "path" and "tremor" of a hand.
void describe_motion(Fields& f, ScenePath& path, std::optional<SceneTremor>& tremor) {
  f.object({.name = "path", .doc = "what the hand does", .required = true, .def = "path"}, [&](Fields& o) {
    std::vector<FieldKind> kinds = single_kinds(path);
    kinds.push_back(make_kind<SceneSequencePath>("sequence", "several paths in a row", path, describe_sequence));
    o.kind(kinds);
  });
  f.optional({.name = "tremor", .doc = "what a hand cannot hold still", .def = "tremor"}, tremor,
             [](Fields& o, SceneTremor& s) {
               using Limits = TremorPathSettings;
               const SceneTremor d;
               o.number({.name = "rms", .doc = "of the added displacement", .unit = "m"}, s.rms, d.rms, Limits::kRms);
               o.number({.name = "low", .doc = "lower end of the band", .unit = "Hz"}, s.low, d.low, Limits::kBand);
               o.number({.name = "high", .doc = "upper end of the band", .unit = "Hz"}, s.high, d.high, Limits::kBand);
               o.integer({.name = "seed", .doc = "same seed, same tremor"}, s.seed, d.seed, {0, 2e9});
             });
}

void describe_scripted(Fields& f, SceneScriptedHand& s) {
  describe_motion(f, s.path, s.tremor);
}

void describe_simulated(Fields& f, SceneSimulatedHand& s) {
  using Limits = SimulatedDeviceSettings;
  const SceneSimulatedHand d;
  f.word({.name = "preset", .doc = "class of device whose figures are the defaults below"}, s.preset, d.preset,
         simulated_device_presets());
  f.optional_number({.name = "mass", .doc = "apparent at the handle", .unit = "kg"}, s.mass, Limits::kMass);
  f.optional_number({.name = "damping", .doc = "viscous, of the device", .unit = "N·s/m"}, s.damping, Limits::kDamping);
  f.optional_number({.name = "coulomb_friction", .doc = "of the device", .unit = "N"}, s.coulomb_friction,
                    Limits::kCoulombFriction);
  f.optional_number({.name = "max_force", .doc = "its motors give no more", .unit = "N"}, s.max_force, kPositive);
  f.optional_number(
      {.name = "encoder_resolution", .doc = "positions are read as multiples of this; 0: exactly", .unit = "m"},
      s.encoder_resolution, Limits::kEncoderResolution);
  f.boolean({.name = "delay_output", .doc = "a force takes effect one tick late"}, s.delay_output, d.delay_output);
  f.object({.name = "impedance", .doc = "of the hand that holds it", .def = "impedance"},
           [&](Fields& o) { describe(o, s.impedance); });
  describe_motion(f, s.path, s.tremor);
}

void describe_replay(Fields& f, SceneReplayHand& s) {
  f.text({.name = "file", .doc = "a recording; relative to the scene file", .required = true, .file = true}, s.file,
         "");
  f.text({.name = "tool",
          .doc = "whose hand of the recording; default: of its only tool, or of the one at the same place as here"},
         s.tool, "");
}

}  // namespace

void describe(Fields& f, SceneHand& hand) {
  f.mark(hand.place);
  auto& k = hand.kind;
  f.kind({make_kind<SceneScriptedHand>("scripted", "goes its way whatever it meets", k, describe_scripted),
          make_kind<SceneSimulatedHand>("simulated", "a device with inertia, held by a hand that feels", k,
                                        describe_simulated),
          make_kind<SceneReplayHand>("replay", "a hand of a recording", k, describe_replay)});
}

}  // namespace palpate
