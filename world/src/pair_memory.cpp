#include "pair_memory.h"

#include <algorithm>

namespace palpate {
namespace {

/// For so many refreshes a list is made; one for fewer costs more than it saves.
constexpr double kWanted = 12.0, kFewest = 3.0;

}  // namespace

void PairMemory::reserve(std::size_t most_vertices) {
  near_.reserve(kMostPairs);
  for (auto& until : outside_until) until.reserve(std::min(most_vertices, kMostVertices));
}

void PairMemory::begin(std::array<std::int32_t, 2> bodies, const FinderBody& a, const FinderBody& b) {
  bodies_ = bodies;
  forget(a, b);
}

void PairMemory::forget(const FinderBody& a, const FinderBody& b) {
  constexpr double kNow = -std::numeric_limits<double>::infinity();
  jumps_ = {a.jumps, b.jumps};
  near_.clear();
  near_until_ = kNow;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::size_t count = (side == 0 ? a : b).now.size();
    std::vector<double>& until = outside_until[side];
    until.clear();
    if (count <= until.capacity()) until.assign(count, kNow);
  }
}

bool PairMemory::refresh(FinderBody& a, FinderBody& b, double alarm_distance) {
  if (jumps_ != std::array{a.jumps, b.jumps}) forget(a, b);
  const double travel = a.travel + b.travel, step = a.step + b.step;
  pace_ = std::max(0.9 * pace_, travel - travel_);
  travel_ = travel;
  travel_then_ = travel + step;
  if (travel_then_ <= near_until_) return true;
  const double most = FinderBody::kMostMargin * alarm_distance;
  if (step + kFewest * pace_ > most) return false;
  const double margin = std::min(1.25 * step + kWanted * pace_, most);
  near_until_ = travel_ + margin;
  near_.clear();
  const bool alone = a.is_fixed() || b.is_fixed();
  for (FinderBody* body : {&a, &b}) body->refresh_whole_tree(alarm_distance, alone ? margin : 0.5 * margin);
  bool complete = true;
  BoxTree::visit_pairs(a.tree, b.tree, [&](std::int32_t i, std::int32_t j) {
    complete = complete && near_.size() < near_.capacity();
    if (complete) near_.push_back({i, j, -std::numeric_limits<double>::infinity()});
  });
  if (!complete) near_until_ = -std::numeric_limits<double>::infinity();
  return complete;
}

}  // namespace palpate
