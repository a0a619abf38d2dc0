#include "visit_methods.h"

namespace palpate {

void visit_accelerance(Fields& f, AcceleranceSettings& s) {
  using Way = AcceleranceSettings::Way;
  std::string way = s.way == Way::kDirect ? "direct" : "tests";
  f.choice({.name = "way", .doc = "how bodies' answers are found: from the solver's matrices, or the paper's tests"},
           way, {"direct", "tests"});
  s.way = way == "tests" ? Way::kTests : Way::kDirect;
  f.boolean({.name = "coupled", .doc = "a force on one neighbour moves the others too; off: the paper"}, s.coupled);
  f.boolean({.name = "local_contacts", .doc = "direct: contacts among neighbours and with fixed things in every tick"},
            s.local_contacts);
  f.number({.name = "reach", .doc = "bodies nearer than this to a pointer are its neighbours", .unit = "m"}, s.reach,
           {0.0, 10.0, true});
  f.integer({.name = "max_neighbours", .doc = "the nearest are kept"}, s.max_neighbours,
            {1, AcceleranceSettings::kMostNeighbours});
  f.number({.name = "test_force", .doc = "least force of a test simulation", .unit = "N"}, s.test_force,
           {0.0, 1e6, true});
  f.integer({.name = "max_bodies", .doc = "direct: whose contacts are felt through"}, s.max_bodies, {1, 10000});
  f.number({.name = "tolerance", .doc = "of a tick's contact forces, over the stiffness", .unit = "m"}, s.tolerance,
           {0.0, 1.0, true});
  f.integer({.name = "max_iterations", .doc = "sweeps of a tick over its contacts"}, s.max_iterations, {1, 10000});
}

}  // namespace palpate
