#include <cmath>
#include <nlohmann/json.hpp>

#include "driver_table.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "web_socket_client.h"

// The Haply Inverse3, through its maker's Inverse Service: JSON over a WebSocket on this computer. For every message of
// ours the service answers with one state, so we set the pace. A force holds for one exchange: if we fall silent, the
// device goes idle by itself.
//
// Its frame is x right, y away from the user, z up; metres, newtons. The handle turns by its grip, if it has one, and
// there is no torque.

namespace palpate {
namespace {

using Json = nlohmann::json;

constexpr double kHaplyPeriod = 5e-4;         // [s]; two exchanges to a tick, so that a force waits half of one at most
constexpr double kHaplyAnswerTimeout = 0.05;  // [s]
constexpr double kHaplyConnectTimeout = 0.5;  // [s]
constexpr double kHaplyBrakePause = 1.0;      // [s]; a hand that was just braked is not pushed again at once
constexpr int kHaplyMostNonsense = 20;        // answers in a row
constexpr std::uint16_t kHaplyEventsOffset = 19;  // events are on 10020 where states are on 10001
/// Until the service tells a figure we know how to read, what a light desktop device gives for long [N].
constexpr double kHaplyMaxForce = 5.0;
constexpr double kHaplyMaxStiffness = 1000.0;  // [N/m]; likewise
/// Farther out, the numbers are no positions of a device with arms of 30 cm [m].
constexpr double kHaplyReach = 1.0;

/// From the device's axes (right, away, up) to the world's (right, up, towards the user), and back.
Vec3 from_haply(const Vec3& v) noexcept {
  return {v.x(), v.z(), -v.y()};
}
Vec3 to_haply(const Vec3& v) noexcept {
  return {v.x(), -v.z(), v.y()};
}

/// Its three numbers, or NaN where one is missing.
Vec3 vector_of(const Json& object, const char* key) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return Vec3::Constant(kNone);
  const auto number = [&](const char* axis) {
    const auto n = found->find(axis);
    return n != found->end() && n->is_number() ? n->get<double>() : kNone;
  };
  return {number("x"), number("y"), number("z")};
}

/// The entry of the list `kind` with that id, or its first one if the id is empty; null: there is none.
const Json* find_entry(const Json& message, const char* kind, const std::string& id) {
  const auto list = message.find(kind);
  if (list == message.end() || !list->is_array()) return nullptr;
  for (const Json& entry : *list) {
    if (entry.is_object() && entry.contains("device_id") && entry["device_id"].is_string() &&
        (id.empty() || entry["device_id"].get_ref<const std::string&>() == id))
      return &entry;
  }
  return nullptr;
}

bool flag(const Json& object, const char* key, bool standard) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : standard;
}

/// What the newest message said, in the world frame.
struct HaplyState {
  HandleSample sample;
  bool ready = true;
  Vec3 echoed_force = Vec3::Constant(std::numeric_limits<double>::quiet_NaN());  ///< as the service says it gives
};

DeviceInfo describe_haply(const Json& message, const std::string& id) {
  DeviceInfo info;
  info.name = "Haply Inverse3 " + id;
  info.input_dof = find_entry(message, "wireless_verse_grip", "") || find_entry(message, "verse_grip", "") ? 6 : 3;
  info.output_dof = 3;
  info.max_force = kHaplyMaxForce;
  info.max_torque = 0.0;
  info.max_stiffness = kHaplyMaxStiffness;
  return info;
}

void read_grip(const Json& message, HandleSample& sample) {
  const Json* grip = find_entry(message, "wireless_verse_grip", "");
  if (!grip) grip = find_entry(message, "verse_grip", "");
  if (!grip || !grip->contains("state") || !(*grip)["state"].is_object()) return;
  const Json& state = (*grip)["state"];
  const auto buttons = state.find("buttons");
  if (buttons != state.end() && buttons->is_object()) {
    sample.buttons = (flag(*buttons, "a", false) ? 1u : 0u) | (flag(*buttons, "b", false) ? 2u : 0u) |
                     (flag(*buttons, "c", false) ? 4u : 0u);
  } else {
    sample.buttons = flag(state, "button", false) ? 1u : 0u;
  }
  const auto q = state.find("orientation");
  if (q == state.end() || !q->is_object() || !q->contains("w") || !(*q)["w"].is_number()) return;
  const Vec3 v = from_haply(vector_of(state, "orientation"));
  const Quat turned((*q)["w"].get<double>(), v.x(), v.y(), v.z());
  const double length = turned.norm();
  if (length > 0.5 && length < 2.0) sample.pose.rotation = turned.normalized();
}

/// False: the message tells nothing about the device `id`.
bool read_state(const Json& message, const std::string& id, HaplyState& out) {
  const Json* device = find_entry(message, "inverse3", id);
  if (!device || !device->contains("state") || !(*device)["state"].is_object()) return false;
  const Json& state = (*device)["state"];
  const Vec3 position = vector_of(state, "cursor_position");
  const Vec3 velocity = vector_of(state, "cursor_velocity");
  if (!(position.norm() < kHaplyReach) || !velocity.allFinite()) return false;
  out.sample.pose.position = from_haply(position);
  out.sample.velocity.linear = from_haply(velocity);
  out.echoed_force = from_haply(vector_of(state, "current_cursor_force"));
  const auto status = device->find("status");
  if (status != device->end() && status->is_object())
    out.ready = flag(*status, "calibrated", true) && flag(*status, "ready", true);
  read_grip(message, out.sample);
  return true;
}

/// The force is called "values" by services up to 3.4 and "vector" later, and a service may know only one. We begin
/// with the older word, which all public programs use, and change when the service says that it gives no force.
class ForceWord {
 public:
  const char* word() const noexcept { return later_ ? "vector" : "values"; }
  void observe(const Vec3& sent, const Vec3& echoed) noexcept {
    if (!echoed.allFinite() || sent.norm() < kSmall) return;
    unheard_ = echoed.norm() < 0.1 * sent.norm() ? unheard_ + 1 : 0;
    if (unheard_ < kPatience || changes_ == kMostChanges) return;
    later_ = !later_;
    unheard_ = 0;
    ++changes_;
  }

 private:
  static constexpr double kSmall = 0.02;  // [N]
  static constexpr int kPatience = 20;    // exchanges: 10 ms
  static constexpr int kMostChanges = 3;  // a service that never tells its force must not be teased for ever
  bool later_ = false;
  int unheard_ = 0;
  int changes_ = 0;
};

class HaplyProtocol final : public DriverProtocol {
 public:
  /// `where`: HOST:PORT, HOST:PORT/ID
  explicit HaplyProtocol(std::string_view where) {
    const std::size_t slash = where.find('/');
    if (slash != std::string_view::npos) wanted_id_ = where.substr(slash + 1);
    endpoint_ = parse_endpoint(where.substr(0, slash), {"127.0.0.1", 10001});
  }

  Loss run(DriverSeat& seat) override {
    WebSocketClient states([this](std::string_view text) { on_state(text); });
    id_.clear();
    nonsense_ = 0;
    if (!states.connect(endpoint_, kHaplyConnectTimeout)) {
      seat.note(fmt::format("the Inverse Service at {}:{} does not answer ({})", endpoint_.host, endpoint_.port,
                            states.error()));
      return Loss::kNotConnected;
    }
    if (!states.wait([this] { return !id_.empty(); }, kHaplyConnectTimeout)) {
      seat.note(wanted_id_.empty() ? "the Inverse Service has no Inverse3"
                                   : "the Inverse Service has no Inverse3 " + wanted_id_);
      return Loss::kNotReady;
    }
    seat.describe(info_);
    const Loss why = exchange(seat, states);
    send(states, Vec3::Zero());
    return why;
  }

 private:
  void on_state(std::string_view text) {
    heard_ = true;
    const Json message = Json::parse(text, nullptr, false);
    if (message.is_discarded() || !message.is_object()) {
      ++nonsense_;
      return;
    }
    if (id_.empty()) {
      if (const Json* device = find_entry(message, "inverse3", wanted_id_)) take_inventory(message, *device);
      return;
    }
    HaplyState next;
    if (!read_state(message, id_, next)) {
      ++nonsense_;
      return;
    }
    nonsense_ = 0;
    next.sample.at_ns = monotonic_ns();
    state_ = next;
    answered_ = true;
  }

  void take_inventory(const Json& message, const Json& device) {
    id_ = device["device_id"].get<std::string>();
    info_ = describe_haply(message, id_);
  }

  bool send(WebSocketClient& states, const Vec3& force) {
    const Vec3 f = to_haply(force);
    return states.send(
        fmt::format(
            R"({{"inverse3":[{{"device_id":"{}","commands":{{"set_cursor_force":{{"{}":{{"x":{:.6g},"y":{:.6g},"z":{:.6g}}}}}}}}}]}})",
            id_, word_.word(), f.x(), f.y(), f.z()),
        kHaplyAnswerTimeout);
  }

  Loss exchange(DriverSeat& seat, WebSocketClient& states) {
    bool braked = false;
    WebSocketClient events(
        [&](std::string_view text) { braked |= text.find("\"device-safety-triggered\"") != std::string_view::npos; });
    events.connect({endpoint_.host, static_cast<std::uint16_t>(endpoint_.port + kHaplyEventsOffset)}, 0.1);
    DeviceExchange& exchange = seat.exchange();
    bool connected = false;
    std::int64_t next = monotonic_ns();
    while (!seat.stop_wanted()) {
      states.poll();
      const std::int64_t sent_at = monotonic_ns();
      const Vec3 force = exchange.wrench_to_send(sent_at).force;
      answered_ = heard_ = false;
      if (!send(states, force)) return Loss::kClosed;
      if (!states.wait([this] { return heard_; }, kHaplyAnswerTimeout))
        return states.is_open() ? Loss::kSilent : Loss::kClosed;
      if (nonsense_ > kHaplyMostNonsense) return Loss::kNonsense;
      if (!answered_) continue;  // one answer without a meaning is no loss: samples only grow older
      seat.count_round_trip(state_.sample.at_ns - sent_at);
      word_.observe(force, state_.echoed_force);
      if (events.is_open()) events.poll();
      if (braked) {
        exchange.disconnect(Loss::kBraked);
        seat.note("the device braked itself");
        send(states, Vec3::Zero());
        seat.pause(kHaplyBrakePause);
        return Loss::kBraked;
      }
      if (state_.ready != connected) state_.ready ? exchange.connect() : exchange.disconnect(Loss::kNotReady);
      connected = state_.ready;
      exchange.publish(state_.sample);
      next = std::max(next + static_cast<std::int64_t>(1e9 * kHaplyPeriod), monotonic_ns());
      sleep_until_ns(next);
    }
    return Loss::kNone;
  }

  Endpoint endpoint_;
  std::string wanted_id_;
  std::string id_;  ///< of the device in use; empty: none yet
  DeviceInfo info_;
  HaplyState state_;
  ForceWord word_;
  bool heard_ = false;     ///< a message came since the last one was sent
  bool answered_ = false;  ///< … and it was a state
  int nonsense_ = 0;
};

}  // namespace

std::unique_ptr<DriverProtocol> make_haply(const DriverOptions& options) {
  return std::make_unique<HaplyProtocol>(options.where);
}

DriverProbe probe_haply(const DriverOptions& options) {
  DriverProbe probe;
  const Endpoint endpoint =
      parse_endpoint(std::string_view(options.where).substr(0, options.where.find('/')), {"127.0.0.1", 10001});
  std::string inventory;
  WebSocketClient client([&](std::string_view text) { inventory = text; });
  const bool there = client.connect(endpoint, 0.2);
  probe.steps.push_back({there,
                         fmt::format("the Inverse Service {} at {}:{}", there ? "answers" : "does not answer",
                                     endpoint.host, endpoint.port),
                         "install Haply's Inverse Service and start it: systemctl start haply-inverse-service"});
  if (!there) return probe;
  probe.found = fmt::format("{}:{}", endpoint.host, endpoint.port);
  client.wait([&] { return !inventory.empty(); }, 0.2);
  const Json message = Json::parse(inventory, nullptr, false);
  const std::size_t slash = options.where.find('/');
  const std::string wanted = slash == std::string::npos ? "" : options.where.substr(slash + 1);
  const Json* device = message.is_object() ? find_entry(message, "inverse3", wanted) : nullptr;
  const std::string what = "Inverse3" + (wanted.empty() ? "" : " " + wanted);
  probe.steps.push_back({device != nullptr, (device ? "the service has an " : "the service has no ") + what,
                         "plug the device in and switch it on; the service's own page shows it when it is seen"});
  if (!device) return probe;
  for (const Json& entry : message["inverse3"]) {
    if (!entry.is_object() || !entry.contains("device_id") || !entry["device_id"].is_string()) continue;
    const std::string id = entry["device_id"].get<std::string>();
    probe.devices.push_back({"/" + id, describe_haply(message, id)});
  }
  const auto status = device->find("status");
  const bool calibrated = status == device->end() || !status->is_object() || flag(*status, "calibrated", true);
  probe.steps.push_back({calibrated, calibrated ? "it is calibrated" : "it is not calibrated",
                         "follow the maker's calibration: move the handle to its stand"});
  return probe;
}

}  // namespace palpate
