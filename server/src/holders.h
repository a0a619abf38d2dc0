#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "palpate/runtime/run.h"

namespace palpate {

/// Which page holds which tool, and which waits for one. The first that takes a free tool has it until it lets go, goes
/// away, gives it to the page that asks for it, or leaves that page without an answer for kSilence while it does not
/// move the tool either. What is given is kept for who asked for kReserved. Pages are told by their numbers, 0: none.
/// Times are of any clock [s]; a tool must be below kMaxTools. One thread.
class Holders {
 public:
  static constexpr double kSilence = 4.0;   ///< [s]
  static constexpr double kReserved = 8.0;  ///< [s]

  struct Tool {
    std::uint64_t holder = 0, asker = 0;
    std::uint64_t reserved = 0;  ///< for whom, while nobody holds it
  };

  /// Is it this page's from now on? False: another has it.
  bool hold(std::size_t tool, std::uint64_t page, double now) noexcept;
  /// False: it does not have it.
  bool let_go(std::size_t tool, std::uint64_t page, double now) noexcept;
  /// A free tool is reserved for it at once.
  void ask(std::size_t tool, std::uint64_t page, double now) noexcept;
  /// The holder's answers. False: it is not the holder, or nobody asks.
  bool give(std::size_t tool, std::uint64_t page, double now) noexcept;
  bool keep(std::size_t tool, std::uint64_t page, double now) noexcept;

  /// Lets time pass. `free(tool)` is called for those that their holders no longer have.
  void update(double now, const std::function<bool(std::uint64_t)>& is_connected,
              const std::function<void(std::size_t)>& free);
  /// Nobody holds anything; who asked has what he asked for.
  void clear(double now) noexcept;

  const Tool& operator[](std::size_t tool) const noexcept { return tools_[tool].tool; }

 private:
  struct Entry {
    Tool tool;
    double heard = 0.0;  ///< the holder was last, or was asked
    double until = 0.0;  ///< reserved
  };
  void release(Entry& e, double now) noexcept;

  std::array<Entry, kMaxTools> tools_{};
};

}  // namespace palpate
