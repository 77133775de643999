#ifndef CALLSLIP_TRACKER_SERVER_OPERATION_QUEUE_H_
#define CALLSLIP_TRACKER_SERVER_OPERATION_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "common/mutex.h"
#include "grpc/support/time.h"
#include "grpcpp/grpcpp.h"
#include "tracker/domain/journal/output_gate.h"

namespace callslip::tracker::internal {

// What a completion queue hands back when an operation is done.
class CompletionTag {
 public:
  virtual ~CompletionTag() = default;
  virtual void OnCompletion(bool ok) = 0;
};

// A completion queue that is not shut down before the last operation on it was dealt with. gRPC
// aborts the process where one is started later, and starts one itself, unasked, when a call that
// it has accepted comes out of the queue.
//
// Thread-safe.
class OperationQueue {
 public:
  explicit OperationQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue)
      : queue_(std::move(queue)) {}

  // Before each operation that is started on queue(): false where that must not happen any more.
  bool TryBegin() {
    uint64_t state = state_.load(std::memory_order_relaxed);
    do {
      if ((state & kClosed) != 0) return false;
    } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel));
    return true;
  }

  // For a tag that comes out of the queue of itself, on account of one that is being dealt with.
  void BeginFollowing() { state_.fetch_add(1, std::memory_order_relaxed); }

  // Deals with what comes out of the queue, until it is shut down. With a gate, what is there at
  // the same time is dealt with together, while its outputs have to wait.
  void Poll(OutputGate* gate = nullptr) {
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) {
      if (gate == nullptr) {
        DealWith(tag, ok);
        continue;
      }
      gate->BeginBatch();
      DealWith(tag, ok);
      for (int i = 1; i < kMaxBatch && !gate->IsOpen() && IsThereMore(tag, ok); ++i) {
        DealWith(tag, ok);
      }
      gate->EndBatch();
    }
  }

  // Lets no operation begin any more, waits for those under way, and shuts the queue down. They
  // must be sure to end: the server was shut down. Once only.
  void Close() {
    if (state_.fetch_or(kClosed, std::memory_order_acq_rel) != 0) idle_.Wait();
    queue_->Shutdown();
  }

  grpc::ServerCompletionQueue* queue() const { return queue_.get(); }

 private:
  // As many as the calls that a client keeps under way; more would only delay the first ones.
  static constexpr int kMaxBatch = 64;

  void DealWith(void* tag, bool ok) {
    static_cast<CompletionTag*>(tag)->OnCompletion(ok);
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == (kClosed | 1)) idle_.Notify();
  }

  bool IsThereMore(void*& tag, bool& ok) {
    return queue_->AsyncNext(&tag, &ok, gpr_time_0(GPR_CLOCK_MONOTONIC)) ==
           grpc::CompletionQueue::GOT_EVENT;
  }

  // The other bits count the operations under way.
  static constexpr uint64_t kClosed = uint64_t{1} << 63;

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::atomic<uint64_t> state_{0};
  Notification idle_;
};

}  // namespace callslip::tracker::internal

#endif  // CALLSLIP_TRACKER_SERVER_OPERATION_QUEUE_H_
