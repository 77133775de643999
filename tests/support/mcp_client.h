#pragma once

#include <string>

#include "common/address.h"
#include "nlohmann/json.hpp"
#include "support/http_stream.h"

namespace callslip {

// The revision of MCP that has no sessions.
inline constexpr char kModern[] = "2026-07-28";

// An MCP client of one protocol version, which sends what a test wants it to. Not one to be
// imitated: it waits for each answer without limit.
class McpClient {
 public:
  using Json = nlohmann::json;

  // One of a legacy version opens a session; `bearer` is its token, if it needs one.
  McpClient(const Address& gateway, std::string version, const std::string& bearer = "");

  const std::string& session_id() const { return session_id_; }
  // Of 2026-07-28, in each request.
  Json capabilities = Json::object();
  // Sent with each request, beside and before those of the protocol.
  HttpStream::Headers headers;

  struct Answer {
    int status = 0;
    std::string content_type;
    std::string text;
    Json body;  // Null where it is empty, and where it is no JSON.
  };

  // A request with an id that was not used before, as this client's version writes it.
  Json Request(const std::string& method, Json params = Json::object());
  static Json Notification(const std::string& method, Json params = Json::object());
  Json ToolCall(const std::string& tool, const Json& arguments);

  // The headers that the version asks for beside `message`.
  HttpStream::Headers HeadersFor(const Json& message) const;
  HttpStream Open(const Json& message) const;
  HttpStream OpenRaw(const std::string& method, const HttpStream::Headers& request_headers,
                     const std::string& body) const;
  Answer Send(const Json& message) const;
  Answer SendRaw(const std::string& body) const;

  // The result, or what came instead of it.
  Json Result(const std::string& method, Json params = Json::object());
  // The CallToolResult, or the like.
  Json CallTool(const std::string& tool, const Json& arguments);
  // The code of the error; 0 where there is none.
  int ErrorCode(const std::string& method, Json params = Json::object());

 private:
  bool modern() const { return version_ == kModern; }

  const Address gateway_;
  const std::string version_;
  std::string session_id_;
  int next_id_ = 0;
};

}  // namespace callslip
