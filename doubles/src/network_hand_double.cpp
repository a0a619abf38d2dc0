#include "palpate/doubles/network_hand_double.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "fault_queue.h"
#include "palpate/core/clock.h"

namespace palpate {
namespace {

constexpr std::int64_t kHandTick = 1'000'000;  // [ns]

HandSideSettings hand_side_settings(const NetworkHandDoubleSettings& s) {
  HandSideSettings h;
  h.description.name = "double";
  h.description.input_dof = h.description.output_dof = 6;
  h.description.max_force = 8.0;
  h.description.max_torque = 0.3;
  h.description.max_stiffness = 3000.0;
  h.description.workspace_min = Vec3::Constant(-0.1);
  h.description.workspace_max = Vec3::Constant(0.1);
  h.hello_period = 0.01;
  h.waves = s.waves;
  h.turn_waves = s.turn_waves;
  if (s.key) h.key.emplace(*s.key);
  return h;
}

}  // namespace

struct NetworkHandDouble::Program {
  Program(DoubleHand& h, const NetworkHandDoubleSettings& s)
      : hand(h), settings(s), fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)), random(s.seed) {
    engine.sin_family = AF_INET;
    engine.sin_port = htons(s.port);
    inet_pton(AF_INET, "127.0.0.1", &engine.sin_addr);
    restart();
    thread = std::thread([this] { run(); });
  }
  ~Program() {
    stop = true;
    thread.join();
    ::close(fd);
    hand.let_go();
  }

  /// As if the program had been ended and started again.
  void restart() {
    side = std::make_unique<HandSide>(hand_side_settings(settings), random() | std::uint64_t{random()} << 32);
  }

  std::int64_t way() {
    const PoorNetwork& n = settings.network;
    return static_cast<std::int64_t>(1e9 * (n.delay + std::uniform_real_distribution(0.0, n.jitter)(random)));
  }
  bool is_lost() { return std::uniform_real_distribution(0.0, 1.0)(random) < settings.network.loss; }

  void run() {
    std::int64_t next = monotonic_ns();
    while (!stop) {
      next = std::max(next + kHandTick, monotonic_ns());
      sleep_until_ns(next);
      tick(monotonic_ns());
    }
  }

  void tick(std::int64_t now) {
    receive(now);
    const HandleTruth t = hand.now();
    const HandPose pose{t.pose, t.velocity, t.buttons, t.grip, 0.0, {}, {}};
    send(side->make_packet(pose, now), now);
    // The motors are this program's own: they follow at once, and stop when it stops.
    hand.push(side->wrench(pose, 1e-9 * kHandTick, now), 0.02);
    for (auto i = outgoing.begin(); i != outgoing.end() && i->first <= now; i = outgoing.erase(i)) put(i->second);
  }

  void put(const HandPacket& packet) const {
    if (unplugged) return;
    ::sendto(fd, packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&engine), sizeof engine);
  }

  void receive(std::int64_t now) {
    std::array<std::byte, 2 * kLongestHandPacket> buffer;
    for (ssize_t n = 0; (n = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
      if (unplugged || is_lost()) continue;
      incoming.emplace(now + way(), HandPacket(buffer.begin(), buffer.begin() + n));
    }
    for (auto i = incoming.begin(); i != incoming.end() && i->first <= now; i = incoming.erase(i))
      side->receive(i->second, now);
  }

  void send(HandPacket packet, std::int64_t now) {
    if (now < mute_until || packet.empty()) return;
    std::int64_t late = way();
    if (const auto fault = faults.next()) late += suffer(*fault, packet, now);
    if (!packet.empty() && !is_lost()) outgoing.emplace(now + late, std::move(packet));
  }

  /// Returns how much later the packet goes out [ns].
  std::int64_t suffer(const FaultQueue::Item& item, HandPacket& packet, std::int64_t now) {
    switch (item.fault) {
      case Fault::kDrop:
        put(side->make_bye());
        restart();
        packet.clear();
        break;
      case Fault::kDelay:
        return static_cast<std::int64_t>(1e9 * item.seconds);
      case Fault::kMute:
        mute_until = now + 60'000'000;
        packet.clear();
        break;
      case Fault::kGarbage:
        packet.resize(1 + random() % kLongestHandPacket);
        for (std::byte& b : packet) b = static_cast<std::byte>(random());
        break;
      case Fault::kOutOfRange: {
        HandPose absurd;
        absurd.pose.position = Vec3(1e30, std::numeric_limits<double>::quiet_NaN(), 0.0);
        const HandPacket bad = side->make_packet(absurd, now);
        if (!bad.empty()) packet = bad;
        break;
      }
      case Fault::kDuplicate:
        outgoing.emplace(now, packet);
        outgoing.emplace(now + 3'000'000, packet);  // and once more, when newer ones have gone
        break;
    }
    return 0;
  }

  DoubleHand& hand;
  NetworkHandDoubleSettings settings;
  int fd;
  sockaddr_in engine{};
  std::mt19937 random;
  std::unique_ptr<HandSide> side;
  std::multimap<std::int64_t, HandPacket> incoming, outgoing;
  std::int64_t mute_until = 0;
  FaultQueue faults;
  std::atomic<bool> unplugged{false};
  std::atomic<bool> stop{false};
  std::thread thread;
};

NetworkHandDouble::NetworkHandDouble(DoubleHand& hand, const NetworkHandDoubleSettings& settings)
    : program_(std::make_unique<Program>(hand, settings)) {}

NetworkHandDouble::~NetworkHandDouble() = default;

void NetworkHandDouble::inject(Fault fault, double seconds) {
  program_->faults.inject(fault, seconds);
}

std::uint64_t NetworkHandDouble::faults_done() const noexcept {
  return program_->faults.done();
}

void NetworkHandDouble::unplug(bool out) {
  program_->unplugged = out;
}

}  // namespace palpate
