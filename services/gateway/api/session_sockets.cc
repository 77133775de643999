#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/this_coro.hpp"
#include "common/error_details.h"
#include "gateway/api/session_api.h"
#include "gateway/api/socket_messages.h"
#include "gateway/http/scoped_task.h"
#include "gateway/json/event_cut.h"
#include "gateway/json/event_text.h"
#include "gateway/json/session_json.h"
#include "gateway/json/tracker_error.h"
#include "gateway/tracker_client/request_about.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;

using SocketPtr = std::shared_ptr<WebSocket>;
using ObserverPtr = std::shared_ptr<SessionObserver>;

// In the range for applications: the watched session does not exist, or no longer exists.
constexpr auto kUnknown = static_cast<WebSocketCloseCode>(4404);

// A page of events is one message; limited to leave space for live updates.
constexpr size_t kMaxPageBytes = 256 << 10;

constexpr size_t kMaxRequestIdBytes = 64;

// Reports the reason for the end, and closes the socket.
void CloseWith(WebSocket& socket, const absl::Status& status) {
  const TrackerError error = TrackerErrorOf(status);
  const bool is_too_slow = error.reason == "too_slow";
  if (!is_too_slow) SendFailure(socket, status);
  socket.Close(
      error.code == absl::StatusCode::kNotFound ? kUnknown : WebSocketCloseCode::kTryAgainLater,
      is_too_slow ? "too slow" : error.reason);
}

asio::awaitable<void> SendUpdates(ObserverPtr observer, SocketPtr socket) {
  observer->OnTooSlow([weak = std::weak_ptr<WebSocket>(socket)] {
    const SocketPtr slow = weak.lock();
    if (slow != nullptr) slow->Close(WebSocketCloseCode::kTryAgainLater, "too slow");
  });
  while (true) {
    const auto updates = co_await observer->Next();
    if (!updates.ok()) {
      CloseWith(*socket, updates.status());
      co_return;
    }
    for (const ObservedUpdate& update : *updates) {
      co_await socket->AwaitRoom();
      socket->Send(update.message);
    }
  }
}

// A peer that watches a session: handles its requests, message by message.
class SessionPeer {
 public:
  SessionPeer(TrackerCalls* sessions, const HttpRequest& request, ObserverPtr observer,
              SocketPtr socket)
      : sessions_(sessions),
        principal_(request.principal),
        session_id_(request.Parameter("id")),
        observer_(std::move(observer)),
        socket_(std::move(socket)) {}

  asio::awaitable<void> Take(std::string message) {
    absl::StatusOr<Json> json = ParseJson(message);
    JsonFields envelope = JsonFields::OfObject(json.ok() ? *std::move(json) : Json());
    const std::string type =
        envelope.Choice("type", {"load_events", "keepalive", "permission_answer"});
    JsonFields data = JsonFields::OfObject(envelope.Object("data"));
    const std::string request_id = RequestIdOf(data);
    absl::Status status = envelope.status().ok() ? data.status() : envelope.status();
    if (status.ok() && type == "load_events") status = co_await LoadEvents(data, request_id);
    if (status.ok() && type == "permission_answer") status = co_await AnswerPermission(data);
    if (status.ok() && type == "keepalive") {
      Answer("keepalive_ack", {{"max_seq", observer_->max_seq()}}, request_id);
    }
    if (!status.ok()) SendFailure(*socket_, status, type, request_id);
  }

 private:
  // The id by which the peer matches the answers to its messages.
  static std::string RequestIdOf(JsonFields& data) {
    std::string id = data.Text("request_id");
    if (id.size() <= kMaxRequestIdBytes) return id;
    data.Fail(absl::StrCat("request_id is longer than ", kMaxRequestIdBytes, " bytes"));
    return "";
  }

  void Answer(const char* type, Json data, const std::string& request_id) {
    if (!request_id.empty()) data["request_id"] = request_id;
    SendMessage(*socket_, type, std::move(data));
  }

  template <typename Request>
  Request RequestOf(JsonFields& data) const {
    auto request = RequestAbout<Request>(OnBehalfOf(principal_), session_id_);
    ReadFields(data, request);
    return request;
  }

  asio::awaitable<absl::Status> LoadEvents(JsonFields& data, const std::string& request_id) {
    auto request = RequestOf<v1::ReadEventsRequest>(data);
    const size_t max_event_bytes = ReadMaxEventBytes(data);
    if (!data.status().ok()) co_return data.status();
    const bool backwards = request.has_before_seq();
    const int64_t after_seq = request.after_seq();
    auto page = co_await sessions_->Call(std::move(request));
    if (!page.ok()) co_return page.status();
    // Events after the peer joined arrive live: they are not sent twice, unless the peer asks for
    // events after a later one.
    const int64_t joined_seq = observer_->joined_seq();
    if (!backwards && after_seq <= joined_seq) CutAfter(joined_seq, *page);
    CutTo(kMaxPageBytes, backwards, max_event_bytes, *page);
    socket_->Send(absl::StrCat("{\"type\":\"events_loaded\",\"data\":",
                               PageText(*page, max_event_bytes, request_id), "}"));
    co_return absl::OkStatus();
  }

  static void CutAfter(int64_t last_seq, v1::ReadEventsResponse& page) {
    int keep = page.events_size();
    while (keep > 0 && page.events(keep - 1).seq() > last_seq) --keep;
    if (keep == page.events_size()) {
      if (page.last_seq() >= last_seq) page.set_has_more(false);
      return;
    }
    Keep(0, keep, page);
    page.set_has_more(false);
  }

  // Keeps the events that fit, from the near end and at least one. Each counts with at most
  // `max_event_bytes`; 0: no such limit.
  static void CutTo(size_t max_bytes, bool backwards, size_t max_event_bytes,
                    v1::ReadEventsResponse& page) {
    const int count = page.events_size();
    size_t bytes = 0;
    int keep = 0;
    while (keep < count) {
      const size_t size = page.events(backwards ? count - 1 - keep : keep).ByteSizeLong();
      bytes += max_event_bytes == 0 ? size : std::min(size, max_event_bytes);
      if (keep > 0 && bytes > max_bytes) break;
      ++keep;
    }
    if (keep == count) return;
    Keep(backwards ? count - keep : 0, keep, page);
    page.set_has_more(true);
  }

  static void Keep(int first, int count, v1::ReadEventsResponse& page) {
    auto* events = page.mutable_events();
    page.set_next_position(page.next_position() - (events->size() - first - count));
    events->DeleteSubrange(first + count, events->size() - first - count);
    events->DeleteSubrange(0, first);
    page.set_first_seq(count > 0 ? events->begin()->seq() : 0);
    page.set_last_seq(count > 0 ? events->rbegin()->seq() : 0);
    page.set_next_after_seq(page.last_seq());
  }

  asio::awaitable<absl::Status> AnswerPermission(JsonFields& data) {
    if (!MaySubmit(principal_.role)) {
      co_return ErrorWithDetails(absl::StatusCode::kPermissionDenied,
                                 "Your role only reads: it may not answer questions.",
                                 {.reason = "role_not_allowed", .hint = "Use a client's token."});
    }
    auto request = RequestOf<v1::AnswerPermissionRequest>(data);
    request.set_permission_id(data.Text("permission_id"));
    if (!data.status().ok()) co_return data.status();
    // All observers are notified, this peer too.
    const auto answered = co_await sessions_->Call(std::move(request));
    co_return answered.status();
  }

  TrackerCalls* const sessions_;
  const Principal principal_;
  const std::string session_id_;
  const ObserverPtr observer_;
  const SocketPtr socket_;
};

}  // namespace

asio::awaitable<void> SessionApi::ServeSession(Request request, SocketPtr socket) const {
  const std::string id = request->Parameter("id");
  auto joined = co_await hub_->Join(OnBehalfOf(request->principal), id);
  if (!joined.ok()) {
    CloseWith(*socket, joined.status());
    co_return;
  }
  const ObserverPtr observer = *std::move(joined);
  Json connected = ToJson(observer->permissions());
  connected["session_id"] = id;
  connected["agent"] = ToJson(observer->agent());
  connected["max_seq"] = observer->joined_seq();
  if (Json text = observer->agent_text(); !text.is_null())
    connected["agent_text"] = std::move(text);
  SendMessage(*socket, "connected", std::move(connected));
  const auto executor = co_await asio::this_coro::executor;
  const ScopedTask updates(executor, SendUpdates(observer, socket));
  SessionPeer peer(sessions_, *request, observer, socket);
  std::optional<std::string> message = co_await socket->Read();
  while (message.has_value()) {
    co_await peer.Take(*std::move(message));
    message = co_await socket->Read();
  }
}

asio::awaitable<void> SessionApi::ServeAll(Request request, SocketPtr socket) const {
  auto joined = co_await hub_->JoinAll(OnBehalfOf(request->principal), request->Query("client"));
  if (!joined.ok()) {
    CloseWith(*socket, joined.status());
    co_return;
  }
  const ObserverPtr observer = *std::move(joined);
  SendMessage(*socket, "connected", Json::object());
  const auto executor = co_await asio::this_coro::executor;
  const ScopedTask updates(executor, SendUpdates(observer, socket));
  co_await AnswerKeepalives(socket);
}

}  // namespace callslip::gateway
