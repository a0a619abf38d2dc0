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

/// `more`: header lines besides Origin.
std::string post(const WebServer& server, const std::string& path, const std::string& body,
                 const std::string& more = "", const std::string& origin = "") {
  const std::string own = fmt::format("http://127.0.0.1:{}", server.port());
  return ask(server.port(), fmt::format("POST {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nOrigin: {}\r\n{}Content-Length: "
                                        "{}\r\n\r\n{}",
                                        path, server.port(), origin.empty() ? own : origin, more, body.size(), body));
}

WebServerSettings with_uploads(std::size_t most) {
  WebServerSettings s = any_port();
  s.max_upload = most;
  return s;
}

// The name is for people: whatever a page writes there, no folder is left in it.
TEST(WebServer, TakesFilesByNameOnly) {
  WebServer server(with_uploads(1000), kAssets);
  const std::string bytes("v 0\0 1\r\n\r\nGET / HTTP/1.1\r\n\r\n", 30);
  EXPECT_NE(post(server, "/open?name=..%2F..%2Fetc%2Fa%20b.obj", bytes).find("202 Accepted"), std::string::npos);
  Upload upload;
  ASSERT_TRUE(server.take_upload(upload));
  EXPECT_EQ(upload.name, "a b.obj");
  EXPECT_EQ(upload.bytes, bytes);
  EXPECT_FALSE(server.take_upload(upload));
  post(server, "/open?name=%zz%00%0a" + std::string(300, 'x') + ".obj", "1");
  ASSERT_TRUE(server.take_upload(upload));
  EXPECT_EQ(upload.name, std::string(WebServer::kMaxName - 4, 'x') + ".obj");
}

TEST(WebServer, TakesLargeFilesWhole) {
  WebServer server(with_uploads(16u << 20), kAssets);
  std::string bytes(9u << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 7);
  EXPECT_NE(post(server, "/open?name=a.stl", bytes).find("202 Accepted"), std::string::npos);
  Upload upload;
  ASSERT_TRUE(server.take_upload(upload));
  EXPECT_TRUE(upload.bytes == bytes);
}

TEST(WebServer, RefusesFilesThatAreTooLargeTooManyOrNotItsPages) {
  WebServer server(with_uploads(1000), kAssets);
  EXPECT_NE(post(server, "/open?name=a.obj", std::string(1001, 'x')).find("413"), std::string::npos);
  EXPECT_NE(post(server, "/open?name=a.obj", "x", "", "http://evil.example").find("403"), std::string::npos);
  EXPECT_NE(post(server, "/close?name=a.obj", "x").find("405"), std::string::npos);
  // Without a length, in pieces: the limit holds as well.
  const std::string piece = "400\r\n" + std::string(1024, 'x') + "\r\n0\r\n\r\n";
  EXPECT_NE(ask(server.port(), fmt::format("POST /open?name=a.obj HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nOrigin: "
                                           "http://127.0.0.1:{0}\r\nTransfer-Encoding: chunked\r\n\r\n{1}",
                                           server.port(), piece))
                .find("413"),
            std::string::npos);
  for (int i = 0; i < 2; ++i) EXPECT_NE(post(server, "/open?name=a.obj", "x").find("202"), std::string::npos);
  EXPECT_NE(post(server, "/open?name=a.obj", "x").find("503"), std::string::npos);
  Upload upload;
  EXPECT_TRUE(server.take_upload(upload));
  EXPECT_NE(post(server, "/open?name=a.obj", "x").find("202"), std::string::npos);
  const WebServer none(any_port(), kAssets);
  EXPECT_NE(post(none, "/open?name=a.obj", "x").find("404"), std::string::npos);
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
