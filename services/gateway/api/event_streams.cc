#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "boost/asio/this_coro.hpp"
#include "gateway/api/forward.h"
#include "gateway/api/session_api.h"
#include "gateway/http/accept.h"
#include "gateway/http/event_stream.h"
#include "gateway/http/page_check.h"
#include "gateway/json/event_cut.h"
#include "gateway/json/event_text.h"
#include "gateway/json/tracker_error.h"
#include "gateway/tracker_client/request_about.h"

namespace callslip::gateway {
namespace {

using StreamPtr = std::shared_ptr<EventStream>;

// The last event of a stream that fails.
std::string FailureEvent(const absl::Status& status) {
  return ServerSentEvent(Dump(FailureMessage(TrackerErrorOf(status))));
}

// The last seq that the client has seen; nullopt if the request names none.
std::optional<int64_t> SeenSeq(const HttpRequest& request) {
  std::string text = request.Header("last-event-id");
  if (text.empty()) text = request.Query("after_seq");
  int64_t seq = 0;
  if (!absl::SimpleAtoi(text, &seq) || seq < 0) return std::nullopt;
  return seq;
}

// Sends the events after `seen` up to `last` from the log.
boost::asio::awaitable<absl::Status> SendRecorded(TrackerCalls* sessions,
                                                  v1::ReadEventsRequest request, int64_t last,
                                                  StreamPtr stream) {
  request.set_limit(1000);
  bool has_more = request.after_seq() < last;
  while (has_more) {
    const auto page = co_await sessions->Call(request);
    if (!page.ok()) co_return page.status();
    stream->SetKept(page->ByteSizeLong());
    for (const v1::SessionEvent& event : page->events()) {
      if (event.seq() > last) co_return absl::OkStatus();
      std::string text = ServerSentEvent(EventText(event), event.seq());
      co_await stream->Send(std::move(text));
    }
    has_more = page->has_more() && page->events_size() > 0;
    request.set_after_seq(page->last_seq());
  }
  stream->SetKept(0);
  co_return absl::OkStatus();
}

boost::asio::awaitable<void> SendSession(TrackerCalls* sessions,
                                         std::shared_ptr<SessionObserver> observer,
                                         v1::ReadEventsRequest request, StreamPtr stream) {
  // The current text: later pieces are sent after the log.
  const Json said = observer->agent_text();
  absl::Status end =
      co_await SendRecorded(sessions, std::move(request), observer->joined_seq(), stream);
  if (end.ok() && !said.is_null()) {
    const Json message = {{"type", "agent_text"}, {"data", said}};
    std::string text = ServerSentEvent(Dump(message));
    co_await stream->Send(std::move(text));
  }
  while (end.ok()) {
    const auto updates = co_await observer->Next();
    if (!updates.ok()) {
      end = updates.status();
      break;
    }
    for (const ObservedUpdate& update : *updates) {
      std::string text = ServerSentEvent(*update.message, update.seq);
      co_await stream->Send(std::move(text));
    }
  }
  std::string failure = FailureEvent(end);
  co_await stream->Send(std::move(failure));
}

std::string TextOf(const v1::SessionEvent& event) {
  return ServerSentEvent(EventText(event), event.seq());
}
std::string TextOf(const v1::ReceivedMessage& message) {
  return ServerSentEvent(Dump(ToJson(message)));
}

// Sends the messages of a call until its end.
template <typename Message>
boost::asio::awaitable<void> SendMessages(std::shared_ptr<MessageStream<Message>> messages,
                                          StreamPtr stream) {
  while (true) {
    const auto message = co_await messages->Next();
    if (message.ok() && !message->has_value()) co_return;
    std::string text = message.ok() ? TextOf(**message) : FailureEvent(message.status());
    co_await stream->Send(std::move(text));
    if (!message.ok()) co_return;
  }
}

}  // namespace

SessionApi::Answer SessionApi::ReadOrWatchEvents(Request request) const {
  // A client that accepts anything gets the page.
  if (!AsksFor(request->Header("accept"), "text/event-stream")) {
    JsonFields fields = JsonFields::OfQuery(request->query);
    const size_t max_event_bytes = ReadMaxEventBytes(fields);
    auto read = RequestOf<v1::ReadEventsRequest>(*request);
    if (!fields.status().ok()) co_return ErrorResponse(fields.status());
    if (!read.ok()) co_return ErrorResponse(read.status());
    const auto page = co_await sessions_->Call(*std::move(read));
    if (!page.ok()) co_return ErrorResponse(page.status());
    co_return HttpResponse{.body = PageText(*page, max_event_bytes)};
  }
  auto joined = co_await hub_->Join(OnBehalfOf(request->principal), request->Parameter("id"));
  if (!joined.ok()) co_return ErrorResponse(joined.status());
  const std::shared_ptr<SessionObserver> observer = *std::move(joined);
  auto read =
      RequestAbout<v1::ReadEventsRequest>(OnBehalfOf(request->principal), request->Parameter("id"));
  read.set_after_seq(SeenSeq(*request).value_or(observer->joined_seq()));
  const auto executor = co_await boost::asio::this_coro::executor;
  EventStream::Producer producer = [sessions = sessions_, observer, read](StreamPtr stream) {
    return SendSession(sessions, observer, read, std::move(stream));
  };
  co_return EventStream::Response(executor, std::move(producer));
}

SessionApi::Answer SessionApi::ReceiveMessages(Request request) const {
  if (auto refusal = ExcludePages(*request); refusal.has_value()) co_return *std::move(refusal);
  // Answers an unknown session with an error before the stream begins.
  auto status = RequestOf<v1::GetQueueStatusRequest>(*request);
  const auto known = co_await sessions_->Call(*std::move(status));
  if (!known.ok()) co_return ErrorResponse(known.status());
  auto receive = RequestAbout<v1::ReceiveMessagesRequest>(OnBehalfOf(request->principal),
                                                          request->Parameter("id"));
  receive.set_turn_id(request->Query("turn_id"));
  const auto executor = co_await boost::asio::this_coro::executor;
  EventStream::Producer producer = [sessions = sessions_, receive](StreamPtr stream) {
    std::shared_ptr<MessageStream<v1::ReceivedMessage>> messages = sessions->Open(receive);
    return SendMessages(std::move(messages), std::move(stream));
  };
  co_return EventStream::Response(executor, std::move(producer));
}

SessionApi::Answer SessionApi::Play(Request request) const {
  auto play = RequestOf<v1::PlayRequest>(*request);
  if (!play.ok()) co_return ErrorResponse(play.status());
  // Answers an unknown player with an error before the stream begins.
  v1::MovePlayerRequest look;
  look.set_client_id(play->client_id());
  look.set_player_id(play->player_id());
  look.set_peek(1);
  const auto known = co_await sessions_->Call(std::move(look));
  if (!known.ok()) co_return ErrorResponse(known.status());
  const auto executor = co_await boost::asio::this_coro::executor;
  EventStream::Producer producer = [sessions = sessions_, play = *play](StreamPtr stream) {
    std::shared_ptr<MessageStream<v1::SessionEvent>> events = sessions->Open(play);
    return SendMessages(std::move(events), std::move(stream));
  };
  co_return EventStream::Response(executor, std::move(producer));
}

}  // namespace callslip::gateway
