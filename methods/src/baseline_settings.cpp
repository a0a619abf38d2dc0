#include "palpate/methods/baseline_settings.h"

#include "palpate/core/fields.h"

namespace palpate {

void describe(Fields& f, DirectSettings& s) {
  const DirectSettings d;
  f.boolean({.name = "predict", .doc = "the hand is put where it will be at the end of the slow step"}, s.predict,
            d.predict);
}

void describe(Fields& f, DoubleCouplingSettings& s) {
  const DoubleCouplingSettings d;
  f.number({.name = "stiffness", .doc = "of the second coupling, in multiples of the first"}, s.stiffness, d.stiffness,
           {0.0, 1e3, true});
  f.number({.name = "damping", .doc = "of the second coupling, in multiples of the first"}, s.damping, d.damping,
           {0.0, 1e3});
}

}  // namespace palpate
