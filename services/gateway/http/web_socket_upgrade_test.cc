// How a connection becomes a WebSocket.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gateway/http/web_sockets_fixture.h"
#include "gmock/gmock.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(WebSocketsTest, UpgradeResponseFollowsRfc) {
  Serve(Echo);
  WebSocketClient client(port_);
  EXPECT_THAT(client.Upgrade("/ws/1", "Sec-WebSocket-Extensions: permessage-deflate\r\n"),
              AllOf(StartsWith("HTTP/1.1 101 "), HasSubstr("Upgrade: websocket\r\n"),
                    HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
                    Not(HasSubstr("Sec-WebSocket-Protocol")), Not(HasSubstr("deflate"))));
}

TEST_F(WebSocketsTest, HandlerGetsUpgradeRequest) {
  Serve([](std::shared_ptr<const HttpRequest> request,
           std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    socket->Send(absl::StrCat(request->Parameter("id"), " ", request->Query("from"), " ",
                              request->principal.name));
    co_return;
  });
  WebSocketClient client(port_);
  client.Upgrade("/ws/a%2Fb?from=7");
  EXPECT_EQ(client.ReadText(), "a/b 7 local");
}

TEST_F(WebSocketsTest, TokenCanBeOfferedAsProtocol) {
  Serve(Echo, Tokens());
  WebSocketClient client(port_);
  EXPECT_THAT(client.Upgrade("/ws/1", absl::StrCat("Sec-WebSocket-Protocol: callslip.v1, "
                                                   "callslip.bearer.",
                                                   kToken, "\r\n")),
              AllOf(StartsWith("HTTP/1.1 101 "),
                    HasSubstr("Sec-WebSocket-Protocol: callslip.v1\r\n"), Not(HasSubstr(kToken))));
  WebSocketClient by_header(port_);
  EXPECT_THAT(by_header.Upgrade("/ws/1", absl::StrCat("Authorization: Bearer ", kToken, "\r\n")),
              StartsWith("HTTP/1.1 101 "));
}

TEST_F(WebSocketsTest, UpgradeMustPassFilterAndAuthentication) {
  Serve(Echo, Tokens());
  const auto ask = [&](const std::string& headers, const std::string& host = "test") {
    WebSocketClient client(port_);
    client.Send(WebSocketClient::UpgradeRequest("/ws/1", headers, host));
    return client.ReadAll();
  };
  const std::string token = absl::StrCat("Authorization: Bearer ", kToken, "\r\n");
  EXPECT_THAT(ask(token, "evil.test"), HasSubstr("host_not_allowed"));
  EXPECT_THAT(ask(token + "Origin: http://evil.test\r\n"), HasSubstr("origin_not_allowed"));
  EXPECT_THAT(ask(token + "Sec-Fetch-Site: cross-site\r\n"), HasSubstr("site_not_allowed"));
  EXPECT_THAT(ask(""), AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("token_missing"),
                             HasSubstr("callslip.bearer.TOKEN")));
  EXPECT_THAT(ask("Sec-WebSocket-Protocol: callslip.v1, callslip.bearer.nonsense\r\n"),
              HasSubstr("token_unknown"));
  EXPECT_THAT(ask(absl::StrCat("Sec-WebSocket-Protocol: callslip.v1, callslip.bearer.",
                               kWorkerToken, "\r\n")),
              AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("role_not_allowed")));
}

TEST_F(WebSocketsTest, OtherRoutesIgnoreTokenInProtocols) {
  Serve(Echo, Tokens());
  WebSocketClient client(port_);
  client.Send(absl::StrCat("GET /plain HTTP/1.1\r\nHost: test\r\nConnection: close\r\n",
                           "Sec-WebSocket-Protocol: callslip.bearer.", kToken, "\r\n\r\n"));
  EXPECT_THAT(client.ReadAll(), HasSubstr("token_missing"));
}

TEST_F(WebSocketsTest, RequestWithoutValidUpgradeGetsHttpResponse) {
  Serve(Echo);
  const auto answer = [&](const std::string& request) {
    WebSocketClient client(port_);
    client.Send(request);
    return client.ReadAll();
  };
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string request = WebSocketClient::UpgradeRequest("/ws/1");
    return request.replace(request.find(from), from.size(), to);
  };
  EXPECT_THAT(
      answer("GET /ws/1 HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"),
      AllOf(HasSubstr(" 426 "), HasSubstr("Upgrade: websocket"), HasSubstr("upgrade_required")));
  EXPECT_THAT(answer(replaced("Version: 13", "Version: 8")),
              AllOf(HasSubstr(" 426 "), HasSubstr("Sec-WebSocket-Version: 13")));
  EXPECT_THAT(answer(replaced("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=")), HasSubstr("bad_upgrade"));
  EXPECT_THAT(answer(replaced("HTTP/1.1", "HTTP/1.0")), HasSubstr("bad_upgrade"));
  EXPECT_THAT(answer(replaced("\r\n\r\n", "\r\nSec-WebSocket-Protocol: chat\r\n\r\n")),
              HasSubstr("bad_upgrade"));
  EXPECT_THAT(answer(replaced("GET /ws/1", "DELETE /ws/1")), HasSubstr(" 405 "));
  EXPECT_THAT(answer(replaced("/ws/1", "/plain")), HasSubstr("plain"));
  EXPECT_THAT(answer(replaced("/ws/1", "/ws/")), HasSubstr("unknown_path"));
}

TEST_F(WebSocketsTest, FramesBeforeUpgradeResponseAreRefused) {
  Serve(Echo);
  WebSocketClient client(port_);
  client.Send(WebSocketClient::UpgradeRequest("/ws/1") + Masked(kFin | kText, "early"));
  EXPECT_THAT(client.ReadAll(), AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("bad_upgrade")));
}

}  // namespace
}  // namespace callslip::gateway
