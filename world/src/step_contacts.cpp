#include <algorithm>
#include <tuple>

#include "step_data.h"

// Who touches whom in a step.
namespace palpate {

void StepData::find_contacts() {
  is_later_round_ = false;
  bearing_.clear();
  for (std::size_t i = 0; i < last.contacts.size(); ++i) {
    if (!last.contact_forces[i].isZero(0.0)) bearing_.push_back(last.contacts[i].id);
  }
  std::sort(bearing_.begin(), bearing_.end());
  place_clearances();
  const std::span<const std::span<const Vec3>> none;
  found = finder_.find(h, settings_.looks_along_velocity ? none : free_changes_, contacts, bearing_);
  trim_contacts();
  fill_offsets();
  recall_strains();
}

/// Tied bodies touch but around the tie, wherever that is now on each of them: in a slow loop whose tool comes from the
/// fast one the two are apart by what the other body is late, and a contact of what is tied would fight the tie.
void StepData::place_clearances() noexcept {
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const Joint& j = joints_[i];
    if (clear_places_[i] < 0) continue;
    finder_.set_clear_place(clear_places_[i], j.body_a, body(j.body_a)->compute_point(j.point_a));
    finder_.set_clear_place(clear_places_[i], j.body_b, body(j.body_b)->compute_point(j.point_b));
  }
}

void StepData::fill_offsets() noexcept {
  for (Contact& c : contacts) c.offset = c.gap - compute_foot_gap(c);
}

/// Along the normal, between the feet as they are now [m].
double StepData::compute_foot_gap(const Contact& c) const noexcept {
  return c.normal.dot(compute_foot_distance(c));
}

/// p_a − p_b of the feet as they are now [m].
Vec3 StepData::compute_foot_distance(const Contact& c) const noexcept {
  const Body* a = body(c.body_a);
  const Body* b = body(c.body_b);
  return (a ? a->compute_point(c.foot_a) : c.point_a) - (b ? b->compute_point(c.foot_b) : c.point_b);
}

/// Finds each contact's like in a memory: that with the same identity; where a feature changed its name (which corner
/// of two cubes face to face lies on which is a matter of rounding), that of the same pair at the same place. Both
/// lists are ordered by bodies and identity.
void StepData::match(const ContactMemory& memory) {
  matches_.assign(contacts.size(), -1);
  taken_.assign(memory.contacts.size(), 0);
  const double place = settings_.contacts.size_of_place(), near = place * place;
  const auto pair_of = [](const Contact& x) { return std::pair(x.body_a, x.body_b); };
  std::size_t begin = 0, end = 0, first = 0, last_of_pair = 0;
  for (; first < contacts.size(); first = last_of_pair) {
    const auto pair = pair_of(contacts[first]);
    for (last_of_pair = first; last_of_pair < contacts.size() && pair_of(contacts[last_of_pair]) == pair;)
      ++last_of_pair;
    for (begin = end; begin < memory.contacts.size() && pair_of(memory.contacts[begin]) < pair;) ++begin;
    for (end = begin; end < memory.contacts.size() && pair_of(memory.contacts[end]) == pair;) ++end;
    for (std::size_t i = first, k = begin; i < last_of_pair && k < end;) {
      if (contacts[i].id == memory.contacts[k].id) {
        taken_[k] = 1;
        matches_[i++] = static_cast<std::int32_t>(k++);
      } else if (contacts[i].id < memory.contacts[k].id) {
        ++i;
      } else {
        ++k;
      }
    }
    for (std::size_t i = first; i < last_of_pair; ++i) {
      if (matches_[i] >= 0) continue;
      double least = near;
      for (std::size_t k = begin; k < end; ++k) {
        const double distance = (memory.contacts[k].point_a - contacts[i].point_a).squaredNorm();
        if (distance >= least) continue;
        least = distance;
        matches_[i] = static_cast<std::int32_t>(k);
      }
    }
  }
}

/// What has come between the feet of the last step's contacts since, across the normal. A contact whose features are
/// new takes over the strain of one nearby that is gone, and has none if there is none.
void StepData::recall_strains() {
  if (!holds_places) {
    strains.assign(contacts.size(), Vec3::Zero());
    return;
  }
  match(last);
  const double most = settings_.contacts.size_of_place();
  constexpr double kSameWay = 0.5;
  strains.assign(contacts.size(), Vec3::Zero());
  anchors_.resize(contacts.size());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    anchors_[i] = compute_foot_distance(c);
    if (matches_[i] < 0 || !(c.friction > 0.0)) continue;
    const auto k = as_size(matches_[i]);
    const Contact& before = last.contacts[k];
    const bool other = before.id != c.id && taken_[k] != 0;
    if (other || last.contact_forces[k].isZero(0.0) || before.normal.dot(c.normal) < kSameWay) continue;
    const Vec3 apart = compute_foot_distance(before) - last.anchors[k];
    const Vec3 strain = apart - c.normal.dot(apart) * c.normal;
    // What is further apart has been put elsewhere.
    if (!(strain.squaredNorm() < most * most)) continue;
    strains[i] = strain;
    anchors_[i] -= strain;
  }
}

void StepData::keep_contacts(std::span<const Contact> kept) {
  is_later_round_ = false;
  contacts.assign(kept.begin(), kept.end());
  for (Contact& c : contacts) c.gap = c.offset + compute_foot_gap(c);
  trim_contacts();
  recall_strains();
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
  is_later_round_ = true;
  contacts.insert(contacts.end(), ahead_.begin(), ahead_.end());
  const auto order = [](const Contact& c) { return std::tuple(c.body_a, c.body_b, c.id); };
  std::sort(contacts.begin(), contacts.end(), [&](const Contact& x, const Contact& y) { return order(x) < order(y); });
  trim_contacts();
  fill_offsets();
  recall_strains();
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
