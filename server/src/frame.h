#pragma once

#include <cstring>
#include <span>
#include <string>

namespace palpate {

/// Builds the binary message that a page draws from: sections of four-byte aligned data, each a tag of four letters,
/// its length in bytes, and that many bytes. All little-endian; web/src/frame.ts reads it.
class FrameWriter {
 public:
  FrameWriter() { bytes_.reserve(1 << 16); }

  template <typename T>
  void add(const char (&tag)[5], std::span<const T> data) {
    const auto length = static_cast<std::uint32_t>(data.size_bytes());
    bytes_.append(tag, 4);
    bytes_.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes_.append(reinterpret_cast<const char*>(data.data()), data.size_bytes());
    bytes_.append((4 - data.size_bytes() % 4) % 4, '\0');
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace palpate
