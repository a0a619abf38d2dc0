#include "palpate/devices/hand_protocol.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>

#include "palpate/core/error.h"

namespace palpate {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the layout is little-endian, and written as it is in memory");

constexpr std::array<char, 4> kHandMagic{'P', 'N', 'H', 'D'};
constexpr std::size_t kHeaderBytes = 24;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kNameBytes = 32;
constexpr std::size_t kWaveBytes = 4 * sizeof(double);

/// Bytes of a body; 0: no such type.
constexpr std::size_t body_bytes(HandPacketType type) noexcept {
  switch (type) {
    case HandPacketType::kHello:
      return kNameBytes + 4 + 11 * sizeof(float);
    case HandPacketType::kWelcome:
      return 8;
    case HandPacketType::kPose:
      return 4 + 15 * sizeof(float) + 2 * kWaveBytes;
    case HandPacketType::kWrench:
      return 6 * sizeof(float) + 2 * kWaveBytes;
    case HandPacketType::kBye:
      return 4;
  }
  return 0;
}
static_assert(kHeaderBytes + body_bytes(HandPacketType::kPose) + kTagBytes <= kLongestHandPacket);

class Writer {
 public:
  explicit Writer(const HandPacketHeader& h) {
    bytes_.reserve(kLongestHandPacket);
    put(kHandMagic);
    put(kHandProtocolVersion);
    put(h.type);
    put(std::uint16_t{0});
    put(h.session);
    put(h.sequence);
    put(h.echo);
  }
  template <typename T>
  void put(const T& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
  }
  void real(double value) { put(static_cast<float>(value)); }
  void vector(const Vec3& v) {
    for (const double x : v) real(x);
  }
  void wave(const WaveMessage& m) {
    for (const double x : m.integral) put(x);
    put(m.energy);
  }
  HandPacket finish(const HandKey* key) {
    HandKey::Tag tag{};
    if (key) tag = key->sign(bytes_);
    put(tag);
    return std::move(bytes_);
  }

 private:
  HandPacket bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> packet, std::size_t at = kHeaderBytes) : packet_(packet), at_(at) {}
  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, packet_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  double real() { return static_cast<double>(get<float>()); }
  Vec3 vector() {
    const double x = real(), y = real();
    return {x, y, real()};
  }
  WaveMessage wave() {
    WaveMessage m;
    for (double& x : m.integral) x = get<double>();
    m.energy = get<double>();
    return m;
  }

 private:
  std::span<const std::byte> packet_;
  std::size_t at_;
};

}  // namespace

HandKey::HandKey(std::string secret) : secret_(std::move(secret)) {
  if (secret_.size() < 16) fail_input("the network hand's key has {} bytes: must be 16 at least", secret_.size());
}

HandKey HandKey::read(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line))
    fail_input("{}: cannot be read. A key is one line, for example from: openssl rand -hex 32", path);
  return HandKey(line);
}

HandKey::Tag HandKey::sign(std::span<const std::byte> bytes) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> whole{};
  unsigned int size = 0;
  if (!HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
            reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), whole.data(), &size))
    throw std::runtime_error("HMAC-SHA256 is not available");
  Tag tag;
  std::memcpy(tag.data(), whole.data(), tag.size());
  return tag;
}

HandPacket encode(const HandPacketHeader& header, const HandHello& body, const HandKey* key) {
  Writer w(header);
  std::array<char, kNameBytes> name{};
  std::copy_n(body.name.data(), std::min(body.name.size(), kNameBytes - 1), name.data());
  w.put(name);
  w.put(static_cast<std::uint16_t>(body.input_dof));
  w.put(static_cast<std::uint16_t>(body.output_dof));
  w.real(body.max_force);
  w.real(body.max_torque);
  w.real(body.max_stiffness);
  w.vector(body.workspace_min);
  w.vector(body.workspace_max);
  w.real(body.wave_impedance);
  w.real(body.turn_wave_impedance);
  return w.finish(key);
}

HandPacket encode(const HandPacketHeader& header, const HandWelcome& body, const HandKey* key) {
  Writer w(header);
  w.put(body.hello);
  return w.finish(key);
}

HandPacket encode(const HandPacketHeader& header, const HandPose& body, const HandKey* key) {
  Writer w(header);
  w.put(body.buttons);
  w.vector(body.pose.position);
  w.real(body.pose.rotation.w());
  w.vector(body.pose.rotation.vec());
  w.vector(body.velocity.linear);
  w.vector(body.velocity.angular);
  w.real(body.grip);
  w.real(body.grip_rate);
  w.wave(body.wave);
  w.wave(body.turn_wave);
  return w.finish(key);
}

HandPacket encode(const HandPacketHeader& header, const HandWrench& body, const HandKey* key) {
  Writer w(header);
  w.vector(body.wrench.force);
  w.vector(body.wrench.torque);
  w.wave(body.wave);
  w.wave(body.turn_wave);
  return w.finish(key);
}

HandPacket encode_bye(const HandPacketHeader& header, const HandKey* key) {
  Writer w(header);
  w.put(std::uint32_t{0});
  return w.finish(key);
}

std::optional<HandPacketHeader> check_packet(std::span<const std::byte> packet, const HandKey* key) {
  if (packet.size() < kHeaderBytes + kTagBytes || packet.size() > kLongestHandPacket) return std::nullopt;
  Reader r(packet, 0);
  if (r.get<std::array<char, 4>>() != kHandMagic || r.get<std::uint8_t>() != kHandProtocolVersion) return std::nullopt;
  HandPacketHeader h;
  h.type = r.get<HandPacketType>();
  const std::size_t body = body_bytes(h.type);
  if (body == 0 || packet.size() != kHeaderBytes + body + kTagBytes) return std::nullopt;
  r.get<std::uint16_t>();  // for later versions
  h.session = r.get<std::uint64_t>();
  h.sequence = r.get<std::uint32_t>();
  h.echo = r.get<std::uint32_t>();
  if (key) {
    const HandKey::Tag tag = key->sign(packet.first(packet.size() - kTagBytes));
    // In constant time: how much of a guess is right must not show.
    if (CRYPTO_memcmp(tag.data(), packet.last(kTagBytes).data(), kTagBytes) != 0) return std::nullopt;
  }
  return h;
}

int protocol_version(std::span<const std::byte> packet) noexcept {
  if (packet.size() <= kHandMagic.size() || std::memcmp(packet.data(), kHandMagic.data(), kHandMagic.size()) != 0)
    return 0;
  return std::to_integer<int>(packet[kHandMagic.size()]);
}

HandHello decode_hello(std::span<const std::byte> packet) {
  Reader r(packet);
  HandHello b;
  const auto name = r.get<std::array<char, kNameBytes>>();
  b.name.assign(name.data(), ::strnlen(name.data(), kNameBytes));
  b.input_dof = r.get<std::uint16_t>();
  b.output_dof = r.get<std::uint16_t>();
  b.max_force = r.real();
  b.max_torque = r.real();
  b.max_stiffness = r.real();
  b.workspace_min = r.vector();
  b.workspace_max = r.vector();
  b.wave_impedance = r.real();
  b.turn_wave_impedance = r.real();
  return b;
}

HandWelcome decode_welcome(std::span<const std::byte> packet) {
  return {Reader(packet).get<std::uint64_t>()};
}

HandPose decode_pose(std::span<const std::byte> packet) {
  Reader r(packet);
  HandPose b;
  b.buttons = r.get<std::uint32_t>();
  b.pose.position = r.vector();
  b.pose.rotation.w() = r.real();
  b.pose.rotation.vec() = r.vector();
  b.velocity.linear = r.vector();
  b.velocity.angular = r.vector();
  b.grip = r.real();
  b.grip_rate = r.real();
  b.wave = r.wave();
  b.turn_wave = r.wave();
  return b;
}

HandWrench decode_wrench(std::span<const std::byte> packet) {
  Reader r(packet);
  HandWrench b;
  b.wrench.force = r.vector();
  b.wrench.torque = r.vector();
  b.wave = r.wave();
  b.turn_wave = r.wave();
  return b;
}

}  // namespace palpate
