#include "bridge/relay/retrying_sender.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "bridge/relay/gateway_answer.h"
#include "bridge/relay/limits.h"
#include "bridge/relay/timeout_policy.h"

namespace callslip::bridge {
namespace {

using Outcome = Exchange::Outcome;

absl::Duration PatienceOf(const Message& message, absl::Duration timeout) {
  if (message.IsMethod("initialize") || message.IsMethod("server/discover")) return 0.9 * timeout;
  return std::min(kConnectPatience, timeout / 2);
}

bool IsRepeatable(const Message& message) {
  return OnlyReads(message) || (message.tool_call && !message.tool_call->request_id.empty());
}

}  // namespace

// All attempts to deliver one message.
class RetryingSender::Attempts {
 public:
  Attempts(const RetryingSender& sender, const Delivery& delivery)
      : sender_(sender),
        delivery_(delivery),
        message_(*delivery.message),
        patience_(PatienceOf(message_, delivery.timeout)),
        give_up_(delivery.received + patience_) {}

  Exchange Run() {
    while (true) {
      if (HasSession()) session_id_ = sender_.session_->id();
      Exchange exchange = sender_.gateway_->Post(message_.line, HeadersOfMessage(), Silence(),
                                                 *delivery_.abort, delivery_.on_event);
      const Next next = Judge(exchange);
      if (next == Next::kStop || (next == Next::kLater && !BackOff())) return Final(exchange);
    }
  }

 private:
  enum class Next { kStop, kNow, kLater };

  // An `initialize` opens a new session and must not name the previous one.
  bool HasSession() const { return !message_.is_modern && !message_.IsMethod("initialize"); }

  std::string HeadersOfMessage() const {
    std::string headers(delivery_.header);
    if (message_.is_modern) return headers + MirroredHeaders(message_);
    return HasSession() ? headers + sender_.session_->SessionHeaders() : headers;
  }

  absl::Duration Silence() const {
    if (message_.is_stream()) return kMaxStreamSilence;
    if (delivery_.counts_from_last_sign) return delivery_.timeout + kReadBackstop;
    const absl::Time deadline = delivery_.received + delivery_.timeout;
    return std::max(deadline - sender_.clock_->Now(), absl::ZeroDuration()) + kReadBackstop;
  }

  Next Judge(const Exchange& exchange) {
    switch (exchange.outcome) {
      case Outcome::kNotSent: return sender_.clock_->Now() < give_up_ ? Next::kLater : Next::kStop;
      case Outcome::kBroken:
      case Outcome::kStreamEnded:
        if (!IsRepeatable(message_)) return Next::kStop;
        doubt_ = exchange;
        // From now on, as long as a restart can take.
        give_up_ = sender_.clock_->Now() + patience_;
        return Next::kLater;
      case Outcome::kAnswered: return JudgeAnswer(exchange);
      case Outcome::kUnproven: return RenewToken(exchange) ? Next::kNow : Next::kStop;
      case Outcome::kTooLarge:
      case Outcome::kAborted: break;
    }
    return Next::kStop;
  }

  // At most once. An answer proven with an old token can look like one from a server that knows no
  // token.
  bool RenewToken(const Exchange& exchange) {
    return !std::exchange(token_renewed_, true) &&
           sender_.gateway_->RenewToken(exchange.token_generation);
  }

  Next JudgeAnswer(const Exchange& exchange) {
    const int status = exchange.head.status;
    if (status == 401) {
      if (!RenewToken(exchange)) return Next::kStop;
      Refused();
      return Next::kNow;
    }
    if (status == 404 && !session_id_.empty() && !session_renewed_) {
      Refused();
      const auto renewal = sender_.session_->Renew(session_id_, Silence(), *delivery_.abort);
      Refused();  // The bytes sent meanwhile were those of the initialize.
      session_renewed_ = renewal == SessionKeeper::Renewal::kDone;
      if (renewal == SessionKeeper::Renewal::kTryLater) return Next::kLater;
      return session_renewed_ ? Next::kNow : Next::kStop;
    }
    // The gateway has not noticed yet that the connection of the last attempt is gone.
    if (doubt_ && status == 400 && IsInvalidRequest(exchange.body)) return Next::kLater;
    return Next::kStop;
  }

  static bool IsInvalidRequest(const std::string& body) {
    return ErrorCodeOf(ParseMessage(body)) == kInvalidRequest;
  }

  // The gateway did not execute the last attempt.
  void Refused() {
    if (!doubt_) delivery_.abort->ForgetSent();
  }

  bool BackOff() {
    const absl::Time next = sender_.clock_->Now() + backoff_;
    backoff_ = std::min(2 * backoff_, kMaxBackoff);
    return delivery_.abort->SleepUntil(next);
  }

  Exchange Final(Exchange& exchange) {
    if (delivery_.abort->aborted()) exchange.outcome = Outcome::kAborted;
    // An attempt that was not sent says nothing about the one before.
    if (exchange.outcome == Outcome::kNotSent && doubt_) return *std::move(doubt_);
    return std::move(exchange);
  }

  const RetryingSender& sender_;
  const Delivery& delivery_;
  const Message& message_;
  const absl::Duration patience_;
  absl::Time give_up_;
  absl::Duration backoff_ = kFirstBackoff;
  std::string session_id_;         // Session of the last attempt; may be empty.
  std::optional<Exchange> doubt_;  // An earlier attempt with an unknown effect.
  bool token_renewed_ = false;
  bool session_renewed_ = false;
};

Exchange RetryingSender::Deliver(const Delivery& delivery) const {
  return Attempts(*this, delivery).Run();
}

}  // namespace callslip::bridge
