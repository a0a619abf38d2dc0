#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace palpate {

/// A file that the server gives, compiled in. Nothing is ever read from the disk.
struct WebAsset {
  std::string_view path;  ///< as in the URL, "/app.js"
  std::string_view type;  ///< MIME type
  std::string_view content;
};

struct WebServerSettings {
  std::string address = "127.0.0.1";  ///< to listen on. Anything but loopback needs a token
  std::uint16_t port = 8642;          ///< or the next free one of the twenty from here; 0: any
  bool exact_port = false;            ///< that port and no other
  /// Must come with the first request as ?token=…, from then on as a cookie. Empty: none is asked for.
  std::string token;
  std::size_t max_message = 4096;   ///< longest message that a page may send [bytes]
  double max_message_rate = 400.0;  ///< most messages a page may send [1/s]; the rest is counted and dropped
  std::size_t max_clients = 16;     ///< pages at once
  std::size_t max_waiting = 1024;   ///< messages kept until take()
  std::size_t max_upload = 0;       ///< longest file that a page may send [bytes]; 0: none may
  std::size_t max_uploads = 2;      ///< files on their way or kept until take_upload()
};

/// A message from a page. Pages are told by numbers, which never come again.
struct PageMessage {
  std::uint64_t page = 0;
  std::string text;
};

/// A file that a page sent. Its name is for people and tells the format; it is never a path.
struct Upload {
  std::string name;
  std::string bytes;
};

/// What pages did that they should not.
struct WebServerCounters {
  std::uint64_t clients = 0;   ///< connected now
  std::uint64_t refused = 0;   ///< requests with a wrong Host, Origin or token, or one page too many
  std::uint64_t dropped = 0;   ///< messages too many, or not text
  std::uint64_t too_long = 0;  ///< messages; their page is cut off
};

/// HTTP for the page and a WebSocket for what it shows and sends, in one thread of its own.
///
/// Outward there are channels. Each holds the newest thing published on it, and every page gets the newest of every
/// channel as soon as it has taken what was sent before: latest wins, nobody waits for a slow page, and a new page gets
/// everything. The first two go before the others, which take turns, so that none starves at a slow page.
///
/// The first thing that a page gets is its number, as {"you":1}. Files come by POST to kUploadPath?name=…
///
/// A page of another site cannot speak to it: Host must be the server's own name, Origin the same. Nothing that a page
/// sends is a file name to the server.
/// Thread: all calls from one thread, which is neither of the loops'.
class WebServer {
 public:
  static constexpr std::size_t kChannels = 5;
  static constexpr std::string_view kUploadPath = "/open";
  static constexpr std::size_t kMaxName = 80;  ///< of an upload; what is longer is cut [bytes]

  /// Throws InputError if it cannot listen, or if the address is open to others and there is no token.
  WebServer(const WebServerSettings& settings, std::span<const WebAsset> assets);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  std::uint16_t port() const noexcept;
  std::string url() const;  ///< for a browser on this machine, token included

  void publish_binary(std::size_t channel, std::string bytes);
  void publish_text(std::size_t channel, std::string text);

  /// Gives this file to whoever asks for that path, until another takes its place. For what pages save.
  void publish_file(std::string path, std::string type, std::string content);

  /// The oldest message from any page that was not taken yet. False: none.
  bool take(PageMessage& message);
  /// The same of files.
  bool take_upload(Upload& upload);
  bool is_connected(std::uint64_t page) const;

  WebServerCounters counters() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace palpate
