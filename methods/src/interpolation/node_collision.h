#pragma once

#include <array>

#include "palpate/methods/interpolation_settings.h"
#include "proxy.h"

// One node against the proxies that it is in: Zhuang & Canny 2000, section 5.1.
//
// With lumped masses nodes are independent of each other within a step, so each is solved by itself. The step without
// contact gave the node u̇ and ü at its end; the collision changes both. In the proxy's moving frame the normal velocity
// is removed,
//   v̂ ← v̂ − (v̂·n̂) n̂     if it points inwards
// ((11); the sign printed there would double it). In our scheme also a node that is still outside and would come in
// within the next step is slowed down to just arrive. Either takes the impulse (m + ½ΔtD) δv̂. As with every half of a
// trapezoidal step that is ½Δt times a force at the end of the step (10). What acts at the beginning of the next step
// is a second force: in the paper's scheme the same one, as (12) has ü continuous; in ours that which keeps the node at
// rest in the proxy's frame, the impact being over. Impulses of a step are ½Δt (force after the last + force before
// this), and the body's momentum changes by exactly those. Coulomb: tangential impulse and force up to μ times the
// normal ones, against the slip or as much as stops it.
namespace palpate::interpolation {

/// A contact of one node.
struct NodeContact {
  int proxy;
  double friction;
  Touch touch;
  Vec3 before = Vec3::Zero();  ///< force on the node that ends this step [N]
  Vec3 after = Vec3::Zero();   ///< and that begins the next
};
inline constexpr int kMaxNodeContacts = 4;

/// A node at the end of a step.
struct NodeState {
  double mass, damping;  ///< m [kg], αm [kg/s]
  Vec3 force;            ///< all but damping and contact [N]
  Vec3 velocity;         ///< of the step without contact; becomes that with it
  Vec3 acceleration;     ///< likewise
  Vec3 position;
};

struct CollisionRules {
  InterpolationSettings::Contact contact;
  double dt;                 ///< of the step, and of the next [s]
  double push_out_speed;     ///< [m/s]
  double penalty_stiffness;  ///< [N/m]
};

/// Real-time: bounded, no allocation.
void collide(const CollisionRules& rules, std::span<const Proxy> proxies, NodeState& node,
             std::span<NodeContact> contacts) noexcept;

}  // namespace palpate::interpolation
