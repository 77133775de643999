#include "gateway/mcp/tools/session_wait.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "gateway/json/tracker_error.h"
#include "gateway/mcp/tools/command_wait.h"
#include "gateway/timeouts.h"
#include "gateway/tracker_client/request_about.h"

namespace callslip::gateway {
namespace {

// No turn is running, and none is about to start.
bool IsIdle(const v1::QueueStatus& status) {
  return status.turn_id().empty() &&
         (status.length() == 0 || !status.enabled() || !status.pause_reason().empty());
}

std::string WaitText(const AwaitedSession& session) {
  return session.status.turn_id().empty() ? absl::StrCat(session.status.length(), " messages wait")
                                          : absl::StrCat("turn ", session.status.turn_id());
}

// Filters the many events, because they alone do not end a turn.
bool IsQueueNews(const ObservedUpdate& update) {
  return absl::StartsWith(update.type, "turn_") || absl::StartsWith(update.type, "queue_") ||
         update.type == "session_ended" || update.type == "session_deleted" ||
         update.type == "notices_missed";
}

// Waits until the state of a queue or turn changes, or the time is over.
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

// Queries the sessions that have not ended.
boost::asio::awaitable<absl::Status> Look(TrackerCalls* sessions, const std::string& client,
                                          std::vector<AwaitedSession>& all) {
  for (AwaitedSession& session : all) {
    if (session.ended) continue;
    auto request = RequestAbout<v1::GetQueueStatusRequest>(client, session.id);
    auto status = co_await sessions->Call(std::move(request));
    if (!status.ok()) co_return status.status();
    session.status = *std::move(status);
    const std::string& turn_id = session.status.turn_id();
    if (session.turn_id.empty()) session.turn_id = turn_id;
    session.ended = session.turn_id.empty() ? IsIdle(session.status) : turn_id != session.turn_id;
  }
  co_return absl::OkStatus();
}

}  // namespace

boost::asio::awaitable<absl::StatusOr<WaitedFor>> AwaitTurns(TrackerCalls* sessions,
                                                             std::shared_ptr<SessionHub> hub,
                                                             Clock* clock,
                                                             std::shared_ptr<CallContext> context,
                                                             TurnWait wait) {
  context->DropParams();
  const absl::Time deadline = clock->Now() + wait.at_most;
  const std::string client = OnBehalfOf(context->principal());
  const bool is_one = wait.ids.size() == 1;
  const auto has_ended = [](const AwaitedSession& session) { return session.ended; };
  WaitedFor waited;
  for (std::string& id : wait.ids) {
    waited.sessions.emplace_back();
    waited.sessions.back().id = std::move(id);
  }
  std::unique_ptr<SessionObserver> observer;
  for (int told = 1;; ++told) {
    absl::Status failure;
    bool gateway_stops = false;
    if (observer == nullptr) {
      // Before the first query, so that no change between the query and the wait is missed.
      const auto left =
          absl::ToChronoMilliseconds(std::max(deadline - clock->Now(), kUnaryDeadline));
      absl::StatusOr<std::unique_ptr<SessionObserver>> joined;
      if (is_one) {
        joined = co_await hub->Join(client, waited.sessions[0].id, left);
      } else {
        joined = co_await hub->JoinAll(client);
      }
      failure = joined.status();
      gateway_stops = DetailsOf(failure).reason == "draining";
      if (joined.ok()) observer = *std::move(joined);
    }
    if (failure.ok()) failure = co_await Look(sessions, client, waited.sessions);
    if (failure.ok()) {
      waited.ended = wait.any ? absl::c_any_of(waited.sessions, has_ended)
                              : absl::c_all_of(waited.sessions, has_ended);
      const absl::Duration left = deadline - clock->Now();
      if (waited.ended || left <= absl::ZeroDuration()) {
        if (is_one) waited.max_seq = observer->max_seq();
        co_return waited;
      }
      const AwaitedSession& first = *absl::c_find_if_not(waited.sessions, has_ended);
      context->NotifyProgress(told, std::nullopt, WaitText(first));
      context->NotifyLog("info", first.id, WaitText(first));
      failure = co_await AwaitQueueNews(*observer, clock, std::min(left, kProgressInterval));
      gateway_stops = DetailsOf(failure).reason == "draining";
      if (failure.ok()) continue;
      observer = nullptr;
    }
    // The queues continue, even if the connection to them fails.
    const bool goes_on = !gateway_stops && PassesWithTime(failure) && clock->Now() < deadline;
    if (!goes_on) co_return failure;
    context->NotifyProgress(told, std::nullopt, "waiting for the tracker");
    co_await PauseForDrain();
  }
}

}  // namespace callslip::gateway
