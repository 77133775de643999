// analyze {what: "annotations"}: existing or requested drawings of the user on a page.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gateway/json/tracker_error.h"
#include "gateway/mcp/tools/annotation_result.h"
#include "gateway/mcp/tools/browser_tools.h"
#include "gateway/mcp/tools/tool_result.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {
namespace {

// A session is read as a whole, up to this many drawings.
constexpr int kDrawingsOfSession = 100;

// Adds a secondary problem to an answer that remains valid.
void AddHint(ToolResult& result, const std::string& hint) {
  auto* answer = std::get_if<Json>(&result.result);
  if (answer == nullptr || !answer->contains("structuredContent")) return;
  (*answer)["structuredContent"]["hint"] = hint;
  auto& text = (*answer)["content"][0]["text"].get_ref<std::string&>();
  absl::StrAppend(&text, " ", hint);
}

}  // namespace

absl::StatusOr<AnalyzeTool::AnnotationsCall> AnalyzeTool::ReadAnnotations(const Json& json) {
  Arguments arguments(json);
  arguments.Text("what");
  AnnotationsCall call;
  call.waits = arguments.Boolean("wait").value_or(false);
  if (const auto tab = arguments.Integer("tab_id", 0, INT32_MAX)) call.request.set_tab_id(*tab);
  call.request.set_session(arguments.Text("session").value_or(""));
  call.request.set_target(arguments.NonEmptyText("target").value_or(""));
  // Arguments that only apply to a wait are refused without one.
  if (call.waits) {
    call.message = arguments.Text("message").value_or("");
    SetRequestId(arguments, call.request.mutable_request_id());
    const int64_t max_wait = absl::ToInt64Milliseconds(kSlowWait);
    call.wait = absl::Milliseconds(arguments.Integer("wait_ms", 0, max_wait).value_or(0));
  }
  RETURN_IF_ERROR(arguments.status());
  return call;
}

boost::asio::awaitable<ToolResult> AnalyzeTool::Annotations(
    std::shared_ptr<CallContext> context, absl::StatusOr<AnnotationsCall> call) const {
  if (!call.ok()) co_return ErrorResult(call.status(), Executed::kNo);
  const std::string client = OnBehalfOf(context->principal());
  call->request.set_client_id(client);
  call->request.set_label(context->session_label());
  if (!call->waits) co_return co_await ListAnnotations(std::move(call->request));

  auto requested = co_await tracker_->Call(call->request);
  if (!requested.ok()) {
    co_return NotRegistered(requested.status(), call->request.request_id());
  }
  v1::Command command = std::move(*requested->mutable_command());
  const absl::Duration wait = call->wait;
  absl::Status started;
  if (!IsFinal(command.state())) {
    started = co_await StartDrawMode(context, command.command_id(), *std::move(call));
  }
  ToolResult result =
      co_await Answer(std::move(context), std::move(command), requested->existed(), wait);
  if (!started.ok()) {
    const std::string reason = TrackerErrorOf(started).reason;
    AddHint(result, absl::StrCat("The browser could not be notified (", reason,
                                 "): ask the user to switch draw mode on in the extension."));
  }
  co_return result;
}

boost::asio::awaitable<ToolResult> AnalyzeTool::ListAnnotations(
    v1::RequestAnnotationsRequest request) const {
  v1::ListAnnotationsRequest list;
  list.set_client_id(request.client_id());
  list.set_target(request.target());
  if (request.has_tab_id()) list.set_tab_id(request.tab_id());
  list.set_session(request.session());
  list.set_page_size(request.session().empty() ? 1 : kDrawingsOfSession);
  const auto listed = co_await tracker_->Call(std::move(list));
  if (!listed.ok()) co_return ErrorResult(listed.status(), Executed::kNo);
  Json answer = {{"status", "complete"}, {"final", true}};
  Json drawings = DrawingsOf(*listed);
  if (drawings.empty()) {
    answer["result"] = {{"annotations", Json::array()}};
    answer["message"] = "There are no annotations. Use wait: true to ask the user for some.";
    std::string text = answer["message"];
    co_return TextResult(std::move(answer), std::move(text));
  }
  Json result = request.session().empty() ? Json(drawings.back()) : std::move(drawings);
  co_return AnnotationResult(std::move(answer), std::move(result), "complete");
}

boost::asio::awaitable<absl::Status> AnalyzeTool::StartDrawMode(
    std::shared_ptr<CallContext> context, std::string correlation_id, AnnotationsCall call) const {
  Json params = {{"action", "draw_mode"}, {"correlation_ids", Json::array({correlation_id})}};
  if (call.request.has_tab_id()) params["tab_id"] = call.request.tab_id();
  if (!call.request.session().empty()) params["session"] = call.request.session();
  if (!call.message.empty()) params["message"] = call.message;
  v1::RegisterCommandRequest registration;
  registration.set_client_id(OnBehalfOf(context->principal()));
  registration.set_label(context->session_label());
  SetTrace(*context, registration);
  registration.set_target(call.request.target());
  registration.set_type("draw_mode");
  registration.set_params(Dump(params));
  registration.set_idempotent(true);
  // A repeated call finds that the user has been asked already.
  registration.set_request_id(std::move(correlation_id));
  const auto registered = co_await tracker_->Call(std::move(registration));
  co_return registered.status();
}

}  // namespace callslip::gateway
