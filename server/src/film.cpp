#include "film.h"

#include <algorithm>

namespace palpate {
namespace film {

/// The samples that come with a frame after a jump, which fill the plots, and without [s].
constexpr double kHistory = 5.0, kShortHistory = 0.25;

/// The last element whose time is at or before `time`; the first if there is none. Not of an empty list.
template <typename List>
auto last_before(const List& list, double time) noexcept {
  const auto after =
      std::upper_bound(list.begin(), list.end(), time, [](double t, const auto& e) { return t < e.time; });
  return after == list.begin() ? after : after - 1;
}

template <typename Sample>
std::span<const Sample> within(const std::vector<Sample>& samples, double from, double to) noexcept {
  const auto at = [&](double t) {
    return std::upper_bound(samples.begin(), samples.end(), t, [](double x, const Sample& s) { return x < s.time; });
  };
  return {at(from), at(to)};
}

template <typename Sample>
void keep_in_order(std::vector<Sample>& samples, const Sample& sample) {
  if (sample.time >= 0.0F && (samples.empty() || sample.time >= samples.back().time)) samples.push_back(sample);
}

}  // namespace film

Film::Film(std::string recording, std::string scene, std::string method, std::string geometry,
           std::vector<ShownTool> tools)
    : recording_(std::move(recording)),
      scene_(std::move(scene)),
      method_(std::move(method)),
      geometry_(std::move(geometry)),
      tools_(std::move(tools)),
      ticks_(tools_.size()) {}

void Film::add(double time, std::span<const Snapshot> now) {
  if (time < 0.0 || (!moments_.empty() && time <= moments_.back().time)) return;
  moments_.push_back({time, {now.begin(), now.end()}});
}

void Film::add_surface(double time, const std::string& bytes) {
  if (!surfaces_.empty() && (time < surfaces_.back().time + spacing_ || time <= surfaces_.back().time)) return;
  surfaces_.push_back({time, bytes});
  bytes_ += bytes.size();
  while (bytes_ > kMaxBytes && surfaces_.size() > 2) thin();
}

void Film::thin() {
  std::vector<Surface> kept;
  bytes_ = 0;
  for (std::size_t i = 0; i < surfaces_.size(); i += 2) {
    bytes_ += surfaces_[i].bytes.size();
    kept.push_back(std::move(surfaces_[i]));
  }
  surfaces_ = std::move(kept);
  spacing_ = 0.9 * (surfaces_.back().time - surfaces_.front().time) / static_cast<double>(surfaces_.size() - 1);
}

void Film::add(const TickSample& sample, std::size_t tool) {
  film::keep_in_order(ticks_[tool], sample);
}

void Film::add(const StepSample& sample) {
  film::keep_in_order(steps_, sample);
}

const std::string* Film::find_surface(double time) const noexcept {
  return surfaces_.empty() ? nullptr : &film::last_before(surfaces_, time)->bytes;
}

std::string Film::make_frame_at(double time, double history) const {
  std::vector<ToolFrame> tools;
  for (const Snapshot& now : film::last_before(moments_, time)->now) {
    tools.push_back({now, film::within(ticks_[tools.size()], time - history, time)});
    tools.back().now.time = static_cast<float>(time);
  }
  return make_frame(tools, film::within(steps_, time - history, time));
}

double Film::next_time(double time) const noexcept {
  const auto after =
      std::upper_bound(moments_.begin(), moments_.end(), time, [](double t, const Moment& m) { return t < m.time; });
  return after == moments_.end() ? seconds() : after->time;
}

void FilmShow::seek(double time) noexcept {
  time_ = std::clamp(time, 0.0, film_->seconds());
}

std::string FilmShow::take_frame() {
  if (time_ == shown_) return {};
  const bool jumped = time_ < shown_ || time_ > shown_ + film::kShortHistory;
  shown_ = time_;
  return film_->make_frame_at(time_, jumped ? film::kHistory : film::kShortHistory);
}

std::string FilmShow::take_surface() {
  const std::string* surface = film_->find_surface(time_);
  if (surface == surface_) return {};
  surface_ = surface;
  return *surface;
}

}  // namespace palpate
