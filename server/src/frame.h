#pragma once

#include <array>
#include <cstring>
#include <span>
#include <string>

#include "loop_samples.h"
#include "palpate/methods/tool.h"

namespace palpate {

/// Builds the binary messages that a page draws from: sections of four-byte aligned data, each a tag of four letters,
/// its length in bytes, and that many bytes. All little-endian; web/src/frame.ts reads it.
class SectionWriter {
 public:
  template <typename T>
  void add(const char (&tag)[5], std::span<const T> data) {
    const auto length = static_cast<std::uint32_t>(data.size_bytes());
    bytes_.append(tag, 4);
    bytes_.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes_.append(reinterpret_cast<const char*>(data.data()), data.size_bytes());
    bytes_.append((4 - data.size_bytes() % 4) % 4, '\0');
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// A hand and its tool at one moment, as a page shows them: floats only.
struct Snapshot {
  struct Finger {
    float position[3], rotation[4], force[3];
  };
  float time = 0.0F;
  float device[7] = {}, tool[7] = {};  ///< position, rotation w x y z
  float force[3] = {}, torque[3] = {};
  float model_age = 0.0F, energy = 0.0F, contacts = 0.0F, held = 0.0F, events = 0.0F, grip = 0.0F;
  std::array<Finger, kMaxFingers> finger{};
  std::size_t fingers = 0;
};

Snapshot make_snapshot(const TickRow& row, double time, bool held, std::span<const Finger> fingers) noexcept;

/// What a frame shows of one tool.
struct ToolFrame {
  Snapshot now;
  std::span<const TickSample> ticks;
};

/// For every tool, in the order of the scene: "STAT" (all of a Snapshot before its fingers), "FING", "TICK". Then
/// "STEP".
std::string make_frame(std::span<const ToolFrame> tools, std::span<const StepSample> steps);

}  // namespace palpate
