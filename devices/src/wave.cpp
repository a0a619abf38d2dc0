#include "palpate/devices/wave.h"

#include <algorithm>
#include <cmath>

#include "palpate/core/fields.h"

namespace palpate {
namespace {

void add(WaveMessage& sum, const Vec3& u, double dt) noexcept {
  sum.integral += dt * u;
  sum.energy += 0.5 * dt * u.squaredNorm();
}

}  // namespace

void validate(const WaveSettings& settings, const Range& impedance) {
  WaveSettings s = settings;
  const WaveSettings d;
  check_fields("waves", [&](Fields& f) {
    f.number({.name = "impedance", .doc = ""}, s.impedance, d.impedance, impedance);
    f.number({.name = "follow_time", .doc = "", .unit = "s"}, s.follow_time, d.follow_time, {0.0, 0.1, true});
  });
}

bool is_sound(const WaveMessage& m) noexcept {
  return m.integral.allFinite() && m.energy >= 0.0 && m.energy < 1e12;
}

Vec3 WaveInlet::next(double dt, double follow_time) noexcept {
  if (!(dt > 0.0)) return Vec3::Zero();
  Vec3 u = (arrived_.integral - given_.integral) / std::max(follow_time, dt);
  const double wanted = 0.5 * dt * u.squaredNorm();
  const double may = std::max(0.0, arrived_.energy - given_.energy);
  if (wanted > may) u *= std::sqrt(may / wanted);
  if (!u.allFinite()) return Vec3::Zero();
  add(given_, u, dt);
  return u;
}

WaveHandEnd::WaveHandEnd(const WaveSettings& settings, const Range& impedance) : settings_(settings) {
  validate(settings, impedance);
}

Vec3 WaveHandEnd::advance(const Vec3& velocity, double max_force, double dt) noexcept {
  const double b = settings_.impedance, root = std::sqrt(2.0 * b);
  const Vec3 w = inlet_.next(dt, settings_.follow_time);
  Vec3 force = root * w - b * velocity;
  const double size = force.norm();
  if (size > max_force) force *= max_force / size;
  // What the motors do not give is not taken from the line either.
  add(sent_, (b * velocity - force) / root, dt);
  return force;
}

void WaveHandEnd::advance_idle(const Vec3& velocity, double dt) noexcept {
  add(sent_, std::sqrt(0.5 * settings_.impedance) * velocity, dt);
}

WaveEngineEnd::WaveEngineEnd(const WaveSettings& settings, const Range& impedance) : settings_(settings) {
  validate(settings, impedance);
}

void WaveEngineEnd::begin(const WaveMessage& message) noexcept {
  inlet_.begin(message);
  sent_ = {};
}

Vec3 WaveEngineEnd::advance(const Vec3& force, double dt) noexcept {
  const double b = settings_.impedance;
  const Vec3 u = inlet_.next(dt, settings_.follow_time);
  add(sent_, u + std::sqrt(2.0 / b) * force, dt);
  return (std::sqrt(2.0 * b) * u + force) / b;
}

}  // namespace palpate
