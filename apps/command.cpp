#include "command.h"

#include <unistd.h>

#include <cctype>
#include <cmath>
#include <csignal>
#include <filesystem>

#include "palpate/core/clock.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // so a signal handler may set it

extern "C" void on_signal(int signal) {
  stop.store(true);
  std::signal(signal, SIG_DFL);  // a second Ctrl-C ends at once
}

/// CLI11's own checks name the largest number there is with all its digits.
CLI::Validator number_check(const char* name, const char* allowed, bool (*good)(double)) {
  return {[allowed, good](std::string& text) {
            double value = 0.0;
            if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && good(value)) return std::string();
            return fmt::format("{}: must be {}", quote_for_message(text), allowed);
          },
          name};
}

}  // namespace

CLI::Validator positive_number() {
  return number_check("POSITIVE", "a number above 0", [](double x) { return x > 0.0; });
}

CLI::Validator non_negative_number() {
  return number_check("NONNEGATIVE", "a number, 0 or above", [](double x) { return x >= 0.0; });
}

const std::atomic<bool>& stop_requested() noexcept {
  static const bool installed = [] {
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    return true;
  }();
  (void)installed;
  return stop;
}

Progress::Progress() noexcept : terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::show(std::string_view what, double share) {
  if (!terminal_) return;
  const std::int64_t now = monotonic_ns();
  if (now - last_ns_ < 50'000'000) return;
  last_ns_ = now;
  shown_ = true;
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(kWidth * std::clamp(share, 0.0, 1.0));
  std::string bar;
  for (int i = 0; i < kWidth; ++i) bar += i < filled ? "█" : "░";
  const std::string line = fmt::format("\r\033[K{} {:3.0f} % {}", bar, 100.0 * std::clamp(share, 0.0, 1.0), what);
  std::fputs(line.c_str(), stderr);
}

void Progress::tell(std::string_view line) {
  fmt::print(stderr, "{}{}\n", shown_ ? "\r\033[K" : "", line);
  shown_ = false;
}

std::string make_free_path(const std::string& folder, const std::string& stem, const std::string& ending) {
  make_parent_folder(folder + "/x");
  std::string safe = stem;  // a scene may be called anything
  for (char& c : safe) c = std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ? c : '-';
  for (int i = 1;; ++i) {
    std::string path = fmt::format("{}/{}-{:03}{}", folder, safe, i, ending);
    if (!std::filesystem::exists(path)) return path;
  }
}

void make_parent_folder(const std::string& file) {
  const auto folder = std::filesystem::path(file).parent_path();
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_input("{}: the folder cannot be made ({})", folder.string(), error.message());
}

void require_folder_of(const std::string& file) {
  const auto folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return;
  fail_input("{}: there is no folder {}; make it first, or write elsewhere", file, folder.string());
}

}  // namespace palpate
