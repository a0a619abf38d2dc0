#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

namespace palpate {

/// Hands the newest complete message of a fixed size from one writer thread to one reader thread.
///
/// Three slots; each belongs to exactly one of {writer, mailbox, reader}, and ownership moves only by exchanging
/// `mailbox_`. Both sides are wait-free: no retry, no copy. Messages may be skipped; the reader never sees a torn or
/// an older one. The mailbox, the writer's and the reader's index sit on cache lines of their own.
class LatestBytes {
 public:
  /// Slots start as zeros. `alignment` is a power of two.
  LatestBytes(std::size_t size, std::size_t alignment);

  /// Writer: the slot to fill. Its content is whatever was there: fill it whole.
  std::byte* write_slot() noexcept { return slot(write_index_); }
  /// Writer: hands the slot over; write_slot() is then another one.
  void publish() noexcept {
    const std::uint32_t old = mailbox_.exchange(write_index_ | kFresh, std::memory_order_acq_rel);
    write_index_ = old & kIndexMask;
  }

  /// Reader: takes the newest message if there is a new one. True if so.
  bool refresh() noexcept {
    if ((mailbox_.load(std::memory_order_relaxed) & kFresh) == 0) return false;
    const std::uint32_t old = mailbox_.exchange(read_index_, std::memory_order_acq_rel);
    read_index_ = old & kIndexMask;
    return true;
  }
  /// Reader: the message taken last, valid until the next refresh(); zeros before the first.
  const std::byte* read_slot() const noexcept { return slot(read_index_); }

 private:
  static constexpr std::uint32_t kFresh = 4;
  static constexpr std::uint32_t kIndexMask = 3;
  static constexpr std::size_t kCacheLine = 64;

  struct Deleter {
    std::size_t alignment;
    void operator()(std::byte* p) const noexcept { ::operator delete[](p, std::align_val_t(alignment)); }
  };

  std::byte* slot(std::uint32_t i) const noexcept { return memory_.get() + i * stride_; }

  std::size_t stride_;
  std::unique_ptr<std::byte[], Deleter> memory_;
  alignas(kCacheLine) std::uint32_t write_index_ = 0;
  alignas(kCacheLine) std::atomic<std::uint32_t> mailbox_{1};
  alignas(kCacheLine) std::uint32_t read_index_ = 2;
};

/// LatestBytes for one trivially copyable type.
template <typename T>
class LatestValue {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  LatestValue() : bytes_(sizeof(T), alignof(T)) {}
  /// Writer thread.
  void write(const T& value) noexcept {
    std::memcpy(bytes_.write_slot(), &value, sizeof(T));
    bytes_.publish();
  }
  /// Reader thread: true and the newest value if one came since the last call.
  bool read(T& value) noexcept {
    if (!bytes_.refresh()) return false;
    std::memcpy(&value, bytes_.read_slot(), sizeof(T));
    return true;
  }

 private:
  LatestBytes bytes_;
};

}  // namespace palpate
