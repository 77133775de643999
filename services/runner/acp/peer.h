#ifndef CALLSLIP_RUNNER_ACP_PEER_H_
#define CALLSLIP_RUNNER_ACP_PEER_H_

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

// What became of a request to the agent: its result or its error.
using RpcAnswer = std::variant<Json, RpcError>;

// One end of a conversation in JSON-RPC over two pipes, without the pipes: what comes is fed to it,
// what is to go is handed to a function. Not thread-safe.
class Peer {
 public:
  // Answers one request of the other side; once. What comes later, or after the Peer has gone, has
  // no effect.
  using Respond = std::function<void(RpcAnswer)>;

  class Listener {
   public:
    virtual ~Listener() = default;
    // Must see to an answer; at most kMaxOpenRequests are open. `id` is the other side's.
    virtual void OnRequest(const Json& id, const std::string& method, const Json& params,
                           Respond respond) = 0;
    virtual void OnNotification(const std::string& method, const Json& params) = 0;
    // A line that is no message, or answers nothing that was asked.
    virtual void OnNoise(absl::string_view line) = 0;
  };

  // What the other side may have asked without an answer; what comes beyond that is refused.
  static constexpr size_t kMaxOpenRequests = 1'000;

  // `write` takes whole lines, in order. `listener` must outlive this, and may not destroy it.
  Peer(Listener* listener, std::function<void(std::string)> write);

  // What was read. False once a line was too long: see LineSplitter.
  bool Feed(absl::string_view bytes);

  // `done` is called once: with the answer, or by Close(). Returns what Forget() takes.
  int64_t Request(absl::string_view method, Json params, std::function<void(RpcAnswer)> done);
  void Notify(absl::string_view method, Json params);
  // Nobody waits for the answer any more: it is dropped when it comes.
  void Forget(int64_t request);

  // Ends all that waits with `error`; from then on nothing is read or written.
  void Close(const RpcError& error);

  size_t waiting() const { return waiting_.size(); }

 private:
  // What answers need, which may come after the Peer has gone.
  struct Open {
    std::function<void(std::string)> write;  // Null once closed.
    size_t requests = 0;
  };

  void Take(absl::string_view line);
  void TakeRequest(const Message& message);
  void TakeResponse(Message message, absl::string_view line);

  Listener* const listener_;
  LineSplitter lines_;
  const std::shared_ptr<Open> open_;
  int64_t last_id_ = 0;
  std::map<int64_t, std::function<void(RpcAnswer)>> waiting_;  // Null for what was forgotten.
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_ACP_PEER_H_
