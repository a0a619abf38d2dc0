#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "palpate/core/histogram.h"
#include "palpate/scene/real_hand.h"

namespace palpate {

/// Real devices on the command line: which tool is in whose hand, and how that lies in the scene. Where a text begins
/// with the name of one of the scene's tools, it is about that one, else about the first.
struct DeviceOptions {
  std::vector<std::string> devices;   ///< [TOOL=]NAME[:WHERE], or [TOOL=]none
  std::vector<std::string> mappings;  ///< [TOOL.]KEY=VALUE
};
void add_device_options(CLI::App& command, DeviceOptions& options);

/// Puts what the options say of devices into the scene, and returns what to open for each tool, `NAME` or `NAME:WHERE`;
/// empty: the scene's own hand. Throws InputError.
std::vector<std::string> apply_device_options(Scene& scene, const DeviceOptions& options);

/// Opens them; null where there is none. Throws InputError that says what is missing.
std::vector<std::unique_ptr<RealHand>> open_hands(const std::vector<std::string>& names);

/// [TOOL=]METHOD each. Gives the scene's tools their own methods where one is named, and returns the one that all of
/// them are to have; empty: each its own. Throws InputError.
std::string apply_method_options(Scene& scene, const std::vector<std::string>& methods);
/// Puts what a trial on the scene finds in the place of "auto", with progress on the terminal. Returns what to warn of,
/// empty if there is nothing (AutoChoice::warning).
std::string settle_methods(Scene& scene, bool realtime);
/// The same of an "auto" for the slow period; true if there was one.
bool settle_slow_period(Scene& scene);
/// The option for methods.
void add_method_option(CLI::App& command, std::vector<std::string>& methods);

/// Percentiles of a histogram of durations, in microseconds, as text.
std::string round_trip_text(const Histogram& h);

}  // namespace palpate
