#include "palpate/methods/accelerance_settings.h"

#include "palpate/core/fields.h"

namespace palpate {

void describe(Fields& f, AcceleranceSettings& s) {
  using Way = AcceleranceSettings::Way;
  const AcceleranceSettings d;
  f.choice<Way>(
      {.name = "way", .doc = "how bodies' answers are found: from the solver's matrices, or the paper's tests"}, s.way,
      d.way, {{"direct", Way::kDirect}, {"tests", Way::kTests}});
  f.boolean({.name = "coupled", .doc = "a force on one neighbour moves the others too; off: the paper"}, s.coupled,
            d.coupled);
  f.boolean({.name = "local_contacts", .doc = "direct: contacts among neighbours and with fixed things in every tick"},
            s.local_contacts, d.local_contacts);
  f.boolean({.name = "literal",
             .doc = "explicit forces, held through the slow step, nothing limited: the paper's, which is less stable"},
            s.literal, d.literal);
  f.number({.name = "reach", .doc = "bodies nearer than this to a pointer are its neighbours", .unit = "m"}, s.reach,
           d.reach, {0.0, 10.0, true});
  f.integer({.name = "max_neighbours", .doc = "the nearest are kept"}, s.max_neighbours, d.max_neighbours,
            {1, AcceleranceSettings::kMostNeighbours});
  f.number({.name = "test_force", .doc = "least force of a test simulation", .unit = "N"}, s.test_force, d.test_force,
           {0.0, 1e6, true});
  f.integer({.name = "max_bodies", .doc = "direct: whose contacts are felt through"}, s.max_bodies, d.max_bodies,
            {1, 10000});
  f.integer({.name = "tried_sweeps", .doc = "of the solver in each tried step; 0: direct a third of the world's"},
            s.tried_sweeps, d.tried_sweeps, {0, 1000000});
  f.number({.name = "tolerance", .doc = "of a tick's contact forces, over the stiffness", .unit = "m"}, s.tolerance,
           d.tolerance, {0.0, 1.0, true});
  f.integer({.name = "max_iterations", .doc = "sweeps of a tick over its contacts"}, s.max_iterations, d.max_iterations,
            {1, 10000});
}

}  // namespace palpate
