#include "gateway/mcp/interact_tool.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gateway/json/command_json.h"
#include "gateway/json/tracker_error.h"
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
  std::vector<const char*> required;  // Texts that must not be empty.
  bool takes_text = false;            // `text`, which may be empty, and `clear`.
  // Reads only, so that it may be delivered twice.
  bool idempotent = false;
};

const std::vector<Action>& Actions() {
  static const auto& actions = *new std::vector<Action>{
      {.name = "execute_js", .required = {"script"}},
      {.name = "navigate", .required = {"url"}},
      {.name = "get_page", .idempotent = true},
      {.name = "click", .required = {"selector"}},
      {.name = "type", .required = {"selector"}, .takes_text = true},
      {.name = "screenshot", .idempotent = true},
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
void ReadCommon(Arguments& arguments, Json& params, BrowserCall& call) {
  if (const auto tab = arguments.Integer("tab_id", 0, INT32_MAX)) params["tab_id"] = *tab;
  if (const auto timeout = arguments.Integer("timeout_ms", 100, 120'000)) {
    google::protobuf::Duration& start_to_close =
        *call.registration.mutable_deadlines()->mutable_start_to_close();
    start_to_close.set_seconds(*timeout / 1000);
    start_to_close.set_nanos(static_cast<int32_t>(*timeout % 1000) * 1'000'000);
  }
  const int64_t max_wait = absl::ToInt64Milliseconds(kSlowWait);
  call.wait = absl::Milliseconds(arguments.Integer("wait_ms", 0, max_wait).value_or(0));
  call.registration.set_request_id(arguments.Text("request_id").value_or(""));
}

absl::StatusOr<BrowserCall> ReadInteract(const Json& json) {
  Arguments arguments(json);
  const std::string name = arguments.Choice("action", ActionNames());
  BrowserCall call;
  Json params = {{"action", name}};
  ReadCommon(arguments, params, call);
  const Action* action = FindAction(name);
  if (action == nullptr) return arguments.status();
  for (const char* field : action->required) params[field] = arguments.RequiredText(field);
  if (action->takes_text) {
    params["text"] = arguments.PresentText("text");
    if (const auto clear = arguments.Boolean("clear")) params["clear"] = *clear;
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
  Json params = {{"action", "get_page"}};
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

ToolResult NotRegistered(const absl::Status& status) {
  // Where the tracker itself refused, nothing was done. Where it was not heard, nobody knows.
  const bool refused = TrackerErrorOf(status).reason != "tracker_unreachable";
  ToolResult result = ErrorResult(status, refused ? Executed::kNo : Executed::kPerhaps);
  if (!refused) {
    result.answer["hint"] =
        "It may have been accepted. Look with observe {what: 'pending_commands'} before you send "
        "it "
        "again, or send it again with the same request_id.";
  }
  return result;
}

boost::asio::awaitable<ToolResult> Run(TrackerClient* tracker, std::string client_id,
                                       absl::StatusOr<BrowserCall> call) {
  if (!call.ok()) co_return ErrorResult(call.status(), Executed::kNo);
  call->registration.set_client_id(client_id);
  const auto registered = co_await tracker->Register(std::move(call->registration));
  if (!registered.ok()) co_return NotRegistered(registered.status());
  const v1::Command& command = registered->command();
  if (call->wait == absl::ZeroDuration() && !registered->existed()) co_return Queued(command);

  // A command that was there before may have ended.
  const auto ended =
      co_await tracker->WaitForEnd(std::move(client_id), command.command_id(), call->wait);
  // The command was accepted, whatever became of the wait: its id must not be lost.
  if (!ended.ok()) co_return Queued(command);
  const bool failed = ended->has_error();
  co_return ToolResult{CommandAnswer(*ended), failed};
}

}  // namespace

const Json& InteractTool::Definition() const { return InteractDefinition(); }
const Json& AnalyzeTool::Definition() const { return AnalyzeDefinition(); }

boost::asio::awaitable<ToolResult> InteractTool::Call(std::string client_id, Json arguments) const {
  return Run(tracker_, std::move(client_id), ReadInteract(arguments));
}

boost::asio::awaitable<ToolResult> AnalyzeTool::Call(std::string client_id, Json arguments) const {
  return Run(tracker_, std::move(client_id), ReadAnalyze(arguments));
}

}  // namespace callslip::gateway
