#include "palpate/methods/interpolation_settings.h"

#include "palpate/core/fields.h"

namespace palpate {

void describe(Fields& f, InterpolationSettings& s) {
  using Scheme = InterpolationSettings::Contact;
  using Display = InterpolationSettings::Display;
  using Force = InterpolationSettings::Force;
  const InterpolationSettings d;
  f.choice<Scheme>(
      {.name = "contact",
       .doc = "inelastic: nodes that touch stay; paper: they bounce, as printed; penalty: a spring at each"},
      s.contact, d.contact,
      {{"inelastic", Scheme::kInelastic}, {"paper", Scheme::kPaper}, {"penalty", Scheme::kPenalty}});
  f.number({.name = "penalty_stiffness", .doc = "of each of those springs", .unit = "N/m"}, s.penalty_stiffness,
           d.penalty_stiffness, {0.0, 1e12, true});
  f.choice<Display>(
      {.name = "display",
       .doc = "between the last two states, straight or by cubics; or on from the newest by its stiffness"},
      s.display, d.display,
      {{"interpolate", Display::kLinear}, {"smooth", Display::kSmooth}, {"extrapolate", Display::kExtrapolate}});
  f.choice<Force>({.name = "force", .doc = "of a slow step: its mean, or that at its end"}, s.force, d.force,
                  {{"mean", Force::kMean}, {"end", Force::kEnd}});
  f.boolean({.name = "predict", .doc = "fingers go to where the hand will be after the slow step"}, s.predict,
            d.predict);
  f.boolean({.name = "linear_strain", .doc = "bodies in linear strain, to see how it distorts"}, s.linear_strain,
            d.linear_strain);
  f.number({.name = "margin", .doc = "integration step as a share of the stable one"}, s.margin, d.margin,
           {0.0, 10.0, true});
  f.number({.name = "time_step", .doc = "of the integration; 0: found from the elements", .unit = "s"}, s.time_step,
           d.time_step, {0.0, 1.0});
  f.integer({.name = "max_steps", .doc = "of the integration in a slow step; then simulated time falls behind"},
            s.max_steps, d.max_steps, {1, 10000000});
  f.number({.name = "push_out_speed",
            .doc = "inelastic: nodes inside a finger come out no faster; 0: they stay",
            .unit = "m/s"},
           s.push_out_speed, d.push_out_speed, {0.0, 10.0});
  f.number({.name = "max_speed", .doc = "of a finger; a hand that jumps is followed at this", .unit = "m/s"},
           s.max_speed, d.max_speed, {0.0, 100.0, true});
}

}  // namespace palpate
