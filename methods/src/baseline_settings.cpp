#include "palpate/methods/baseline_settings.h"

#include "palpate/core/fields.h"

namespace palpate {

void describe(Fields& f, DirectSettings& s) {
  const DirectSettings d;
  f.boolean({.name = "predict", .doc = "the hand is put where it will be at the end of the slow step"}, s.predict,
            d.predict);
}

void describe(Fields& f, HalfspaceSettings& s) {
  const HalfspaceSettings d;
  f.boolean({.name = "look_ahead", .doc = "the plane is that of where the hand will be"}, s.look_ahead, d.look_ahead);
  f.boolean({.name = "blend", .doc = "a new plane comes to its place over one slow period"}, s.blend, d.blend);
}

void describe(Fields& f, DoubleCouplingSettings& s) {
  const DoubleCouplingSettings d;
  f.number({.name = "stiffness", .doc = "of the second coupling, in multiples of the first"}, s.stiffness, d.stiffness,
           {0.0, 1e3, true});
  f.number({.name = "damping", .doc = "of the second coupling, in multiples of the first"}, s.damping, d.damping,
           {0.0, 1e3});
}

}  // namespace palpate
