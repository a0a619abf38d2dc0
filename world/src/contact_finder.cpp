#include "palpate/world/contact_finder.h"

#include <algorithm>
#include <cmath>

#include "candidates.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

using BodyPair = std::array<std::int32_t, 2>;  ///< the first is the smaller, or both are one

bool plane_is_near(const FinderBody& plane, const BoundingBox& box, double alarm_distance) noexcept {
  const Vec3 half = 0.5 * box.size();
  const double lowest = plane.plane.normal.dot(box.center()) - plane.plane.normal.cwiseAbs().dot(half);
  return lowest - plane.plane.offset <= alarm_distance;
}

}  // namespace

struct ContactFinder::Data {
  ContactFinderSettings settings;
  std::vector<FinderBody> bodies;
  std::vector<BodyPair> ignored;  ///< sorted
  std::vector<bool> absent;       ///< of each body
  /// Where two bodies do not touch each other.
  struct ClearPlace {
    BodyPair pair;
    double radius;
    std::array<Vec3, 2> places = {Vec3::Zero(), Vec3::Zero()};  ///< on each of them
  };
  std::vector<ClearPlace> clear;

  // Of one find(), kept for their memory.
  std::vector<std::pair<double, std::int32_t>> sweep;  ///< lower end along x, and the body
  std::vector<BodyPair> pairs;
  PairContacts pair;
  ReductionScratch scratch;
  std::vector<PairMemory> memories;  ///< of some pairs; a pair that has none is looked at anew in every find()
  std::vector<std::pair<std::uint64_t, int>> ids;  ///< of a pair's candidates, and which those are
  std::vector<std::pair<double, Contact>> found;   ///< with its lowest gap
  std::vector<double> gaps;
  std::span<const std::uint64_t> bearing;

  bool may_touch(std::int32_t i, std::int32_t j) const {
    const FinderBody& a = bodies[as_size(i)];
    const FinderBody& b = bodies[as_size(j)];
    if (a.is_fixed() && b.is_fixed()) return false;
    return !std::binary_search(ignored.begin(), ignored.end(), BodyPair{std::min(i, j), std::max(i, j)});
  }

  void reserve();
  void reserve_memories();
  PairMemory* memory_of(const BodyPair& indices);
  void find_pairs();
  FindReport find_all(bool backwards, std::vector<Contact>& out);
  void find_pair_contacts(const BodyPair& indices, bool backwards);
  FindReport write(std::vector<Contact>& out);
};

/// So that a touch that is the first of its size allocates nothing: as many candidates of a pair as there may be
/// contacts.
void ContactFinder::Data::reserve() {
  const std::size_t count = 2 * as_size(settings.max_contacts);
  pair.candidates.reserve(count);
  scratch.order.reserve(count);
  scratch.kept.reserve(count);
  scratch.chosen.reserve(count);
  scratch.features.reserve(count);
  scratch.places.reserve(count);
  ids.reserve(count);
  found.reserve(count);
  gaps.reserve(count);
}

/// One for each pair that may need one, up to a few: among many bodies most are far from most others.
void ContactFinder::Data::reserve_memories() {
  constexpr std::size_t kMostMemories = 8;
  const auto has_features = [](const FinderBody& body) { return !body.features.primitives().empty(); };
  std::size_t pairs_with_features = 0, most_vertices = 0, most_primitives = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    most_vertices = std::max(most_vertices, bodies[i].now.size());
    most_primitives = std::max(most_primitives, bodies[i].features.primitives().size());
    for (std::size_t j = 0; j < i && has_features(bodies[i]); ++j) {
      const bool convex = bodies[i].convex && bodies[j].convex;
      const bool fixed = bodies[i].is_fixed() && bodies[j].is_fixed();
      if (!convex && !fixed && has_features(bodies[j])) ++pairs_with_features;
    }
  }
  memories.resize(std::min(kMostMemories, pairs_with_features));
  for (PairMemory& memory : memories) memory.reserve(most_vertices, most_primitives);
}

/// Null if all memories are others'.
PairMemory* ContactFinder::Data::memory_of(const BodyPair& indices) {
  const FinderBody &a = *pair.a, &b = *pair.b;
  if (!settings.remembers || &a == &b) return nullptr;
  PairMemory* free = nullptr;
  for (PairMemory& memory : memories) {
    if (memory.is_of(indices)) return &memory;
    const bool in_use = std::any_of(pairs.begin(), pairs.end(), [&](const BodyPair& p) { return memory.is_of(p); });
    if (!free && !in_use) free = &memory;
  }
  if (free) free->begin(indices, a, b);
  return free;
}

/// Pairs whose swept boxes come within the alarm distance: sweep along x, and each plane against all.
void ContactFinder::Data::find_pairs() {
  pairs.clear();
  sweep.clear();
  const auto count = static_cast<std::int32_t>(bodies.size());
  for (std::int32_t i = 0; i < count; ++i) {
    const FinderBody& body = bodies[as_size(i)];
    if (!body.finite || absent[as_size(i)]) continue;
    sweep.emplace_back(body.swept.lower.x(), i);
    if (body.self) pairs.push_back({i, i});
    for (std::int32_t j = 0; j < count; ++j) {
      const FinderBody& plane = bodies[as_size(j)];
      if (plane.is_plane() && !absent[as_size(j)] && may_touch(i, j) &&
          plane_is_near(plane, body.swept, settings.alarm_distance)) {
        pairs.push_back({std::min(i, j), std::max(i, j)});
      }
    }
  }
  std::sort(sweep.begin(), sweep.end());
  for (std::size_t k = 0; k < sweep.size(); ++k) {
    const BoundingBox& a = bodies[as_size(sweep[k].second)].swept;
    const Vec3 upper = a.upper.array() + settings.alarm_distance;
    for (std::size_t l = k + 1; l < sweep.size() && sweep[l].first <= upper.x(); ++l) {
      const BoundingBox& b = bodies[as_size(sweep[l].second)].swept;
      const Vec3 other_upper = b.upper.array() + settings.alarm_distance;
      const bool near = (b.lower.array() <= upper.array()).all() && (a.lower.array() <= other_upper.array()).all();
      const auto [i, j] = std::minmax(sweep[k].second, sweep[l].second);
      if (near && may_touch(i, j)) pairs.push_back({i, j});
    }
  }
  std::sort(pairs.begin(), pairs.end());
}

void ContactFinder::Data::find_pair_contacts(const BodyPair& indices, bool backwards) {
  pair.a = &bodies[as_size(indices[0])];
  pair.b = &bodies[as_size(indices[1])];
  pair.alarm_distance = settings.alarm_distance;
  pair.place_distance = settings.size_of_place();
  pair.backwards = backwards;
  pair.only_new = settings.only_new_overlaps;
  pair.candidates.clear();
  const bool convex = pair.a->convex && pair.b->convex;
  if (pair.a->is_plane() || pair.b->is_plane()) {
    find_plane_contacts(pair);
  } else if (convex) {
    find_convex_contacts(pair);
  } else {
    pair.memory = memory_of(indices);
    find_feature_contacts(pair);
  }
  // Where nothing can yield, an overlap is nobody's to mend.
  const bool a_last = pair.a->is_soft();  // whose feet are the dearer ones to look at
  std::erase_if(pair.candidates, [&](const Candidate& c) {
    return a_last ? pair.b->is_held(c.foot_b) && pair.a->is_held(c.foot_a)
                  : pair.a->is_held(c.foot_a) && pair.b->is_held(c.foot_b);
  });
  for (const ClearPlace& clear_place : clear) {
    if (clear_place.pair != indices) continue;
    std::erase_if(pair.candidates, [&](const Candidate& c) {
      const Contact contact = make_contact(pair, c);
      return (contact.point_a - clear_place.places[0]).norm() < clear_place.radius ||
             (contact.point_b - clear_place.places[1]).norm() < clear_place.radius;
    });
  }
  const std::uint64_t pair_bits =
      mix_bits(static_cast<std::uint64_t>(indices[0]) << 32 | static_cast<std::uint32_t>(indices[1]));
  const auto id_of = [&](const Candidate& c) { return mix_bits(pair_bits ^ c.feature); };
  for (Candidate& c : pair.candidates) c.bears = std::binary_search(bearing.begin(), bearing.end(), id_of(c));
  // A manifold is as small as it can be.
  const int most =
      pair.a->is_soft() || pair.b->is_soft() ? settings.max_contacts_per_soft_pair : settings.max_contacts_per_pair;
  if (!convex && pair.a != pair.b) remove_contradictions(pair.candidates, scratch);
  if (!convex) reduce_candidates(pair.candidates, settings.size_of_place(), most, scratch);
  ids.clear();
  for (const Candidate& c : pair.candidates) ids.emplace_back(id_of(c), static_cast<int>(ids.size()));
  std::sort(ids.begin(), ids.end());
  for (const auto& [id, k] : ids) {
    const Candidate& candidate = pair.candidates[as_size(k)];
    Contact c = make_contact(pair, candidate);
    c.body_a = indices[0];
    c.body_b = indices[1];
    c.id = id;
    if (std::isfinite(c.gap) && c.normal.allFinite()) found.emplace_back(candidate.lowest, c);
  }
}

FindReport ContactFinder::Data::find_all(bool backwards, std::vector<Contact>& out) {
  find_pairs();
  found.clear();
  for (const BodyPair& p : pairs) find_pair_contacts(p, backwards);
  return write(out);
}

FindReport ContactFinder::Data::write(std::vector<Contact>& out) {
  FindReport report;
  double limit = std::numeric_limits<double>::infinity();
  const auto max_count = as_size(settings.max_contacts);
  std::size_t at_limit = found.size();
  if (found.size() > max_count) {
    report.overflow = true;
    gaps.clear();
    for (const auto& [lowest, contact] : found) gaps.push_back(lowest);
    const auto last = gaps.begin() + static_cast<std::ptrdiff_t>(max_count) - 1;
    std::nth_element(gaps.begin(), last, gaps.end());
    limit = *last;
    at_limit = max_count - as_size(std::count_if(gaps.begin(), last, [&](double g) { return g < limit; }));
  }
  out.clear();
  for (const auto& [lowest, contact] : found) {
    if (lowest > limit || (lowest == limit && at_limit == 0)) continue;
    if (lowest == limit) --at_limit;
    out.push_back(contact);
    report.deepest = std::max(report.deepest, -contact.gap);
  }
  report.contacts = static_cast<int>(out.size());
  return report;
}

ContactFinderSettings ContactFinderSettings::for_ticks() const noexcept {
  constexpr double kNear = 0.0003, kPlace = 0.001;  // [m]
  ContactFinderSettings out = *this;
  out.place_distance = std::min(size_of_place(), kPlace);
  out.alarm_distance = std::min(alarm_distance, kNear);
  out.only_new_overlaps = true;
  return out;
}

ContactFinder::ContactFinder(const ContactFinderSettings& settings) : data_(std::make_unique<Data>()) {
  if (!(settings.alarm_distance > 0.0) || !std::isfinite(settings.alarm_distance)) {
    fail_input("alarm_distance = {} m; allowed: above 0", settings.alarm_distance);
  }
  if (settings.max_contacts < 1) fail_input("max_contacts = {}; allowed: at least 1", settings.max_contacts);
  if (settings.max_contacts_per_pair < 1) {
    fail_input("max_contacts_per_pair = {}; allowed: at least 1", settings.max_contacts_per_pair);
  }
  data_->settings = settings;
  data_->reserve();
}
ContactFinder::~ContactFinder() = default;
ContactFinder::ContactFinder(ContactFinder&&) noexcept = default;
ContactFinder& ContactFinder::operator=(ContactFinder&&) noexcept = default;

int ContactFinder::add(const Body* body, const ContactShape& shape) {
  data_->bodies.emplace_back(body, shape);
  data_->absent.push_back(false);
  const std::size_t count = data_->bodies.size();
  data_->sweep.reserve(count);
  data_->pairs.reserve(std::min<std::size_t>(count * count, 1 << 16));
  const std::size_t vertices = data_->bodies.back().now.size();
  for (auto* inside : {&data_->pair.a_inside, &data_->pair.b_inside})
    inside->reserve(std::max(inside->capacity(), vertices));
  if (data_->settings.remembers) data_->reserve_memories();
  return static_cast<int>(data_->bodies.size()) - 1;
}

void ContactFinder::ignore(int a, int b) {
  const auto count = static_cast<int>(data_->bodies.size());
  if (std::min(a, b) < 0 || std::max(a, b) >= count) fail_input("ignore({}, {}): there are {} bodies", a, b, count);
  data_->ignored.push_back({std::min(a, b), std::max(a, b)});
  std::sort(data_->ignored.begin(), data_->ignored.end());
}

int ContactFinder::keep_clear(int a, int b, double radius) {
  data_->clear.push_back({{std::min(a, b), std::max(a, b)}, radius});
  return static_cast<int>(data_->clear.size()) - 1;
}

void ContactFinder::set_clear_place(int number, int body, const Vec3& place) noexcept {
  Data::ClearPlace& clear = data_->clear[as_size(number)];
  clear.places[body == clear.pair[0] ? 0 : 1] = place;
}

void ContactFinder::set_absent(int body, bool absent) {
  data_->absent[as_size(body)] = absent;
}

FindReport ContactFinder::find(double h, std::span<const std::span<const Vec3>> dv, std::vector<Contact>& out,
                               std::span<const std::uint64_t> bearing) {
  Data& d = *data_;
  d.bearing = bearing;
  for (std::size_t i = 0; i < d.bodies.size(); ++i) {
    d.bodies[i].update(h, i < dv.size() ? dv[i] : std::span<const Vec3>{});
  }
  return d.find_all(false, out);
}

FindReport ContactFinder::find_overlaps_ahead(double h, std::span<const std::span<const Vec3>> dv,
                                              std::vector<Contact>& out) {
  Data& d = *data_;
  for (std::size_t i = 0; i < d.bodies.size(); ++i) {
    d.bodies[i].update(h, i < dv.size() ? dv[i] : std::span<const Vec3>{});
    d.bodies[i].turn_back();
  }
  d.bearing = {};
  return d.find_all(true, out);
}

BoundingBox ContactFinder::swept_box(int body) const noexcept {
  const FinderBody& b = data_->bodies[as_size(body)];
  return b.finite ? b.swept : BoundingBox{};
}

}  // namespace palpate
