#ifndef CALLSLIP_GATEWAY_MCP_PROTOCOL_EXCHANGE_H_
#define CALLSLIP_GATEWAY_MCP_PROTOCOL_EXCHANGE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/steady_timer.hpp"
#include "gateway/http/http_message.h"
#include "gateway/mcp/protocol/call_context.h"
#include "telemetry/active_span.h"

namespace callslip::gateway {

// One request from its arrival to its answer, and what its client hears before that. The answer is
// plain JSON unless something was to be said before it: then it is a stream of events.
//
// Shared by what works on the request and what answers it, on one executor.
class Exchange final : public CallContext, public std::enable_shared_from_this<Exchange> {
 public:
  // Who asks, and what.
  struct Origin {
    Era era = Era::kLegacy;
    std::string version;
    Principal principal;
    std::string session_id;     // Legacy only.
    std::string session_label;  // Of commands; legacy only.
    // Messages of this severity and above are sent to the client; none without it.
    std::optional<int> log_level;
    // Of the HTTP request, if it had one.
    TraceContext trace;
    TraceCompanions companions;
    std::string agent_session_id;  // The session whose agent asks, if it is one's.
  };

  Exchange(boost::asio::any_io_executor executor, Origin origin, JsonRpcMessage message);

  const Origin& origin() const { return origin_; }
  const JsonRpcMessage& message() const { return message_; }
  JsonRpcMessage& message() { return message_; }
  void set_as_task(bool as_task) { as_task_ = as_task; }
  // Has the request recorded, from now until EndSpan(). `tool` is empty where none is called.
  void BeginSpan(absl::string_view method, absl::string_view tool);
  // The command that the call turned out to be about, by its `traceparent`.
  void LinkSpan(const std::string& traceparent);
  void EndSpan(const RpcOutcome& outcome);
  // What the body that the message was in takes of what all bodies may: kept as long as the params.
  void set_body_place(std::shared_ptr<void> place) { body_place_ = std::move(place); }
  // What makes the request reachable for other requests, kept until its answer is complete.
  void set_under_way(std::shared_ptr<void> under_way) { under_way_ = std::move(under_way); }

  Era era() const override { return origin_.era; }
  const Principal& principal() const override { return origin_.principal; }
  std::string session_label() const override { return origin_.session_label; }
  std::string session_id() const override { return origin_.agent_session_id; }
  // That of the span, where there is one; that of the message, else of the HTTP request, else a new
  // one.
  TraceContext trace() const override;
  // Of the same; the message's baggage, else that of the HTTP request.
  TraceCompanions companions() const override;
  const Json& client_capabilities() const override;
  bool as_task() const override { return as_task_; }
  const Json& params() const override { return message_.params; }
  void DropParams() override;
  bool listens() const override {
    return !progress_token_.is_null() || origin_.log_level.has_value();
  }
  void NotifyProgress(double progress, std::optional<double> total,
                      const std::string& message) override;
  void NotifyLog(const std::string& level, const std::string& logger, Json data) override;
  void Notify(const std::string& method, Json params) override;
  boost::asio::awaitable<RpcOutcome> Request(std::string method, Json params) override;

  // The worker's side. Runs `work` in a coroutine of its own, which Cancel() ends. Once at most.
  void Run(boost::asio::awaitable<RpcOutcome> work);
  // For work without a coroutine: what Cancel() emits to. Whoever takes it holds the exchange until
  // the work has ended. Drops the params.
  boost::asio::cancellation_slot BeginWait();
  // What is answered, and logged, where the work has thrown: ours throws nothing, but the libraries
  // under it may.
  RpcOutcome Failure() const;
  // Finishes with what `work` makes, and answers at once.
  void FinishWith(absl::FunctionRef<RpcOutcome()> work);
  // The request is over. Only the first call counts.
  void Finish(RpcOutcome outcome);

  // The client takes its request back: nothing is sent for it any more.
  void Cancel();
  bool cancelled() const { return cancelled_; }
  // The reply to a request of ours with this id. False where there is none such.
  bool Reply(const Json& id, RpcOutcome outcome);

  // The answering side: `answer` is called, on the executor, with the response once it is known
  // whether it is a stream. Leaving that stream before its end cancels the work.
  using AnswerHandler = absl::AnyInvocable<void(HttpResponse) &&>;
  void OnAnswer(AnswerHandler answer);
  // The response that is no stream.
  HttpResponse ResponseOf(const RpcOutcome& outcome) const;
  // The response message, once the work has ended without a stream; for batches. Empty where the
  // request was cancelled. Leaving this coroutine before the end cancels the work.
  boost::asio::awaitable<std::string> AnswerMessage();
  // One of a batch is kept until all are there: `keep` is asked for room for its bytes. Where there
  // is none, it is an error that says so.
  void set_keep(std::function<bool(size_t bytes)> keep) { keep_ = std::move(keep); }

 private:
  struct CancelOnExit;

  bool done() const { return outcome_.has_value(); }
  TraceContext TraceInMessage() const;  // Empty where it names none.
  TraceCompanions CompanionsInMessage() const;
  // A message that is not `needed` is left out where there is no room for it. For want of one that
  // is the stream is cut off, so that its reader asks anew.
  void Send(std::string message, bool needed);
  // The work is over.
  void End(RpcOutcome outcome);
  void TellNews();
  void Answer();
  // Until there is something to send or the work has ended, or the time is over.
  boost::asio::awaitable<void> AwaitNews(boost::asio::steady_timer::duration at_most);
  boost::asio::awaitable<void> Stream(BodyWriter& writer);

  const boost::asio::any_io_executor executor_;
  const Origin origin_;
  JsonRpcMessage message_;
  std::shared_ptr<void> body_place_;  // As long as there are params.
  Json progress_token_;               // Null: nobody listens.
  double last_progress_;
  mutable TraceContext trace_;
  std::optional<TraceCompanions> companions_;  // Once there are no params.
  ActiveSpan span_;
  bool as_task_ = false;
  bool cancelled_ = false;
  std::optional<RpcOutcome> outcome_;
  std::vector<std::string> outbox_;  // Messages that are due before the answer.
  size_t outbox_bytes_ = 0;
  BodyWriter* writer_ = nullptr;   // While Stream() runs.
  bool is_answer_queued_ = false;  // The last message of the outbox is the answer.
  bool is_cut_off_ = false;        // There was no room for it, or for another that is needed.
  AnswerHandler answer_;
  std::function<bool(size_t bytes)> keep_;           // Null: it is none of a batch.
  std::string kept_;                                 // The response message, then.
  std::unique_ptr<boost::asio::steady_timer> news_;  // While AwaitNews() runs.
  boost::asio::cancellation_signal cancel_;
  // Our requests to the client, by id, that it has not replied to.
  struct Asked;
  std::map<std::string, Asked*> asked_;
  int next_request_ = 1;
  std::shared_ptr<void> under_way_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_PROTOCOL_EXCHANGE_H_
