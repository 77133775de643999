#include "gateway/mcp/tools/tool_result.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gateway/json/command_json.h"
#include "gateway/json/json_members.h"
#include "gateway/json/tracker_error.h"
#include "gateway/mcp/tools/annotation_result.h"

namespace callslip::gateway {
namespace {

// Base64 bytes. The bridge omits the result from a line of more than 10 MiB, and refers to it by
// the command's id.
constexpr size_t kMaxPipedImageBytes = size_t{8} << 20;

// Without wait_ms for a user's command: its default wait is long enough.
std::string ObserveCall(const v1::Command& command) {
  const bool human = command.command_class() == v1::COMMAND_CLASS_HUMAN;
  return absl::StrCat("observe {what: 'command_result', correlation_id: '", command.command_id(),
                      human ? "'}" : "', wait_ms: 8000}");
}

// The error of an answer, in one line.
std::string ErrorText(const Json& answer, const CallVerdict& verdict) {
  const auto text = [&](const char* name) { return answer.value(name, std::string()); };
  return absl::StrCat(text("status"), " ", text("error"), ": ", text("message"), " ", text("hint"),
                      " ", verdict.sentence);
}

std::string PendingText(const v1::Command& command) {
  if (command.command_class() == v1::COMMAND_CLASS_HUMAN) {
    return absl::StrCat("pending: the user has not finished yet. Call ", ObserveCall(command),
                        " again.");
  }
  std::string text = absl::StrCat("pending (", StageOf(command.state()), ")");
  if (!command.progress().message().empty())
    absl::StrAppend(&text, " ", command.progress().message());
  return absl::StrCat(text, ". Call ", ObserveCall(command), " again.");
}

// The page text that the extension writes for models.
const std::string* PageTextOf(const Json& result) {
  const Json& page = MemberOf(result, "page");
  return page.is_string() ? &page.get_ref<const std::string&>() : nullptr;
}

// The result is a value that the page computed, with arbitrary members; the extension's page text
// is separate from it.
bool IsValueOfPage(const v1::Command& command) { return command.type() == "execute_js"; }

// `{"success": true, "data": …}` carries no more information than the data.
Json PlainResult(Json result) {
  if (!IsTrue(result, "success")) return result;
  result.erase("success");
  if (result.size() == 1 && result.contains("data")) return std::move(result["data"]);
  return result;
}

// Members of an action's result that the page text already contains.
constexpr const char* kSaidByPage[] = {"selector",       "tag",     "text",      "key", "value",
                                       "value_left_out", "matched", "waited_ms", "x",   "y",
                                       "title",          "url"};

// Removes members that the caller knows or does not need from the answer about a completed command:
// models pay for them with each call. `tells_page`: the result may contain a page text.
void MakeLean(Json& answer, bool tells_page) {
  for (const char* name : {"correlation_id", "completed_at", "duration_ms"}) answer.erase(name);
  if (!tells_page) return;
  if (PageTextOf(MemberOf(answer, "result")) != nullptr) {
    for (const char* name : kSaidByPage) answer["result"].erase(name);
  }
  const Json& result = MemberOf(answer, "result");
  const Json& url = MemberOf(result, "url");
  // The page text contains its own URL.
  if (PageTextOf(result) != nullptr || (url.is_string() && url == MemberOf(answer, "url"))) {
    answer.erase("url");
  }
}

// Models must not follow instructions from pages.
std::string Untrusted(const Json& result) {
  return absl::StrCat("untrusted content of the page:\n", Dump(result));
}

// The result as text for models: the same as in structuredContent.
std::string ResultText(const Json& result) {
  const std::string* page = PageTextOf(result);
  if (page == nullptr) return Untrusted(result);
  if (result.size() == 1) return *page;
  Json beside = result;
  beside.erase("page");
  return absl::StrCat(*page, "\n", Dump(beside));
}

ToolResult LinkedResult(const v1::Command& command, Json answer) {
  const std::string uri = ResultUri(command.command_id());
  answer["result_bytes"] = command.result().size();
  answer["resource"] = uri;
  MakeLean(answer, /*tells_page=*/true);
  ToolResult tool_result = TextResult(
      std::move(answer), absl::StrCat("complete. The result has ", command.result().size(),
                                      " bytes: read resource ", uri, " within a minute."));
  std::get<Json>(tool_result.result)["content"].push_back({{"type", "resource_link"},
                                                           {"uri", uri},
                                                           {"name", command.type()},
                                                           {"mimeType", "application/json"},
                                                           {"size", command.result().size()}});
  return tool_result;
}

ToolResult CompletedResult(const v1::Command& command, Json answer) {
  Json result = JsonOrText(command.result());
  if (command.command_class() == v1::COMMAND_CLASS_HUMAN && IsAnnotationResult(result)) {
    const std::string head = absl::StrCat("complete ", command.command_id());
    return AnnotationResult(std::move(answer), std::move(result), head,
                            ResultUri(command.command_id()));
  }
  std::optional<ImageResult> image = TakeImage(result);
  const size_t image_bytes = image.has_value() ? image->base64.size() : 0;
  if (command.result().size() - image_bytes > kMaxInlineResultBytes) {
    return LinkedResult(command, std::move(answer));
  }
  const bool tells_page = !IsValueOfPage(command) || PageTextOf(result) != nullptr;
  answer["result"] = PlainResult(std::move(result));
  const Json id = answer["correlation_id"];
  MakeLean(answer, tells_page);
  // A result that is too large for the bridge's pipe is read by its id.
  if (image_bytes > kMaxPipedImageBytes) answer["correlation_id"] = id;
  std::string text = tells_page ? ResultText(answer["result"]) : Untrusted(answer["result"]);
  ToolResult tool_result = TextResult(std::move(answer), std::move(text));
  if (image.has_value()) {
    std::get<Json>(tool_result.result)["content"].push_back(
        {{"type", "image"}, {"data", std::move(image->base64)}, {"mimeType", image->mime_type}});
  }
  return tool_result;
}

}  // namespace

std::string ResultUri(const std::string& command_id) {
  return absl::StrCat("callslip://result/", command_id);
}

ToolResult CommandResult(const v1::Command& command, const std::string& hint) {
  Json answer = CommandAnswer(command);
  if (!IsFinal(command.state())) {
    if (hint.empty()) return TextResult(std::move(answer), PendingText(command));
    answer["hint"] = hint;
    return TextResult(std::move(answer), absl::StrCat(PendingText(command), " ", hint));
  }
  if (command.state() == v1::COMMAND_STATE_COMPLETED) {
    return CompletedResult(command, std::move(answer));
  }
  const bool perhaps = answer.value("may_have_executed", true);
  const CallVerdict verdict = VerdictOf(perhaps ? Executed::kPerhaps : Executed::kNo, false);
  std::string text = absl::StrCat(ErrorText(answer, verdict), " (", command.command_id(), ")");
  return TextResult(std::move(answer), std::move(text), /*is_error=*/true);
}

ToolResult QueuedResult(const v1::Command& command) {
  const std::string& id = command.command_id();
  const bool human = command.command_class() == v1::COMMAND_CLASS_HUMAN;
  const std::string status = human ? "waiting_for_user" : "queued";
  std::string message =
      human
          ? absl::StrCat(
                "The user is asked to annotate the page, and has 10 minutes. Get the "
                "annotations with ",
                ObserveCall(command), "; while status is pending, call it again.")
          : absl::StrCat("Queued for the browser. Get the result with ", ObserveCall(command), ".");
  std::string text = absl::StrCat(status, " ", id, ". ", message);
  Json answer;
  answer["status"] = status;
  answer["final"] = false;
  answer["correlation_id"] = id;
  answer["message"] = std::move(message);
  return TextResult(std::move(answer), std::move(text));
}

ToolResult ErrorResult(const absl::Status& status, Executed executed, const std::string& hint,
                       const std::string& correlation_id) {
  const TrackerError error = TrackerErrorOf(status);
  const CallVerdict verdict = VerdictOf(executed, error.repeatable);
  Json answer = {{"status", "error"},
                 {"final", verdict.final},
                 {"error", error.reason},
                 {"message", error.message}};
  if (!hint.empty() || !error.hint.empty()) answer["hint"] = hint.empty() ? error.hint : hint;
  if (error.retry_after.has_value()) {
    answer["retry_after_ms"] = absl::ToInt64Milliseconds(*error.retry_after);
  }
  answer["may_have_executed"] = verdict.may_have_executed;
  if (!correlation_id.empty()) answer["correlation_id"] = correlation_id;
  std::string text = ErrorText(answer, verdict);
  return TextResult(std::move(answer), std::move(text), /*is_error=*/true);
}

ToolResult VainWaitResult(const absl::Status& status, Executed executed,
                          const std::string& correlation_id) {
  ToolResult result = ErrorResult(status, executed, "", correlation_id);
  Json& answer = std::get<Json>(result.result)["structuredContent"];
  if (answer["final"] == false) answer["status"] = "pending";
  return result;
}

}  // namespace callslip::gateway
