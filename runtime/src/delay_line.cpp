#include "palpate/runtime/delay_line.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace palpate {

DelayLine::DelayLine(std::size_t size, std::size_t alignment, std::size_t capacity)
    : slots_(capacity + 2), memory_(nullptr, Deleter{kCacheLine}), due_(slots_, 0) {
  const std::size_t line = std::max(alignment, kCacheLine);
  stride_ = (size + line - 1) / line * line;
  auto* memory = static_cast<std::byte*>(::operator new[](slots_* stride_, std::align_val_t(line)));
  std::memset(memory, 0, slots_ * stride_);
  memory_ = std::unique_ptr<std::byte[], Deleter>(memory, Deleter{line});
}

}  // namespace palpate
