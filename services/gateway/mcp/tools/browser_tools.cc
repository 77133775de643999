#include "gateway/mcp/tools/browser_tools.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/random.h"
#include "common/status_macros.h"
#include "gateway/json/command_json.h"
#include "gateway/json/tracker_error.h"
#include "gateway/mcp/tools/arguments.h"
#include "gateway/mcp/tools/browser_actions.h"
#include "gateway/mcp/tools/command_wait.h"
#include "gateway/mcp/tools/missing_worker.h"
#include "gateway/mcp/tools/tool_definitions.h"
#include "gateway/mcp/tools/tool_result.h"
#include "gateway/timeouts.h"
#include "google/protobuf/util/time_util.h"

namespace callslip::gateway {
namespace {

std::vector<std::string> ActionNames() {
  std::vector<std::string> names;
  for (const BrowserAction& action : BrowserActions()) names.emplace_back(action.name);
  names.emplace_back("cancel");
  return names;
}

std::vector<std::string> SubjectNames() {
  std::vector<std::string> names;
  for (const BrowserAction& action : BrowserActions()) {
    if (action.subject != nullptr) names.emplace_back(action.subject);
  }
  names.emplace_back("annotations");
  return names;
}

// Null if there is no such subject of `analyze`.
const BrowserAction* FindSubject(const std::string& what) {
  for (const BrowserAction& action : BrowserActions()) {
    if (action.subject != nullptr && what == action.subject) return &action;
  }
  return nullptr;
}

ToolResult TaskResult(v1::Command command) { return {.task = std::move(command)}; }

// The descriptions of the files with these ids, which a worker needs to fetch them.
absl::StatusOr<Json> DescribeFiles(FileStore& files, const std::string& client, const Json& ids) {
  Json described = Json::array();
  int64_t bytes = 0;
  for (const Json& id : ids) {
    ASSIGN_OR_RETURN(const FileStore::About file, files.Find(client, id.get<std::string>()));
    bytes += file.size;
    described.push_back({{"file_id", file.id},
                         {"name", file.name},
                         {"mime_type", file.mime_type},
                         {"size", file.size}});
  }
  if (bytes > FileStore::kBytesOfClient) return FileStore::TooLarge();
  return described;
}

absl::StatusOr<v1::CancelCommandRequest> ReadCancel(const Json& json) {
  Arguments arguments(json);
  arguments.Text("action");
  v1::CancelCommandRequest request;
  request.set_command_id(arguments.Id("correlation_id"));
  RETURN_IF_ERROR(arguments.status());
  return request;
}

}  // namespace

// BrowserTool

absl::Duration BrowserTool::LongestWait(const Json& arguments) const {
  return WaitIn(arguments, absl::ZeroDuration(), kSlowWait);
}

// The bounds match command_service.proto and timeouts.h.
BrowserTool::BrowserCall BrowserTool::ReadCall(const BrowserAction& action, Arguments& arguments) {
  BrowserCall call;
  if (const auto timeout = arguments.Integer("timeout_ms", 100, 120'000)) {
    *call.registration.mutable_deadlines()->mutable_start_to_close() =
        google::protobuf::util::TimeUtil::MillisecondsToDuration(*timeout);
  }
  const int64_t max_wait = absl::ToInt64Milliseconds(kSlowWait);
  call.wait = absl::Milliseconds(arguments.Integer("wait_ms", 0, max_wait).value_or(0));
  v1::RegisterCommandRequest& registration = call.registration;
  SetRequestId(arguments, registration.mutable_request_id());
  registration.set_target(arguments.NonEmptyText("target").value_or(""));
  registration.set_type(action.name);
  registration.set_params(Dump(ReadBrowserAction(action, arguments)));
  registration.set_idempotent(action.idempotent);
  return call;
}

ToolResult BrowserTool::NotRegistered(const absl::Status& status, const std::string& request_id) {
  // If the tracker itself refused, nothing was done. If its response did not arrive, or it could
  // not store the accepted command, the outcome is unknown.
  const std::string reason = TrackerErrorOf(status).reason;
  const bool refused = reason != "tracker_unreachable" && reason != "storage_unavailable";
  // The request was sent before, and its command has been removed since.
  if (reason == "command_removed") return ErrorResult(status, Executed::kAsked);
  if (refused) return ErrorResult(status, Executed::kNo);
  ToolResult result =
      ErrorResult(status, Executed::kPerhaps,
                  absl::StrCat("It may have been accepted. Send it again with request_id '",
                               request_id, "': it is the same command then."));
  std::get<Json>(result.result)["structuredContent"]["request_id"] = request_id;
  return result;
}

void BrowserTool::SetRequestId(Arguments& arguments, std::string* request_id) {
  *request_id = arguments.Text("request_id").value_or("");
  if (request_id->empty()) *request_id = RandomHex128();
}

void BrowserTool::SetTrace(const CallContext& context, v1::RegisterCommandRequest& registration) {
  registration.set_traceparent(context.trace().ToString());
  TraceCompanions companions = context.companions();
  if (companions.empty()) return;
  registration.set_tracestate(std::move(companions.tracestate));
  registration.set_baggage(std::move(companions.baggage));
}

boost::asio::awaitable<ToolResult> BrowserTool::Submit(std::shared_ptr<CallContext> context,
                                                       absl::StatusOr<BrowserCall> call) const {
  if (!call.ok()) co_return ErrorResult(call.status(), Executed::kNo);
  call->registration.set_client_id(OnBehalfOf(context->principal()));
  call->registration.set_label(context->session_label());
  SetTrace(*context, call->registration);
  const std::string traceparent = call->registration.traceparent();
  const std::string request_id = call->registration.request_id();
  auto registered = co_await tracker_->Call(std::move(call->registration));
  if (!registered.ok()) co_return NotRegistered(registered.status(), request_id);
  v1::Command& command = *registered->mutable_command();
  if (IsLogged(LogLevel::kDebug)) {
    Log(LogLevel::kDebug, "command submitted",
        {{"correlation_id", command.command_id()},
         {"client", command.client_id()},
         {"traceparent", traceparent},
         {"action", command.type()}});
  }
  const bool existed = registered->existed();
  // Answer() would return the same for most calls, at the cost of its coroutine frame.
  const bool waits = call->wait > absl::ZeroDuration() || context->as_task();
  if (!waits && !existed && !IsFinal(command.state())) co_return QueuedResult(command);
  co_return co_await Answer(std::move(context), std::move(command), existed, call->wait);
}

boost::asio::awaitable<ToolResult> BrowserTool::Answer(std::shared_ptr<CallContext> context,
                                                       v1::Command command, bool existed,
                                                       absl::Duration wait) const {
  const bool goes_on = wait == absl::ZeroDuration() && !IsFinal(command.state());
  if (context->as_task() && goes_on) co_return TaskResult(std::move(command));
  if (goes_on && !existed) co_return QueuedResult(command);

  // A command that existed before may have ended.
  auto ended = co_await AwaitEnd(tracker_, clock_, context, command.command_id(), wait);
  // The command was accepted, even if the wait failed: its id must not be lost.
  if (!ended.ok()) {
    if (context->as_task()) co_return TaskResult(std::move(command));
    co_return QueuedResult(command);
  }
  // Legacy clients that ask for a task accept nothing else.
  const bool only_task = context->as_task() && context->era() == Era::kLegacy;
  if (only_task || (context->as_task() && !IsFinal(ended->state()))) {
    co_return TaskResult(*std::move(ended));
  }
  const std::string hint = co_await MissingWorkerHint(tracker_, *ended);
  co_return CommandResult(*ended, hint);
}

// InteractTool

const Json& InteractTool::Definition() const { return InteractDefinition(); }

absl::StatusOr<BrowserTool::BrowserCall> InteractTool::Read(const std::string& client,
                                                            const Json& json) const {
  Arguments arguments(json);
  static const auto& names = *new std::vector<std::string>(ActionNames());
  const std::string name = arguments.Choice("action", names);
  const BrowserAction* action = FindBrowserAction(name);
  if (action == nullptr) return arguments.status();
  BrowserCall call = ReadCall(*action, arguments);
  RETURN_IF_ERROR(arguments.status());
  if (name == "upload") {
    Json params = JsonOrText(call.registration.params());
    ASSIGN_OR_RETURN(params["files"], DescribeFiles(*files_, client, params["files"]));
    call.registration.set_params(Dump(params));
  }
  return call;
}

boost::asio::awaitable<ToolResult> InteractTool::Call(std::shared_ptr<CallContext> context,
                                                      Json arguments) const {
  if (arguments.is_object() && arguments.value("action", Json()) == "cancel") {
    return Cancel(OnBehalfOf(context->principal()), ReadCancel(arguments));
  }
  absl::StatusOr<BrowserCall> call = Read(OnBehalfOf(context->principal()), arguments);
  return Submit(std::move(context), std::move(call));
}

boost::asio::awaitable<ToolResult> InteractTool::Cancel(
    std::string client_id, absl::StatusOr<v1::CancelCommandRequest> request) const {
  if (!request.ok()) co_return ErrorResult(request.status(), Executed::kNo);
  request->set_client_id(client_id);
  const std::string id = request->command_id();
  const auto cancelled = co_await tracker_->Call(*std::move(request));
  if (!cancelled.ok()) co_return ErrorResult(cancelled.status(), Executed::kAsked, "", id);
  Json answer = {{"status", "cancelled"}, {"final", true}, {"correlation_id", id}};
  answer["may_have_executed"] = cancelled->command().error().may_have_executed();
  co_return TextResult(std::move(answer), absl::StrCat("cancelled ", id));
}

// AnalyzeTool

const Json& AnalyzeTool::Definition() const { return AnalyzeDefinition(); }

absl::StatusOr<BrowserTool::BrowserCall> AnalyzeTool::Read(const Json& json) {
  Arguments arguments(json);
  static const auto& names = *new std::vector<std::string>(SubjectNames());
  const BrowserAction* action = FindSubject(arguments.Choice("what", names));
  if (action == nullptr) return arguments.status();
  BrowserCall call = ReadCall(*action, arguments);
  RETURN_IF_ERROR(arguments.status());
  return call;
}

boost::asio::awaitable<ToolResult> AnalyzeTool::Call(std::shared_ptr<CallContext> context,
                                                     Json arguments) const {
  if (arguments.is_object() && arguments.value("what", Json()) == "annotations") {
    return Annotations(std::move(context), ReadAnnotations(arguments));
  }
  return Submit(std::move(context), Read(arguments));
}

}  // namespace callslip::gateway
