#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "palpate/record/recording.h"

namespace palpate {

/// A path in the temporary folder that no other test process uses; removed with what was written there.
class TempPath {
 public:
  explicit TempPath(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "_" + name)) {}
  ~TempPath() { std::filesystem::remove(path_); }
  TempPath(const TempPath&) = delete;
  TempPath& operator=(const TempPath&) = delete;
  std::string str() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// A tick with a random value in every field; equal seeds give equal rows.
inline TickRow random_tick(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto vec = [&] { return Vec3(normal(random), normal(random), normal(random)); };
  TickRow row;
  row.time = 1e-3 * seed;
  row.device = {vec(), Quat(normal(random), normal(random), normal(random), normal(random)).normalized()};
  row.device_velocity = {vec(), vec()};
  row.tool = {vec(), Quat(normal(random), normal(random), normal(random), normal(random)).normalized()};
  row.wanted = {vec(), vec()};
  row.sent = {vec(), vec()};
  row.model_age = normal(random);
  row.tick_time = normal(random);
  row.residual = normal(random);
  row.energy = normal(random);
  row.iterations = static_cast<std::int32_t>(random());
  row.contacts = static_cast<std::int32_t>(random());
  row.events = static_cast<std::uint32_t>(random());
  row.buttons = static_cast<std::uint32_t>(random());
  row.grip = std::ldexp(static_cast<double>(random() >> 11), -53);
  return row;
}

inline StepRow random_step(unsigned seed) {
  std::mt19937 random(seed + 1000000);
  std::normal_distribution<double> normal;
  StepRow row;
  row.time = 20e-3 * seed;
  row.step_time = normal(random);
  for (double& t : row.stage_time) t = normal(random);
  row.residual = normal(random);
  row.penetration = normal(random);
  row.iterations = static_cast<std::int32_t>(random());
  row.contacts = static_cast<std::int32_t>(random());
  return row;
}

inline RecordingHeader sample_header(bool lockstep) {
  RecordingHeader header;
  header.scene_name = "sine \"surface\"";
  header.scene = "{\n  \"name\": \"sine\",\t\"µ\": 0.1\n}\n";
  header.tools.front().method = "limited";
  header.lockstep = lockstep;
  header.dt = 1.0 / 3000.0;
  header.slow_period = 0.02;
  header.latency = 0.01;
  return header;
}

/// Writes `ticks` random ticks, and a step after each twentieth.
inline void write_sample(const std::string& path, unsigned ticks, bool lockstep) {
  RecordingWriter writer(path, sample_header(lockstep));
  for (unsigned i = 0; i < ticks; ++i) {
    writer.add(random_tick(i));
    if (i % 20 == 19) writer.add(random_step(i / 20));
  }
  writer.close();
}

}  // namespace palpate
