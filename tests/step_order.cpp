// Compiled by step_order_test: as it is it must compile, and with OUT_OF_ORDER set to any of its numbers it must not.
#include "palpate/world/world.h"

namespace palpate {

bool do_step(World& world, StepReport& report) {
  std::optional<FreeMotion> free = begin_step(world, {.h = 0.01}, report);
  if (!free) return false;
#if OUT_OF_ORDER == 1  // a problem before there are contacts
  std::move(*free).assemble(report);
#elif OUT_OF_ORDER == 2  // motion before there are forces
  std::move(*free).advance(report);
#elif OUT_OF_ORDER == 3  // a stage goes on without being used up
  free->find_contacts(report);
#endif
  FoundContacts found = std::move(*free).find_contacts(report);
#if OUT_OF_ORDER == 4  // forces before there are rows
  std::move(found).solve({}, report);
#elif OUT_OF_ORDER == 5  // forces that nobody has found yet
  found.contact_forces();
#endif
  std::optional<StepProblem> problem = std::move(found).assemble(report);
  if (!problem) return false;
#if OUT_OF_ORDER == 6  // contacts a second time
  std::move(*problem).find_contacts(report);
#endif
  const SolvedStep solved = std::move(*problem).solve(problem->solver_settings(), report);
#if OUT_OF_ORDER == 7  // by somebody who only reads
  solved.advance(report);
#endif
  return solved.contacts().size() == solved.contact_forces().size();
}

}  // namespace palpate
