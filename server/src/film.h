#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frame.h"
#include "shown_tool.h"

namespace palpate {

/// What pages saw of all tools while a recording was made, to be shown again from any moment. Kept in memory only: a
/// recording holds the hand and the forces, and no surfaces. One thread.
class Film {
 public:
  /// Surfaces may take so much; beyond it every second one is given up, and from then on half as many are taken
  /// [bytes].
  static constexpr std::size_t kMaxBytes = 128u << 20;

  /// `method` is that of all tools; empty: each has its own.
  Film(std::string recording, std::string scene, std::string method, std::string geometry,
       std::vector<ShownTool> tools);

  /// Times [s] since the recording began; earlier than the last one, or than zero: not kept.
  void add(double time, std::span<const Snapshot> now);  ///< of all tools
  void add_surface(double time, const std::string& bytes);
  void add(const TickSample& sample, std::size_t tool);
  void add(const StepSample& sample);

  const std::string& recording() const noexcept { return recording_; }
  const std::string& scene() const noexcept { return scene_; }
  const std::string& method() const noexcept { return method_; }
  const std::string& geometry() const noexcept { return geometry_; }
  const std::vector<ShownTool>& tools() const noexcept { return tools_; }
  double seconds() const noexcept { return moments_.empty() ? 0.0 : moments_.back().time; }
  bool empty() const noexcept { return moments_.empty(); }
  std::size_t surface_bytes() const noexcept { return bytes_; }

  /// The surface at `time`: the last one before, or the first; null if there is none. The same pointer as long as it
  /// is the same surface.
  const std::string* find_surface(double time) const noexcept;
  /// The frame at `time`, with the samples of the `history` seconds before it. There is at least one.
  std::string make_frame_at(double time, double history) const;
  /// The time of the frame after the one at `time`.
  double next_time(double time) const noexcept;

 private:
  struct Moment {
    double time;
    std::vector<Snapshot> now;  ///< of the tools
  };
  struct Surface {
    double time;
    std::string bytes;
  };
  void thin();

  std::string recording_, scene_, method_, geometry_;
  std::vector<Moment> moments_;
  std::vector<Surface> surfaces_;
  std::vector<ShownTool> tools_;
  std::vector<std::vector<TickSample>> ticks_;  ///< of the tools
  std::vector<StepSample> steps_;
  std::size_t bytes_ = 0;
  double spacing_ = 0.0;  ///< between two surfaces at least [s]
};

/// A film on its way through a projector: where it is, and what pages have not seen of it yet. One thread.
class FilmShow {
 public:
  explicit FilmShow(std::shared_ptr<const Film> film) : film_(std::move(film)) {}

  const Film& film() const noexcept { return *film_; }
  double time() const noexcept { return time_; }  ///< [s]
  bool is_at_end() const noexcept { return time_ >= film_->seconds(); }
  void seek(double time) noexcept;  ///< to the nearest time that it has

  /// What pages should get now; empty: they have it.
  std::string take_frame();
  std::string take_surface();

 private:
  std::shared_ptr<const Film> film_;
  double time_ = 0.0;
  double shown_ = -1.0;                   ///< the frame's that pages have
  const std::string* surface_ = nullptr;  ///< that pages have
};

}  // namespace palpate
