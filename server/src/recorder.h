#pragma once

#include <memory>
#include <optional>

#include "film.h"
#include "palpate/record/recording.h"

namespace palpate {

/// The recordings that a viewer makes: file and film of the one under way, and what was made so far. Times are given
/// in a clock that never goes back [s]; a recording's own begin at zero. One thread.
class Recorder {
 public:
  static constexpr std::size_t kMaxFilms = 4;  ///< the newest; older recordings are files only

  struct Made {
    std::string name;  ///< the file
    double seconds;
  };

  bool is_on() const noexcept { return writer_.has_value(); }
  /// `film` is empty, named after the file; `surface` is what pages see now. Throws InputError if the file cannot be
  /// written, as do add() and stop().
  void start(const RecordingHeader& header, Film film, const std::string& surface, double clock);
  void stop();
  /// The one under way is lost as a film; its file ends where it ends.
  void give_up() noexcept;

  // Nothing unless it is on.
  void add(const TickRow& row, double clock);
  void add(const StepRow& row, double clock);
  void add(std::span<const Snapshot> now, double clock);  ///< of all tools
  void add_surface(const std::string& bytes, double clock);

  const std::vector<Made>& made() const noexcept { return made_; }
  std::shared_ptr<const Film> find_film(const std::string& name) const;
  nlohmann::ordered_json make_json() const;

 private:
  std::optional<RecordingWriter> writer_;
  std::shared_ptr<Film> film_;
  double from_ = 0.0;  ///< the clock when it began
  std::vector<Made> made_;
  std::vector<std::shared_ptr<const Film>> films_;
};

}  // namespace palpate
