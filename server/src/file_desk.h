#pragma once

#include <atomic>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "opened_file.h"
#include "prepared.h"

namespace palpate {

/// Where files that pages send become scenes, one at a time, in a thread of its own that has less of the processor than
/// the loops: the scene that runs goes on. What takes longer than kPatience is given up; its thread ends by itself, and
/// until then nothing else is opened. Thread: the viewer's.
class FileDesk {
 public:
  static constexpr double kPatience = 60.0;  ///< [s]

  FileDesk();
  ~FileDesk();

  // Times are of any clock [s]; `stop` ends what is under way early, outlives the program and may be null.

  /// False: it is busy.
  bool open(Upload upload, const std::atomic<bool>* stop, double now);
  /// Makes the mesh that is open anew. False: it is busy, there is none, or the choice is not allowed.
  bool choose(const MeshChoice& choice, const std::atomic<bool>* stop, double now);

  /// What has become ready, if anything has. What went wrong is in make_json().
  std::optional<Prepared> take(double now);

  bool is_busy() const noexcept { return job_ != nullptr; }
  /// The scene of the file that is open; null: there is none.
  const Scene* scene() const noexcept { return open_ ? &open_->scene : nullptr; }

  /// What pages show of the file: web/src/open_file.ts. Null if there never was one.
  nlohmann::ordered_json make_json(double now) const;

 private:
  struct Job;
  void start(std::shared_ptr<Job> job, double now);

  std::shared_ptr<Job> job_;                ///< under way, or given up and not over
  std::shared_ptr<const OpenedFile> open_;  ///< the last that became ready
  MeshChoice choice_;                       ///< of its mesh
  std::string name_, error_;                ///< of the last attempt
  double since_ = 0.0;                      ///< when it began
};

}  // namespace palpate
