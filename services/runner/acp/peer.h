#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "runner/acp/line_splitter.h"
#include "runner/acp/message.h"

namespace callslip::runner {

// The outcome of a request to the agent: its result or its error.
using RpcAnswer = std::variant<Json, RpcError>;

// One end of a JSON-RPC conversation over two pipes, without the pipes: input is passed to Feed(),
// output is passed to a function. Not thread-safe.
class Peer {
 public:
  // Answers one request of the agent. Further calls, and calls after the Peer is destroyed, have no
  // effect.
  using Respond = std::function<void(RpcAnswer)>;

  class Listener {
   public:
    virtual ~Listener() = default;
    // The listener must ensure that `respond` is called; at most kMaxOpenRequests requests are
    // open. `id` is the agent's id.
    virtual void OnRequest(const Json& id, const std::string& method, const Json& params,
                           Respond respond) = 0;
    virtual void OnNotification(const std::string& method, const Json& params) = 0;
    // A line that is not a message, or a response to an unknown request.
    virtual void OnNoise(absl::string_view line) = 0;
  };

  // Limit of the agent's unanswered requests; further requests are rejected.
  static constexpr size_t kMaxOpenRequests = 1'000;

  // `write` receives complete lines, in order. `listener` must outlive this, and must not destroy
  // it.
  Peer(Listener* listener, std::function<void(std::string)> write);

  // Processes input. Returns false once a line is too long: see LineSplitter.
  bool Feed(absl::string_view bytes);

  // `done` is called once: with the answer, or by Close(). An error without an id is the answer to
  // all requests that wait.
  void Request(absl::string_view method, Json params, std::function<void(RpcAnswer)> done);
  void Notify(absl::string_view method, Json params);

  // Fails all pending requests with `error`; nothing is read or written after that.
  void Close(const RpcError& error);

 private:
  // State that late responses need after the Peer is destroyed.
  struct Open {
    std::function<void(std::string)> write;  // Null once closed.
    size_t requests = 0;
  };

  void Take(absl::string_view line);
  void TakeRequest(const Message& message);
  void TakeResponse(Message message, absl::string_view line);
  void FailWaiting(const RpcError& error);

  Listener* const listener_;
  LineSplitter lines_;
  const std::shared_ptr<Open> open_;
  int64_t last_id_ = 0;
  std::map<int64_t, std::function<void(RpcAnswer)>> waiting_;
};

}  // namespace callslip::runner
