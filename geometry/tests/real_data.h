#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace palpate::testing {

/// A file in the folder of real meshes, which is where PALPATE_DATA says and nowhere else.
struct RealData {
  std::filesystem::path path;
  std::string missing;  ///< why it cannot be had, in plain words; empty: it is there
};

inline RealData find_real_data(const std::string& name) {
  const char* folder = std::getenv("PALPATE_DATA");
  if (folder == nullptr || *folder == '\0')
    return {{}, "no folder of real meshes: set PALPATE_DATA to one with " + name + " to test with it"};
  RealData data{std::filesystem::path(folder) / name, {}};
  if (!std::filesystem::exists(data.path)) data.missing = data.path.string() + " is not there";
  return data;
}

}  // namespace palpate::testing
