#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>

namespace palpate {

/// Exit codes of every command.
inline constexpr int kDone = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kBadInput = 2;

/// What a command does once its options are read; returns the exit code.
using Action = std::function<int()>;

/// Adds one subcommand to `app`; `action` is set when the user chose it. One function a command.
void add_run(CLI::App& app, Action& action);
void add_view(CLI::App& app, Action& action);  ///< only where the viewer is built (PALPATE_VIEWER)
void add_compare(CLI::App& app, Action& action);
void add_reproduce(CLI::App& app, Action& action);
void add_mesh(CLI::App& app, Action& action);
void add_advise(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);

/// Checks of options that say in plain words what is allowed.
CLI::Validator positive_number();
CLI::Validator non_negative_number();

/// Set by Ctrl-C: commands that take long watch it and end cleanly, what they did so far kept.
const std::atomic<bool>& stop_requested() noexcept;

/// A progress line on standard error, if that is a terminal; nothing otherwise. Erased at the end.
class Progress {
 public:
  Progress() noexcept;
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::string_view what, double share);
  /// The same as a function, for those who report progress.
  std::function<void(std::string_view, double)> reporter() {
    return [this](std::string_view what, double share) { show(what, share); };
  }
  /// A line that stays, on standard error whether that is a terminal or not.
  void tell(std::string_view line);

 private:
  bool terminal_;
  std::int64_t last_ns_ = 0;
  bool shown_ = false;
};

/// `folder/stem-001ending` with the first number that is not taken; makes the folder.
std::string make_free_path(const std::string& folder, const std::string& stem, const std::string& ending);

/// Makes the folder that `file` is to be written to, if it is missing: for names that we chose.
void make_parent_folder(const std::string& file);

/// Throws InputError if the folder that `file` is to be written to is not there: a mistyped one is not made.
void require_folder_of(const std::string& file);

}  // namespace palpate
