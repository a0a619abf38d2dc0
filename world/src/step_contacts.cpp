#include <algorithm>
#include <tuple>

#include "step_data.h"

// Who touches whom in a step.
namespace palpate {

void StepData::find_contacts() {
  bearing_.clear();
  for (std::size_t i = 0; i < last.contacts.size(); ++i) {
    if (!last.contact_forces[i].isZero(0.0)) bearing_.push_back(last.contacts[i].id);
  }
  std::sort(bearing_.begin(), bearing_.end());
  place_clearances();
  found = finder_.find(h, free_changes_, contacts, bearing_);
  trim_contacts();
  fill_offsets();
}

/// Tied bodies touch but around the tie, wherever that is now.
void StepData::place_clearances() noexcept {
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const Joint& j = joints_[i];
    if (clear_places_[i] >= 0) finder_.set_clear_place(clear_places_[i], body(j.body_a)->compute_point(j.point_a));
  }
}

void StepData::fill_offsets() noexcept {
  for (Contact& c : contacts) c.offset = c.gap - compute_foot_gap(c);
}

/// Along the normal, between the feet as they are now [m].
double StepData::compute_foot_gap(const Contact& c) const noexcept {
  const Body* a = body(c.body_a);
  const Body* b = body(c.body_b);
  return c.normal.dot((a ? a->compute_point(c.foot_a) : c.point_a) - (b ? b->compute_point(c.foot_b) : c.point_b));
}

void StepData::keep_contacts(std::span<const Contact> kept) {
  contacts.assign(kept.begin(), kept.end());
  for (Contact& c : contacts) c.gap = c.offset + compute_foot_gap(c);
  trim_contacts();
}

bool StepData::add_missed_contacts() {
  finder_.find_overlaps_ahead(h, changes_, ahead_);
  const auto is_known = [&](const Contact& c) {
    return std::any_of(contacts.begin(), contacts.end(), [&](const Contact& x) { return x.id == c.id; });
  };
  std::erase_if(ahead_, is_known);
  const std::size_t room = contacts.capacity() - contacts.size();
  if (ahead_.size() > room) ahead_.resize(room);
  if (ahead_.empty()) return false;
  remember(round_);
  guess_ = &round_;
  contacts.insert(contacts.end(), ahead_.begin(), ahead_.end());
  const auto order = [](const Contact& c) { return std::tuple(c.body_a, c.body_b, c.id); };
  std::sort(contacts.begin(), contacts.end(), [&](const Contact& x, const Contact& y) { return order(x) < order(y); });
  trim_contacts();
  fill_offsets();
  return true;
}

/// Bodies of many unknowns have room for so many rows: beyond that their widest gaps go.
void StepData::trim_contacts() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (moving[i].side.kind != ConstraintSide::Kind::kDense) continue;
    const auto body = static_cast<std::int32_t>(i);
    const auto of_body = [&](const Contact& c) { return c.body_a == body || c.body_b == body; };
    int room = bodies_[i].body->max_rows();
    for (const Joint& j : joints_) room -= j.body_a == body || j.body_b == body ? 16 : 0;
    const auto allowed = static_cast<std::ptrdiff_t>(std::max(0, room / 3));
    auto surplus = std::count_if(contacts.begin(), contacts.end(), of_body) - allowed;
    if (surplus <= 0) continue;
    found.overflow = true;
    for (; surplus > 0; --surplus) {
      auto widest = contacts.end();
      for (auto c = contacts.begin(); c != contacts.end(); ++c) {
        if (of_body(*c) && (widest == contacts.end() || c->gap > widest->gap)) widest = c;
      }
      contacts.erase(widest);
    }
  }
}

}  // namespace palpate
