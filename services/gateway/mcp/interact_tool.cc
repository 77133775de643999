#include "gateway/mcp/interact_tool.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gateway/json/command_json.h"
#include "gateway/mcp/arguments.h"
#include "gateway/mcp/tool_definitions.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {
namespace {

// What a tool call asks of the browser.
struct BrowserCall {
  v1::RegisterCommandRequest registration;
  absl::Duration wait;
};

// The arguments of each action, besides those that all of them take.
struct Action {
  const char* name;
  std::vector<const char*> required;  // Texts.
  std::vector<const char*> optional;  // Booleans.
  // Reads only, so that it may be delivered twice.
  bool idempotent = false;
};

const std::vector<Action>& Actions() {
  static const auto& actions = *new std::vector<Action>{
      {"execute_js", {"script"}, {}},
      {"navigate", {"url"}, {}},
      {"get_page", {}, {}, /*idempotent=*/true},
      {"click", {"selector"}, {}},
      {"type", {"selector", "text"}, {"clear"}},
      {"screenshot", {}, {}, /*idempotent=*/true},
  };
  return actions;
}

std::vector<std::string> ActionNames() {
  std::vector<std::string> names;
  for (const Action& action : Actions()) names.emplace_back(action.name);
  return names;
}

const Action* FindAction(const std::string& name) {
  for (const Action& action : Actions()) {
    if (action.name == name) return &action;
  }
  return nullptr;
}

// Reads what all browser calls take. The bounds are those of command_service.proto and
// timeouts.h.
void ReadCommon(Arguments& arguments, OrderedJson& params, BrowserCall& call) {
  if (const auto tab = arguments.Integer("tab_id", 0, INT32_MAX)) params["tab_id"] = *tab;
  if (const auto timeout = arguments.Integer("timeout_ms", 100, 120'000)) {
    call.registration.mutable_start_to_close()->set_seconds(*timeout / 1000);
    call.registration.mutable_start_to_close()->set_nanos(static_cast<int32_t>(*timeout % 1000) *
                                                          1'000'000);
  }
  const int64_t max_wait = absl::ToInt64Milliseconds(kSlowWait);
  call.wait = absl::Milliseconds(arguments.Integer("wait_ms", 0, max_wait).value_or(0));
  call.registration.set_request_id(arguments.Text("request_id").value_or(""));
}

absl::StatusOr<BrowserCall> ReadInteract(const Json& json) {
  Arguments arguments(json);
  const std::string name = arguments.Choice("action", ActionNames());
  BrowserCall call;
  OrderedJson params = {{"action", name}};
  ReadCommon(arguments, params, call);
  const Action* action = FindAction(name);
  if (action == nullptr) return arguments.status();
  for (const char* field : action->required) params[field] = arguments.RequiredText(field);
  for (const char* field : action->optional) {
    if (const auto value = arguments.Boolean(field)) params[field] = *value;
  }
  RETURN_IF_ERROR(arguments.status());
  call.registration.set_type(name);
  call.registration.set_params(Dump(params));
  call.registration.set_idempotent(action->idempotent);
  return call;
}

absl::StatusOr<BrowserCall> ReadAnalyze(const Json& json) {
  Arguments arguments(json);
  arguments.Choice("what", {"page"});
  BrowserCall call;
  OrderedJson params = {{"action", "get_page"}};
  ReadCommon(arguments, params, call);
  RETURN_IF_ERROR(arguments.status());
  call.registration.set_type("get_page");
  call.registration.set_params(Dump(params));
  call.registration.set_idempotent(true);
  return call;
}

ToolResult Queued(const v1::Command& command) {
  const std::string& id = command.command_id();
  return {{{"status", "queued"},
           {"final", false},
           {"correlation_id", id},
           {"message", absl::StrCat("Queued for the browser. Get the result with observe {what: "
                                    "'command_result', correlation_id: '",
                                    id, "', wait_ms: 8000}.")}},
          /*is_error=*/false};
}

boost::asio::awaitable<ToolResult> Run(TrackerClient* tracker, std::string client_id,
                                       absl::StatusOr<BrowserCall> call) {
  if (!call.ok()) co_return ErrorResult(call.status());
  call->registration.set_client_id(client_id);
  const auto registered = co_await tracker->Register(std::move(call->registration));
  if (!registered.ok()) co_return ErrorResult(registered.status());
  const v1::Command& command = registered->command();
  if (call->wait == absl::ZeroDuration()) co_return Queued(command);

  const auto ended =
      co_await tracker->WaitForEnd(std::move(client_id), command.command_id(), call->wait);
  // The command was accepted, whatever became of the wait: its id must not be lost.
  if (!ended.ok()) co_return Queued(command);
  const bool failed = ended->has_error();
  co_return ToolResult{CommandAnswer(*ended), failed};
}

}  // namespace

const OrderedJson& InteractTool::Definition() const { return InteractDefinition(); }
const OrderedJson& AnalyzeTool::Definition() const { return AnalyzeDefinition(); }

boost::asio::awaitable<ToolResult> InteractTool::Call(std::string client_id, Json arguments) const {
  return Run(tracker_, std::move(client_id), ReadInteract(arguments));
}

boost::asio::awaitable<ToolResult> AnalyzeTool::Call(std::string client_id, Json arguments) const {
  return Run(tracker_, std::move(client_id), ReadAnalyze(arguments));
}

}  // namespace callslip::gateway
