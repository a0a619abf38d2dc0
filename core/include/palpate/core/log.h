#pragma once

#include <spdlog/spdlog.h>

namespace palpate {

/// Sends the log to standard error, so that standard output stays machine-readable, one short line a message.
/// Never call a log function from a tick: it locks and does I/O.
void init_log(bool verbose);

namespace log = spdlog;

}  // namespace palpate
