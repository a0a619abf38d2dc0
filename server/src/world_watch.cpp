#include "palpate/server/world_watch.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "frame.h"

namespace palpate {
namespace {

std::size_t count_moving_vertices(const World& world) {
  std::size_t count = 0;
  for (const WorldBody& b : world.bodies()) {
    if (b.body && b.body->block_count() > 0) count += b.body->surface().positions.size();
  }
  return count;
}

/// The tool that a body of the world is, −1: none.
std::ptrdiff_t find_tool(const World& world, int body) noexcept {
  const auto tools = world.tools();
  const auto at = std::find(tools.begin(), tools.end(), body);
  return at == tools.end() ? -1 : at - tools.begin();
}

void append(std::string& out, const Vec3& p) {
  const float xyz[3] = {static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z())};
  out.append(reinterpret_cast<const char*>(xyz), sizeof xyz);
}

}  // namespace

WorldWatch::WorldWatch(const World& world, std::vector<std::vector<Finger>> fingers)
    : world_(world),
      fingers_(std::move(fingers)),
      vertices_(count_moving_vertices(world)),
      copies_(kPositionsAt + 4 * vertices_ * sizeof(float), alignof(std::uint64_t)) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    const WorldBody& b = world.bodies()[i];
    if (!b.body || b.body->block_count() == 0 || b.body->surface().positions.empty()) continue;
    shown_.push_back({static_cast<int>(i), first, b.body->surface().positions.size()});
    first += shown_.back().vertices;
  }
  for (std::size_t i = 0; i < world.static_surfaces().size(); ++i) {
    const std::size_t count = world.static_surfaces()[i].surface.mesh().vertices.size();
    shown_.push_back({-1 - static_cast<int>(i), first, count});
    first += count;
  }
  copy_out();
}

void WorldWatch::after_step(const StepRow&, std::span<const ToolMessages> tools) {
  view_.clear();
  for (const ToolMessages& tool : tools) {
    if (tool.slow && want_model_.load(std::memory_order_relaxed)) tool.slow->show_bytes(tool.model.bytes(), view_);
  }
  copy_out();
}

void WorldWatch::after_tick(std::span<const TickRow>) noexcept {
  if (moves_in_ticks_ && ++ticks_ % 16 == 0) copy_out();
}

void WorldWatch::copy_out() noexcept {
  std::byte* slot = copies_.write_slot();
  const Head head{copy_contacts(slot + kContactsAt), view_.count, view_.body_count,
                  want_stress_.load(std::memory_order_relaxed)};
  std::memcpy(slot, &head, sizeof head);
  std::memcpy(slot + kFacesAt, view_.face.data(), view_.count * sizeof(ModelView::Face));
  std::memcpy(slot + kReducedAt, view_.body.data(), view_.body_count * sizeof(ModelView::ReducedBody));
  auto* to = reinterpret_cast<float*>(slot + kPositionsAt);
  float* stress = to + 3 * vertices_;
  for (const Shown& s : shown_) {
    if (s.body < 0) break;
    const Body& body = *world_.bodies()[as_size(s.body)].body;
    for (const Vec3& p : body.surface().positions) {
      for (int i = 0; i < 3; ++i) *to++ = static_cast<float>(p[i]);
    }
    if (head.stressed && !body.compute_surface_stress({stress + s.first, s.vertices}))
      std::fill_n(stress + s.first, s.vertices, -1.0F);
  }
  copies_.publish();
}

std::uint64_t WorldWatch::copy_contacts(std::byte* to) const noexcept {
  const auto& [contacts, forces, anchors, joints] = world_.memory();
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < contacts.size() && i < forces.size() && count < kMaxContacts; ++i) {
    const palpate::Contact& c = contacts[i];
    const Vec3& f = forces[i];
    if (!(f.dot(c.normal) > 0.0)) continue;
    const double sign = world_.is_tool(c.body_b) ? -1.0 : 1.0;  // as the tool feels it
    Contact out;
    for (int k = 0; k < 3; ++k) {
      out.point[k] = static_cast<float>(c.point_b[k]);
      out.normal[k] = static_cast<float>(sign * c.normal[k]);
      out.force[k] = static_cast<float>(sign * f[k]);
    }
    std::memcpy(to + count * sizeof out, &out, sizeof out);
    ++count;
  }
  return count;
}

WorldWatch::Head WorldWatch::head() const noexcept {
  Head head;
  std::memcpy(&head, copies_.read_slot(), sizeof head);
  return head;
}

std::span<const float> WorldWatch::positions() const noexcept {
  return part<float>(kPositionsAt, 3 * vertices_);
}

std::span<const float> WorldWatch::stress() const noexcept {
  return part<float>(kPositionsAt + 3 * vertices_ * sizeof(float), head().stressed ? vertices_ : 0);
}

std::span<const WorldWatch::Contact> WorldWatch::contacts() const noexcept {
  return part<Contact>(kContactsAt, head().contacts);
}

std::span<const ModelView::Face> WorldWatch::faces() const noexcept {
  return part<ModelView::Face>(kFacesAt, head().faces);
}

std::span<const ModelView::ReducedBody> WorldWatch::reduced() const noexcept {
  return part<ModelView::ReducedBody>(kReducedAt, head().reduced);
}

std::string WorldWatch::make_surface(std::uint32_t number) const {
  // A body by its number in the geometry.
  std::vector<std::array<float, 4>> models;
  for (const ModelView::ReducedBody& r : reduced()) {
    const auto at = std::find_if(shown_.begin(), shown_.end(), [&](const Shown& s) { return s.body == r.body; });
    models.push_back({static_cast<float>(at - shown_.begin()), static_cast<float>(r.states),
                      static_cast<float>(r.most_states), r.left_out});
  }
  SectionWriter out;
  out.add<std::uint32_t>("SURF", {&number, 1});
  out.add("VERT", positions());
  out.add("CONT", contacts());
  out.add("FACE", faces());
  out.add<std::array<float, 4>>("REDU", models);
  out.add("STRS", stress());
  return out.take();
}

void WorldWatch::renumber_geometry(std::string& geometry, std::uint32_t number) {
  std::memcpy(geometry.data(), &number, sizeof number);
}

void WorldWatch::renumber_surface(std::string& surface, std::uint32_t number) {
  std::memcpy(surface.data() + 8, &number, sizeof number);  // behind tag and length
}

std::string WorldWatch::make_geometry(std::uint32_t number, const std::string& name) const {
  using Json = nlohmann::ordered_json;
  Json bodies = Json::array(), planes = Json::array(), fingers = Json::array();
  std::string data;
  const auto add_mesh = [&](Json& to, auto positions, auto triangles) {
    to["vertices"] = positions.size();
    to["triangles"] = triangles.size();
    for (const Vec3& p : positions) append(data, p);
    for (const auto& t : triangles) data.append(reinterpret_cast<const char*>(t.data()), 3 * sizeof(std::int32_t));
  };
  for (const Shown& s : shown_) {
    if (s.body >= 0) {
      const WorldBody& b = world_.bodies()[as_size(s.body)];
      // More than two blocks: it is not rigid.
      bodies.push_back({{"name", b.name},
                        {"moves", true},
                        {"tool", find_tool(world_, s.body)},
                        {"soft", b.body->block_count() > 2 && !world_.is_tool(s.body)}});
      add_mesh(bodies.back(), b.body->surface().positions, b.body->surface().triangles);
    } else {
      const StaticSurface& surface = world_.static_surfaces()[as_size(-1 - s.body)];
      bodies.push_back({{"name", surface.name}, {"moves", false}, {"tool", -1}, {"soft", false}});
      add_mesh(bodies.back(), std::span<const Vec3>(surface.surface.mesh().vertices),
               std::span<const std::array<std::int32_t, 3>>(surface.surface.mesh().triangles));
    }
  }
  for (std::size_t tool = 0; tool < fingers_.size(); ++tool) {
    for (const Finger& f : fingers_[tool]) {
      fingers.push_back({{"tool", tool}, {"radius", f.radius}});
      add_mesh(fingers.back(), std::span<const Vec3>(f.surface.vertices),
               std::span<const std::array<std::int32_t, 3>>(f.surface.triangles));
    }
  }
  for (const WorldBody& b : world_.bodies()) {
    const auto* plane = b.shape.as<ContactShape::Plane>();
    if (!plane) continue;
    const Vec3& n = plane->normal;
    planes.push_back({{"name", b.name}, {"normal", {n.x(), n.y(), n.z()}}, {"offset", plane->offset}});
  }
  Json ways = Json::array();
  for (const Vec3& p : ways_) ways.push_back({p.x(), p.y(), p.z()});
  std::string text =
      Json{{"name", name}, {"bodies", bodies}, {"planes", planes}, {"fingers", fingers}, {"ways", ways}}.dump();
  text.append((4 - text.size() % 4) % 4, ' ');
  const std::uint32_t head[2] = {number, static_cast<std::uint32_t>(text.size())};
  return std::string(reinterpret_cast<const char*>(head), sizeof head) + text + data;
}

}  // namespace palpate
