#ifndef CALLSLIP_RPC_CLIENT_CALL_QUEUE_H_
#define CALLSLIP_RPC_CLIENT_CALL_QUEUE_H_

#include <memory>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "boost/asio/any_io_executor.hpp"

namespace grpc {
class ClientContext;
class CompletionQueue;
}  // namespace grpc

namespace callslip {

// What the queue hands back when an operation is done. Runs on the queue's thread, or where Send()
// of a stream has come across it.
class ClientTag {
 public:
  virtual ~ClientTag() = default;
  virtual void OnCompletion(bool ok) = 0;
};

// gRPC's completion queue of the calls to the tracker with the thread that polls it, and the calls
// under way on it, so that they can be ended: a held poll would otherwise keep a process that stops
// alive for as long as it is held.
//
// One for all clients of a process. gRPC watches the sockets of all queues together, so that the
// threads of two wake each other for what is not theirs: a second one, idle, made a call 1.2 times
// as slow.
class CallQueue {
 public:
  CallQueue();
  ~CallQueue();

  grpc::CompletionQueue* queue() { return queue_.get(); }

  // What follows is used on the executor of the calls only.

  // By which the tracker is to know this process, in the calls to come. Empty: by none.
  void SetToken(const std::string& token);

  // Each call is entered while it is under way;
  // one that `waits` has no end of its own soon.
  void Add(grpc::ClientContext* context, bool waits);
  void Remove(grpc::ClientContext* context);

  // For a tag that came out of the queue elsewhere: runs it on `executor` in a later turn.
  void CompleteLater(const boost::asio::any_io_executor& executor, ClientTag* tag, bool ok);

  // Ends the present calls that wait with CANCELLED, and every later one as soon as it starts.
  void EndWaits();

  // Ends all calls and the thread. The executor must have stopped: nothing may start an operation
  // any more. No tag is used after this. A second time does nothing.
  void Stop();

 private:
  void CompleteTaken();

  const std::unique_ptr<grpc::CompletionQueue> queue_;
  std::unordered_set<grpc::ClientContext*> contexts_;
  std::unordered_set<grpc::ClientContext*> waits_;  // Some of them.
  bool waits_ended_ = false;
  std::string authorization_;  // Empty: none.
  std::vector<std::pair<ClientTag*, bool>> to_complete_;
  std::thread thread_;
};

}  // namespace callslip

#endif  // CALLSLIP_RPC_CLIENT_CALL_QUEUE_H_
