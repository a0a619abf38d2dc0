#include "palpate/server/world_watch.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace palpate {
namespace {

std::size_t count_moving_vertices(const World& world) {
  std::size_t count = 0;
  for (const WorldBody& b : world.bodies()) {
    if (b.body && b.body->block_count() > 0) count += b.body->surface().positions.size();
  }
  return count;
}

/// After each slow step.
class WatchedSlow final : public SlowHalf {
 public:
  WatchedSlow(std::unique_ptr<SlowHalf> inner, WorldWatch& watch) : inner_(std::move(inner)), watch_(watch) {}
  void step_bytes(const std::byte* feedback, std::byte* model, StepReport& report) override {
    inner_->step_bytes(feedback, model, report);
    watch_.copy_out();
  }

 private:
  std::unique_ptr<SlowHalf> inner_;
  WorldWatch& watch_;
};

/// Of a method that moves the world in its ticks: after every sixteenth.
class WatchedFast final : public FastHalf {
 public:
  WatchedFast(std::unique_ptr<FastHalf> inner, WorldWatch& watch) : inner_(std::move(inner)), watch_(watch) {}
  TickResult tick_bytes(const DeviceState& device, const std::byte* model, std::byte* feedback) noexcept override {
    const TickResult result = inner_->tick_bytes(device, model, feedback);
    if (++ticks_ % 16 == 0) watch_.copy_out();
    return result;
  }

 private:
  std::unique_ptr<FastHalf> inner_;
  WorldWatch& watch_;
  std::uint64_t ticks_ = 0;
};

void append(std::string& out, const Vec3& p) {
  const float xyz[3] = {static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z())};
  out.append(reinterpret_cast<const char*>(xyz), sizeof xyz);
}

}  // namespace

WorldWatch::WorldWatch(const World& world)
    : world_(world),
      vertices_(count_moving_vertices(world)),
      copies_(sizeof(std::uint64_t) + kMaxContacts * sizeof(Contact) + 3 * vertices_ * sizeof(float),
              alignof(std::uint64_t)) {
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

Method WorldWatch::wrap(Method method) {
  if (world_.is_static()) return method;
  if (method.slow)
    method.slow = std::make_unique<WatchedSlow>(std::move(method.slow), *this);
  else
    method.fast = std::make_unique<WatchedFast>(std::move(method.fast), *this);
  return method;
}

// A copy: how many contacts, room for them all, then positions.
void WorldWatch::copy_out() noexcept {
  std::byte* slot = copies_.write_slot();
  const auto contacts = world_.contacts();
  const auto forces = world_.contact_forces();
  std::uint64_t count = 0;
  std::byte* to = slot + sizeof count;
  for (std::size_t i = 0; i < contacts.size() && i < forces.size() && count < kMaxContacts; ++i) {
    const palpate::Contact& c = contacts[i];
    if (!(forces[i].x() > 0.0)) continue;
    Vec3 t1, t2;
    make_tangents(c.normal, t1, t2);
    const Vec3 f = forces[i].x() * c.normal + forces[i].y() * t1 + forces[i].z() * t2;
    const double sign = c.body_b == world_.tool() ? -1.0 : 1.0;  // as the tool feels it
    Contact out;
    for (int k = 0; k < 3; ++k) {
      out.point[k] = static_cast<float>(c.point_b[k]);
      out.normal[k] = static_cast<float>(sign * c.normal[k]);
      out.force[k] = static_cast<float>(sign * f[k]);
    }
    std::memcpy(to + count * sizeof out, &out, sizeof out);
    ++count;
  }
  std::memcpy(slot, &count, sizeof count);
  to = slot + sizeof count + kMaxContacts * sizeof(Contact);
  for (const Shown& s : shown_) {
    if (s.body < 0) break;
    for (const Vec3& p : world_.bodies()[static_cast<std::size_t>(s.body)].body->surface().positions) {
      const float xyz[3] = {static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z())};
      std::memcpy(to, xyz, sizeof xyz);
      to += sizeof xyz;
    }
  }
  copies_.publish();
}

const float* WorldWatch::positions() const noexcept {
  return reinterpret_cast<const float*>(copies_.read_slot() + sizeof(std::uint64_t) + kMaxContacts * sizeof(Contact));
}

const WorldWatch::Contact* WorldWatch::contacts() const noexcept {
  return reinterpret_cast<const Contact*>(copies_.read_slot() + sizeof(std::uint64_t));
}

std::size_t WorldWatch::contact_count() const noexcept {
  std::uint64_t count = 0;
  std::memcpy(&count, copies_.read_slot(), sizeof count);
  return static_cast<std::size_t>(count);
}

std::string WorldWatch::make_geometry() const {
  nlohmann::ordered_json bodies = nlohmann::ordered_json::array(), planes = nlohmann::ordered_json::array();
  std::string data;
  const auto add = [&](const std::string& name, bool moves, bool tool, auto positions, auto triangles) {
    bodies.push_back({{"name", name},
                      {"moves", moves},
                      {"tool", tool},
                      {"vertices", positions.size()},
                      {"triangles", triangles.size()}});
    for (const Vec3& p : positions) append(data, p);
    for (const auto& t : triangles) data.append(reinterpret_cast<const char*>(t.data()), 3 * sizeof(std::int32_t));
  };
  for (const Shown& s : shown_) {
    if (s.body >= 0) {
      const WorldBody& b = world_.bodies()[static_cast<std::size_t>(s.body)];
      add(b.name, true, s.body == world_.tool(), b.body->surface().positions, b.body->surface().triangles);
    } else {
      const StaticSurface& surface = world_.static_surfaces()[static_cast<std::size_t>(-1 - s.body)];
      add(surface.name, false, false, std::span<const Vec3>(surface.surface.mesh().vertices),
          std::span<const std::array<std::int32_t, 3>>(surface.surface.mesh().triangles));
    }
  }
  for (const WorldBody& b : world_.bodies()) {
    if (b.shape.kind != ContactShape::Kind::kPlane) continue;
    const Vec3& n = b.shape.normal;
    planes.push_back({{"name", b.name}, {"normal", {n.x(), n.y(), n.z()}}, {"offset", b.shape.offset}});
  }
  std::string text = nlohmann::ordered_json{{"bodies", bodies}, {"planes", planes}}.dump();
  text.append((4 - text.size() % 4) % 4, ' ');
  const auto length = static_cast<std::uint32_t>(text.size());
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text + data;
}

}  // namespace palpate
