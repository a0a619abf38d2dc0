#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "driver_table.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/devices/engine_side.h"
#include "web_socket_client.h"

// A hand on the network: any program that speaks the protocol of docs/network-hand.md. It calls us. Its frame and units
// are ours: x right, y up, z towards the user; metres, newtons.

namespace palpate {
namespace {

constexpr std::uint16_t kNetworkHandPort = 10101;
constexpr std::int64_t kNetworkTick = 1'000'000;       // [ns]
constexpr std::int64_t kNetworkSilence = 100'000'000;  // [ns]; then the session is over
/// With a longer way there and back, a stiff wall swings a hand that does not speak in waves [ns].
constexpr std::int64_t kLongestPlainRoundTrip = 5'000'000;
constexpr int kRoundTripsWatched = 200;

struct NetworkPlace {
  Endpoint endpoint;
  std::optional<HandKey> key;
};

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.");
}

/// ADDRESS:PORT, and ,KEYFILE
NetworkPlace parse_network_place(std::string_view where) {
  const std::size_t comma = where.find(',');
  NetworkPlace place;
  place.endpoint = parse_endpoint(where.substr(0, comma), {"127.0.0.1", kNetworkHandPort});
  if (place.endpoint.host == "localhost") place.endpoint.host = "127.0.0.1";
  if (comma != std::string_view::npos) place.key = HandKey::read(std::string(where.substr(comma + 1)));
  if (!is_loopback(place.endpoint.host) && !place.key)
    fail_input(
        "network:{}: whoever reaches this address could move the hand, so it needs a key: openssl rand -hex 32 > "
        "hand.key, then "
        "network:{},hand.key",
        where, where);
  return place;
}

/// A UDP socket that never waits. Throws InputError.
class UdpSocket {
 public:
  explicit UdpSocket(const Endpoint& endpoint) : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(endpoint.port);
    const bool known = inet_pton(AF_INET, endpoint.host.c_str(), &address.sin_addr) == 1;
    if (fd_ < 0 || !known || ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      const std::string why = known ? std::strerror(errno) : "not an IPv4 address";
      if (fd_ >= 0) ::close(fd_);
      fail_input("cannot listen at {}:{} ({})", endpoint.host, endpoint.port, why);
    }
  }
  ~UdpSocket() { ::close(fd_); }
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  /// Until something came or the clock reads `deadline`.
  void wait(std::int64_t deadline) const {
    const std::int64_t left = std::max<std::int64_t>(deadline - monotonic_ns(), 0);
    pollfd p{fd_, POLLIN, 0};
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    ::ppoll(&p, 1, &timeout, nullptr);
  }
  /// The next datagram, or empty.
  std::span<const std::byte> receive(sockaddr_in& from) {
    socklen_t size = sizeof from;
    const ssize_t n = ::recvfrom(fd_, buffer_.data(), buffer_.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    return n > 0 ? std::span<const std::byte>(buffer_.data(), as_size(n)) : std::span<const std::byte>();
  }
  void send(const HandPacket& packet, const sockaddr_in& to) const {
    ::sendto(fd_, packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }

 private:
  int fd_;
  std::array<std::byte, 2 * kLongestHandPacket> buffer_{};
};

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) throw std::runtime_error("no random numbers to be had");
  return number;
}

DeviceInfo info_of(const HandHello& hello) {
  DeviceInfo info;
  info.name = hello.name.empty() ? "network hand" : quote_for_message(hello.name);
  info.input_dof = hello.input_dof >= 6 ? 6 : 3;
  info.output_dof = hello.output_dof >= 6 && (hello.wave_impedance == 0.0 || hello.turn_wave_impedance > 0.0) ? 6 : 3;
  info.max_force = hello.max_force;
  info.max_torque = info.output_dof == 6 ? hello.max_torque : 0.0;
  if (hello.max_stiffness > 0.0) info.max_stiffness = hello.max_stiffness;
  if (((hello.workspace_max - hello.workspace_min).array() > 0.0).all()) {
    info.workspace_min = hello.workspace_min;
    info.workspace_max = hello.workspace_max;
  }
  return info;
}

bool is_same(const sockaddr_in& a, const sockaddr_in& b) noexcept {
  return a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
}

class NetworkHandProtocol final : public DriverProtocol {
 public:
  explicit NetworkHandProtocol(NetworkPlace place) : place_(std::move(place)) {}

  Loss run(DriverSeat& seat) override {
    UdpSocket socket(place_.endpoint);
    EngineSide engine(place_.key);
    seat.note(fmt::format("no hand has called at {}:{}", place_.endpoint.host, place_.endpoint.port));
    connected_ = false;
    std::int64_t next = monotonic_ns();
    while (!seat.stop_wanted()) {
      socket.wait(next);
      hear(seat, socket, engine);
      const std::int64_t now = monotonic_ns();
      if (now < next) continue;
      next = std::max(next + kNetworkTick, now);
      if (!engine.has_session()) continue;
      if (now - engine.heard_at() > kNetworkSilence) {
        lose(seat, Loss::kSilent);
        engine.end_session();
        continue;
      }
      socket.send(engine.make_wrench(seat.exchange().wrench_to_send(now), now), peer_);
      if (connected_ && engine.has_waves()) publish(seat, engine);
    }
    if (engine.has_session()) {
      socket.send(engine.make_wrench({}, monotonic_ns()), peer_);
      socket.send(engine.make_bye(), peer_);
    }
    return Loss::kNone;
  }

 private:
  void hear(DriverSeat& seat, UdpSocket& socket, EngineSide& engine) {
    sockaddr_in from{};
    for (auto packet = socket.receive(from); !packet.empty(); packet = socket.receive(from)) {
      // Without a key the address is all that tells a hand from a stranger on this computer.
      const bool stranger = !place_.key && engine.has_session() && !is_same(from, peer_);
      if (stranger && monotonic_ns() - engine.heard_at() < kNetworkSilence) continue;
      switch (engine.receive(packet, random_number(), monotonic_ns())) {
        case EngineSide::Heard::kHello:
        case EngineSide::Heard::kLostHand:
          socket.send(engine.answer(), from);
          break;
        case EngineSide::Heard::kHand:
          seat.describe(info_of(engine.description()));
          shortest_ = 0;
          watched_ = 0;
          connected_ = true;
          seat.exchange().connect();
          [[fallthrough]];
        case EngineSide::Heard::kPose:
          peer_ = from;
          watch_round_trip(seat, engine);
          publish(seat, engine);
          break;
        case EngineSide::Heard::kBye:
          lose(seat, Loss::kClosed);
          break;
        case EngineSide::Heard::kNothing:
          note_version(seat, packet);
          break;
      }
    }
  }

  /// A hand of another version is not understood; whoever started it should know why.
  void note_version(DriverSeat& seat, std::span<const std::byte> packet) {
    const int version = protocol_version(packet);
    if (version == 0 || version == kHandProtocolVersion || version == foreign_version_) return;
    foreign_version_ = version;
    seat.note(fmt::format("a hand calls in version {} of the protocol; this is version {} (docs/network-hand.md)",
                          version, kHandProtocolVersion));
  }

  void lose(DriverSeat& seat, Loss why) {
    connected_ = false;
    seat.exchange().disconnect(why);
  }

  /// A hand that is far away and does not speak in waves gets no force.
  void watch_round_trip(DriverSeat& seat, const EngineSide& engine) {
    const std::int64_t trip = engine.round_trip();
    if (trip == 0) return;
    seat.count_round_trip(trip);
    shortest_ = watched_ == 0 ? trip : std::min(shortest_, trip);
    if (++watched_ < kRoundTripsWatched) return;
    watched_ = 0;
    const bool far = shortest_ > kLongestPlainRoundTrip && !engine.has_waves();
    if (far && connected_) {
      seat.note(fmt::format("the hand is {:.0f} ms away and does not speak in waves: a stiff wall would swing it",
                            1e-6 * static_cast<double>(shortest_)));
      lose(seat, Loss::kNotReady);
    } else if (!far && !connected_) {
      connected_ = true;
      seat.exchange().connect();
    }
  }

  void publish(DriverSeat& seat, const EngineSide& engine) {
    if (!connected_) return;
    const HandPose& p = engine.pose();
    seat.exchange().publish({engine.heard_at(), p.pose, p.velocity, p.buttons, p.grip, p.grip_rate});
  }

  NetworkPlace place_;
  sockaddr_in peer_{};
  bool connected_ = false;
  std::int64_t shortest_ = 0;  ///< round trip since `watched_` was 0 [ns]
  int watched_ = 0;
  int foreign_version_ = 0;  ///< that a hand called in
};

}  // namespace

std::unique_ptr<DriverProtocol> make_network_hand(const DriverOptions& options) {
  return std::make_unique<NetworkHandProtocol>(parse_network_place(options.where));
}

DriverProbe probe_network_hand(const DriverOptions& options) {
  DriverProbe probe;
  try {
    const NetworkPlace place = parse_network_place(options.where);
    UdpSocket socket(place.endpoint);
    probe.found = fmt::format("{}:{}{}", place.endpoint.host, place.endpoint.port, place.key ? " with a key" : "");
    probe.steps.push_back({true, "can listen at " + probe.found, ""});
    EngineSide engine(place.key);
    sockaddr_in from{};
    bool called = false;
    const std::int64_t end = monotonic_ns() + 250'000'000;
    while (!called && monotonic_ns() < end) {
      socket.wait(end);
      const auto packet = socket.receive(from);
      const auto header = check_packet(packet, place.key ? &*place.key : nullptr);
      called = header && header->type == HandPacketType::kHello;
      if (called) probe.devices.push_back({"", info_of(decode_hello(packet))});
    }
    probe.steps.push_back({called, called ? "a hand calls" : "no hand calls",
                           "start the program that is the hand: docs/network-hand.md"});
    probe.version = fmt::format("protocol {}", kHandProtocolVersion);
  } catch (const InputError& e) {
    probe.steps.push_back({false, e.what(), "choose another address, or end the program that has it"});
  }
  return probe;
}

}  // namespace palpate
