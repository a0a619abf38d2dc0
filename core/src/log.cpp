#include "palpate/core/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

namespace palpate {

void init_log(bool verbose) {
  auto logger = spdlog::get("palpate");
  if (!logger) logger = spdlog::stderr_color_mt("palpate");
  logger->set_pattern("%^%l%$: %v");
  logger->set_level(verbose ? spdlog::level::debug : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

}  // namespace palpate
