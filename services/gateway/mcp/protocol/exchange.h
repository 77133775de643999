#pragma once

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

// One request from its arrival to its answer, with all messages to its client before that. The
// answer is plain JSON, or a stream of events if a message preceded it.
//
// Shared by the work on the request and the code that answers it, on one executor.
class Exchange final : public CallContext, public std::enable_shared_from_this<Exchange> {
 public:
  // The caller, and the form of its request.
  struct Origin {
    Era era = Era::kLegacy;
    std::string version;
    Principal principal;
    std::string session_id;     // Legacy only.
    std::string session_label;  // Label of commands; legacy only.
    // Messages of this severity and above are sent to the client; none if unset.
    std::optional<int> log_level;
    // From the HTTP request, if it had one.
    TraceContext trace;
    TraceCompanions companions;
    std::string agent_session_id;  // The session of the calling agent; empty for others.
  };

  Exchange(boost::asio::any_io_executor executor, Origin origin, JsonRpcMessage message);

  const Origin& origin() const { return origin_; }
  const JsonRpcMessage& message() const { return message_; }
  JsonRpcMessage& message() { return message_; }
  void set_as_task(bool as_task) { as_task_ = as_task; }
  // Starts the request's span, which EndSpan() ends. `tool` is empty if no tool is called.
  void BeginSpan(absl::string_view method, absl::string_view tool);
  // Links the span to the command of this call, by its `traceparent`.
  void LinkSpan(const std::string& traceparent);
  void EndSpan(const RpcOutcome& outcome);
  // The executor of the work, whose calls to the tracker are below the request's span.
  boost::asio::any_io_executor WorkExecutor() const;
  // The share of the message's body in the memory budget for bodies; held as long as the params.
  void set_body_place(std::shared_ptr<void> place) { body_place_ = std::move(place); }
  // Makes the request reachable for other requests; held until its answer is complete.
  void set_under_way(std::shared_ptr<void> under_way) { under_way_ = std::move(under_way); }

  Era era() const override { return origin_.era; }
  const Principal& principal() const override { return origin_.principal; }
  std::string session_label() const override { return origin_.session_label; }
  std::string session_id() const override { return origin_.agent_session_id; }
  // The trace of the span, if there is one; else of the message, else of the HTTP request, else a
  // new one.
  TraceContext trace() const override;
  // From the same source; baggage from the message, else from the HTTP request.
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

  // For the worker. Runs `work` in its own coroutine, which Cancel() ends. Call it at most once.
  void Run(boost::asio::awaitable<RpcOutcome> work);
  // For work without a coroutine: returns the slot that Cancel() emits to. The caller must hold the
  // exchange until the work has ended. Drops the params.
  boost::asio::cancellation_slot BeginWait();
  // The answer if the work has thrown, which is logged: our code throws nothing, but the libraries
  // under it may.
  RpcOutcome Failure() const;
  // Finishes with the outcome of `work`, and answers immediately.
  void FinishWith(absl::FunctionRef<RpcOutcome()> work);
  // Ends the request. Only the first call has an effect.
  void Finish(RpcOutcome outcome);

  // The client cancels its request: nothing more is sent for it.
  void Cancel();
  bool cancelled() const { return cancelled_; }
  // Delivers the reply to our request with this id. False if there is no such request.
  bool Reply(const Json& id, RpcOutcome outcome);

  // For the answering side: calls `answer` on the executor with the response, once it is known
  // whether it is a stream. Leaving that stream before its end cancels the work.
  using AnswerHandler = absl::AnyInvocable<void(HttpResponse) &&>;
  void OnAnswer(AnswerHandler answer);
  // The response if it is not a stream.
  HttpResponse ResponseOf(const RpcOutcome& outcome) const;
  // The response message once the work has ended, without a stream; for batches. Empty if the
  // request was cancelled. Leaving this coroutine before the end cancels the work.
  boost::asio::awaitable<std::string> AnswerMessage();
  // For a request of a batch, whose answers are kept until all are complete: `keep` reserves memory
  // for the bytes of this one. If it returns false, the answer becomes an error that says so.
  void set_keep(std::function<bool(size_t bytes)> keep) { keep_ = std::move(keep); }

 private:
  struct CancelOnExit;

  bool done() const { return outcome_.has_value(); }
  TraceContext TraceInMessage() const;  // Empty if it names none.
  TraceCompanions CompanionsInMessage() const;
  // If there is no space, a message that is not `needed` is dropped. For a needed one a running
  // stream is aborted instead, so that the client requests it again.
  void Send(std::string message, bool needed);
  // Records the outcome: the work is over.
  void End(RpcOutcome outcome);
  void TellNews();
  void Answer();
  // Waits until there is something to send, the work has ended, or the time is over.
  boost::asio::awaitable<void> AwaitNews(boost::asio::steady_timer::duration at_most);
  boost::asio::awaitable<void> Stream(BodyWriter& writer);

  const boost::asio::any_io_executor executor_;
  const Origin origin_;
  JsonRpcMessage message_;
  std::shared_ptr<void> body_place_;  // Held as long as there are params.
  Json progress_token_;               // Null if the caller wants no progress.
  double last_progress_;
  mutable TraceContext trace_;
  std::optional<TraceCompanions> companions_;  // Set once the params are dropped.
  ActiveSpan span_;
  bool as_task_ = false;
  bool cancelled_ = false;
  std::optional<RpcOutcome> outcome_;
  std::vector<std::string> outbox_;  // Messages due before the answer.
  size_t outbox_bytes_ = 0;
  BodyWriter* writer_ = nullptr;   // While Stream() runs.
  bool is_answer_queued_ = false;  // The last message of the outbox is the answer.
  bool is_cut_off_ = false;        // There was no space for the answer or another needed message.
  AnswerHandler answer_;
  std::function<bool(size_t bytes)> keep_;  // Null if the request is not part of a batch.
  std::string kept_;                        // The response message, for a request of a batch.
  std::unique_ptr<boost::asio::steady_timer> news_;  // While AwaitNews() runs.
  boost::asio::cancellation_signal cancel_;
  // Our requests to the client that await a reply, by id.
  struct Asked;
  std::map<std::string, Asked*> asked_;
  int next_request_ = 1;
  std::shared_ptr<void> under_way_;
};

}  // namespace callslip::gateway
