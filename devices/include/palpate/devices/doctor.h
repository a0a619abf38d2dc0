#pragma once

#include "palpate/devices/driver.h"

namespace palpate {

/// What of this computer speaks against ticks that are never late: permissions, clock of the processor, kernel, cores.
/// Each by itself: a step that is not good costs smoothness, not safety.
std::vector<ProbeStep> check_computer();

}  // namespace palpate
