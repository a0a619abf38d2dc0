#include "palpate/doubles/space_mouse_double.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "fault_queue.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

using MouseEvent = std::array<std::int32_t, 8>;
constexpr std::int64_t kMousePeriod = 8'000'000;  // [ns]

std::int32_t counts(double value, double full) {
  return static_cast<std::int32_t>(std::lround(350.0 * value / full));
}

}  // namespace

struct SpaceMouseDouble::Daemon {
  Daemon(DoubleHand& h, std::string p)
      : hand(h), path(std::move(p)), listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ::unlink(path.c_str());
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener, 4) != 0) {
      ::close(listener);
      fail_input("{}: the socket cannot be made", path);
    }
    thread = std::thread([this] { run(); });
  }
  ~Daemon() {
    stop = true;
    thread.join();
    drop();
    ::close(listener);
    ::unlink(path.c_str());
  }

  void drop() {
    if (client >= 0) ::close(client);
    client = -1;
  }

  void run() {
    std::int64_t next = monotonic_ns();
    while (!stop) {
      pollfd p{listener, POLLIN, 0};
      if (::poll(&p, 1, 0) > 0) {
        drop();
        client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        buttons = 0;
      }
      next = std::max(next + kMousePeriod, monotonic_ns());
      sleep_until_ns(next);
      if (client >= 0) tell();
    }
  }

  void send(const MouseEvent& event) {
    if (client < 0) return;
    const ssize_t n = ::send(client, event.data(), sizeof event, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n != static_cast<ssize_t>(sizeof event)) drop();
  }

  void tell() {
    const HandleTruth t = hand.now();
    const double right = t.velocity.linear.x(), up = t.velocity.linear.y(), away = -t.velocity.linear.z();
    MouseEvent motion{0,
                      counts(right, 0.15),
                      counts(up, 0.15),
                      counts(away, 0.15),
                      counts(t.velocity.angular.x(), 1.5),
                      counts(t.velocity.angular.y(), 1.5),
                      counts(-t.velocity.angular.z(), 1.5),
                      8};
    int times = 1;
    if (monotonic_ns() < mute_until) return;
    if (const auto fault = faults.next()) times = suffer(*fault, motion);
    for (int i = 0; i < times; ++i) send(motion);
    for (std::uint32_t changed = buttons ^ t.buttons, i = 0; changed != 0; changed >>= 1, ++i) {
      if ((changed & 1u) != 0) send({(t.buttons >> i & 1u) != 0 ? 1 : 2, static_cast<std::int32_t>(i)});
    }
    buttons = t.buttons;
  }

  /// How often the event is sent.
  int suffer(const FaultQueue::Item& item, MouseEvent& motion) {
    switch (item.fault) {
      case Fault::kDrop:
        drop();
        return 0;
      case Fault::kDelay:
        mute_until = monotonic_ns() + static_cast<std::int64_t>(1e9 * item.seconds);
        return 0;
      case Fault::kMute:
        return 0;
      case Fault::kGarbage:
        for (std::int32_t& x : motion) x = static_cast<std::int32_t>(random());
        return 1;
      case Fault::kOutOfRange:
        motion[1] = 2'147'483'647;
        motion[5] = -2'147'483'647 - 1;
        return 1;
      case Fault::kDuplicate:
        return 2;
    }
    return 1;
  }

  DoubleHand& hand;
  std::string path;
  int listener;
  int client = -1;
  std::uint32_t buttons = 0;
  std::int64_t mute_until = 0;
  std::mt19937 random{5};
  FaultQueue faults;
  std::atomic<bool> stop{false};
  std::thread thread;
};

SpaceMouseDouble::SpaceMouseDouble(DoubleHand& hand, std::string path)
    : daemon_(std::make_unique<Daemon>(hand, std::move(path))) {}

SpaceMouseDouble::~SpaceMouseDouble() = default;

void SpaceMouseDouble::inject(Fault fault, double seconds) {
  daemon_->faults.inject(fault, seconds);
}

std::uint64_t SpaceMouseDouble::faults_done() const noexcept {
  return daemon_->faults.done();
}

}  // namespace palpate
