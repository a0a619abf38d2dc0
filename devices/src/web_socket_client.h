#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace palpate {

/// HOST and PORT of `HOST:PORT`, either of which may be left out. Throws InputError.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};
Endpoint parse_endpoint(std::string_view text, const Endpoint& standard);

/// A WebSocket to a service, in text messages. Nothing here blocks for longer than it is told to.
///
/// Thread: one at a time. Messages arrive only within poll() and wait().
class WebSocketClient {
 public:
  using OnMessage = std::function<void(std::string_view text)>;

  explicit WebSocketClient(OnMessage on_message);
  ~WebSocketClient();
  WebSocketClient(const WebSocketClient&) = delete;
  WebSocketClient& operator=(const WebSocketClient&) = delete;

  /// False, with the reason in error(), if there is no connection within `seconds`. Once for each client.
  bool connect(const Endpoint& endpoint, double seconds);
  /// Sends, and returns when the system has taken it. False: the connection is over, or it took more than `seconds`.
  bool send(std::string_view text, double seconds);
  /// Handles what has arrived.
  void poll();
  /// Handles what arrives until `done()` or for `seconds` at most. True if done.
  bool wait(const std::function<bool()>& done, double seconds);
  bool is_open() const noexcept;
  const std::string& error() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace palpate
