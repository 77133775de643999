#include "gateway/mcp/mcp_handler.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/version.h"
#include "gateway/http/error_response.h"

namespace callslip::gateway {
namespace {

// Newest first: a client that asks for another version is offered the first.
constexpr std::array<const char*, 3> kProtocolVersions = {"2025-11-25", "2025-06-18", "2025-03-26"};

constexpr char kInstructions[] =
    "Callslip drives the user's browser. interact hands in an action and returns a correlation_id "
    "at once; observe {what: 'command_result', correlation_id} gets its result, and never blocks "
    "longer than wait_ms.";

// Callers without a token are together one client.
constexpr char kLocalClient[] = "local";

bool IsSupported(const std::string& version) {
  return absl::c_any_of(kProtocolVersions, [&](const char* known) { return version == known; });
}

Json SupportedVersions() {
  Json versions = Json::array();
  for (const char* version : kProtocolVersions) versions.push_back(version);
  return versions;
}

// Refuses what the transport demands and the request lacks.
std::optional<HttpResponse> CheckHeaders(const HttpRequest& request) {
  const std::string accept = request.Header("accept");
  const bool takes_both = absl::StrContains(accept, "application/json") &&
                          absl::StrContains(accept, "text/event-stream");
  if (!accept.empty() && !takes_both && !absl::StrContains(accept, "*/*")) {
    return ErrorResponse(406, "not_acceptable", "The client must accept JSON and event streams.",
                         "Send Accept: application/json, text/event-stream.");
  }
  const std::string version = request.Header("mcp-protocol-version");
  if (version.empty() || IsSupported(version)) return std::nullopt;
  return JsonRpcErrorWithoutId(400, JsonRpcCode::kUnsupportedProtocolVersion,
                               absl::StrCat("Protocol version \"", version, "\" is not supported."),
                               Json{{"supported", SupportedVersions()}, {"requested", version}});
}

HttpResponse Accepted() { return {.status = 202}; }

}  // namespace

McpHandler::McpHandler(std::vector<std::unique_ptr<Tool>> tools) : tools_(std::move(tools)) {}

boost::asio::awaitable<HttpResponse> McpHandler::Handle(
    std::shared_ptr<const HttpRequest> request) const {
  if (auto refusal = CheckHeaders(*request); refusal.has_value()) co_return *std::move(refusal);
  auto parsed = ParseJsonRpc(request->body);
  if (auto* error = std::get_if<HttpResponse>(&parsed); error != nullptr) {
    co_return std::move(*error);
  }
  auto& message = std::get<JsonRpcMessage>(parsed);
  // Notifications need no action as yet: a call ends when its connection does.
  if (message.kind != JsonRpcMessage::Kind::kRequest) co_return Accepted();
  co_return co_await Answer(std::move(message));
}

boost::asio::awaitable<HttpResponse> McpHandler::Answer(JsonRpcMessage message) const {
  if (message.method == "initialize") {
    co_return JsonRpcResult(message.id, Initialize(message.params));
  }
  if (message.method == "ping") co_return JsonRpcResult(message.id, Json::object());
  if (message.method == "tools/list") co_return JsonRpcResult(message.id, ListTools());
  if (message.method == "tools/call") co_return co_await CallTool(std::move(message));
  co_return JsonRpcError(message.id, JsonRpcCode::kMethodNotFound,
                         absl::StrCat("Method not found: ", message.method));
}

Json McpHandler::Initialize(const Json& params) const {
  const auto requested = params.find("protocolVersion");
  const bool known = requested != params.end() && requested->is_string() &&
                     IsSupported(requested->get<std::string>());
  Json result;
  result["protocolVersion"] = known ? requested->get<std::string>() : kProtocolVersions.front();
  result["capabilities"] = {{"tools", Json::object()}};
  result["serverInfo"] = {{"name", "callslip"}, {"title", "Callslip"}, {"version", kVersion}};
  result["instructions"] = kInstructions;
  return result;
}

Json McpHandler::ListTools() const {
  Json tools = Json::array();
  for (const auto& tool : tools_) tools.push_back(tool->Definition());
  return {{"tools", std::move(tools)}};
}

boost::asio::awaitable<HttpResponse> McpHandler::CallTool(JsonRpcMessage message) const {
  const auto member = message.params.find("name");
  if (member == message.params.end() || !member->is_string()) {
    co_return JsonRpcError(message.id, JsonRpcCode::kInvalidParams,
                           "params.name is missing: name the tool to call.");
  }
  const auto name = member->get<std::string>();
  const auto tool = absl::c_find_if(tools_, [&](const auto& each) { return each->Name() == name; });
  if (tool == tools_.end()) {
    co_return JsonRpcError(message.id, JsonRpcCode::kInvalidParams,
                           absl::StrCat("Unknown tool: ", name, ". See tools/list."));
  }
  Json arguments;
  if (const auto it = message.params.find("arguments"); it != message.params.end()) {
    arguments = std::move(*it);
  }
  ToolResult result = co_await (*tool)->Call(kLocalClient, std::move(arguments));
  co_return JsonRpcResult(message.id, std::move(result).ToMcp());
}

}  // namespace callslip::gateway
