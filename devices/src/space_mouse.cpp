#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "driver_table.h"
#include "palpate/core/clock.h"

// A 3D mouse through spacenavd, by its socket: records of eight 32-bit numbers. It tells how far its cap is pushed,
// which is a velocity here, and it gives no force.
//
// Its axes are x right, y up, z away from the user, and its turns are about those axes by the right hand, as libspnav's
// own helpers have it. A count of 350 is about a full push; spacenavd's sensitivity scales it.

namespace palpate {
namespace {

constexpr std::int64_t kMouseTick = 1'000'000;       // [ns]
constexpr std::int64_t kMouseSilence = 150'000'000;  // [ns]; a cap that is pushed is told about more often
constexpr double kMouseFullPush = 350.0;             // counts
constexpr double kMouseSpeed = 0.15;                 // [m/s] at a full push
constexpr double kMouseTurnRate = 1.5;               // [rad/s] at a full push
constexpr double kMouseReach = 0.1;                  // [m]; the tool stays in this box
constexpr int kMouseMostCounts = 5000;

struct MouseRecord {
  std::int32_t type;  ///< 0 motion, 1 press, 2 release
  std::int32_t data[7];
};
static_assert(sizeof(MouseRecord) == 32);

std::string mouse_socket(const std::string& where) {
  return where.empty() ? "/var/run/spnav.sock" : where;
}

/// −1, with errno, if nobody listens there.
int connect_mouse(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int why = errno;
  if (fd >= 0) ::close(fd);
  errno = why;
  return -1;
}

DeviceInfo mouse_info() {
  DeviceInfo info;
  info.name = "3D mouse";
  info.input_dof = 6;
  info.output_dof = 3;  // as if: the force is computed and shown, and goes nowhere
  info.workspace_min = Vec3::Constant(-kMouseReach);
  info.workspace_max = Vec3::Constant(kMouseReach);
  return info;
}

class SpaceMouseProtocol final : public DriverProtocol {
 public:
  explicit SpaceMouseProtocol(std::string path) : path_(std::move(path)) {}

  Loss run(DriverSeat& seat) override {
    const int fd = connect_mouse(path_);
    if (fd < 0) {
      seat.note(fmt::format("spacenavd does not answer at {} ({})", path_, std::strerror(errno)));
      return Loss::kNotConnected;
    }
    seat.describe(mouse_info());
    filled_ = 0;
    push_ = {};
    seat.exchange().connect();
    const Loss why = exchange(seat, fd);
    ::close(fd);
    return why;
  }

 private:
  Loss exchange(DriverSeat& seat, int fd) {
    std::int64_t last = monotonic_ns(), next = last;
    while (!seat.stop_wanted()) {
      next = std::max(next + kMouseTick, monotonic_ns());
      while (monotonic_ns() < next) {
        const std::int64_t left = std::max<std::int64_t>(next - monotonic_ns(), 0);
        pollfd p{fd, POLLIN, 0};
        const timespec timeout{0, left};
        if (::ppoll(&p, 1, &timeout, nullptr) <= 0) break;
        const ssize_t n = ::recv(fd, bytes_.data() + filled_, bytes_.size() - filled_, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return Loss::kClosed;
        if (n < 0) continue;
        filled_ += as_size(n);
        if (filled_ < bytes_.size()) continue;
        filled_ = 0;
        if (!take_record()) return Loss::kNonsense;  // out of step for good: begin anew
      }
      const std::int64_t now = monotonic_ns();
      if (now - pushed_at_ > kMouseSilence) push_ = {};
      move(1e-9 * static_cast<double>(now - last));
      last = sample_.at_ns = now;
      seat.exchange().publish(sample_);
    }
    return Loss::kNone;
  }

  bool take_record() {
    MouseRecord r;
    std::memcpy(&r, bytes_.data(), sizeof r);
    if (r.type == 1 || r.type == 2) {
      if (r.data[0] < 0 || r.data[0] > 31) return r.data[0] >= 0 && r.data[0] < 256;  // keys that we have no bit for
      const std::uint32_t bit = 1u << r.data[0];
      sample_.buttons = r.type == 1 ? sample_.buttons | bit : sample_.buttons & ~bit;
      return true;
    }
    if (r.type != 0) return false;
    const auto axis = [&](int i) { return std::clamp(static_cast<double>(r.data[i]) / kMouseFullPush, -2.0, 2.0); };
    for (int i = 0; i < 6; ++i) {
      if (std::abs(static_cast<double>(r.data[i])) > kMouseMostCounts) return true;  // absurd: passed over
    }
    push_.linear = kMouseSpeed * Vec3(axis(0), axis(1), -axis(2));
    push_.angular = kMouseTurnRate * Vec3(axis(3), axis(4), -axis(5));
    pushed_at_ = monotonic_ns();
    return true;
  }

  /// Where the tool goes; at the rim of its box it stops.
  void move(double dt) noexcept {
    const Vec3 before = sample_.pose.position;
    sample_.pose.position = (before + dt * push_.linear).cwiseMax(-kMouseReach).cwiseMin(kMouseReach);
    sample_.pose.rotation = (rotation_from_vector(dt * push_.angular) * sample_.pose.rotation).normalized();
    sample_.velocity = push_;
    for (int i = 0; i < 3; ++i) {
      if (std::abs(sample_.pose.position[i]) >= kMouseReach) sample_.velocity.linear[i] = 0.0;
    }
  }

  std::string path_;
  std::array<std::byte, sizeof(MouseRecord)> bytes_{};
  std::size_t filled_ = 0;
  Twist push_;
  std::int64_t pushed_at_ = 0;
  HandleSample sample_;  ///< the tool stays where it was when the mouse comes back
};

}  // namespace

std::unique_ptr<DriverProtocol> make_space_mouse(const DriverOptions& options) {
  return std::make_unique<SpaceMouseProtocol>(mouse_socket(options.where));
}

DriverProbe probe_space_mouse(const DriverOptions& options) {
  DriverProbe probe;
  const std::string path = mouse_socket(options.where);
  const bool exists = ::access(path.c_str(), F_OK) == 0;
  probe.steps.push_back({exists, (exists ? "there is spacenavd's socket " : "there is no socket ") + path,
                         "apt install spacenavd, then: systemctl start spacenavd"});
  if (!exists) return probe;
  const int fd = connect_mouse(path);
  probe.steps.push_back({fd >= 0, fd >= 0 ? "spacenavd answers" : fmt::format("spacenavd: {}", std::strerror(errno)),
                         "systemctl restart spacenavd; journalctl -u spacenavd tells more"});
  if (fd < 0) return probe;
  ::close(fd);
  probe.found = path;
  probe.devices.push_back({"", mouse_info()});
  return probe;
}

}  // namespace palpate
