#include "pair_memory.h"

#include <algorithm>
#include <utility>

namespace palpate {
namespace {

/// For so many refreshes a list is made; one for fewer costs more than it saves.
constexpr double kWanted = 12.0, kFewest = 3.0;
/// Looks that follow the first of a step, in most steps.
constexpr double kLaterLooks = 2.0;

}  // namespace

void PairMemory::reserve(std::size_t most_vertices, std::size_t most_primitives) {
  near_.reserve(kMostPairs);
  features_.reserve(kMostVisited);
  kept_.reserve(kMostVisited);
  first_of_.resize(std::max(first_of_.size(), most_primitives), -1);
  for (auto& until : outside_until) until.reserve(std::min(most_vertices, kMostVertices));
}

void PairMemory::begin(std::array<std::int32_t, 2> bodies, const FinderBody& a, const FinderBody& b) {
  bodies_ = bodies;
  forget(a, b);
}

void PairMemory::forget(const FinderBody& a, const FinderBody& b) {
  constexpr double kNow = -std::numeric_limits<double>::infinity();
  jumps_ = {a.jumps, b.jumps};
  choices_ = {a.choices, b.choices};
  stray_ = a.stray + b.stray;
  near_.clear();
  features_.clear();
  near_until_ = kNow;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::size_t count = (side == 0 ? a : b).now.size();
    std::vector<double>& until = outside_until[side];
    until.clear();
    if (count <= until.capacity()) until.assign(count, kNow);
  }
}

bool PairMemory::refresh(FinderBody& a, FinderBody& b, const Look& look) {
  if (jumps_ != std::array{a.jumps, b.jumps}) forget(a, b);
  if (choices_ != std::array{a.choices, b.choices}) add_strays(a, b);
  const double travel = a.travel + b.travel, step = a.step + b.step;
  pace_ = std::max(0.9 * pace_, travel - travel_);
  travel_ = travel;
  travel_then_ = travel + step;
  // Looks ahead follow, in which nothing is measured anew: a list that would not last for them is better made now.
  const double to_come = look.first ? kLaterLooks * pace_ : 0.0;
  const double most = FinderBody::most_margin(look.place_distance);
  if (travel_then_ + std::min(to_come, 0.5 * most) <= near_until_) return true;
  if (step + kFewest * pace_ > most) return travel_then_ <= near_until_;
  return make_list(a, b, look, std::min(1.25 * step + kWanted * pace_, most));
}

/// What was not kept up to date has come a way of its own.
void PairMemory::add_strays(const FinderBody& a, const FinderBody& b) {
  const double way = a.stray + b.stray - stray_;
  // Bodies know which they are of the last choice alone.
  const bool any = a.choices > choices_[0] + 1 || b.choices > choices_[1] + 1;
  const bool ours = a.choices > choices_[0], theirs = b.choices > choices_[1];
  choices_ = {a.choices, b.choices};
  stray_ = a.stray + b.stray;
  near_until_ -= way;
  for (std::vector<double>& until : outside_until) {
    for (double& u : until) u -= way;
  }
  for (Near& near : near_) {
    if (!any && !(ours && a.is_stray[as_size(near.a)]) && !(theirs && b.is_stray[as_size(near.b)])) continue;
    near.touch_at -= way;
    if (near.features < 0) continue;
    for (double& touch_at : features_[as_size(near.features)].touch_at) touch_at -= way;
  }
}

bool PairMemory::make_list(FinderBody& a, FinderBody& b, const Look& look, double margin) {
  for (std::size_t k = 0; k < features_.size(); ++k) {
    Features& f = features_[k];
    f.next = std::exchange(first_of_[as_size(f.a)], static_cast<std::int32_t>(k));
  }
  near_until_ = travel_ + margin;
  near_.clear();
  kept_.clear();
  const bool alone = a.is_fixed() || b.is_fixed();
  const double most = FinderBody::most_margin(look.place_distance);
  for (FinderBody* body : {&a, &b}) body->refresh_whole_tree(look.alarm_distance, alone ? margin : 0.5 * margin, most);
  bool complete = true;
  BoxTree::visit_pairs(a.tree, b.tree, [&](std::int32_t i, std::int32_t j) {
    complete = complete && near_.size() < near_.capacity();
    if (complete) near_.push_back({i, j, -std::numeric_limits<double>::infinity(), keep_features(i, j)});
  });
  for (const Features& f : features_) first_of_[as_size(f.a)] = -1;
  features_.swap(kept_);
  if (!complete) near_until_ = -std::numeric_limits<double>::infinity();
  return complete;
}

/// Of two primitives that were near before, what is known of their features; −1 if nothing is.
std::int32_t PairMemory::keep_features(std::int32_t a, std::int32_t b) noexcept {
  for (std::int32_t k = first_of_[as_size(a)]; k >= 0; k = features_[as_size(k)].next) {
    if (features_[as_size(k)].b != b) continue;
    kept_.push_back(features_[as_size(k)]);
    return static_cast<std::int32_t>(kept_.size()) - 1;
  }
  return -1;
}

PairMemory::Features* PairMemory::features_of(Near& near) noexcept {
  if (near.features < 0) {
    if (features_.size() == features_.capacity()) return nullptr;
    near.features = static_cast<std::int32_t>(features_.size());
    features_.push_back({near.a, near.b, -1, {}});
    features_.back().touch_at.fill(-std::numeric_limits<double>::infinity());
  }
  return &features_[as_size(near.features)];
}

}  // namespace palpate
