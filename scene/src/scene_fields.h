#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "palpate/core/fields.h"

// What is done with a description besides checking: reading, writing, and making a schema of it.
namespace palpate {

struct JsonValue;

/// Reads `root` by calling `visit`; keys that nobody visited are errors. Throws InputError.
void read_fields(const JsonValue& root, const std::string& file, const std::function<void(Fields&)>& visit);

/// What `visit` visits as JSON, without what has its standard value: keys in the order of the description, numbers in
/// the fewest digits that give the same bits again, and what fits on a line on one line.
std::string write_fields(const std::function<void(Fields&)>& visit);

/// A JSON Schema (2020-12) of what `visit` visits. Objects with a `def` stand once, under $defs.
std::string describe_fields(std::string_view title, const std::function<void(Fields&)>& visit);

/// Calls `change` with each text that is the name of a file.
void change_files(const std::function<void(Fields&)>& visit, const std::function<void(std::string&)>& change);

}  // namespace palpate
