#include "gateway/http/web_socket_upgrade.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gateway/http/error_response.h"

namespace callslip::gateway {
namespace {

constexpr absl::string_view kBearerPrefix = "callslip.bearer.";

// The members of a list header.
std::vector<std::string> ListOf(const std::string& header) {
  std::vector<std::string> members;
  for (absl::string_view member : absl::StrSplit(header, ',')) {
    member = absl::StripAsciiWhitespace(member);
    if (!member.empty()) members.emplace_back(member);
  }
  return members;
}

bool Lists(const std::string& header, absl::string_view lower_case_member) {
  return absl::c_linear_search(ListOf(absl::AsciiStrToLower(header)), lower_case_member);
}

bool IsKey(const std::string& text) {
  std::string nonce;
  return absl::Base64Unescape(text, &nonce) && nonce.size() == 16;
}

HttpResponse UpgradeRequired() {
  HttpResponse response =
      ErrorResponse(426, "upgrade_required", "Only WebSockets are served at this path.",
                    "Open it as a WebSocket, with Sec-WebSocket-Version: 13.");
  response.headers = {
      {"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Version", "13"}};
  return response;
}

}  // namespace

std::optional<std::string> OfferedToken(const HttpRequest& request) {
  for (absl::string_view protocol : ListOf(request.Header("sec-websocket-protocol"))) {
    if (absl::ConsumePrefix(&protocol, kBearerPrefix) && !protocol.empty()) {
      return std::string(protocol);
    }
  }
  return std::nullopt;
}

HttpResponse UpgradeResponse(const HttpRequest& request, WebSocketServer server) {
  if (!Lists(request.Header("connection"), "upgrade") ||
      !Lists(request.Header("upgrade"), "websocket") ||
      request.Header("sec-websocket-version") != "13") {
    return UpgradeRequired();
  }
  const std::string key = request.Header("sec-websocket-key");
  if (!IsKey(key)) {
    return ErrorResponse(400, "bad_upgrade", "Sec-WebSocket-Key is not 16 bytes in base64.",
                         "Open the WebSocket as RFC 6455 says.");
  }
  const std::vector<std::string> offered = ListOf(request.Header("sec-websocket-protocol"));
  const bool is_offered = absl::c_linear_search(offered, kWebSocketProtocol);
  if (!offered.empty() && !is_offered) {
    return ErrorResponse(400, "bad_upgrade", "None of the protocols that are offered is ours.",
                         absl::StrCat("Offer ", kWebSocketProtocol, "."));
  }
  HttpResponse response{.status = 101};
  response.upgrade = std::make_shared<const WebSocketUpgrade>(WebSocketUpgrade{
      .key = key, .protocol = is_offered ? kWebSocketProtocol : "", .server = std::move(server)});
  return response;
}

}  // namespace callslip::gateway
