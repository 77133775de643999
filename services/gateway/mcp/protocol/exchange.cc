#include "gateway/mcp/protocol/exchange.h"

#include <limits>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/error.hpp"
#include "boost/asio/post.hpp"
#include "boost/system/system_error.hpp"
#include "common/log.h"
#include "common/text_scan.h"
#include "gateway/http/await.h"
#include "gateway/http/event_stream.h"
#include "gateway/mcp/protocol/call_span.h"
#include "rpc_client/traced_executor.h"

namespace callslip::gateway {

namespace asio = boost::asio;

namespace {

// The most bytes of messages queued before the answer, for a client that does not read them.
constexpr size_t kMaxOutboxBytes = 1 << 20;

// The HTTP status of a modern answer: errors of the protocol itself have their own.
int ModernStatus(const RpcOutcome& outcome) {
  const auto* error = std::get_if<RpcError>(&outcome);
  if (error == nullptr) return 200;
  switch (error->code) {
    case JsonRpcCode::kMethodNotFound: return 404;
    case JsonRpcCode::kHeaderMismatch:
    case JsonRpcCode::kMissingClientCapability:
    case JsonRpcCode::kUnsupportedProtocolVersion: return 400;
    default: return 200;
  }
}

// The id as an attribute of a span.
std::string IdText(const Json& id) {
  constexpr size_t kMaxBytes = 64;
  const std::string text = id.is_string() ? id.get<std::string>() : id.dump();
  return std::string(CutText(text, kMaxBytes));
}

std::string NotificationOf(const std::string& method, Json params) {
  return Dump({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

std::string Event(absl::string_view message) {
  return absl::StrCat("event: message\ndata: ", message, "\n\n");
}

// The request was carried out nevertheless.
RpcError NoRoomInBatch() {
  return {JsonRpcCode::kInternalError,
          "It was executed, but its answer does not fit into the batch. Read the result in a "
          "separate request; do not repeat the action."};
}

}  // namespace

// A request to the client that awaits its reply.
struct Exchange::Asked {
  asio::steady_timer replied;
  std::optional<RpcOutcome> outcome;
};

// Cancels the work when the receiver of its outcome is gone.
struct Exchange::CancelOnExit {
  explicit CancelOnExit(std::shared_ptr<Exchange> of) : exchange(std::move(of)) {}
  CancelOnExit(const CancelOnExit&) = delete;
  ~CancelOnExit() {
    if (!exchange->done()) exchange->Cancel();
    exchange->under_way_ = nullptr;
  }
  const std::shared_ptr<Exchange> exchange;
};

Exchange::Exchange(asio::any_io_executor executor, Origin origin, JsonRpcMessage message)
    : executor_(std::move(executor)),
      origin_(std::move(origin)),
      message_(std::move(message)),
      last_progress_(-std::numeric_limits<double>::infinity()) {
  const Json& token = MetaMember(message_, "progressToken");
  if (token.is_string() || token.is_number_integer()) progress_token_ = token;
}

TraceContext Exchange::trace() const {
  if (!trace_.empty()) return trace_;
  trace_ = TraceInMessage();
  if (trace_.empty()) trace_ = origin_.trace;
  if (trace_.empty()) trace_ = TraceContext::New();
  return trace_;
}

TraceContext Exchange::TraceInMessage() const {
  const Json& given = MetaMember(message_, "traceparent");
  if (!given.is_string()) return {};
  return TraceContext::Parse(given.get_ref<const std::string&>()).value_or(TraceContext());
}

TraceCompanions Exchange::companions() const {
  return companions_.has_value() ? *companions_ : CompanionsInMessage();
}

TraceCompanions Exchange::CompanionsInMessage() const {
  const Json& tracestate = MetaMember(message_, "tracestate");
  const Json& baggage = MetaMember(message_, "baggage");
  TraceCompanions companions = origin_.companions;
  // A trace and its tracestate belong together: both come from the message, or both from the HTTP
  // request.
  if (!(companions.tracestate.empty() && tracestate.is_null()) && !TraceInMessage().empty()) {
    companions.tracestate =
        tracestate.is_string() ? TracestateOf(tracestate.get_ref<const std::string&>()) : "";
  }
  if (!baggage.is_string()) return companions;
  std::string own = BaggageOf(baggage.get_ref<const std::string&>());
  if (!own.empty()) companions.baggage = std::move(own);
  return companions;
}

void Exchange::BeginSpan(absl::string_view method, absl::string_view tool) {
  trace_ = TraceInMessage();
  span_ = BeginCallSpan(method, tool, origin_.version, origin_.trace, trace_);
  if (span_) span_.Set("jsonrpc.request.id", IdText(message_.id));
}

asio::any_io_executor Exchange::WorkExecutor() const {
  if (!span_) return executor_;
  return TracedExecutor(executor_, std::make_shared<const TraceContext>(span_.context()));
}

void Exchange::LinkSpan(const std::string& traceparent) {
  if (span_) span_.Link(TraceContext::Parse(traceparent).value_or(TraceContext()));
}

void Exchange::EndSpan(const RpcOutcome& outcome) { EndCallSpan(outcome, span_); }

const Json& Exchange::client_capabilities() const {
  return MetaMember(message_, kMetaClientCapabilities);
}

void Exchange::NotifyProgress(double progress, std::optional<double> total,
                              const std::string& message) {
  if (progress_token_.is_null() || !(progress > last_progress_)) return;
  last_progress_ = progress;
  Json params = {{"progressToken", progress_token_}, {"progress", progress}};
  if (total.has_value()) params["total"] = *total;
  if (!message.empty()) params["message"] = message;
  Send(NotificationOf("notifications/progress", std::move(params)), /*needed=*/false);
}

void Exchange::NotifyLog(const std::string& level, const std::string& logger, Json data) {
  if (!origin_.log_level.has_value() || LogLevelOf(level) < *origin_.log_level) return;
  Send(NotificationOf("notifications/message",
                      {{"level", level}, {"logger", logger}, {"data", std::move(data)}}),
       /*needed=*/false);
}

void Exchange::Notify(const std::string& method, Json params) {
  Send(NotificationOf(method, std::move(params)), /*needed=*/true);
}

asio::awaitable<RpcOutcome> Exchange::Request(std::string method, Json params) {
  if (done()) co_return RpcError{JsonRpcCode::kInternalError, "The request has ended."};
  // Unique within the session because the request's id is.
  const std::string id = absl::StrCat("callslip-", Dump(message_.id), "-", next_request_++);
  Asked asked{asio::steady_timer(executor_, asio::steady_timer::time_point::max()), std::nullopt};
  struct Forget {
    ~Forget() { asked.erase(id); }
    std::map<std::string, Asked*>& asked;
    const std::string& id;
  };
  asked_[id] = &asked;
  const Forget forget{asked_, id};
  Send(Dump({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}),
       /*needed=*/true);
  while (!asked.outcome.has_value()) {
    co_await asked.replied.async_wait(kAwait);
  }
  co_return *std::move(asked.outcome);
}

bool Exchange::Reply(const Json& id, RpcOutcome outcome) {
  const auto asked = asked_.find(id.is_string() ? id.get<std::string>() : Dump(id));
  if (asked == asked_.end()) return false;
  asked->second->outcome = std::move(outcome);
  asked->second->replied.cancel();
  return true;
}

void Exchange::Send(std::string message, bool needed) {
  if (done() || is_cut_off_) return;
  // A single message is sent regardless of its size.
  bool fits = outbox_.empty() || outbox_bytes_ + message.size() <= kMaxOutboxBytes;
  if (fits && writer_ != nullptr) fits = writer_->Hold(outbox_bytes_ + message.size());
  if (!fits) {
    is_cut_off_ = needed && writer_ != nullptr;
    if (is_cut_off_) TellNews();
    return;
  }
  outbox_bytes_ += message.size();
  outbox_.push_back(std::move(message));
  TellNews();
}

void Exchange::End(RpcOutcome outcome) {
  outcome_ = std::move(outcome);
  if (keep_ != nullptr && !cancelled_) {
    // The text takes a fraction of the memory of its JSON.
    kept_ = JsonRpcResponse(message_.id, *std::exchange(outcome_, Json()));
    if (!keep_(kept_.size())) kept_ = JsonRpcResponse(message_.id, NoRoomInBatch());
    return;
  }
  if (writer_ == nullptr || cancelled_ || is_cut_off_) return;
  // Like the messages before it, the answer may have to wait for its reader.
  std::string answer = JsonRpcResponse(message_.id, *outcome_);
  outcome_ = Json();
  is_answer_queued_ = true;
  is_cut_off_ = !writer_->Hold(outbox_bytes_ + answer.size());
  if (is_cut_off_) return;
  outbox_bytes_ += answer.size();
  outbox_.push_back(std::move(answer));
}

void Exchange::Run(asio::awaitable<RpcOutcome> work) {
  // Another message of the same batch may have cancelled it.
  if (done()) return;
  auto ended = [self = shared_from_this()](const std::exception_ptr& error, RpcOutcome outcome) {
    if (self->done()) return;
    self->End(error == nullptr ? std::move(outcome) : self->Failure());
    if (self->news_ != nullptr) self->news_->cancel();
    // Immediately: the work is over and no longer uses this object.
    self->Answer();
  };
  asio::co_spawn(WorkExecutor(), std::move(work),
                 asio::bind_cancellation_slot(cancel_.slot(), std::move(ended)));
}

asio::cancellation_slot Exchange::BeginWait() {
  DropParams();
  progress_token_ = Json();
  return cancel_.slot();
}

void Exchange::DropParams() {
  if (companions_.has_value()) return;
  if (trace_.empty()) trace_ = TraceInMessage();
  companions_ = CompanionsInMessage();
  message_.params = Json();
  body_place_ = nullptr;
}

void Exchange::FinishWith(absl::FunctionRef<RpcOutcome()> work) {
  if (done()) return;
  try {
    End(work());
  } catch (const std::exception&) {
    End(Failure());
  }
  Answer();
}

RpcOutcome Exchange::Failure() const {
  if (!cancelled_) {
    Log(LogLevel::kError, "a request failed",
        {{"method", message_.method}, {"traceparent", trace().ToString()}});
  }
  return RpcError{JsonRpcCode::kInternalError,
                  "The gateway failed to answer. Please report it with its log."};
}

void Exchange::Finish(RpcOutcome outcome) {
  if (done()) return;
  End(std::move(outcome));
  TellNews();
}

void Exchange::Cancel() {
  if (done()) return;
  cancelled_ = true;
  span_.Fail("cancelled");
  Finish(RpcError{JsonRpcCode::kInternalError, "Cancelled."});
  // The work may hold the last reference to this.
  const auto self = shared_from_this();
  cancel_.emit(asio::cancellation_type::terminal);
}

// Posted, because the caller, and the receiver of the answer, may still use this object.
void Exchange::TellNews() {
  if (news_ != nullptr) news_->cancel();
  if (answer_ != nullptr) asio::post(executor_, [self = shared_from_this()] { self->Answer(); });
}

asio::awaitable<void> Exchange::AwaitNews(asio::steady_timer::duration at_most) {
  if (done() || is_cut_off_ || !outbox_.empty()) co_return;
  news_ = std::make_unique<asio::steady_timer>(executor_, at_most);
  co_await news_->async_wait(kAwait);
  news_ = nullptr;
}

void Exchange::OnAnswer(AnswerHandler answer) {
  answer_ = std::move(answer);
  if (done() || !outbox_.empty()) TellNews();
}

void Exchange::Answer() {
  if (answer_ == nullptr) return;
  HttpResponse response;
  if (!outbox_.empty()) {
    response = EventStreamHead();
    response.stream = [guard = std::make_shared<CancelOnExit>(shared_from_this())](
                          BodyWriter& writer) { return guard->exchange->Stream(writer); };
  } else {
    // Nothing may be sent for a cancelled request.
    response = cancelled_ ? HttpResponse{.status = 202} : ResponseOf(*outcome_);
    under_way_ = nullptr;
  }
  std::exchange(answer_, nullptr)(std::move(response));
}

HttpResponse Exchange::ResponseOf(const RpcOutcome& outcome) const {
  return {.status = era() == Era::kModern ? ModernStatus(outcome) : 200,
          .body = JsonRpcResponse(message_.id, outcome)};
}

asio::awaitable<std::string> Exchange::AnswerMessage() {
  const CancelOnExit guard(shared_from_this());
  while (!done()) {
    // A batch cannot carry messages that precede an answer.
    outbox_.clear();
    outbox_bytes_ = 0;
    co_await AwaitNews(std::chrono::hours(24));
  }
  if (cancelled_) co_return "";
  co_return kept_.empty() ? JsonRpcResponse(message_.id, *outcome_) : std::move(kept_);
}

asio::awaitable<void> Exchange::Stream(BodyWriter& writer) {
  writer_ = &writer;
  const absl::Cleanup leave = [this] { writer_ = nullptr; };
  while (!is_cut_off_) {
    std::string events;
    for (const std::string& message : outbox_) absl::StrAppend(&events, Event(message));
    outbox_.clear();
    outbox_bytes_ = 0;
    writer.Hold(0);
    const bool last = done();
    if (last && !cancelled_ && !is_answer_queued_) {
      absl::StrAppend(&events, Event(JsonRpcResponse(message_.id, *outcome_)));
    }
    if (!last && events.empty()) events = ": keep-alive\n\n";
    if (!events.empty()) co_await writer.Write(std::move(events));
    if (last) co_return;
    co_await AwaitNews(kStreamKeepAlive);
  }
  throw boost::system::system_error(asio::error::operation_aborted);
}

}  // namespace callslip::gateway
