#include "interpolation/node_collision.h"

#include <algorithm>
#include <cmath>

namespace palpate::interpolation {
namespace {

/// Depth is taken back over so many steps, if the speed limit permits: fast, and far from overshooting.
constexpr double kPushOutSteps = 10.0;
/// Sweeps over the contacts of one node, where there are several: enough for two fingers that pinch it.
constexpr int kSweeps = 16;

/// Shortens `t` to a length of at most `limit`.
Vec3 shorten(const Vec3& t, double limit) noexcept {
  const double length = t.norm();
  return length > limit ? Vec3(t * (limit / length)) : t;
}

/// What a contact has given its node so far: an impulse, which changes a velocity, or a force, which changes an
/// acceleration. Sweeps over several contacts add to it and take away.
struct Push {
  double normal = 0.0;
  Vec3 tangential = Vec3::Zero();
  Vec3 total(const Vec3& n) const noexcept { return normal * n + tangential; }
};

/// Brings `value` to `wanted` along the normal if it is below; never pulls.
void push_out(Push& push, const Vec3& n, double wanted, double inertia, Vec3& value) noexcept {
  const double next = std::max(0.0, push.normal + inertia * (wanted - value.dot(n)));
  value += (next - push.normal) / inertia * n;
  push.normal = next;
}

/// Brings `value` to zero along the surface as far as Coulomb permits.
void rub(Push& push, const Vec3& n, double friction, double inertia, Vec3& value) noexcept {
  const Vec3 slip = value - value.dot(n) * n;
  const Vec3 next = shorten(push.tangential - inertia * slip, friction * push.normal);
  value += (next - push.tangential) / inertia;
  push.tangential = next;
}

void collide_penalty(const CollisionRules& rules, std::span<const Proxy> proxies, NodeState& node,
                     std::span<NodeContact> contacts) noexcept {
  const double inertia = node.mass + 0.5 * rules.dt * node.damping, half = 0.5 * rules.dt;
  for (NodeContact& c : contacts) {
    const Vec3& n = c.touch.normal;
    Push push{-rules.penalty_stiffness * c.touch.gap * half, Vec3::Zero()};
    node.velocity += push.normal / inertia * n;
    const Vec3 proxy = proxies[as_size(c.proxy)].velocity_at(node.position);
    Vec3 relative = node.velocity - proxy;
    rub(push, n, c.friction, inertia, relative);
    node.velocity = relative + proxy;
    c.before = c.after = push.total(n) / half;
    node.acceleration += c.before / inertia;
  }
}

/// The forces that keep a node which is in contact so, after the impact.
void hold(std::span<const Proxy> proxies, NodeState& node, std::span<NodeContact> contacts) noexcept {
  std::array<Push, kMaxNodeContacts> push;
  Vec3 a = (node.force - node.damping * node.velocity) / node.mass;
  const int sweeps = contacts.size() > 1 ? kSweeps : 1;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      const NodeContact& c = contacts[k];
      const Vec3& n = c.touch.normal;
      const double pressed = c.before.dot(n);
      if (!(pressed > 0.0)) continue;
      // A point at rest in the proxy's frame, which turns at a constant rate, has this acceleration.
      const Proxy& p = proxies[as_size(c.proxy)];
      const Vec3 slip = node.velocity - p.velocity_at(node.position);
      const Vec3 at_rest =
          p.velocity.angular.cross(p.velocity.angular.cross(node.position - p.pose.position) + 2.0 * slip);
      Vec3 relative = a - at_rest;
      push_out(push[k], n, 0.0, node.mass, relative);
      const Vec3 rubbed = c.before - pressed * n;
      const double limit = c.friction * pressed;
      if (rubbed.norm() < (1.0 - 1e-9) * limit) {
        rub(push[k], n, c.friction, node.mass, relative);
      } else if (limit > 0.0) {
        const Vec3 next = c.friction * push[k].normal * rubbed.normalized();
        relative += (next - push[k].tangential) / node.mass;
        push[k].tangential = next;
      }
      a = relative + at_rest;
    }
  }
  for (std::size_t k = 0; k < contacts.size(); ++k) contacts[k].after = push[k].total(contacts[k].touch.normal);
  node.acceleration = a;
}

}  // namespace

void collide(const CollisionRules& rules, std::span<const Proxy> proxies, NodeState& node,
             std::span<NodeContact> contacts) noexcept {
  if (rules.contact == InterpolationSettings::Contact::kPenalty) return collide_penalty(rules, proxies, node, contacts);
  const double inertia = node.mass + 0.5 * rules.dt * node.damping;
  const Vec3 free = node.velocity;
  std::array<Push, kMaxNodeContacts> push;
  const int sweeps = contacts.size() > 1 ? kSweeps : 1;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      const NodeContact& c = contacts[k];
      const Vec3 proxy = proxies[as_size(c.proxy)].velocity_at(node.position);
      const double out = c.touch.gap > 0.0 ? -c.touch.gap / rules.dt
                                           : std::min(rules.push_out_speed, -c.touch.gap / (kPushOutSteps * rules.dt));
      Vec3 relative = node.velocity - proxy;
      push_out(push[k], c.touch.normal, out, inertia, relative);
      rub(push[k], c.touch.normal, c.friction, inertia, relative);
      node.velocity = relative + proxy;
    }
  }
  for (std::size_t k = 0; k < contacts.size(); ++k)
    contacts[k].before = contacts[k].after = push[k].total(contacts[k].touch.normal) / (0.5 * rules.dt);
  if (node.velocity == free) return;
  if (rules.contact == InterpolationSettings::Contact::kPaper)
    node.acceleration += (node.velocity - free) / (0.5 * rules.dt);  // (12)
  else
    hold(proxies, node, contacts);
}

}  // namespace palpate::interpolation
