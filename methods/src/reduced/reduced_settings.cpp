#include "palpate/methods/reduced_settings.h"

#include "palpate/core/fields.h"

namespace palpate {

void describe(Fields& f, ReducedSettings& s) {
  const ReducedSettings d;
  f.integer(
      {.name = "factor_steps",
       .doc = "slow steps over which the factorisation of a soft body is spread; 1: every step has its own; 0: as "
              "many as the body's size demands"},
      s.factor_steps, d.factor_steps, {0, 100});
  f.integer({.name = "states", .doc = "that a soft body has at most; a large body has 64 in any case"}, s.states,
            d.states, {24, 120});
}

}  // namespace palpate
