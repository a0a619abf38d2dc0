#include "palpate/server/web_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "palpate/core/error.h"

// Over plain sockets: what is tested is not tested with itself.
namespace palpate::web_server_test {
namespace {

constexpr WebAsset kAssets[] = {{"/index.html", "text/html", "<p>hello</p>"}};

/// Sends `request` and gives the whole answer; the server closes, or half a second passes.
std::string ask(std::uint16_t port, const std::string& request) {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  const timeval patience{0, 500'000};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  EXPECT_EQ(connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  EXPECT_EQ(send(s, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string answer;
  std::array<char, 4096> part;
  for (ssize_t n; (n = recv(s, part.data(), part.size(), 0)) > 0;) answer.append(part.data(), as_size(n));
  close(s);
  return answer;
}

std::string get(const WebServer& server, const std::string& path, const std::string& more = "Connection: close\r\n",
                const std::string& host = "127.0.0.1") {
  return ask(server.port(), fmt::format("GET {} HTTP/1.1\r\nHost: {}:{}\r\n{}\r\n", path, host, server.port(), more));
}

std::string upgrade(const WebServer& server, const std::string& origin, const std::string& path = "/live") {
  return get(server, path,
             fmt::format("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: {}\r\n",
                         origin));
}

WebServerSettings any_port() {
  WebServerSettings s;
  s.port = 0;
  return s;
}

TEST(WebServer, GivesItsAssetsAndNothingElse) {
  const WebServer server(any_port(), kAssets);
  EXPECT_NE(get(server, "/").find("<p>hello</p>"), std::string::npos);
  EXPECT_NE(get(server, "/index.html?x=1").find("200 OK"), std::string::npos);
  for (const char* path : {"/etc/passwd", "/../../etc/passwd", "/index.html/..", "//", "/%2e%2e/", "/live"})
    EXPECT_NE(get(server, path).find("404 Not Found"), std::string::npos) << path;
  EXPECT_NE(ask(server.port(), "POST / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n\r\n")
                .find("405"),
            std::string::npos);
}

TEST(WebServer, GivesTheFileThatWasPublishedLast) {
  WebServer server(any_port(), kAssets);
  EXPECT_NE(get(server, "/scene.json").find("404 Not Found"), std::string::npos);
  server.publish_file("/scene.json", "application/json", "{\"E\": 1}");
  const std::string first = get(server, "/scene.json");
  EXPECT_NE(first.find("Content-Type: application/json"), std::string::npos) << first;
  EXPECT_TRUE(first.ends_with("\r\n\r\n{\"E\": 1}")) << first;
  server.publish_file("/scene.json", "application/json", "{\"E\": 20}");
  EXPECT_TRUE(get(server, "/scene.json").ends_with("\r\n\r\n{\"E\": 20}"));
  EXPECT_NE(get(server, "/scene.json", "Connection: close\r\n", "evil.example").find("403"), std::string::npos);
}

// A page elsewhere that lets its own name point to this machine has another Host; one that only knows the address has
// another Origin.
TEST(WebServer, SpeaksOnlyToItsOwnPage) {
  const WebServer server(any_port(), kAssets);
  const std::string port = std::to_string(server.port());
  EXPECT_NE(get(server, "/", "Connection: close\r\n", "evil.example").find("403"), std::string::npos);
  EXPECT_NE(upgrade(server, "http://evil.example").find("403"), std::string::npos);
  EXPECT_NE(upgrade(server, "null").find("403"), std::string::npos);
  EXPECT_NE(upgrade(server, "http://127.0.0.1:" + port, "/other").find("404"), std::string::npos);
  EXPECT_NE(upgrade(server, "http://127.0.0.1:" + port).find("101 Switching"), std::string::npos);
  EXPECT_EQ(server.counters().refused, 3u);
}

TEST(WebServer, WithATokenWantsIt) {
  WebServerSettings s = any_port();
  s.token = "sesame";
  const WebServer server(s, kAssets);
  EXPECT_NE(get(server, "/").find("403"), std::string::npos);
  EXPECT_NE(get(server, "/?token=sesamf").find("403"), std::string::npos);
  const std::string answer = get(server, "/?token=sesame");
  EXPECT_NE(answer.find("200 OK"), std::string::npos);
  EXPECT_NE(answer.find("Set-Cookie: palpate_token=sesame; HttpOnly; SameSite=Strict"), std::string::npos);
  EXPECT_NE(get(server, "/", "Connection: close\r\nCookie: a=b; palpate_token=sesame\r\n").find("200 OK"),
            std::string::npos);
  EXPECT_NE(server.url().find("?token=sesame"), std::string::npos);
}

TEST(WebServer, OpenToOthersOnlyWithAToken) {
  WebServerSettings s = any_port();
  s.address = "0.0.0.0";
  EXPECT_THROW(WebServer(s, kAssets), InputError);
  s.address = "somewhere";
  EXPECT_THROW(WebServer(s, kAssets), InputError);
}

TEST(WebServer, ALinkToAllAddressesNamesOneThatWorks) {
  WebServerSettings s = any_port();
  s.address = "0.0.0.0";
  s.token = "sesame";
  const WebServer server(s, kAssets);
  EXPECT_EQ(server.url().find("0.0.0.0"), std::string::npos) << server.url();
  s.address = "127.0.0.2";  // loopback, but not the usual one
  EXPECT_NE(WebServer(s, kAssets).url().find("http://127.0.0.2:"), std::string::npos);
}

TEST(WebServer, APortThatIsMeantIsNotReplaced) {
  const WebServer first(any_port(), kAssets);
  WebServerSettings s;
  s.port = first.port();
  s.exact_port = true;
  EXPECT_THROW(WebServer(s, kAssets), InputError);
}

TEST(WebServer, TakesTheNextFreePort) {
  WebServerSettings s;
  s.port = 18642;
  const WebServer first(s, kAssets), second(s, kAssets);
  EXPECT_GT(second.port(), first.port());
}

TEST(WebServer, SurvivesGarbage) {
  const WebServer server(any_port(), kAssets);
  ask(server.port(), std::string(100'000, 'x'));
  ask(server.port(), std::string("\0\xff\r\n\r\n", 6));
  ask(server.port(), "GET / HTTP/1.1\r\n" + std::string(20'000, 'a') + ": b\r\n\r\n");
  EXPECT_NE(get(server, "/").find("200 OK"), std::string::npos);
}

}  // namespace
}  // namespace palpate::web_server_test
