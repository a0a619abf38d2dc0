#include "web_socket_client.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <charconv>

#include "palpate/core/clock.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using Tcp = boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

/// A state message of a service has a few kilobytes; more is no state message.
constexpr std::size_t kLongestMessage = 1 << 20;

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds));
}

}  // namespace

Endpoint parse_endpoint(std::string_view text, const Endpoint& standard) {
  Endpoint endpoint = standard;
  const std::size_t colon = text.rfind(':');
  const std::string_view host = text.substr(0, colon);
  if (!host.empty()) endpoint.host = host;
  if (colon == std::string_view::npos) return endpoint;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (error != std::errc{} || end != port.data() + port.size() || endpoint.port == 0)
    fail_input("address {}: must be HOST:PORT with a port from 1 to 65535", quote_for_message(text));
  return endpoint;
}

struct WebSocketClient::State {
  boost::asio::io_context io;
  websocket::stream<Tcp::socket> socket{io};
  beast::flat_buffer buffer;
  OnMessage on_message;
  std::string error;
  bool open = false;

  void fail(const ErrorCode& code) {
    open = false;
    error = code.message();
  }

  void read() {
    socket.async_read(buffer, [this](ErrorCode code, std::size_t) {
      if (code) return fail(code);
      const auto data = buffer.data();
      on_message({static_cast<const char*>(data.data()), data.size()});
      buffer.consume(buffer.size());
      read();
    });
  }

  /// Runs what was begun until `done`; false, and the operation is cancelled, if that takes too long.
  bool finish(const bool& done, double seconds) {
    const auto end = std::chrono::steady_clock::now() + nanoseconds(seconds);
    io.restart();
    while (!done && io.run_one_until(end) > 0) {
    }
    if (done) return true;
    ErrorCode ignored;
    socket.next_layer().close(ignored);
    io.restart();
    io.poll();
    open = false;
    return false;
  }
};

WebSocketClient::WebSocketClient(OnMessage on_message) : state_(std::make_unique<State>()) {
  state_->on_message = std::move(on_message);
}

WebSocketClient::~WebSocketClient() {
  // Without a farewell: the service may be the one that hangs. What still waits is cancelled before its memory goes.
  ErrorCode ignored;
  state_->socket.next_layer().close(ignored);
  state_->io.restart();
  state_->io.poll();
}

bool WebSocketClient::is_open() const noexcept {
  return state_->open;
}

const std::string& WebSocketClient::error() const noexcept {
  return state_->error;
}

bool WebSocketClient::connect(const Endpoint& endpoint, double seconds) {
  State& s = *state_;
  ErrorCode code;
  Tcp::resolver resolver(s.io);
  const auto found = resolver.resolve(endpoint.host, std::to_string(endpoint.port), code);
  if (code) {
    s.fail(code);
    return false;
  }
  bool done = false;
  ErrorCode result;
  boost::asio::async_connect(s.socket.next_layer(), found, [&](ErrorCode c, const Tcp::endpoint&) {
    result = c;
    if (c) {
      done = true;
      return;
    }
    s.socket.next_layer().set_option(Tcp::no_delay(true), result);
    s.socket.async_handshake(endpoint.host, "/", [&](ErrorCode h) {
      result = h;
      done = true;
    });
  });
  if (!s.finish(done, seconds)) {
    s.error = "no answer in time";
    return false;
  }
  if (result) {
    s.fail(result);
    return false;
  }
  s.open = true;
  s.socket.read_message_max(kLongestMessage);
  s.socket.text(true);
  s.read();
  return true;
}

bool WebSocketClient::send(std::string_view text, double seconds) {
  State& s = *state_;
  if (!s.open) return false;
  bool done = false;
  ErrorCode result;
  s.socket.async_write(boost::asio::buffer(text.data(), text.size()), [&](ErrorCode c, std::size_t) {
    result = c;
    done = true;
  });
  if (!s.finish(done, seconds)) {
    s.error = "cannot send";
    return false;
  }
  if (result) s.fail(result);
  return s.open;
}

void WebSocketClient::poll() {
  state_->io.restart();
  state_->io.poll();
}

bool WebSocketClient::wait(const std::function<bool()>& done, double seconds) {
  State& s = *state_;
  const auto end = std::chrono::steady_clock::now() + nanoseconds(seconds);
  s.io.restart();
  while (s.open && !done() && s.io.run_one_until(end) > 0) {
  }
  return done();
}

}  // namespace palpate
