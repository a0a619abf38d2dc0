#include "palpate/methods/compliance_settings.h"

#include "compliance/messages.h"
#include "palpate/core/fields.h"

namespace palpate {

void describe(Fields& f, ComplianceSettings& s) {
  using Force = ComplianceSettings::Force;
  const ComplianceSettings d;
  f.choice<Force>(
      {.name = "force",
       .doc = "given to the hand: what the grip feels, with the tool's weight and inertia, or the paper's sum of the "
              "constraint forces on the tool"},
      s.force, d.force, {{"grip", Force::kGrip}, {"constraints", Force::kConstraints}});
  using Contacts = ComplianceSettings::Contacts;
  f.choice<Contacts>(
      {.name = "contacts",
       .doc =
           "live: found in every tick, in worlds of one tool in which nothing soft is tied and all "
           "else that moves is soft or one of at most 8 rigid bodies; held: the paper's, as the slow step found them"},
      s.contacts, d.contacts, {{"live", Contacts::kLive}, {"held", Contacts::kHeld}});
  f.number({.name = "lookahead",
            .doc = "how far the other bodies move on as the last slow step moved them, in slow periods from its "
                   "beginning: 0 held (the paper), 1 to its end, 2 carried on (for bodies heavier than the tool)"},
           s.lookahead, d.lookahead, {0.0, 3.0});
  f.number({.name = "tolerance", .doc = "of the fast contact solve", .unit = "m"}, s.tolerance, d.tolerance,
           {0.0, 1.0, true});
  f.integer({.name = "max_iterations", .doc = "of the fast contact solve"}, s.max_iterations, d.max_iterations,
            {1, 100000});
  f.number({.name = "max_seconds",
            .doc = "time limit of the fast contact solve; 0: none. With one, runs no longer repeat to the bit",
            .unit = "s"},
           s.max_seconds, d.max_seconds, {0.0, 0.1});
  f.integer({.name = "environment_rows",
             .doc = "rows of constraints without the tool that the fast loop solves too; what is beyond keeps its slow "
                    "force"},
            s.environment_rows, d.environment_rows, {0, compliance::kMaxRows});
}

}  // namespace palpate
