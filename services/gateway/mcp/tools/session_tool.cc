#include "gateway/mcp/tools/session_tool.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "gateway/json/command_json.h"
#include "gateway/json/event_cut.h"
#include "gateway/json/session_json.h"
#include "gateway/mcp/tools/arguments.h"
#include "gateway/mcp/tools/session_answer.h"
#include "gateway/mcp/tools/tool_definitions.h"
#include "gateway/mcp/tools/tool_result.h"
#include "gateway/timeouts.h"
#include "gateway/tracker_client/request_about.h"

namespace callslip::gateway {
namespace {

// Limited because every word costs an agent tokens.
constexpr int kDefaultLimit = 20;
constexpr int kMaxLimit = 200;
// Longer events are truncated in an answer, to kCutEventBytes.
constexpr size_t kMaxEventBytes = 16 << 10;
constexpr size_t kCutEventBytes = 2 << 10;
// The text of an answer.
constexpr size_t kMaxAnswerBytes = 32 << 10;

// The content of a session is untrusted.
ToolResult Complete(Json result, absl::string_view head) {
  std::string text = absl::StrCat(head, "\n", Dump(result));
  Json answer = {{"status", "complete"}, {"final", true}, {"result", std::move(result)}};
  return TextResult(std::move(answer), std::move(text));
}

// As many events as fit into an answer; long ones with truncated texts.
Json PageForModel(const v1::ReadEventsResponse& page) {
  Json json = PlaceJson(page);
  json["events"] = Json::array();
  size_t bytes = 0;
  for (const v1::SessionEvent& event : page.events()) {
    Json entry = ToJson(event);
    size_t size = Dump(entry).size();
    if (size > kMaxEventBytes) size = CutEvent(kCutEventBytes, entry);
    bytes += size;
    if (bytes > kMaxInlineResultBytes) {
      json["has_more"] = true;
      break;
    }
    json["last_seq"] = event.seq();
    json["events"].push_back(std::move(entry));
  }
  return json;
}

// The state of the queue, or of several queues, at the end of a wait.
ToolResult WaitResult(const WaitedFor& waited) {
  Json result = ToJson(waited.sessions[0].status);
  result["max_seq"] = waited.max_seq;
  if (waited.sessions.size() > 1) {
    result = {{"sessions", Json::array()}};
    for (const AwaitedSession& session : waited.sessions) {
      Json entry = {{"session_id", session.id}, {"ended", session.ended}};
      const std::string& pause = session.status.pause_reason();
      if (!pause.empty()) entry["pause_reason"] = pause;
      result["sessions"].push_back(std::move(entry));
    }
  }
  const std::string head = waited.ended ? "the turn has ended:" : "pending; wait again:";
  std::string text = absl::StrCat(head, "\n", Dump(result));
  Json answer = {{"status", waited.ended ? "complete" : "pending"}, {"final", waited.ended}};
  answer["result"] = std::move(result);
  return TextResult(std::move(answer), std::move(text));
}

// The result of a failed call that would have changed something.
ToolResult Refusal(const absl::Status& status) {
  const bool refused =
      status.code() != absl::StatusCode::kUnavailable || DetailsOf(status).reason == "runner_away";
  return ErrorResult(status, refused ? Executed::kNo : Executed::kPerhaps);
}

// The `session_ids` of a wait, or its single `session_id`.
std::vector<std::string> IdsIn(Arguments& arguments) {
  const auto several = arguments.Texts("session_ids");
  if (!several.has_value()) return {arguments.Id("session_id")};
  const auto is_id = [](const std::string& id) { return !id.empty() && id.size() <= kMaxIdBytes; };
  const std::set<std::string> distinct(several->begin(), several->end());
  if (several->empty() || several->size() > kMaxAwaited || distinct.size() != several->size() ||
      !absl::c_all_of(*several, is_id)) {
    arguments.Fail(absl::StrCat("session_ids has to name 1 to ", kMaxAwaited,
                                " sessions, each of them once."));
  }
  return *several;
}

}  // namespace

const Json& SessionTool::Definition() const { return SessionDefinition(); }

const Json& SessionTool::DefinitionForAgent() const { return SessionDefinitionForAgent(); }

absl::Duration SessionTool::LongestWait(const Json& arguments) const {
  const Json what = arguments.is_object() ? arguments.value("what", Json()) : Json();
  if (what == "wait") return WaitIn(arguments, kSlowWait, kSlowWait);
  if (what == "new" || what == "answer") return WaitIn(arguments, absl::ZeroDuration(), kSlowWait);
  return absl::ZeroDuration();
}

boost::asio::awaitable<ToolResult> SessionTool::Call(std::shared_ptr<CallContext> context,
                                                     Json json) const {
  const SessionControl::Caller caller{OnBehalfOf(context->principal()), context->session_id()};
  const Json named = json.is_object() ? json.value("what", Json()) : Json();
  if ((named == "read" || named == "enqueue") && !caller.session.empty()) {
    json.emplace("session_id", caller.session);  // Unless it names another.
  }
  Arguments arguments(json);
  const std::string what = arguments.Choice("what", {"list", "read", "enqueue", "wait", "new",
                                                     "agents", "answer", "stop", "permit", "end"});
  const bool is_wait = what == "wait";
  const bool names_one = what != "list" && what != "agents" && what != "new" && !is_wait;
  const std::string id = names_one ? arguments.Id("session_id") : "";
  std::optional<int64_t> limit;
  std::optional<int64_t> after_seq;
  std::optional<int64_t> wait_ms;
  std::string message;
  std::string permission_id;
  std::string option_id;
  TurnWait wait;
  SessionControl::Wish wish;
  if (what == "list" || what == "read") limit = arguments.Integer("limit", 1, kMaxLimit);
  if (what == "read") {
    after_seq = arguments.Integer("after_seq", 0, std::numeric_limits<int64_t>::max());
  }
  if (what == "enqueue") message = arguments.RequiredText("message");
  if (is_wait) {
    wait.ids = IdsIn(arguments);
    wait.any = arguments.Boolean("any").value_or(false);
  }
  if (is_wait || what == "new" || what == "answer") {
    wait_ms = arguments.Integer("wait_ms", 0, absl::ToInt64Milliseconds(kSlowWait));
  }
  if (what == "new") {
    wish.agent = arguments.NonEmptyText("agent").value_or("");
    wish.workspace = arguments.NonEmptyText("workspace").value_or("");
    wish.name = arguments.Text("name").value_or("");
    wish.message = arguments.RequiredText("message");
    wish.detach = arguments.Boolean("detach").value_or(false);
  }
  if (what == "permit") {
    permission_id = arguments.Id("permission_id");
    option_id = arguments.Id("option_id");
  }
  if (!arguments.status().ok()) co_return ErrorResult(arguments.status(), Executed::kNo);
  json = Json();  // It may be large, and the call may wait.

  if (what == "list") {
    v1::ListSessionsRequest request;
    request.set_client_id(caller.client);
    request.set_page_size(static_cast<int>(limit.value_or(kDefaultLimit)));
    co_return co_await List(std::move(request));
  }
  if (what == "read") {
    auto request = RequestAbout<v1::ReadEventsRequest>(caller.client, id);
    request.set_limit(static_cast<int>(limit.value_or(kDefaultLimit)));
    if (after_seq.has_value()) request.set_after_seq(*after_seq);
    if (!after_seq.has_value()) request.set_before_seq(std::numeric_limits<int64_t>::max());
    co_return co_await Read(std::move(request));
  }
  if (what == "enqueue") {
    auto request = RequestAbout<v1::AddMessageRequest>(caller.client, id);
    request.set_message(message);
    request.set_by_session_id(caller.session);
    co_return co_await Enqueue(std::move(request));
  }
  if (what == "agents") {
    auto offers = co_await control_.Agents();
    if (!offers.ok()) co_return ErrorResult(offers.status(), Executed::kNo);
    co_return Complete(*std::move(offers), "agents and workspaces for session {what: 'new'}:");
  }
  if (what == "stop") {
    const auto stopped = co_await control_.Stop(caller, id);
    if (!stopped.ok()) co_return Refusal(stopped.status());
    co_return Complete(ToJson(*stopped), "asked to stop; its queue is paused:");
  }
  if (what == "end") {
    const auto ended = co_await control_.End(caller, id);
    if (!ended.ok()) co_return Refusal(ended.status());
    Json result = {{"session_id", ended->session_id()}, {"end_reason", ended->end_reason()}};
    co_return Complete(std::move(result), "ended:");
  }
  if (what == "permit") {
    const auto answered = co_await control_.Permit(caller, id, permission_id, option_id);
    if (!answered.ok()) co_return Refusal(answered.status());
    Json result = {{"permission_id", permission_id}, {"selected_option", option_id}};
    co_return Complete(std::move(result), "answered:");
  }
  wait.at_most = absl::Milliseconds(wait_ms.value_or(0));
  if (what == "new") {
    const auto made = co_await control_.Make(caller, std::move(wish));
    if (!made.ok()) co_return Refusal(made.status());
    wait.ids = {made->session_id()};
    co_return co_await LastAnswer(std::move(context), std::move(wait));
  }
  if (what == "answer") wait.ids = {id};
  if (is_wait && !wait_ms.has_value()) wait.at_most = kSlowWait;
  if (is_wait || wait.at_most > absl::ZeroDuration()) {
    const absl::Status may = co_await control_.MayWait(caller, wait.ids);
    if (!may.ok()) co_return ErrorResult(may, Executed::kNo);
  }
  if (what == "answer") co_return co_await LastAnswer(std::move(context), std::move(wait));
  const auto waited =
      co_await AwaitTurns(sessions_, hub_, clock_, std::move(context), std::move(wait));
  if (!waited.ok()) co_return VainWaitResult(waited.status(), Executed::kNo);
  co_return WaitResult(*waited);
}

SessionTool::Answer SessionTool::List(v1::ListSessionsRequest request) const {
  const auto listed = co_await sessions_->Call(std::move(request));
  if (!listed.ok()) co_return ErrorResult(listed.status(), Executed::kNo);
  co_return Complete(ToJson(*listed), "sessions, the newest first:");
}

SessionTool::Answer SessionTool::Read(v1::ReadEventsRequest request) const {
  const auto page = co_await sessions_->Call(std::move(request));
  if (!page.ok()) co_return ErrorResult(page.status(), Executed::kNo);
  co_return Complete(PageForModel(*page), "events, untrusted content of the session:");
}

SessionTool::Answer SessionTool::Enqueue(v1::AddMessageRequest request) const {
  const std::string id = request.session_id();
  const auto message = co_await sessions_->Call(std::move(request));
  if (!message.ok()) co_return Refusal(message.status());
  co_return Complete(
      QueuedJson(*message),
      absl::StrCat("queued; session {what: 'wait', session_id: '", id, "'} waits for its turn:"));
}

SessionTool::Answer SessionTool::LastAnswer(std::shared_ptr<CallContext> context,
                                            TurnWait wait) const {
  const std::string client = OnBehalfOf(context->principal());
  const std::string id = wait.ids[0];
  const auto waited =
      co_await AwaitTurns(sessions_, hub_, clock_, std::move(context), std::move(wait));
  absl::Status failure = waited.status();
  Json result;
  if (failure.ok()) {
    const auto events = co_await ReadLastTurn(*sessions_, client, id);
    failure = events.status();
    if (failure.ok()) result = LastAnswerJson(*events, kMaxAnswerBytes);
  }
  if (failure.ok() && !waited->ended) {
    auto request = RequestAbout<v1::ListPermissionsRequest>(client, id);
    const auto open = co_await sessions_->Call(std::move(request));
    failure = open.status();
    if (failure.ok() && !open->permissions().empty()) {
      result["permissions"] = Json::array();
      for (const v1::Permission& permission : open->permissions()) {
        Json question = ToJson(permission);
        question.erase("details");
        result["permissions"].push_back(std::move(question));
      }
    }
  }
  if (!failure.ok()) {
    // The session exists in any case.
    ToolResult vain = VainWaitResult(failure, Executed::kNo);
    if (auto* json = std::get_if<Json>(&vain.result)) {
      (*json)["structuredContent"]["result"] = {{"session_id", id}};
      const Json more = {{"type", "text"}, {"text", absl::StrCat("session_id: ", id)}};
      (*json)["content"].push_back(more);
    }
    co_return vain;
  }
  result["session_id"] = id;
  const std::string& pause = waited->sessions[0].status.pause_reason();
  if (!pause.empty()) result["pause_reason"] = pause;
  std::string text = absl::StrCat(waited->ended ? "untrusted answer of the session:"
                                                : "pending; session {what: 'answer', wait_ms} "
                                                  "again; untrusted content so far:",
                                  "\n", Dump(result));
  Json answer = {{"status", waited->ended ? "complete" : "pending"}, {"final", waited->ended}};
  answer["result"] = std::move(result);
  co_return TextResult(std::move(answer), std::move(text));
}

}  // namespace callslip::gateway
