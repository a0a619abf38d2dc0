#include "palpate/doubles/haply_service.h"

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "fault_queue.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using Tcp = boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Json = nlohmann::json;

constexpr std::uint16_t kEventsAbovePort = 19;

/// The device's axes from what is physically meant.
struct HaplyVector {
  double x, y, z;
};
HaplyVector haply_axes(const Vec3& world) {
  const double right = world.x(), up = world.y(), towards_user = world.z();
  return {.x = right, .y = -towards_user, .z = up};
}

/// One client. Kept alive by what it waits for.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using OnMessage = std::function<void(Session&, std::string)>;
  using OnEnd = std::function<void()>;

  Session(Tcp::socket socket, OnMessage on_message, OnEnd on_end)
      : socket_(std::move(socket)), on_message_(std::move(on_message)), on_end_(std::move(on_end)) {}

  void start(std::string greeting) {
    ErrorCode ignored;
    socket_.next_layer().set_option(Tcp::no_delay(true), ignored);
    socket_.async_accept([self = shared_from_this(), greeting = std::move(greeting)](ErrorCode code) {
      if (code) return self->end();
      self->ready_ = true;
      self->socket_.text(true);
      if (!greeting.empty()) self->send(greeting);
      self->read();
    });
  }

  void send(std::string text) {
    if (!ready_) return;
    queue_.push_back(std::move(text));
    if (queue_.size() == 1) write();
  }

  void drop() {
    ErrorCode ignored;
    socket_.next_layer().close(ignored);
  }

 private:
  void read() {
    socket_.async_read(buffer_, [self = shared_from_this()](ErrorCode code, std::size_t) {
      if (code) return self->end();
      std::string text = beast::buffers_to_string(self->buffer_.data());
      self->buffer_.consume(self->buffer_.size());
      self->on_message_(*self, std::move(text));
      self->read();
    });
  }

  void write() {
    socket_.async_write(boost::asio::buffer(queue_.front()), [self = shared_from_this()](ErrorCode code, std::size_t) {
      if (code) return self->end();
      self->queue_.pop_front();
      if (!self->queue_.empty()) self->write();
    });
  }

  void end() {
    ready_ = false;
    if (on_end_) std::exchange(on_end_, nullptr)();
  }

  websocket::stream<Tcp::socket> socket_;
  beast::flat_buffer buffer_;
  std::deque<std::string> queue_;
  OnMessage on_message_;
  OnEnd on_end_;
  bool ready_ = false;
};

Tcp::acceptor make_acceptor(boost::asio::io_context& io, std::uint16_t port) {
  try {
    return Tcp::acceptor(io, Tcp::endpoint(boost::asio::ip::make_address_v4("127.0.0.1"), port), true);
  } catch (const std::exception& e) {
    fail_input("port {} of 127.0.0.1: {}", port, e.what());
  }
}

}  // namespace

struct HaplyService::Server {
  Server(DoubleHand& h, const HaplyServiceSettings& s)
      : hand(h), settings(s), states(make_acceptor(io, s.port)), port(states.local_endpoint().port()) {
    // A free port may have no free one 19 above it: then there are no events, as with an older service.
    try {
      events.emplace(make_acceptor(io, static_cast<std::uint16_t>(port + kEventsAbovePort)));
    } catch (const InputError&) {
    }
    accept_states();
    if (events) accept_events();
    thread = std::thread([this] { io.run(); });
  }

  ~Server() {
    boost::asio::post(io, [this] {
      if (client) client->drop();
      io.stop();
    });
    thread.join();
    hand.let_go();
  }

  void accept_states() {
    states.async_accept([this](ErrorCode code, Tcp::socket socket) {
      if (code) return;
      client = std::make_shared<Session>(
          std::move(socket), [this](Session& s, std::string text) { answer(s, text); }, [this] { hand.let_go(); });
      client->start(make_state(true));
      accept_states();
    });
  }

  void accept_events() {
    events->async_accept([this](ErrorCode code, Tcp::socket socket) {
      if (code) return;
      listener = std::make_shared<Session>(
          std::move(socket), [](Session&, std::string) {}, nullptr);
      listener->start("");
      accept_events();
    });
  }

  void answer(Session& session, const std::string& text) {
    obey(text);
    const auto item = faults.next();
    if (!item) return session.send(make_state(false));
    switch (item->fault) {
      case Fault::kDrop:
        return session.drop();
      case Fault::kMute:
        return;
      case Fault::kDelay:
        timer.expires_after(std::chrono::microseconds(static_cast<std::int64_t>(1e6 * item->seconds)));
        timer.async_wait([this, self = session.shared_from_this()](ErrorCode code) {
          if (!code) self->send(make_state(false));
        });
        return;
      case Fault::kGarbage:
        return session.send(garbage());
      case Fault::kOutOfRange:
        return session.send(absurd());
      case Fault::kDuplicate:
        session.send(make_state(false));
        return session.send(make_state(false));
    }
  }

  /// Takes the force of a message; one without a force, or with one it does not know, switches it off.
  void obey(const std::string& text) {
    const Json message = Json::parse(text, nullptr, false);
    force = Vec3::Zero();
    if (message.is_object() && message.contains("inverse3")) {
      for (const Json& device : message["inverse3"]) {
        if (device.value("device_id", "") != settings.device_id || !device.contains("commands")) continue;
        const Json command = device["commands"].value("set_cursor_force", Json::object());
        const Json* f = settings.knows_values && command.contains("values")   ? &command["values"]
                        : settings.knows_vector && command.contains("vector") ? &command["vector"]
                                                                              : nullptr;
        if (!f) continue;
        const double x = f->value("x", 0.0), y = f->value("y", 0.0), z = f->value("z", 0.0);
        force = Vec3(x, z, -y);  // right, up, towards the user
      }
    }
    if (!ready) force.setZero();
    hand.push({force, Vec3::Zero()}, settings.idle_after);
  }

  std::string make_state(bool whole) {
    const HandleTruth t = hand.now();
    const HaplyVector p = haply_axes(t.pose.position), v = haply_axes(t.velocity.linear);
    const HaplyVector q = haply_axes(t.pose.rotation.vec()), f = haply_axes(force);
    const auto xyz = [](const HaplyVector& a) { return fmt::format(R"("x":{},"y":{},"z":{})", a.x, a.y, a.z); };
    const std::string status = fmt::format(
        R"("status":{{"calibrated":true,"in_use":true,"power_supply":true,"ready":{},"started":true}})", ready);
    const std::string config = whole ? R"("config":{"type":"inverse3","device_info":{"major_version":7}},)" : "";
    std::string grip;
    const std::string turn = fmt::format(R"("orientation":{{"w":{},{}}})", t.pose.rotation.w(), xyz(q));
    const auto on = [&](int i) { return ((t.buttons >> i) & 1u) != 0; };
    if (settings.grip == HaplyServiceSettings::Grip::kWired)
      grip = fmt::format(R"(,"verse_grip":[{{"device_id":"61BF","state":{{"button":{},"hall":0,{}}}}}])", on(0), turn);
    if (settings.grip == HaplyServiceSettings::Grip::kWireless)
      grip = fmt::format(
          R"(,"wireless_verse_grip":[{{"device_id":"00A3","state":{{"buttons":{{"a":{},"b":{},"c":{}}},{}}}}}])", on(0),
          on(1), on(2), turn);
    return fmt::format(
        R"({{"inverse3":[{{"device_id":"{}",{}"state":{{"cursor_position":{{{}}},"cursor_velocity":{{{}}},)"
        R"("current_cursor_force":{{{}}},"control_mode":"cursor_force"}},{}}}]{}}})",
        settings.device_id, config, xyz(p), xyz(v), xyz(f), status, grip);
  }

  std::string garbage() {
    static const std::array<std::string, 5> kAll{"", "{", R"({"inverse3":7})", R"({"inverse3":[{"device_id":1}]})",
                                                 std::string(3000, '[')};
    return kAll[++garbage_count % kAll.size()];
  }

  std::string absurd() const {
    return fmt::format(R"({{"inverse3":[{{"device_id":"{}","state":{{"cursor_position":{{"x":1e300,"y":-7.0,"z":0.1}},)"
                       R"("cursor_velocity":{{"x":0,"y":1e99,"z":0}}}}}}]}})",
                       settings.device_id);
  }

  DoubleHand& hand;
  HaplyServiceSettings settings;
  boost::asio::io_context io;
  Tcp::acceptor states;
  std::uint16_t port;
  std::optional<Tcp::acceptor> events;
  boost::asio::steady_timer timer{io};
  std::shared_ptr<Session> client;
  std::shared_ptr<Session> listener;
  FaultQueue faults;
  Vec3 force = Vec3::Zero();
  bool ready = true;
  std::size_t garbage_count = 0;
  std::thread thread;
};

HaplyService::HaplyService(DoubleHand& hand, const HaplyServiceSettings& settings)
    : server_(std::make_unique<Server>(hand, settings)) {}

HaplyService::~HaplyService() = default;

std::uint16_t HaplyService::port() const noexcept {
  return server_->port;
}

std::string HaplyService::address() const {
  return fmt::format("127.0.0.1:{}", server_->port);
}

void HaplyService::inject(Fault fault, double seconds) {
  server_->faults.inject(fault, seconds);
}

std::uint64_t HaplyService::faults_done() const noexcept {
  return server_->faults.done();
}

void HaplyService::set_ready(bool ready) {
  boost::asio::post(server_->io, [s = server_.get(), ready] { s->ready = ready; });
}

void HaplyService::brake() {
  boost::asio::post(server_->io, [s = server_.get()] {
    s->hand.let_go();
    if (s->listener)
      s->listener->send(
          R"({"name":"device-safety-triggered","category":"device","level":"warning","data":{"safety_type":"ebrake_triggered"}})");
  });
}

}  // namespace palpate
