#include "palpate/core/latest_value.h"

#include <algorithm>
#include <new>

namespace palpate {

LatestBytes::LatestBytes(std::size_t size, std::size_t alignment)
    : stride_((size + kCacheLine - 1) / kCacheLine * kCacheLine), memory_(nullptr, Deleter{kCacheLine}) {
  const std::size_t line = std::max(alignment, kCacheLine);
  stride_ = (size + line - 1) / line * line;
  auto* memory = static_cast<std::byte*>(::operator new[](3 * stride_, std::align_val_t(line)));
  std::memset(memory, 0, 3 * stride_);
  memory_ = std::unique_ptr<std::byte[], Deleter>(memory, Deleter{line});
}

}  // namespace palpate
