#include "gateway/mcp/mcp_server.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/json_members.h"
#include "gateway/json/command_json.h"
#include "gateway/mcp/protocol/call_span.h"
#include "gateway/mcp/protocol/param_headers.h"
#include "gateway/mcp/tools/command_wait.h"
#include "gateway/mcp/tools/missing_worker.h"

namespace callslip::gateway {
namespace {

constexpr char kInstructions[] =
    "Callslip drives the user's browser. analyze {what: 'page'} shows the page with refs, which "
    "interact takes as selector. Both return a correlation_id at once; observe {what: "
    "'command_result', correlation_id} gets its result, and never blocks "
    "longer than wait_ms.";

// How long clients may cache results that change only with a new release.
constexpr int kStaticTtlMs = 3'600'000;

RpcError InvalidParams(std::string message) {
  return {JsonRpcCode::kInvalidParams, std::move(message)};
}

RpcError MethodNotFound(const std::string& method) {
  return {JsonRpcCode::kMethodNotFound, absl::StrCat("Method not found: ", method)};
}

// params[name] if it is a string.
std::optional<std::string> TextParam(const JsonRpcMessage& message, const char* name) {
  const Json& member = MemberOf(message.params, name);
  if (!member.is_string()) return std::nullopt;
  return member.get<std::string>();
}

// params.taskId, or the reason why it is invalid.
std::variant<std::string, RpcError> TaskIdOf(const JsonRpcMessage& message) {
  std::optional<std::string> id = TextParam(message, "taskId");
  if (!id.has_value()) return InvalidParams("params.taskId is missing: name the task.");
  if (id->size() <= kMaxIdBytes) return *std::move(id);
  return InvalidParams(absl::StrCat("params.taskId must have at most ", kMaxIdBytes, " bytes."));
}

// The arguments of a tools/call; null if there are none.
const Json& ArgumentsOf(const JsonRpcMessage& message) {
  return MemberOf(message.params, "arguments");
}

// The cursor of a paged list; empty for the first page.
std::string CursorOf(const JsonRpcMessage& message) {
  return TextParam(message, "cursor").value_or("");
}

bool DeclaresTasks(const Exchange& exchange) {
  return MemberOf(exchange.client_capabilities(), "extensions").contains(kTasksExtension);
}

RpcError TasksNotDeclared() {
  return {JsonRpcCode::kMissingClientCapability,
          "Declare the tasks extension in the client capabilities of the request.",
          Json{{"requiredCapabilities", {{"extensions", {{kTasksExtension, Json::object()}}}}}}};
}

// Adds the caching members of a modern result; a legacy one has none.
Json Cacheable(Era era, Json result, int ttl_ms, const char* scope) {
  if (era == Era::kLegacy) return result;
  result["ttlMs"] = ttl_ms;
  result["cacheScope"] = scope;
  return result;
}

// 2025-03-26 does not know resource links: its clients would refuse the whole result.
void LeaveOutResourceLinks(Json& result) {
  const auto content = result.find("content");
  if (content == result.end() || !content->is_array()) return;
  content->erase(std::remove_if(content->begin(), content->end(),
                                [](const Json& each) { return each["type"] == "resource_link"; }),
                 content->end());
}

// Returns the tools that mark an argument with x-mcp-header in their schema.
std::set<const Tool*> ToolsWithHeaders(const McpCatalog& catalog) {
  std::set<const Tool*> tools;
  for (const auto& tool : catalog.tools) {
    if (absl::StrContains(Dump(tool->Definition()["inputSchema"]), "\"x-mcp-header\"")) {
      tools.insert(tool.get());
    }
  }
  return tools;
}

// Adds the members that the era and version of the request require, and removes content that the
// version does not know.
RpcOutcome Finished(Exchange& exchange, RpcOutcome outcome) {
  auto* result = std::get_if<Json>(&outcome);
  const bool modern = exchange.era() == Era::kModern;
  if (!modern && result != nullptr && exchange.origin().version == kBatchVersion) {
    LeaveOutResourceLinks(*result);
  }
  if (modern && result != nullptr) {
    if (!result->contains("resultType")) (*result)["resultType"] = "complete";
    (*result)["_meta"][kMetaServerInfo] = ServerInfo();
  }
  if (auto* error = std::get_if<RpcError>(&outcome); modern && error != nullptr) {
    // Modern revisions reserve the older code and give it no meaning.
    if (error->code == JsonRpcCode::kResourceNotFound) error->code = JsonRpcCode::kInvalidParams;
  }
  exchange.EndSpan(outcome);
  return outcome;
}

}  // namespace

McpServer::McpServer(McpCatalog catalog, TrackerClient* tracker, Clock* clock, Sessions* sessions)
    : catalog_(std::move(catalog)),
      tools_with_headers_(ToolsWithHeaders(catalog_)),
      tasks_(tracker, clock),
      tracker_(tracker),
      sessions_(sessions),
      subscriptions_(tracker, catalog_.announces_lists) {}

const std::map<std::string, McpServer::Method>& McpServer::LegacyMethods() {
  static const auto& methods = *new std::map<std::string, Method>{
      {"ping", &McpServer::Ping},
      {"logging/setLevel", &McpServer::SetLogLevel},
      {"tools/list", &McpServer::ListTools},
      {"tools/call", &McpServer::CallTool},
      {"resources/list", &McpServer::ListResources},
      {"resources/templates/list", &McpServer::ListResourceTemplates},
      {"resources/read", &McpServer::ReadResource},
      {"resources/subscribe", &McpServer::Subscribe},
      {"resources/unsubscribe", &McpServer::Subscribe},
      {"prompts/list", &McpServer::ListPrompts},
      {"prompts/get", &McpServer::GetPrompt},
      {"completion/complete", &McpServer::Complete},
      {"tasks/get", &McpServer::LegacyTask},
      {"tasks/result", &McpServer::LegacyTask},
      {"tasks/cancel", &McpServer::LegacyTask},
      {"tasks/list", &McpServer::ListTasks},
  };
  return methods;
}

const std::map<std::string, McpServer::Method>& McpServer::ModernMethods() {
  static const auto& methods = *new std::map<std::string, Method>{
      {"server/discover", &McpServer::Discover},
      {"tools/list", &McpServer::ListTools},
      {"tools/call", &McpServer::CallTool},
      {"resources/list", &McpServer::ListResources},
      {"resources/templates/list", &McpServer::ListResourceTemplates},
      {"resources/read", &McpServer::ReadResource},
      {"prompts/list", &McpServer::ListPrompts},
      {"prompts/get", &McpServer::GetPrompt},
      {"completion/complete", &McpServer::Complete},
      {"tasks/get", &McpServer::ModernTask},
      {"tasks/update", &McpServer::ModernTask},
      {"tasks/cancel", &McpServer::ModernTask},
      {"subscriptions/listen", &McpServer::Listen},
  };
  return methods;
}

Json McpServer::Capabilities(Era era) const {
  const bool legacy = era == Era::kLegacy;
  Json capabilities = {
      {"tools", Json::object()}, {"resources", Json::object()}, {"logging", Json::object()}};
  if (catalog_.prompts != nullptr) {
    capabilities["prompts"] = Json::object();
    capabilities["completions"] = Json::object();
  }
  if (catalog_.announces_lists && !legacy) {
    capabilities["tools"]["listChanged"] = true;
    capabilities["prompts"]["listChanged"] = true;
  }
  if (!legacy) {
    capabilities["resources"]["subscribe"] = true;
    capabilities["extensions"] = {{kTasksExtension, Json::object()}};
    return capabilities;
  }
  capabilities["tasks"] = {{"list", Json::object()},
                           {"cancel", Json::object()},
                           {"requests", {{"tools", {{"call", Json::object()}}}}}};
  return capabilities;
}

RpcOutcome McpServer::Initialize(const Json& params) const {
  const Json& requested = MemberOf(params, "protocolVersion");
  if (!requested.is_string()) {
    return InvalidParams("params.protocolVersion is missing: send the newest version you know.");
  }
  const std::string version = requested.get<std::string>();
  return Json{{"protocolVersion", IsLegacyVersion(version) ? version : kLatestLegacyVersion},
              {"capabilities", Capabilities(Era::kLegacy)},
              {"serverInfo", ServerInfo()},
              {"instructions", kInstructions}};
}

absl::Duration McpServer::LongestWait(const JsonRpcMessage& request) const {
  // These two have no time limit, and report progress meanwhile.
  if (request.method == "tasks/result") return kProgressInterval;
  if (request.method == "subscriptions/listen") return kProgressInterval;
  const Tool* tool = request.method == "tools/call" ? FindTool(request) : nullptr;
  return tool == nullptr ? absl::ZeroDuration() : tool->LongestWait(ArgumentsOf(request));
}

std::optional<McpServer::Wait> McpServer::WaitOf(const Exchange& exchange) const {
  const JsonRpcMessage& message = exchange.message();
  if (message.method != "tools/call") return std::nullopt;
  const Tool* tool = FindTool(message);
  // CallTool() makes all other checks.
  if (tool == nullptr || !tool->ReadOnly() || message.params.contains("task") ||
      message.params.contains("inputResponses")) {
    return std::nullopt;
  }
  std::optional<Tool::Wait> command = tool->WaitOf(ArgumentsOf(message));
  if (!command.has_value()) return std::nullopt;
  if (exchange.listens() && command->at_most > absl::ZeroDuration()) return std::nullopt;
  return Wait{tool, *std::move(command)};
}

void McpServer::BeginSpan(Exchange& exchange) const {
  const JsonRpcMessage& message = exchange.message();
  // Names invented by a caller must not become span names.
  const bool is_known = MethodsOf(exchange.era()).contains(message.method);
  const Tool* tool = message.method == "tools/call" ? FindTool(message) : nullptr;
  exchange.BeginSpan(is_known ? absl::string_view(message.method) : "_OTHER",
                     tool == nullptr ? absl::string_view() : tool->Name());
}

void McpServer::BeginWait(std::shared_ptr<Exchange> exchange, Wait wait) const {
  const absl::Duration at_most = wait.command.at_most;
  std::string client_id = OnBehalfOf(exchange->principal());
  std::string command_id = wait.command.command_id;
  ActiveSpan span = BeginWaitSpan(*exchange, command_id);
  const auto slot = exchange->BeginWait();
  auto done = [this, exchange = std::move(exchange), wait = std::move(wait),
               span = std::move(span)](const absl::StatusOr<v1::Command>& command) mutable {
    span.End();
    if (command.ok()) exchange->LinkSpan(command->traceparent());
    // A plain look must stay cheap; only after a wait without an end does the result say if a
    // worker is missing.
    const bool in_vain = command.ok() && command->state() == v1::COMMAND_STATE_QUEUED &&
                         wait.command.at_most > absl::ZeroDuration();
    if (in_vain) {
      return exchange->Run(AfterVainWait(exchange, wait, *command));
    }
    exchange->FinishWith([&] {
      ToolResult result = wait.tool->AfterWait(wait.command.command_id, command, "");
      return Counted(wait.tool, Finished(*exchange, std::move(result.result)));
    });
  };
  tracker_->BeginWaitForEnd(std::move(client_id), std::move(command_id), at_most, slot,
                            std::move(done));
}

boost::asio::awaitable<RpcOutcome> McpServer::AfterVainWait(std::shared_ptr<Exchange> exchange,
                                                            Wait wait, v1::Command command) const {
  const std::string hint = co_await MissingWorkerHint(tracker_, command);
  ToolResult result = wait.tool->AfterWait(wait.command.command_id, command, hint);
  co_return Counted(wait.tool, Finished(*exchange, std::move(result.result)));
}

boost::asio::awaitable<RpcOutcome> McpServer::Handle(std::shared_ptr<Exchange> exchange) {
  const auto& methods = MethodsOf(exchange->era());
  const auto method = methods.find(exchange->message().method);
  if (method == methods.end()) {
    co_return Finished(*exchange, MethodNotFound(exchange->message().method));
  }
  const bool is_call = exchange->message().method == "tools/call";
  const Tool* tool = is_call ? FindTool(exchange->message()) : nullptr;
  RpcOutcome outcome = co_await (this->*method->second)(exchange);
  outcome = Finished(*exchange, std::move(outcome));
  if (is_call) co_return Counted(tool, std::move(outcome));
  co_return outcome;
}

std::optional<RpcError> McpServer::CheckParamHeaders(const HttpRequest& request,
                                                     const JsonRpcMessage& message) const {
  if (message.method != "tools/call") return std::nullopt;
  const Tool* tool = FindTool(message);
  if (tool == nullptr || !tools_with_headers_.contains(tool)) return std::nullopt;
  return gateway::CheckParamHeaders(request, tool->Definition()["inputSchema"],
                                    ArgumentsOf(message));
}

McpServer::Outcome McpServer::Ping(std::shared_ptr<Exchange>) { co_return Json::object(); }

McpServer::Outcome McpServer::Discover(std::shared_ptr<Exchange> exchange) {
  Json result = {{"supportedVersions", SupportedVersions()},
                 {"capabilities", Capabilities(Era::kModern)},
                 {"instructions", kInstructions}};
  co_return Cacheable(exchange->era(), std::move(result), kStaticTtlMs, "public");
}

McpServer::Outcome McpServer::SetLogLevel(std::shared_ptr<Exchange> exchange) {
  const auto& params = exchange->params();
  const std::optional<int> level = LogLevelOf(params.value("level", Json()));
  if (!level.has_value()) {
    co_return InvalidParams(
        "params.level must be one of debug, info, notice, warning, error, "
        "critical, alert, emergency.");
  }
  sessions_->SetLogLevel(exchange->origin().session_id, *level);
  co_return Json::object();
}

// Tools.

const Tool* McpServer::FindTool(const JsonRpcMessage& message) const {
  const std::optional<std::string> name = TextParam(message, "name");
  if (!name.has_value()) return nullptr;
  const auto tool =
      absl::c_find_if(catalog_.tools, [&](const auto& each) { return each->Name() == *name; });
  return tool == catalog_.tools.end() ? nullptr : tool->get();
}

RpcOutcome McpServer::Counted(const Tool* tool, RpcOutcome outcome) const {
  const auto* result = std::get_if<Json>(&outcome);
  const bool is_error = result != nullptr && result->value("isError", false);
  const char* answered = is_error ? "error" : "ok";
  calls_.Count(tool == nullptr ? "unknown" : tool->Name(),
               result == nullptr ? "refused" : answered);
  return outcome;
}

McpServer::Outcome McpServer::ListTools(std::shared_ptr<Exchange> exchange) {
  if (!CursorOf(exchange->message()).empty()) {
    co_return InvalidParams("params.cursor is unknown: all tools are on one page.");
  }
  const bool may_submit = MaySubmit(exchange->principal().role);
  const bool for_agent = !exchange->session_id().empty();
  Json tools = Json::array();
  for (const auto& tool : catalog_.tools) {
    if (!tool->IsListed() || (!may_submit && !tool->ReadOnly())) continue;
    Json definition = for_agent ? tool->DefinitionForAgent() : tool->Definition();
    // Saves tokens, which the longer definition of `session` uses.
    if (for_agent) {
      for (const char* name : {"outputSchema", "title"}) definition.erase(name);
    }
    if (exchange->origin().version == kLatestLegacyVersion && tool->MayBeTask()) {
      definition["execution"] = {{"taskSupport", "optional"}};
    }
    tools.push_back(std::move(definition));
  }
  Json result = {{"tools", std::move(tools)}};
  // Private because read-only roles see fewer tools.
  co_return Cacheable(exchange->era(), std::move(result), kStaticTtlMs, "private");
}

namespace {

// Turns a result with an error into a protocol error, for a call that should have become a task.
RpcOutcome TaskRefusal(RpcOutcome outcome) {
  const auto* result = std::get_if<Json>(&outcome);
  if (result == nullptr || !result->value("isError", false)) return outcome;
  const Json& answer = (*result)["structuredContent"];
  return RpcError{JsonRpcCode::kInvalidParams, answer.value("message", "The call was refused."),
                  answer};
}

}  // namespace

McpServer::Outcome McpServer::CallTool(std::shared_ptr<Exchange> exchange) {
  JsonRpcMessage& message = exchange->message();
  const Tool* tool = FindTool(message);
  if (tool == nullptr) {
    const std::optional<std::string> name = TextParam(message, "name");
    co_return InvalidParams(name.has_value()
                                ? absl::StrCat("Unknown tool: ", *name, ". See tools/list.")
                                : "params.name is missing: name the tool to call.");
  }
  if (!tool->ReadOnly() && !MaySubmit(exchange->principal().role)) {
    co_return InvalidParams(
        absl::StrCat("Your token has the role ", RoleName(exchange->principal().role),
                     ", which may not call ", tool->Name(), ". Ask for a client's token."));
  }
  const auto responses = message.params.find("inputResponses");
  if (responses != message.params.end() && !responses->is_object()) {
    co_return InvalidParams("params.inputResponses must be an object.");
  }
  const bool legacy = exchange->era() == Era::kLegacy;
  const auto task = message.params.find("task");
  const bool asks = legacy ? exchange->origin().version == kLatestLegacyVersion &&
                                 task != message.params.end() && task->is_object()
                           : DeclaresTasks(*exchange);
  if (legacy && asks && !tool->MayBeTask()) {
    co_return RpcError{JsonRpcCode::kMethodNotFound,
                       absl::StrCat(tool->Name(), " is not a task: call it without params.task.")};
  }
  exchange->set_as_task(asks && tool->MayBeTask());
  Json arguments;
  if (const auto it = message.params.find("arguments"); it != message.params.end()) {
    arguments = std::move(*it);
  }
  // In two steps: otherwise the arguments would live until the end of the co_await expression, and
  // calls may wait.
  boost::asio::awaitable<ToolResult> call = tool->Call(exchange, std::move(arguments));
  ToolResult result = co_await std::move(call);
  if (result.task.has_value()) {
    if (legacy) co_return Json{{"task", gateway::LegacyTask(*result.task)}};
    Json created = gateway::ModernTask(*result.task);
    created["resultType"] = "task";
    co_return created;
  }
  // A client that asks for a task understands only a task or a protocol error.
  if (legacy && exchange->as_task()) co_return TaskRefusal(std::move(result.result));
  co_return std::move(result.result);
}

// Resources.

McpServer::Outcome McpServer::ListResources(std::shared_ptr<Exchange> exchange) {
  Json all = {{"resources", Json::array()}};
  for (const auto& provider : catalog_.resources) {
    RpcOutcome page = co_await provider->List(exchange, CursorOf(exchange->message()));
    if (std::holds_alternative<RpcError>(page)) co_return page;
    Json& listed = std::get<Json>(page);
    for (Json& resource : listed["resources"]) all["resources"].push_back(std::move(resource));
    if (listed.contains("nextCursor")) all["nextCursor"] = listed["nextCursor"];
  }
  co_return Cacheable(exchange->era(), std::move(all), 0, "private");
}

McpServer::Outcome McpServer::ListResourceTemplates(std::shared_ptr<Exchange> exchange) {
  Json templates = Json::array();
  for (const auto& provider : catalog_.resources) {
    for (Json& each : provider->Templates()) templates.push_back(std::move(each));
  }
  Json result = {{"resourceTemplates", std::move(templates)}};
  co_return Cacheable(exchange->era(), std::move(result), kStaticTtlMs, "public");
}

McpServer::Outcome McpServer::ReadResource(std::shared_ptr<Exchange> exchange) {
  const std::optional<std::string> uri = TextParam(exchange->message(), "uri");
  if (!uri.has_value()) co_return InvalidParams("params.uri is missing: name the resource.");
  RpcOutcome outcome =
      RpcError{JsonRpcCode::kResourceNotFound, "Resource not found.", Json{{"uri", *uri}}};
  for (const auto& provider : catalog_.resources) {
    outcome = co_await provider->Read(exchange, *uri);
    const auto* error = std::get_if<RpcError>(&outcome);
    if (error == nullptr || error->code != JsonRpcCode::kResourceNotFound) break;
  }
  if (std::holds_alternative<RpcError>(outcome)) co_return outcome;
  co_return Cacheable(exchange->era(), std::get<Json>(std::move(outcome)), 0, "private");
}

McpServer::Outcome McpServer::Subscribe(std::shared_ptr<Exchange> exchange) {
  // Legacy clients could receive changes only on a GET stream, which the gateway does not offer.
  if (!catalog_.announces_lists) co_return MethodNotFound(exchange->message().method);
  co_return Json::object();
}

// Prompts.

McpServer::Outcome McpServer::ListPrompts(std::shared_ptr<Exchange> exchange) {
  if (catalog_.prompts == nullptr) co_return MethodNotFound(exchange->message().method);
  Json result = {{"prompts", catalog_.prompts->List()}};
  co_return Cacheable(exchange->era(), std::move(result), kStaticTtlMs, "public");
}

McpServer::Outcome McpServer::GetPrompt(std::shared_ptr<Exchange> exchange) {
  if (catalog_.prompts == nullptr) co_return MethodNotFound(exchange->message().method);
  const std::optional<std::string> name = TextParam(exchange->message(), "name");
  if (!name.has_value()) co_return InvalidParams("params.name is missing: name the prompt.");
  co_return catalog_.prompts->Get(*exchange, *name);
}

McpServer::Outcome McpServer::Complete(std::shared_ptr<Exchange> exchange) {
  if (catalog_.prompts == nullptr) co_return MethodNotFound(exchange->message().method);
  co_return catalog_.prompts->Complete(exchange->params());
}

// Tasks.

McpServer::Outcome McpServer::LegacyTask(std::shared_ptr<Exchange> exchange) {
  const std::string& method = exchange->message().method;
  if (exchange->origin().version != kLatestLegacyVersion) co_return MethodNotFound(method);
  const auto task_id = TaskIdOf(exchange->message());
  if (const auto* error = std::get_if<RpcError>(&task_id)) co_return *error;
  const auto& id = std::get<std::string>(task_id);
  if (method == "tasks/result") co_return co_await tasks_.Result(exchange, id);
  if (method == "tasks/cancel") {
    if (!MaySubmit(exchange->principal().role))
      co_return InvalidParams("Your role only reads: it may not cancel.");
    co_return co_await tasks_.CancelLegacy(exchange, id);
  }
  co_return co_await tasks_.GetLegacy(exchange, id);
}

McpServer::Outcome McpServer::ListTasks(std::shared_ptr<Exchange> exchange) {
  if (exchange->origin().version != kLatestLegacyVersion) {
    co_return MethodNotFound(exchange->message().method);
  }
  co_return co_await tasks_.List(exchange, CursorOf(exchange->message()));
}

McpServer::Outcome McpServer::ModernTask(std::shared_ptr<Exchange> exchange) {
  if (!DeclaresTasks(*exchange)) co_return TasksNotDeclared();
  const std::string& method = exchange->message().method;
  const auto task_id = TaskIdOf(exchange->message());
  if (const auto* error = std::get_if<RpcError>(&task_id)) co_return *error;
  const auto& id = std::get<std::string>(task_id);
  if (method != "tasks/get" && !MaySubmit(exchange->principal().role)) {
    co_return InvalidParams("Viewers may not change tasks.");
  }
  const TaskProvider* others = catalog_.tasks.get();
  const TaskProvider& provider = others != nullptr && others->Owns(id) ? *others : tasks_;
  if (method == "tasks/get") co_return co_await provider.Get(exchange, id);
  if (method == "tasks/cancel") co_return co_await provider.Cancel(exchange, id);
  const Json responses = exchange->params().value("inputResponses", Json());
  if (!responses.is_object()) co_return InvalidParams("params.inputResponses must be an object.");
  co_return co_await provider.Update(exchange, id, responses);
}

McpServer::Outcome McpServer::Listen(std::shared_ptr<Exchange> exchange) {
  const bool asks_for_tasks = MemberOf(exchange->params(), "notifications").contains("taskIds");
  if (asks_for_tasks && !DeclaresTasks(*exchange)) co_return TasksNotDeclared();
  co_return co_await subscriptions_.Listen(exchange);
}

}  // namespace callslip::gateway
