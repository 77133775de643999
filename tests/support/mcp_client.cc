#include "support/mcp_client.h"

#include <utility>

namespace callslip {
namespace {

McpClient::Answer AnswerOf(HttpStream stream) {
  McpClient::Answer answer{.status = stream.Status(),
                           .content_type = stream.Header("content-type")};
  answer.text = stream.Body();
  answer.body = nlohmann::json::parse(answer.text, nullptr, /*allow_exceptions=*/false);
  if (answer.body.is_discarded()) answer.body = nullptr;
  return answer;
}

}  // namespace

McpClient::McpClient(const Address& gateway, std::string version, const std::string& bearer)
    : gateway_(gateway), version_(std::move(version)) {
  headers = {{"Content-Type", "application/json"},
             {"Accept", "application/json, text/event-stream"}};
  if (!bearer.empty()) headers["Authorization"] = "Bearer " + bearer;
  if (modern()) return;
  HttpStream stream = OpenRaw(
      "POST", {},
      Request("initialize", {{"protocolVersion", version_}, {"capabilities", Json::object()}})
          .dump());
  session_id_ = stream.Header("mcp-session-id");
}

McpClient::Json McpClient::Request(const std::string& method, Json params) {
  if (modern()) {
    Json& meta = params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = version_;
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
  }
  return {{"jsonrpc", "2.0"}, {"id", next_id_++}, {"method", method}, {"params", params}};
}

McpClient::Json McpClient::Notification(const std::string& method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

McpClient::Json McpClient::ToolCall(const std::string& tool, const Json& arguments) {
  return Request("tools/call", {{"name", tool}, {"arguments", arguments}});
}

HttpStream::Headers McpClient::HeadersFor(const Json& message) const {
  HttpStream::Headers all = {{"MCP-Protocol-Version", version_}};
  if (!modern()) {
    all["Mcp-Session-Id"] = session_id_;
    return all;
  }
  if (!message.is_object()) return all;
  all["Mcp-Method"] = message.value("method", "");
  const Json params = message.value("params", Json::object());
  for (const char* name : {"name", "uri", "taskId"}) {
    if (params.contains(name) && params[name].is_string()) all["Mcp-Name"] = params[name];
  }
  return all;
}

HttpStream McpClient::Open(const Json& message) const {
  return OpenRaw("POST", HeadersFor(message), message.dump());
}

HttpStream McpClient::OpenRaw(const std::string& method, const HttpStream::Headers& request_headers,
                              const std::string& body) const {
  HttpStream::Headers all = headers;
  for (const auto& [name, value] : request_headers) all.emplace(name, value);
  return {gateway_, method, "/mcp", all, body};
}

McpClient::Answer McpClient::Send(const Json& message) const { return AnswerOf(Open(message)); }

McpClient::Answer McpClient::SendRaw(const std::string& body) const {
  return AnswerOf(OpenRaw("POST", HeadersFor(nullptr), body));
}

McpClient::Json McpClient::Result(const std::string& method, Json params) {
  Json body = Send(Request(method, std::move(params))).body;
  return body.contains("result") ? body["result"] : body;
}

McpClient::Json McpClient::CallTool(const std::string& tool, const Json& arguments) {
  Json body = Send(ToolCall(tool, arguments)).body;
  return body.contains("result") ? body["result"] : body;
}

int McpClient::ErrorCode(const std::string& method, Json params) {
  const Json body = Send(Request(method, std::move(params))).body;
  return body.contains("error") ? body["error"]["code"].get<int>() : 0;
}

}  // namespace callslip
