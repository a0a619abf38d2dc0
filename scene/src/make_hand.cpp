#include "palpate/haptics/scripted.h"
#include "palpate/record/replay_hand.h"
#include "palpate/scene/hand.h"
#include "palpate/scene/shape.h"
#include "with_place.h"

namespace palpate {
namespace {

struct MakePath {
  std::unique_ptr<HandPath> operator()(const SceneKeyframePath& s) const {
    KeyframePathSettings out;
    out.interpolation = s.interpolation;
    bool turned = false, gripped = false;
    for (const SceneKeyframe& k : s.keyframes) {
      out.times.push_back(k.time);
      out.positions.push_back(k.position);
      out.rotations.push_back(rotation_from_vector(k.rotation));
      out.grips.push_back(k.grip);
      turned = turned || out.rotations.back().vec().norm() > 0.0;
      gripped = gripped || k.grip > 0.0;
    }
    if (!turned) out.rotations.clear();
    if (!gripped) out.grips.clear();
    return make_path(std::move(out));
  }

  std::unique_ptr<HandPath> operator()(const SceneSinePath& s) const {
    return make_path(SinePathSettings{.start = s.start,
                                      .velocity = s.velocity,
                                      .amplitude = s.amplitude,
                                      .frequency = s.frequency,
                                      .phase = s.phase,
                                      .rotation = rotation_from_vector(s.rotation),
                                      .rotation_amplitude = s.rotation_amplitude,
                                      .start_time = s.start_time,
                                      .ramp_time = s.ramp_time,
                                      .duration = s.duration});
  }

  std::unique_ptr<HandPath> operator()(const ScenePressAndSlidePath& s) const {
    return make_path(PressAndSlidePathSettings{.start = s.start,
                                               .rotation = rotation_from_vector(s.rotation),
                                               .direction = s.direction,
                                               .depth = s.depth,
                                               .approach_time = s.approach_time,
                                               .hold_time = s.hold_time,
                                               .slide_direction = s.slide_direction,
                                               .slide_distance = s.slide_distance,
                                               .slide_speed = s.slide_speed,
                                               .slide_ramp = s.slide_ramp,
                                               .strokes = s.strokes,
                                               .retract_time = s.retract_time});
  }

  std::unique_ptr<HandPath> operator()(const SceneTapPath& s) const {
    return make_path(TapPathSettings{.start = s.start,
                                     .rotation = rotation_from_vector(s.rotation),
                                     .direction = s.direction,
                                     .depth = s.depth,
                                     .period = s.period,
                                     .count = s.count});
  }

  std::unique_ptr<HandPath> operator()(const SceneCirclePath& s) const {
    return make_path(CirclePathSettings{.centre = s.centre,
                                        .rotation = rotation_from_vector(s.rotation),
                                        .axis = s.axis,
                                        .radius = s.radius,
                                        .frequency = s.frequency,
                                        .lead_in = s.lead_in,
                                        .turns = s.turns});
  }

  std::unique_ptr<HandPath> operator()(const SceneSequencePath& s) const {
    std::vector<std::unique_ptr<HandPath>> parts;
    for (const SceneSinglePath& part : s.parts) parts.push_back(std::visit(*this, part));
    return make_path(SequencePathSettings{.blend_time = s.blend_time}, std::move(parts));
  }
};

std::unique_ptr<HandPath> make_motion(const ScenePath& path, const std::optional<SceneTremor>& tremor) {
  auto base = make_path(path);
  if (!tremor) return base;
  TremorPathSettings settings;
  settings.rms = tremor->rms;
  settings.low = tremor->low;
  settings.high = tremor->high;
  settings.seed = static_cast<std::uint64_t>(tremor->seed);
  return make_path(settings, std::move(base));
}

struct MakeDevice {
  const std::string& scene_file;
  const std::size_t place;

  std::unique_ptr<Device> operator()(const SceneScriptedHand& s) const {
    return std::make_unique<ScriptedDevice>(make_motion(s.path, s.tremor));
  }

  std::unique_ptr<Device> operator()(const SceneSimulatedHand& s) const {
    SimulatedDeviceSettings out = simulated_device_preset(s.preset);
    out.mass = s.mass.value_or(out.mass);
    out.damping = s.damping.value_or(out.damping);
    out.coulomb_friction = s.coulomb_friction.value_or(out.coulomb_friction);
    out.max_force = s.max_force.value_or(out.max_force);
    out.encoder_resolution = s.encoder_resolution.value_or(out.encoder_resolution);
    out.delay_output = s.delay_output;
    out.hand = s.impedance;
    return std::make_unique<SimulatedDevice>(out, make_motion(s.path, s.tremor));
  }

  std::unique_ptr<Device> operator()(const SceneReplayHand& s) const {
    return make_replay_device(resolve_file(s.file, scene_file), s.tool, place);
  }
};

}  // namespace

std::string_view kind_name(const SceneHand& hand) noexcept {
  constexpr std::string_view kNames[] = {"scripted", "simulated", "replay"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(SceneHand::kind)>);
  return kNames[hand.kind.index()];
}

ScenePath* find_path(SceneHand& hand) noexcept {
  if (auto* scripted = std::get_if<SceneScriptedHand>(&hand.kind)) return &scripted->path;
  if (auto* simulated = std::get_if<SceneSimulatedHand>(&hand.kind)) return &simulated->path;
  return nullptr;
}

std::unique_ptr<HandPath> make_path(const ScenePath& path) {
  return std::visit(MakePath{}, path);
}

std::unique_ptr<Device> make_device(const SceneHand& hand, const std::string& scene_file, std::size_t place) {
  return with_place(hand.place, [&] { return std::visit(MakeDevice{scene_file, place}, hand.kind); });
}

}  // namespace palpate
