#include "bridge/relay/relay.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "bridge/json/batch.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/call_span.h"
#include "bridge/relay/gateway_answer.h"
#include "bridge/relay/limits.h"
#include "bridge/relay/skipped_line.h"
#include "common/json_scan.h"
#include "common/log.h"
#include "common/random.h"

namespace callslip::bridge {

struct Relay::Call {
  Call(Message&& m, CallSpan&& s, const TimeoutPolicy& policy, absl::Time now, absl::Duration t,
       Clock* clock)
      : message(std::move(m)),
        span(std::move(s)),
        may_wait(policy.MayWait(message)),
        counts_from_last_sign(policy.CountsFromLastSign(message)),
        received(now),
        timeout(t),
        abort(clock),
        deadline(now + t) {}

  bool is_request() const { return message.is_request(); }
  bool is_initialize() const { return is_request() && message.IsMethod("initialize"); }
  void EndWith(const Failure& failure) {
    span.span.Fail(failure.reason);
    span.span.End();
  }

  const Message message;
  CallSpan span;  // Ended by the thread that has taken the call.
  const bool may_wait;
  const bool counts_from_last_sign;
  const absl::Time received;
  const absl::Duration timeout;
  AbortSwitch abort;
  // Guarded by the relay's mutex_.
  absl::Time deadline;
  bool taken = false;
};

Relay::Relay(const TimeoutPolicy& policy, Clock* clock, GatewayClient* gateway, LineWriter* writer)
    : policy_(policy),
      clock_(clock),
      writer_(writer),
      url_(gateway->url().ToString()),
      session_(gateway),
      sender_(clock, gateway, &session_),
      roots_(writer),
      uploads_(&sender_, &roots_, url_),
      deadline_sleeper_(clock->NewSleeper()),
      pool_(std::make_unique<CallPool>(kMaxOpenCalls, kMaxOpenWaits)),
      deadline_thread_([this] { RunDeadlines(); }) {}

Relay::~Relay() {
  std::vector<CallPtr> calls;
  {
    MutexLock lock(&mutex_);
    draining_ = true;
    stopping_ = true;
    for (const auto& [deadline, call] : unfinished_) calls.push_back(call);
    for (const CallPtr& call : calls) TakeLocked(call);
  }
  for (const CallPtr& call : calls) call->abort.Abort();
  deadline_sleeper_->Wake();
  deadline_thread_.join();
  pool_.reset();
}

void Relay::HandleLine(std::string line) {
  if (absl::StripAsciiWhitespace(line).empty()) return;
  const std::optional<Batch> batch = BatchIn(line);
  if (!batch) return HandleMessage(ParseMessage(std::move(line)));
  for (const std::string& each : batch->messages) HandleMessage(ParseMessage(each));
  for (const std::string& each : batch->unclear) {
    Refuse(each, kParseError, "the brackets of the batch do not match");
  }
}

void Relay::Refuse(absl::string_view line, int code, absl::string_view error) {
  Log(LogLevel::kWarning, "invalid message", {{"error", std::string(error)}});
  SkippedLine read;
  read.Add(line);
  writer_->WriteLine(ErrorLine(FreeId(read.RequestId()), code, error));
}

void Relay::HandleMessage(Message message) {
  if (message.kind == Message::Kind::kInvalid) {
    return Refuse(message.line, message.error_code, message.error);
  }
  if (roots_.TakeAnswer(message)) return;
  if (!message.cancelled_key.empty() && Cancel(message.cancelled_key)) return;
  AddRequestId(message, RandomHex128);
  if (const auto wait = policy_.ShorterWaitFor(message)) SetWait(message, *wait);
  const absl::Duration timeout = policy_.TimeoutOf(policy_.ClassOf(message));
  CallSpan span = BeginCallSpan(message);
  Admit(std::make_shared<Call>(std::move(message), std::move(span), policy_, clock_->Now(), timeout,
                               clock_));
}

void Relay::HandleTooLongLine(const std::string& id) {
  writer_->WriteLine(LineTooLong(FreeId(id)));
}

std::string Relay::FreeId(const std::string& id) {
  if (id.empty()) return id;
  MutexLock lock(&mutex_);
  return requests_.contains(IdKey(id)) ? "" : id;
}

void Relay::Drain(absl::Duration grace) {
  const absl::Time deadline = clock_->Now() + grace;
  {
    MutexLock lock(&mutex_);
    draining_ = true;
    drain_deadline_ = deadline;
  }
  deadline_sleeper_->Wake();
  {
    MutexLock lock(&mutex_);
    while (!IsIdleLocked()) idle_.Wait(&mutex_);
  }
  session_.End(kEndSessionTimeout);
}

void Relay::Admit(CallPtr call) {
  std::optional<std::string> refusal;
  bool is_earliest = false;
  {
    MutexLock lock(&mutex_);
    refusal = RefusalLocked(*call);
    if (!refusal) {
      if (call->is_request()) requests_.emplace(call->message.id_key, call);
      if (call->message.is_stream()) ++open_streams_;
      unfinished_.emplace(call->deadline, call);
      is_earliest = call->deadline < sleeping_until_;
    }
  }
  if (refusal) {
    call->span.span.Fail("refused");
    if (!refusal->empty()) writer_->WriteLine(*refusal);
    return;
  }
  if (is_earliest) deadline_sleeper_->Wake();
  Start(std::move(call));
}

// The line that refuses a call, empty for a call that expects no answer.
std::optional<std::string> Relay::RefusalLocked(const Call& call) {
  const Message& message = call.message;
  if (call.is_request() && requests_.contains(message.id_key)) {
    // Without an id: the agent is still owed the answer to its first request under that id.
    return ErrorLine("", kInvalidRequest,
                     absl::StrCat("the id ", message.id, " is that of an unfinished request"));
  }
  const bool is_full = unfinished_.size() >= kMaxUnfinishedCalls ||
                       (message.is_stream() && open_streams_ >= kMaxOpenStreams);
  if (!draining_ && !is_full) return std::nullopt;
  if (!call.is_request()) return "";
  return FailureLine(message, draining_ ? BridgeClosing(message, /*sent=*/false) : TooManyCalls());
}

void Relay::Start(CallPtr call) {
  {
    MutexLock lock(&mutex_);
    if (call->taken) return;
    if (initialize_ != nullptr) {
      held_.push_back(std::move(call));
      return;
    }
    if (call->is_initialize()) initialize_ = call;
  }
  const bool is_wait = call->may_wait;
  pool_->Submit(is_wait, [this, call = std::move(call)] { Run(call); });
}

bool Relay::Cancel(const std::string& id_key) {
  CallPtr call;
  {
    MutexLock lock(&mutex_);
    const auto it = requests_.find(id_key);
    if (it == requests_.end()) return false;
    call = it->second;
    TakeLocked(call);
  }
  call->span.span.Fail("cancelled");
  call->span.span.End();
  Answered(call);
  call->abort.Abort();
  return call->message.is_modern;
}

bool Relay::Take(const CallPtr& call) {
  MutexLock lock(&mutex_);
  if (call->taken) return false;
  TakeLocked(call);
  return true;
}

void Relay::TakeLocked(const CallPtr& call) {
  call->taken = true;
  ++being_answered_;
  unfinished_.erase({call->deadline, call});
  if (call->is_request()) requests_.erase(call->message.id_key);
  if (call->message.is_stream()) --open_streams_;
}

void Relay::Answered(const CallPtr& call) {
  std::vector<CallPtr> released;
  {
    MutexLock lock(&mutex_);
    --being_answered_;
    if (IsIdleLocked()) idle_.NotifyAll();
    if (initialize_ == call) {
      initialize_ = nullptr;
      released.swap(held_);
    }
  }
  for (CallPtr& next : released) Start(std::move(next));
}

void Relay::Finish(const CallPtr& call, const Failure& failure) {
  if (!Take(call)) return;
  Log(LogLevel::kWarning, "call failed",
      {{"id", call->message.id},
       {"method", call->message.method},
       {"reason", failure.reason},
       {"traceparent", TraceparentOf(call->span, call->message)}});
  call->EndWith(failure);
  if (call->is_request()) writer_->WriteLine(FailureLine(call->message, failure));
  Answered(call);
}

void Relay::Run(const CallPtr& call) {
  {
    MutexLock lock(&mutex_);
    if (call->taken) return;
  }
  if (FilesOf(call->message).empty()) return Send(call, call->message);
  auto prepared = uploads_.Prepare({.message = &call->message,
                                    .received = call->received,
                                    .timeout = call->timeout,
                                    .abort = &call->abort});
  if (const Failure* failure = std::get_if<Failure>(&prepared)) return Finish(call, *failure);
  Send(call, std::get<Message>(prepared));
}

void Relay::Send(const CallPtr& call, const Message& message) {
  Conclude(call, sender_.Deliver({.message = &message,
                                  .received = call->received,
                                  .timeout = call->timeout,
                                  .counts_from_last_sign = call->counts_from_last_sign,
                                  .abort = &call->abort,
                                  .on_event =
                                      [&](const ResponseHead& head, absl::string_view data) {
                                        return HandleEvent(call, head, data);
                                      },
                                  .header = call->span.header}));
}

void Relay::Conclude(const CallPtr& call, Exchange exchange) {
  switch (exchange.outcome) {
    case Exchange::Outcome::kAborted:
      return;  // The thread that aborted the call has taken it already.
    case Exchange::Outcome::kNotSent:
      return Finish(call,
                    GatewayUnreachable(url_, clock_->Now() - call->received, exchange.failure));
    case Exchange::Outcome::kBroken:
      return Finish(call,
                    call->message.is_stream() ? SubscriptionLost(url_) : ConnectionBroke(url_));
    case Exchange::Outcome::kStreamEnded: return Finish(call, StreamEndedEarly());
    case Exchange::Outcome::kTooLarge: return Finish(call, AnswerTooLarge());
    case Exchange::Outcome::kUnproven: return Finish(call, UnprovenAnswer(url_));
    case Exchange::Outcome::kAnswered: break;
  }
  if (!call->is_request()) {
    if (exchange.head.status >= 400) {
      return Finish(call, HttpError(url_, exchange.head.status, exchange.body));
    }
    if (Take(call)) Answered(call);
    return;
  }
  // The sink has ended the stream: the call has been taken.
  if (exchange.head.content_type == "text/event-stream") return;
  auto found = FindAnswer(exchange.head, std::move(exchange.body), call->message, url_);
  if (const Failure* failure = std::get_if<Failure>(&found)) return Finish(call, *failure);
  ConcludeWithAnswer(call, exchange.head, std::get<Message>(std::move(found)));
}

void Relay::ConcludeWithAnswer(const CallPtr& call, const ResponseHead& head, Message&& answer) {
  if (!Take(call)) return;
  EndCallSpan(answer, call->span.span);
  if (call->is_initialize()) {
    session_.Start(call->message, head, answer);
    roots_.Start(call->message);
  }
  if (call->message.IsMethod("logging/setLevel")) session_.KeepLogLevel(call->message, answer);
  // The agent may send its next call as soon as it has read this line.
  writer_->WriteLine(AnswerLine(call->message, std::move(answer)), [this] { pool_->WillRead(); });
  Answered(call);
}

bool Relay::HandleEvent(const CallPtr& call, const ResponseHead& head, absl::string_view data) {
  if (!call->is_request()) return false;
  Message message = ParseMessage(std::string(data));
  if (IsAnswerTo(call->message, message)) {
    ConcludeWithAnswer(call, head, std::move(message));
    return false;
  }
  if (message.kind == Message::Kind::kInvalid || message.kind == Message::Kind::kResponse) {
    Log(LogLevel::kWarning, "stray message in an event stream", {{"id", call->message.id}});
    return true;
  }
  if (call->message.is_stream()) SetDeadline(call, absl::InfiniteFuture());
  if (call->counts_from_last_sign) SetDeadline(call, clock_->Now() + call->timeout);
  const std::string line = OnOneLine(std::string(data));
  if (line.size() >= kMaxLineBytes) return true;
  // No notifications about a call follow its answer.
  return writer_->WriteLineIf(
      [&] {
        MutexLock lock(&mutex_);
        return !call->taken;
      },
      line);
}

void Relay::SetDeadline(const CallPtr& call, absl::Time deadline) {
  MutexLock lock(&mutex_);
  if (call->taken || call->deadline >= deadline) return;
  unfinished_.erase({call->deadline, call});
  call->deadline = deadline;
  unfinished_.emplace(call->deadline, call);
}

void Relay::RunDeadlines() {
  while (true) {
    const absl::Time now = clock_->Now();
    std::vector<CallPtr> due;
    absl::Time next;
    bool closing = false;
    {
      MutexLock lock(&mutex_);
      if (stopping_) return;
      closing = now >= drain_deadline_;
      std::tie(due, next) = TakeDueLocked(now);
      sleeping_until_ = next;
    }
    for (const CallPtr& call : due) {
      if (call->is_request()) {
        const bool sent = call->abort.sent();
        const Failure failure = closing ? BridgeClosing(call->message, sent)
                                        : DeadlinePassed(call->message, call->timeout, sent);
        call->EndWith(failure);
        writer_->WriteLine(FailureLine(call->message, failure));
      }
      Answered(call);
      call->abort.Abort();
    }
    deadline_sleeper_->SleepUntil(next);
  }
}

std::pair<std::vector<Relay::CallPtr>, absl::Time> Relay::TakeDueLocked(absl::Time now) {
  std::vector<CallPtr> due;
  const bool closing = now >= drain_deadline_;
  for (const auto& [deadline, call] : unfinished_) {
    if (!closing && deadline > now) break;
    due.push_back(call);
  }
  for (const CallPtr& call : due) TakeLocked(call);
  const absl::Time drain = closing ? absl::InfiniteFuture() : drain_deadline_;
  if (unfinished_.empty()) return {std::move(due), drain};
  return {std::move(due), std::min(unfinished_.begin()->first, drain)};
}

}  // namespace callslip::bridge
