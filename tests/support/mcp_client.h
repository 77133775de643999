#pragma once

#include <string>

#include "common/address.h"
#include "nlohmann/json.hpp"
#include "support/http_stream.h"

namespace callslip {

// The revision of MCP that has no sessions.
inline constexpr char kModern[] = "2026-07-28";

// An MCP client of one protocol version for the requests of a test. Do not imitate it: it waits for
// each answer without limit.
class McpClient {
 public:
  using Json = nlohmann::json;

  // With a legacy version it opens a session; `bearer` is its token, if it needs one.
  McpClient(const Address& gateway, std::string version, const std::string& bearer = "");

  const std::string& session_id() const { return session_id_; }
  // Sent in each request of 2026-07-28.
  Json capabilities = Json::object();
  // Sent with each request; they override those of the protocol.
  HttpStream::Headers headers;

  struct Answer {
    int status = 0;
    std::string content_type;
    std::string text;
    Json body;  // Null if it is empty or not JSON.
  };

  // A request with an unused id, in the form of this client's version.
  Json Request(const std::string& method, Json params = Json::object());
  static Json Notification(const std::string& method, Json params = Json::object());
  Json ToolCall(const std::string& tool, const Json& arguments);

  // The headers that the version requires for `message`.
  HttpStream::Headers HeadersFor(const Json& message) const;
  HttpStream Open(const Json& message) const;
  HttpStream OpenRaw(const std::string& method, const HttpStream::Headers& request_headers,
                     const std::string& body) const;
  Answer Send(const Json& message) const;
  Answer SendRaw(const std::string& body) const;

  // The result, or the whole message if it has none.
  Json Result(const std::string& method, Json params = Json::object());
  // The CallToolResult, or the whole message if it has none.
  Json CallTool(const std::string& tool, const Json& arguments);
  // The code of the error; 0 if there is none.
  int ErrorCode(const std::string& method, Json params = Json::object());

 private:
  bool modern() const { return version_ == kModern; }

  const Address gateway_;
  const std::string version_;
  std::string session_id_;
  int next_id_ = 0;
};

}  // namespace callslip
