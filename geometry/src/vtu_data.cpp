#include "vtu_data.h"

#include <zlib.h>

#include <array>

namespace palpate {
namespace {

/// No array of a mesh that 32-bit indices can name is larger; also stops files that inflate without end.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;
/// zlib's best: 1032 to 1 (its technical notes); a block that claims more is broken.
constexpr std::uint64_t kMaxRatio = 1032;

constexpr std::array<std::int8_t, 256> make_base64_values() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::int8_t>(i);
  return values;
}

/// Hands out the bytes of an array in order, raw or decoded.
class ByteSource {
 public:
  ByteSource(const SourceFile& file, const VtuArray& array)
      : file_(file), at_(array.begin), raw_(array.form == VtuArray::Form::kRaw) {}

  /// The next n bytes; throws if there are fewer.
  std::string take(std::uint64_t n) {
    // Four characters carry three bytes, so this many cannot be there.
    if (n > file_.bytes.size() - std::min(at_, file_.bytes.size())) fail(n);
    std::string out;
    out.reserve(n);
    if (raw_) {
      out = file_.bytes.substr(at_, n);
      at_ += n;
      return out;
    }
    while (out.size() < n) {
      if (left_ == 0) decode_four(n);
      out.push_back(buffer_[3 - left_--]);
    }
    return out;
  }
  [[noreturn]] void fail(std::uint64_t wanted) const {
    fail_input("{}: byte {}: {} more bytes were due; the file is cut short or its sizes are wrong", file_.name, at_,
               wanted);
  }

 private:
  void decode_four(std::uint64_t wanted) {
    static constexpr auto kValues = make_base64_values();
    std::uint32_t bits = 0;
    int digits = 0, padding = 0;
    while (digits + padding < 4) {
      if (at_ >= file_.bytes.size() || file_.bytes[at_] == '<') fail(wanted);
      const char c = file_.bytes[at_++];
      if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
      const int value = kValues[static_cast<unsigned char>(c)];
      if (c == '=' && digits >= 2) {
        ++padding;
      } else if (value >= 0 && padding == 0) {
        bits |= static_cast<std::uint32_t>(value) << (18 - 6 * digits++);
      } else {
        fail_input("{}: byte {}: {} is not base64", file_.name, at_ - 1,
                   quote_for_message(file_.bytes.substr(at_ - 1, 1)));
      }
    }
    left_ = 3 - padding;
    // Kept at the end of the buffer, so that `left_` alone tells the place.
    for (int i = 0; i < left_; ++i) buffer_[padding + i] = static_cast<char>(bits >> (16 - 8 * i));
  }

  const SourceFile& file_;
  std::size_t at_;
  bool raw_;
  int left_ = 0;  ///< decoded bytes not yet taken
  std::array<char, 3> buffer_{};
};

std::uint64_t take_size(ByteSource& source, const VtuEncoding& encoding) {
  const std::string bytes = source.take(encoding.wide_headers ? 8 : 4);
  return encoding.wide_headers ? load_as<std::uint64_t>(bytes.data(), encoding.big_endian)
                               : load_as<std::uint32_t>(bytes.data(), encoding.big_endian);
}

std::string inflate_block(const std::string& packed, std::uint64_t size, const std::string& place) {
  std::string out(size, '\0');
  auto length = static_cast<uLongf>(size);
  const int result = uncompress(reinterpret_cast<Bytef*>(out.data()), &length,
                                reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  if (result != Z_OK || length != size) fail_input("{}: compressed data is damaged (zlib {})", place, result);
  return out;
}

std::string take_compressed(ByteSource& source, const VtuEncoding& encoding, std::uint64_t size,
                            const std::string& place) {
  const std::uint64_t blocks = take_size(source, encoding), block = take_size(source, encoding),
                      last = take_size(source, encoding);
  // VTK writes 0 for the last block if it is a whole one.
  const bool partial = last != 0;
  if (blocks > kMaxBytes || block > kMaxBytes || last > block || (blocks == 0) != (size == 0) ||
      (blocks != 0 && (blocks - (partial ? 1 : 0)) * block + last != size)) {
    fail_input("{}: {} blocks of {} bytes, the last of {}; {} bytes were due", place, blocks, block, last, size);
  }
  std::vector<std::uint64_t> packed;
  for (std::uint64_t i = 0; i < blocks; ++i) packed.push_back(take_size(source, encoding));
  std::string out;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t wanted = partial && i + 1 == blocks ? last : block;
    if (packed[i] > kMaxBytes || wanted / kMaxRatio > packed[i]) {
      fail_input("{}: a block of {} bytes cannot hold {} once compressed", place, packed[i], wanted);
    }
    out += inflate_block(source.take(packed[i]), wanted, place);
  }
  return out;
}

}  // namespace

NumberList read_vtu_array(const SourceFile& file, const VtuEncoding& encoding, const VtuArray& array,
                          std::size_t count) {
  if (array.form == VtuArray::Form::kText) {
    std::size_t at = 0;
    // A tag ends the text, so that the last number may touch it.
    const std::size_t end = std::min(file.bytes.find('<', array.begin), file.bytes.size());
    const SourceFile text{file.name, file.bytes.substr(0, end)};
    NumberList list = read_text_list(text, array.begin, count, at);
    if (text.bytes.find_first_not_of(" \t\r\n", at) != std::string_view::npos) {
      fail_input("{}: more than the {} values that were declared", describe_line(file, at), count);
    }
    return list;
  }
  const std::string place = fmt::format("{}: byte {}", file.name, array.begin);
  const std::uint64_t size = std::uint64_t{count} * size_of(array.type);
  if (size > kMaxBytes) fail_input("{}: {} values; that is more than {} bytes", place, count, kMaxBytes);
  ByteSource source(file, array);
  std::string bytes;
  if (encoding.zlib) {
    bytes = take_compressed(source, encoding, size, place);
  } else {
    const std::uint64_t declared = take_size(source, encoding);
    if (declared != size) fail_input("{}: {} bytes of data; {} values take {}", place, declared, count, size);
    bytes = source.take(size);
  }
  NumberList list;
  list.begin = array.begin + (encoding.wide_headers ? 8 : 4);
  list.form =
      array.form == VtuArray::Form::kRaw && !encoding.zlib ? NumberList::Form::kBinary : NumberList::Form::kEncoded;
  list.stride = size_of(array.type);
  list.values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    list.values.push_back(load_scalar(array.type, bytes.data() + i * list.stride, encoding.big_endian));
  }
  return list;
}

}  // namespace palpate
