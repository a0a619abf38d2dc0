#include "palpate/runtime/latest_value.h"

#include <algorithm>
#include <new>

#include "palpate/runtime/delay_line.h"

namespace palpate {

LatestBytes::LatestBytes(std::size_t size, std::size_t alignment)
    : stride_((size + kCacheLine - 1) / kCacheLine * kCacheLine), memory_(nullptr, Deleter{kCacheLine}) {
  const std::size_t line = std::max(alignment, kCacheLine);
  stride_ = (size + line - 1) / line * line;
  auto* memory = static_cast<std::byte*>(::operator new[](3 * stride_, std::align_val_t(line)));
  std::memset(memory, 0, 3 * stride_);
  memory_ = std::unique_ptr<std::byte[], Deleter>(memory, Deleter{line});
}

DelayLine::DelayLine(std::size_t size, std::size_t alignment, std::size_t capacity)
    : slots_(capacity + 2), memory_(nullptr, Deleter{kCacheLine}), due_(slots_, 0) {
  const std::size_t line = std::max(alignment, kCacheLine);
  stride_ = (size + line - 1) / line * line;
  auto* memory = static_cast<std::byte*>(::operator new[](slots_* stride_, std::align_val_t(line)));
  std::memset(memory, 0, slots_ * stride_);
  memory_ = std::unique_ptr<std::byte[], Deleter>(memory, Deleter{line});
}

}  // namespace palpate
