#pragma once

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

// The queue's tag for an operation, called when the operation is done. Runs on the queue's thread,
// or in a stream's Send() if that has received the tag.
class ClientTag {
 public:
  virtual ~ClientTag() = default;
  virtual void OnCompletion(bool ok) = 0;
};

// gRPC's completion queue for calls to the tracker, the thread that polls it, and the calls in
// progress on it, so that they can be ended: otherwise a held poll would delay the process's exit.
//
// One for all clients of a process. gRPC watches the sockets of all queues together, so that the
// threads of two queues wake each other for foreign events: a second, idle queue made calls 1.2
// times slower.
class CallQueue {
 public:
  CallQueue();
  ~CallQueue();

  grpc::CompletionQueue* queue() { return queue_.get(); }

  // The following functions are used only on the executor of the calls.

  // The token that authenticates this process to the tracker in future calls. Empty: none.
  void SetToken(const std::string& token);

  // Registers a call as long as it is in progress. `waits`: it does not end soon by itself.
  void Add(grpc::ClientContext* context, bool waits);
  void Remove(grpc::ClientContext* context);

  // For a tag that another thread took out of the queue: runs it on `executor` in a later turn.
  void CompleteLater(const boost::asio::any_io_executor& executor, ClientTag* tag, bool ok);

  // Ends the waiting calls in progress with CANCELLED, and every later one as soon as it starts.
  void EndWaits();

  // Ends all calls and the thread. The executor must have stopped, so that no operation can start
  // any more. No tag is used after this. Does nothing when repeated.
  void Stop();

 private:
  void CompleteTaken();

  const std::unique_ptr<grpc::CompletionQueue> queue_;
  std::unordered_set<grpc::ClientContext*> contexts_;
  std::unordered_set<grpc::ClientContext*> waits_;  // A subset of contexts_.
  bool waits_ended_ = false;
  std::string authorization_;  // Empty: none.
  std::vector<std::pair<ClientTag*, bool>> to_complete_;
  std::thread thread_;
};

}  // namespace callslip
