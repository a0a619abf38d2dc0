#include "fields.h"
#include "visit_methods.h"

namespace palpate {

void visit_compliance(Fields& f, ComplianceSettings& s) {
  f.choice(
      {.name = "force",
       .doc = "given to the hand: what the grip feels, with the tool's weight and inertia, or the paper's sum of the "
              "constraint forces on the tool"},
      s.force, {"grip", "constraints"});
  f.number({.name = "lookahead",
            .doc = "how far the other bodies move on as the last slow step moved them, in slow periods from its "
                   "beginning: 0 held (the paper), 1 to its end, 2 carried on (for bodies heavier than the tool)"},
           s.lookahead, {0.0, 3.0});
  f.number({.name = "tolerance", .doc = "of the fast contact solve", .unit = "m"}, s.tolerance, {0.0, 1.0, true});
  f.integer({.name = "max_iterations", .doc = "of the fast contact solve"}, s.max_iterations, {1, 100000});
  f.number({.name = "max_seconds",
            .doc = "time limit of the fast contact solve; 0: none. With one, runs no longer repeat to the bit",
            .unit = "s"},
           s.max_seconds, {0.0, 0.1});
  f.integer({.name = "environment_rows",
             .doc = "rows of constraints without the tool that the fast loop solves too; what is beyond keeps its slow "
                    "force"},
            s.environment_rows, {0, 192});
}

}  // namespace palpate
