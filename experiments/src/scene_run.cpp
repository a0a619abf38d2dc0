#include "palpate/experiments/scene_run.h"

#include "palpate/record/recording.h"

namespace palpate {
namespace {

class Recorder final : public RunSink {
 public:
  Recorder(RunData& data, bool keep, RecordingWriter* writer) : data_(data), keep_(keep), writer_(writer) {}
  void add(const TickRow& row) override { add(data_.ticks, row); }
  void add(const StepRow& row) override { add(data_.steps, row); }

 private:
  template <typename Row>
  void add(std::vector<Row>& rows, const Row& row) {
    if (keep_) rows.push_back(row);
    if (writer_) writer_->add(row);
  }

  RunData& data_;
  const bool keep_;
  RecordingWriter* writer_;
};

}  // namespace

SceneRun run_scene(const Scene& scene, World& world, const SceneRunOptions& options, Device* device) {
  const std::string name = options.method.empty() ? scene.method : options.method;
  std::unique_ptr<Device> own;
  if (!device) {
    own = make_device(scene);
    device = own.get();
  }
  Method method = make_method(scene, name, world, *device);

  SceneRun out;
  out.data.name = name;
  std::optional<RecordingWriter> writer;
  if (!options.recording.empty())
    writer.emplace(options.recording, make_recording_header(scene, name, options.lockstep));
  Recorder recorder(out.data, options.keep_rows, writer ? &*writer : nullptr);

  const RunParts parts{method, *device, &recorder};
  out.summary = options.lockstep ? run_lockstep(scene.run, parts, options.control)
                                 : run_realtime(scene.run, options.realtime, parts, options.control);
  if (writer) writer->close();
  out.data.tick_times = out.summary.tick_times;
  out.data.step_times = out.summary.step_times;
  out.data.deadline_misses = out.summary.tick_misses;
  return out;
}

SignedDistance make_surface_distance(const World& world) {
  return [&world](const Vec3& p) {
    WorldClosest nearest;
    world.find_closest(p, std::numeric_limits<double>::infinity(), nearest);
    return nearest.signed_distance;
  };
}

}  // namespace palpate
