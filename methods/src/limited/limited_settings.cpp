#include "palpate/methods/limited_settings.h"

#include "limited/messages.h"
#include "palpate/core/fields.h"

namespace palpate {

void describe(Fields& f, LimitedSettings& s) {
  const LimitedSettings d;
  f.number({.name = "radius", .doc = "of the proximity query around the proxy", .unit = "m"}, s.radius, d.radius,
           {1e-4, 0.5});
  f.integer({.name = "max_constraints", .doc = "triangles in the set; the nearest are kept"}, s.max_constraints,
            d.max_constraints, {8, limited::LimitedPatch::kMaxTriangles});
  f.integer({.name = "max_moving_vertices", .doc = "of bodies that move, in the set; the nearest are kept"},
            s.max_moving_vertices, d.max_moving_vertices, {4, limited::LimitedPatch::kMaxMoving});
  f.number({.name = "depth", .doc = "how far below its triangle a constraint reaches at most", .unit = "m"}, s.depth,
           d.depth, {1e-5, 0.5});
  f.number({.name = "tolerance", .doc = "a tick has converged when an iteration moves the proxy by less", .unit = "m"},
           s.tolerance, d.tolerance, {1e-14, 1e-3});
  f.integer({.name = "max_iterations", .doc = "of a tick"}, s.max_iterations, d.max_iterations, {4, 1000});
  f.boolean({.name = "look_ahead", .doc = "the query lies around where the hand will be, not around the proxy"},
            s.look_ahead, d.look_ahead);
  f.boolean({.name = "blend", .doc = "what moved between two models comes to its place over one slow period"}, s.blend,
            d.blend);
}

}  // namespace palpate
