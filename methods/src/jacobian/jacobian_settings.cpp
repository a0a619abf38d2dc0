#include "palpate/methods/jacobian_settings.h"

#include "palpate/core/fields.h"

namespace palpate {

void describe(Fields& f, JacobianSettings& s) {
  using Form = JacobianSettings::Form;
  using Answer = JacobianSettings::Answer;
  const JacobianSettings d;
  f.choice<Form>(
      {.name = "form", .doc = "inequality: contacts push only, with friction; equality: the paper's, which hold"},
      s.form, d.form, {{"inequality", Form::kInequality}, {"equality", Form::kEquality}});
  f.choice<Answer>({.name = "answer", .doc = "time step of the world's answer to a contact force"}, s.answer, d.answer,
                   {{"slow", Answer::kSlow}, {"fast", Answer::kFast}});
  using Contacts = JacobianSettings::Contacts;
  f.choice<Contacts>(
      {.name = "contacts",
       .doc = "of the inequality form, if it tracks; live: found in every tick, in worlds of one tool in "
              "which nothing soft is tied and all else that moves is soft or one of at most 8 rigid bodies; "
              "held: as the slow step found them"},
      s.contacts, d.contacts, {{"live", Contacts::kLive}, {"held", Contacts::kHeld}});
  f.boolean({.name = "track", .doc = "slow steps begin with the fast loop's tool; off: the paper's visual tool"},
            s.track, d.track);
  f.number({.name = "filter_time", .doc = "low-pass on the model of the equality form; 0: none", .unit = "s"},
           s.filter_time, d.filter_time, {0.0, 10.0});
  f.number({.name = "blend", .doc = "share of a slow period over which a new model of the inequality form takes over"},
           s.blend, d.blend, {0.0, 1.0});
  f.integer({.name = "max_contacts", .doc = "published; the deepest are kept"}, s.max_contacts, d.max_contacts,
            {1, JacobianSettings::kMost});
  f.number({.name = "tolerance", .doc = "of the contact solve in a tick", .unit = "m"}, s.tolerance, d.tolerance,
           {0.0, 1.0, true});
  f.integer({.name = "max_iterations", .doc = "of the contact solve in a tick"}, s.max_iterations, d.max_iterations,
            {1, 10000});
}

}  // namespace palpate
