#include "recorder.h"

#include <nlohmann/json.hpp>

namespace palpate {

void Recorder::start(const RecordingHeader& header, Film film, const std::string& surface, double clock) {
  writer_.emplace(film.recording(), header);
  film_ = std::make_shared<Film>(std::move(film));
  film_->add_surface(0.0, surface);
  from_ = clock;
}

void Recorder::stop() {
  if (!writer_) return;
  writer_->close();
  writer_.reset();
  made_.push_back({film_->recording(), film_->seconds()});
  if (!film_->empty()) films_.push_back(std::move(film_));
  film_.reset();
  if (films_.size() > kMaxFilms) films_.erase(films_.begin());
}

void Recorder::give_up() noexcept {
  writer_.reset();
  film_.reset();
}

void Recorder::add(const TickRow& row, double clock) {
  if (!writer_ || clock < from_) return;
  TickRow recorded = row;
  recorded.time = clock - from_;
  writer_->add(recorded, recorded.tool_number);
  film_->add(make_sample(recorded, recorded.time), recorded.tool_number);
}

void Recorder::add(const StepRow& row, double clock) {
  if (!writer_ || clock < from_) return;
  StepRow recorded = row;
  recorded.time = clock - from_;
  writer_->add(recorded);
  film_->add(make_sample(recorded, recorded.time));
}

void Recorder::add(std::span<const Snapshot> now, double clock) {
  if (film_) film_->add(clock - from_, now);
}

void Recorder::add_surface(const std::string& bytes, double clock) {
  if (film_) film_->add_surface(clock - from_, bytes);
}

std::shared_ptr<const Film> Recorder::find_film(const std::string& name) const {
  for (const auto& film : films_) {
    if (film->recording() == name) return film;
  }
  return nullptr;
}

nlohmann::ordered_json Recorder::make_json() const {
  auto out = nlohmann::ordered_json::array();
  for (const Made& r : made_)
    out.push_back({{"name", r.name}, {"seconds", r.seconds}, {"film", find_film(r.name) != nullptr}});
  return out;
}

}  // namespace palpate
