#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "opened_file.h"
#include "palpate/core/math.h"

namespace palpate {

/// What a page asks for, as far as its form is right; whether it can be had is the viewer's business.
struct PageRequest {
  enum class Kind {
    kHold,    ///< pose, grip, tool
    kLetGo,   ///< tool
    kAsk,     ///< tool: for it, of the page that holds it
    kGive,    ///< tool: to the page that asks for it
    kKeep,    ///< tool: it is not given
    kMake,    ///< mesh: of the mesh that is open
    kPause,   ///< the loops, or the film
    kResume,  ///< them
    kStep,    ///< one slow step, or one picture of the film
    kReset,   ///< from the start
    kSpeed,   ///< value
    kMethod,  ///< name, of all tools; empty: each its own
    kScene,   ///< name
    kSet,     ///< name of a slider, value
    kRecord,  ///< on
    kPlay,    ///< name of a recording: its film
    kRepeat,  ///< name of a recording: its scene and method with its hand
    kSeek,    ///< value: time of the film [s]
    kLive,    ///< leave the film
    kStress,  ///< on: compute it
    kDevice,  ///< on: let the force of real devices in again; off: stop it at once
  };
  Kind kind = Kind::kLetGo;
  std::string name;
  double value = 0.0;
  bool on = false;
  std::size_t tool = 0;  ///< its place in the scene's list; the first unless the page says otherwise
  Pose pose;
  MeshChoice mesh;
  std::optional<double> grip;  ///< 0 open to 1 closed; none: as the scene's hand has it
};

/// None: not understood.
std::optional<PageRequest> parse_request(std::string_view text);

}  // namespace palpate
