#include "palpate/server/web_server.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <vector>

#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "web_text.h"

// The only file that knows Boost.Beast, which takes long to compile.
namespace palpate {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Error = beast::error_code;

constexpr int kPortTries = 20;
constexpr auto kHttpTimeout = std::chrono::seconds(20);
constexpr auto kUploadTimeout = std::chrono::seconds(60);
constexpr std::uint32_t kHeaderLimit = 8192;
constexpr std::size_t kUrgent = 2;  // channels that go first
constexpr std::size_t kTurns = WebServer::kChannels - kUrgent;

std::string_view view(boost::string_view s) noexcept {
  return {s.data(), s.size()};
}

/// The newest thing of a channel.
struct Published {
  std::shared_ptr<const std::string> bytes;
  bool text = false;
  std::uint64_t version = 0;  ///< 0: nothing yet
};

/// A file that the program gave, and may give anew.
struct GivenFile {
  std::string path, type;
  std::shared_ptr<const std::string> content;
};

class Connection;

/// What the connections share. Everything before `mutex` belongs to the server's thread.
struct Shared {
  WebServerSettings settings;
  std::vector<WebAsset> assets;
  bool loopback = true;
  std::uint16_t port = 0;
  std::array<Published, WebServer::kChannels> channels;
  std::vector<GivenFile> files;
  std::unordered_set<Connection*> pages;
  std::uint64_t last_page = 0;
  std::size_t coming = 0;  ///< files on their way

  std::mutex mutex;  // of what is below
  std::deque<PageMessage> waiting;
  std::deque<Upload> uploads;
  std::unordered_set<std::uint64_t> connected;  ///< numbers of pages
  WebServerCounters counters;

  template <typename Change>
  void count(Change change) {
    const std::lock_guard lock(mutex);
    change(counters);
  }
};

/// One connection: requests until one of them becomes a WebSocket.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared) : shared_(shared), stream_(std::move(socket)) {}
  ~Connection() {
    if (uploading_) --shared_.coming;
    if (shared_.pages.erase(this)) leave();
  }

  void start() { read_request(); }

  /// Sends what is newer than what the page has, one thing at a time.
  void send_next() {
    if (!socket_ || !open_ || writing_) return;
    if (!greeted_) {
      greeted_ = true;
      return write(std::make_shared<const std::string>(fmt::format("{{\"you\":{}}}", number_)), true);
    }
    for (std::size_t k = 0; k < WebServer::kChannels; ++k) {
      const std::size_t i = k < kUrgent ? k : kUrgent + (turn_ + k - kUrgent) % kTurns;
      const Published& p = shared_.channels[i];
      if (p.version <= sent_[i]) continue;
      sent_[i] = p.version;
      if (i >= kUrgent) turn_ = i - kUrgent + 1;
      return write(p.bytes, p.text);
    }
  }

 private:
  void write(std::shared_ptr<const std::string> bytes, bool text) {
    writing_ = true;
    socket_->text(text);
    socket_->async_write(asio::buffer(*bytes), [self = shared_from_this(), bytes](Error error, std::size_t) {
      self->writing_ = false;
      if (!error) self->send_next();
    });
  }

  void leave() {
    const std::lock_guard lock(shared_.mutex);
    shared_.connected.erase(number_);
    --shared_.counters.clients;
  }

  /// The body of a request is read only if it is a file that may come.
  void read_request() {
    parser_.emplace();
    parser_->header_limit(kHeaderLimit);
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // receive_file() looks
    stream_.expires_after(kHttpTimeout);
    http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](Error error, std::size_t) {
      if (!error) self->answer();
    });
  }

  void answer() {
    const auto& request = parser_->get();
    const std::string target(view(request.target()));
    const std::size_t question = std::min(target.find('?'), target.size());
    const std::string path = target.substr(0, question);
    const std::string_view query = std::string_view(target).substr(std::min(question + 1, target.size()));
    if (!is_own_host(view(request[http::field::host]))) return respond(http::status::forbidden, "wrong Host");
    if (!has_token(query, view(request[http::field::cookie])))
      return respond(http::status::forbidden, "this Palpate wants a token: open the address that it printed");
    if (beast::websocket::is_upgrade(request)) {
      if (path != "/live") return respond(http::status::not_found, "no such socket");
      if (!is_own_origin()) return respond(http::status::forbidden, "wrong Origin");
      if (shared_.pages.size() >= shared_.settings.max_clients)
        return respond(http::status::service_unavailable, "too many pages");
      return upgrade();
    }
    if (request.method() == http::verb::post && path == WebServer::kUploadPath)
      return receive_file(decode_name(find_value(query, "name", '&'), WebServer::kMaxName));
    if (request.method() != http::verb::get && request.method() != http::verb::head)
      return respond(http::status::method_not_allowed, "only GET");
    for (const WebAsset& asset : shared_.assets) {
      if (asset.path == path || (path == "/" && asset.path == "/index.html"))
        return respond(http::status::ok, asset.content, asset.type);
    }
    for (const GivenFile& file : shared_.files) {
      if (file.path == path) return respond(http::status::ok, *file.content, file.type, file.content);
    }
    respond(http::status::not_found, "no such page");
  }

  bool is_own_origin() const {
    const auto& request = parser_->get();
    return view(request[http::field::origin]) == "http://" + std::string(view(request[http::field::host]));
  }

  void receive_file(const std::string& name) {
    const std::size_t most = shared_.settings.max_upload;
    if (!is_own_origin()) return respond(http::status::forbidden, "wrong Origin");
    if (most == 0) return respond(http::status::not_found, "no files are taken here");
    if (parser_->content_length().value_or(0) > most)
      return respond(http::status::payload_too_large, "the file is too large");
    if (shared_.coming + count_uploads() >= shared_.settings.max_uploads)
      return respond(http::status::service_unavailable, "another file is being opened");
    uploading_ = true;
    ++shared_.coming;
    body_.emplace(std::move(*parser_));
    body_->body_limit(most);
    stream_.expires_after(kUploadTimeout);
    http::async_read(stream_, buffer_, *body_, [self = shared_from_this(), name](Error error, std::size_t) {
      self->uploading_ = false;
      --self->shared_.coming;
      // The head is still the parser's: what follows answers to it.
      self->parser_.emplace();
      self->parser_->get() = http::request<http::empty_body>(self->body_->get().base());
      if (error == http::error::body_limit)
        return self->respond(http::status::payload_too_large, "the file is too large");
      if (error) return;
      {
        const std::lock_guard lock(self->shared_.mutex);
        self->shared_.uploads.push_back({name, std::move(self->body_->get().body())});
      }
      self->body_.reset();
      self->respond(http::status::accepted, "taken");
    });
  }

  std::size_t count_uploads() {
    const std::lock_guard lock(shared_.mutex);
    return shared_.uploads.size();
  }

  /// Names that this machine calls itself by: a page of another site that lets its name point here has another.
  bool is_own_host(std::string_view host) const {
    if (!shared_.loopback) return true;  // the token is the proof
    for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
      if (host == fmt::format("{}:{}", name, shared_.port)) return true;
    }
    return false;
  }

  bool has_token(std::string_view query, std::string_view cookie) const {
    const std::string& token = shared_.settings.token;
    return token.empty() || equal_secret(find_value(query, "token", '&'), token) ||
           equal_secret(find_value(cookie, "palpate_token", ';'), token);
  }

  /// `keep`: what the body is part of; null if that outlives the server, compiled in or a literal.
  void respond(http::status status, std::string_view body, std::string_view type = "text/plain; charset=utf-8",
               std::shared_ptr<const std::string> keep = nullptr) {
    if (status == http::status::forbidden || status == http::status::service_unavailable)
      shared_.count([](WebServerCounters& c) { ++c.refused; });
    const auto& request = parser_->get();
    auto response = std::make_shared<http::response<http::span_body<const char>>>(status, request.version());
    response->body() = {body.data(), body.size()};
    response->set(http::field::content_type, boost::string_view(type.data(), type.size()));
    response->set(http::field::cache_control, "no-cache");
    response->set("X-Content-Type-Options", "nosniff");
    response->set("Referrer-Policy", "no-referrer");
    response->set("Content-Security-Policy",
                  "default-src 'self'; connect-src 'self' ws:; img-src 'self' data: blob:; style-src 'self' "
                  "'unsafe-inline'; frame-ancestors 'none'");
    if (status == http::status::ok && !shared_.settings.token.empty())
      response->set(http::field::set_cookie, "palpate_token=" + shared_.settings.token + "; HttpOnly; SameSite=Strict");
    // A body that was not read would be taken for the next request.
    const bool read = status == http::status::ok || status == http::status::accepted;
    response->keep_alive(request.keep_alive() && read && parser_->is_done());
    response->prepare_payload();
    const auto done = [self = shared_from_this(), response, keep](Error error, std::size_t) {
      if (!error && response->keep_alive()) return self->read_request();
      Error ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    };
    if (request.method() == http::verb::head) {
      auto serializer = std::make_shared<http::response_serializer<http::span_body<const char>>>(*response);
      http::async_write_header(stream_, *serializer,
                               [done, serializer](Error error, std::size_t size) { done(error, size); });
    } else {
      http::async_write(stream_, *response, done);
    }
  }

  void upgrade() {
    stream_.expires_never();  // the WebSocket has timeouts of its own
    socket_.emplace(std::move(stream_));
    socket_->set_option(beast::websocket::stream_base::timeout::suggested(beast::role_type::server));
    socket_->read_message_max(shared_.settings.max_message);
    socket_->async_accept(parser_->get(), [self = shared_from_this()](Error error) {
      if (error) return;
      self->open_ = true;
      self->shared_.pages.insert(self.get());
      self->enter();
      self->allowance_ = self->shared_.settings.max_message_rate;
      self->allowance_ns_ = monotonic_ns();
      self->buffer_.clear();
      self->read_message();
      self->send_next();
    });
  }

  void enter() {
    number_ = ++shared_.last_page;
    const std::lock_guard lock(shared_.mutex);
    shared_.connected.insert(number_);
    ++shared_.counters.clients;
  }

  void read_message() {
    socket_->async_read(buffer_, [self = shared_from_this()](Error error, std::size_t) {
      if (error) {
        if (error == beast::websocket::error::message_too_big)
          self->shared_.count([](WebServerCounters& c) { ++c.too_long; });
        self->open_ = false;
        return;
      }
      self->receive();
      self->buffer_.clear();
      self->read_message();
    });
  }

  void receive() {
    const WebServerSettings& s = shared_.settings;
    const std::int64_t now = monotonic_ns();
    allowance_ =
        std::min(s.max_message_rate, allowance_ + 1e-9 * static_cast<double>(now - allowance_ns_) * s.max_message_rate);
    allowance_ns_ = now;
    const std::lock_guard lock(shared_.mutex);
    if (allowance_ < 1.0 || !socket_->got_text() || shared_.waiting.size() >= s.max_waiting) {
      ++shared_.counters.dropped;
      return;
    }
    allowance_ -= 1.0;
    shared_.waiting.push_back({number_, beast::buffers_to_string(buffer_.data())});
  }

  Shared& shared_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::optional<http::request_parser<http::string_body>> body_;  ///< of a file on its way
  std::optional<beast::websocket::stream<beast::tcp_stream>> socket_;
  std::array<std::uint64_t, WebServer::kChannels> sent_{};
  std::size_t turn_ = 0;      ///< which of the channels that take turns is next
  std::uint64_t number_ = 0;  ///< of the page
  bool open_ = false;
  bool greeted_ = false;  ///< it knows its number
  bool writing_ = false;
  bool uploading_ = false;
  double allowance_ = 0.0;  ///< messages that may still come now
  std::int64_t allowance_ns_ = 0;
};

/// Takes the oldest; false if there is none.
template <typename T>
bool take_first(std::deque<T>& all, T& out) {
  if (all.empty()) return false;
  out = std::move(all.front());
  all.pop_front();
  return true;
}

/// An IPv4 address by which other machines reach this one; where it has none, its own.
std::string find_own_address() {
  std::string found = "127.0.0.1";
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return found;
  for (const ifaddrs* i = first; i; i = i->ifa_next) {
    if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) || !(i->ifa_flags & IFF_UP))
      continue;
    char text[NI_MAXHOST];
    if (getnameinfo(i->ifa_addr, sizeof(sockaddr_in), text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    found = text;
    break;
  }
  freeifaddrs(first);
  return found;
}

}  // namespace

class WebServer::Listener {
 public:
  Listener(const WebServerSettings& settings, std::span<const WebAsset> assets) : acceptor_(io_) {
    shared_.settings = settings;
    shared_.assets.assign(assets.begin(), assets.end());
    Error error;
    const auto address = asio::ip::make_address(settings.address, error);
    if (error) fail_input("address \"{}\": not an IP address", settings.address);
    shared_.loopback = address.is_loopback();
    if (!shared_.loopback && settings.token.empty())
      fail_input("address {} is open to other machines; give a token too", settings.address);
    listen(address, settings.port, settings.exact_port || settings.port == 0 ? 1 : kPortTries);
    shared_.port = acceptor_.local_endpoint().port();
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }

  ~Listener() {
    io_.stop();
    thread_.join();
  }

  Shared& shared() noexcept { return shared_; }

  void publish(std::size_t channel, std::string bytes, bool text) {
    asio::post(io_, [this, channel, text, bytes = std::make_shared<const std::string>(std::move(bytes))] {
      Published& p = shared_.channels[channel];
      p.bytes = bytes;
      p.text = text;
      ++p.version;
      for (Connection* page : shared_.pages) page->send_next();
    });
  }

  void publish_file(GivenFile file) {
    asio::post(io_, [this, file = std::move(file)] {
      for (GivenFile& known : shared_.files) {
        if (known.path != file.path) continue;
        known = file;
        return;
      }
      shared_.files.push_back(file);
    });
  }

 private:
  void listen(const asio::ip::address& address, std::uint16_t first, int tries) {
    Error error;
    for (int i = 0; i < tries; ++i) {
      const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(first + i));
      acceptor_.open(endpoint.protocol(), error);
      if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
      if (!error) acceptor_.bind(endpoint, error);
      if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
      if (!error) return;
      Error ignored;
      acceptor_.close(ignored);
    }
    fail_input("cannot listen on {} port {}: {}", address.to_string(), first, error.message());
  }

  void accept() {
    acceptor_.async_accept([this](Error error, tcp::socket socket) {
      if (!error) std::make_shared<Connection>(std::move(socket), shared_)->start();
      accept();
    });
  }

  Shared shared_;
  asio::io_context io_{1};  // destroyed before what its connections refer to
  tcp::acceptor acceptor_;
  std::thread thread_;
};

WebServer::WebServer(const WebServerSettings& settings, std::span<const WebAsset> assets)
    : listener_(std::make_unique<Listener>(settings, assets)) {}

WebServer::~WebServer() = default;

std::uint16_t WebServer::port() const noexcept {
  return listener_->shared().port;
}

std::string WebServer::url() const {
  const Shared& s = listener_->shared();
  // All addresses of the machine: a link with that one leads nowhere.
  const bool all = s.settings.address == "0.0.0.0" || s.settings.address == "::";
  const std::string host = all ? find_own_address() : s.settings.address;
  const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return fmt::format("http://{}:{}/{}{}", shown, s.port, s.settings.token.empty() ? "" : "?token=", s.settings.token);
}

void WebServer::publish_binary(std::size_t channel, std::string bytes) {
  listener_->publish(channel, std::move(bytes), false);
}

void WebServer::publish_text(std::size_t channel, std::string text) {
  listener_->publish(channel, std::move(text), true);
}

void WebServer::publish_file(std::string path, std::string type, std::string content) {
  listener_->publish_file({std::move(path), std::move(type), std::make_shared<const std::string>(std::move(content))});
}

bool WebServer::take(PageMessage& message) {
  Shared& s = listener_->shared();
  const std::lock_guard lock(s.mutex);
  return take_first(s.waiting, message);
}

bool WebServer::take_upload(Upload& upload) {
  Shared& s = listener_->shared();
  const std::lock_guard lock(s.mutex);
  return take_first(s.uploads, upload);
}

bool WebServer::is_connected(std::uint64_t page) const {
  Shared& s = listener_->shared();
  const std::lock_guard lock(s.mutex);
  return s.connected.contains(page);
}

WebServerCounters WebServer::counters() const {
  Shared& s = listener_->shared();
  const std::lock_guard lock(s.mutex);
  return s.counters;
}

}  // namespace palpate
