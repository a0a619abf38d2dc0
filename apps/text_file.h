#pragma once

#include <string>

namespace palpate {

/// Writes `text` to `file`; throws InputError with the system's reason if it cannot.
void write_text_file(const std::string& file, const std::string& text);

/// All of `file`; throws InputError with the system's reason if it cannot be read.
std::string read_text_file(const std::string& file);

}  // namespace palpate
