#include "gateway/mcp/session_tool.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "gateway/json/command_json.h"
#include "gateway/json/session_json.h"
#include "gateway/json/tracker_error.h"
#include "gateway/mcp/arguments.h"
#include "gateway/mcp/command_wait.h"
#include "gateway/mcp/tool_definitions.h"
#include "gateway/mcp/tool_result.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {
namespace {

// An agent pays for every word.
constexpr int kDefaultLimit = 20;
constexpr int kMaxLimit = 200;
// The data of a longer event are left out of an answer.
constexpr size_t kMaxEventBytes = 16 << 10;

// What was said in a session may come from anywhere.
ToolResult Complete(Json result, absl::string_view head) {
  std::string text = absl::StrCat(head, "\n", Dump(result));
  Json answer = {{"status", "complete"}, {"final", true}, {"result", std::move(result)}};
  return TextResult(std::move(answer), std::move(text));
}

// As many events as fit into an answer; of long ones only how long they are.
Json PageForModel(const v1::ReadEventsResponse& page) {
  v1::ReadEventsResponse frame = page;
  frame.clear_events();
  Json json = ToJson(frame);
  size_t bytes = 0;
  for (const v1::SessionEvent& event : page.events()) {
    Json entry = ToJson(event);
    size_t size = Dump(entry).size();
    if (size > kMaxEventBytes) {
      entry["data"] = {{"omitted_bytes", size}};
      size = Dump(entry).size();
    }
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

// Nothing is under way, and nothing is going to be.
bool IsIdle(const v1::QueueStatus& status) {
  return status.turn_id().empty() &&
         (status.length() == 0 || !status.enabled() || !status.pause_reason().empty());
}

std::string WaitText(const v1::QueueStatus& status) {
  return status.turn_id().empty() ? absl::StrCat(status.length(), " messages wait")
                                  : absl::StrCat("turn ", status.turn_id());
}

// How the queue stands at the end of a wait.
ToolResult WaitResult(const v1::QueueStatus& status, int64_t max_seq, bool ended) {
  Json result = ToJson(status);
  result["max_seq"] = max_seq;
  const std::string head = ended ? "the turn has ended:" : "pending; wait again:";
  std::string text = absl::StrCat(head, "\n", Dump(result));
  Json answer = {{"status", ended ? "complete" : "pending"}, {"final", ended}};
  answer["result"] = std::move(result);
  return TextResult(std::move(answer), std::move(text));
}

// Events alone do not end a turn, and there are many.
bool IsQueueNews(const ObservedUpdate& update) {
  return absl::StartsWith(update.type, "turn_") || absl::StartsWith(update.type, "queue_") ||
         update.type == "notices_missed";
}

// Until something has happened to the queue or its turn, or the time is over.
boost::asio::awaitable<absl::Status> AwaitQueueNews(SessionObserver& observer, Clock* clock,
                                                    absl::Duration at_most) {
  const absl::Time deadline = clock->Now() + at_most;
  while (true) {
    const absl::Duration left = deadline - clock->Now();
    if (left <= absl::ZeroDuration()) co_return absl::OkStatus();
    const auto updates = co_await observer.Next(absl::ToChronoMilliseconds(left));
    if (!updates.ok()) co_return updates.status();
    const bool is_news =
        absl::c_any_of(*updates, [](const ObservedUpdate& update) { return IsQueueNews(update); });
    if (is_news || updates->empty()) co_return absl::OkStatus();
  }
}

}  // namespace

const Json& SessionTool::Definition() const { return SessionDefinition(); }

absl::Duration SessionTool::LongestWait(const Json& arguments) const {
  if (!arguments.is_object() || arguments.value("what", Json()) != "wait") {
    return absl::ZeroDuration();
  }
  return WaitIn(arguments, kSlowWait, kSlowWait);
}

boost::asio::awaitable<ToolResult> SessionTool::Call(std::shared_ptr<CallContext> context,
                                                     Json json) const {
  const std::string client = OnBehalfOf(context->principal());
  const bool names_one = json.is_object() && json.value("what", Json()) != "list";
  if (names_one && !context->session_id().empty())
    json.emplace("session_id", context->session_id());  // Unless it names another.
  Arguments arguments(json);
  const std::string what = arguments.Choice("what", {"list", "read", "enqueue", "wait"});
  const std::string id = what == "list" ? "" : arguments.Id("session_id");
  std::optional<int64_t> limit;
  std::optional<int64_t> after_seq;
  std::optional<int64_t> wait_ms;
  std::string message;
  if (what == "list" || what == "read") limit = arguments.Integer("limit", 1, kMaxLimit);
  if (what == "read") {
    after_seq = arguments.Integer("after_seq", 0, std::numeric_limits<int64_t>::max());
  }
  if (what == "enqueue") message = arguments.RequiredText("message");
  if (what == "wait") {
    wait_ms = arguments.Integer("wait_ms", 0, absl::ToInt64Milliseconds(kSlowWait));
  }
  if (!arguments.status().ok()) co_return ErrorResult(arguments.status(), Executed::kNo);

  if (what == "list") {
    v1::ListSessionsRequest request;
    request.set_client_id(client);
    request.set_page_size(static_cast<int>(limit.value_or(kDefaultLimit)));
    co_return co_await List(std::move(request));
  }
  if (what == "read") {
    v1::ReadEventsRequest request;
    request.set_client_id(client);
    request.set_session_id(id);
    request.set_limit(static_cast<int>(limit.value_or(kDefaultLimit)));
    if (after_seq.has_value()) request.set_after_seq(*after_seq);
    if (!after_seq.has_value()) request.set_before_seq(std::numeric_limits<int64_t>::max());
    co_return co_await Read(std::move(request));
  }
  if (what == "enqueue") {
    v1::AddMessageRequest request;
    request.set_client_id(client);
    request.set_session_id(id);
    request.set_message(message);
    co_return co_await Enqueue(std::move(request));
  }
  const absl::Duration at_most = wait_ms ? absl::Milliseconds(*wait_ms) : kSlowWait;
  co_return co_await Wait(std::move(context), id, at_most);
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
  if (!message.ok()) {
    const bool refused = message.status().code() != absl::StatusCode::kUnavailable;
    co_return ErrorResult(message.status(), refused ? Executed::kNo : Executed::kPerhaps);
  }
  co_return Complete(
      QueuedJson(*message),
      absl::StrCat("queued; session {what: 'wait', session_id: '", id, "'} waits for its turn:"));
}

SessionTool::Answer SessionTool::Wait(std::shared_ptr<CallContext> context, std::string session_id,
                                      absl::Duration at_most) const {
  const absl::Time deadline = clock_->Now() + at_most;
  v1::GetQueueStatusRequest request;
  request.set_client_id(OnBehalfOf(context->principal()));
  request.set_session_id(session_id);
  std::unique_ptr<SessionObserver> observer;
  std::string turn_id;
  for (int told = 1;; ++told) {
    absl::Status failure;
    bool gateway_stops = false;
    if (observer == nullptr) {
      // Before the first look, so that nothing is missed between that and the wait.
      const absl::Duration left = std::max(deadline - clock_->Now(), kUnaryDeadline);
      auto joined =
          co_await hub_->Join(request.client_id(), session_id, absl::ToChronoMilliseconds(left));
      failure = joined.status();
      gateway_stops = DetailsOf(failure).reason == "draining";
      if (joined.ok()) observer = *std::move(joined);
    }
    absl::StatusOr<v1::QueueStatus> status;
    if (failure.ok()) {
      status = co_await sessions_->Call(request);
      failure = status.status();
    }
    if (failure.ok()) {
      if (turn_id.empty()) turn_id = status->turn_id();
      const bool ended = turn_id.empty() ? IsIdle(*status) : status->turn_id() != turn_id;
      const absl::Duration left = deadline - clock_->Now();
      if (ended || left <= absl::ZeroDuration()) {
        co_return WaitResult(*status, observer->max_seq(), ended);
      }
      context->NotifyProgress(told, std::nullopt, WaitText(*status));
      context->NotifyLog("info", session_id, WaitText(*status));
      failure = co_await AwaitQueueNews(*observer, clock_, std::min(left, kProgressInterval));
      gateway_stops = DetailsOf(failure).reason == "draining";
      if (failure.ok()) continue;
      observer = nullptr;
    }
    // The session's queue goes on, whatever became of the way to it.
    const bool goes_on = !gateway_stops && PassesWithTime(failure) && clock_->Now() < deadline;
    if (!goes_on) co_return VainWaitResult(failure, Executed::kNo);
    context->NotifyProgress(told, std::nullopt, "waiting for the tracker");
    co_await PauseForDrain();
  }
}

}  // namespace callslip::gateway
