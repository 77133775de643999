#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "common/mutex.h"
#include "grpc/support/time.h"
#include "grpcpp/grpcpp.h"
#include "tracker/domain/journal/output_gate.h"

namespace callslip::tracker::internal {

// A completion queue's tag for an operation.
class CompletionTag {
 public:
  virtual ~CompletionTag() = default;
  virtual void OnCompletion(bool ok) = 0;
};

// A completion queue that is shut down only after its last operation has been handled. gRPC aborts
// the process if an operation is started later, and starts one itself when a call that it has
// accepted comes out of the queue.
class OperationQueue {
 public:
  explicit OperationQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue)
      : queue_(std::move(queue)) {}

  // Call it before each operation on queue(). False: the operation must not be started any more.
  bool TryBegin() {
    uint64_t state = state_.load(std::memory_order_relaxed);
    do {
      if ((state & kClosed) != 0) return false;
    } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel));
    return true;
  }

  // For a tag that gRPC adds by itself, because of the operation that is being handled.
  void BeginFollowing() { state_.fetch_add(1, std::memory_order_relaxed); }

  // Handles completed operations until the queue is shut down. With a gate, operations that
  // complete together are handled as a batch while their outputs must wait.
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

  // Lets no operation begin any more, waits for those in progress, and shuts the queue down. The
  // server must have been shut down, so that they are sure to end. Call it once.
  void Close() {
    if (state_.fetch_or(kClosed, std::memory_order_acq_rel) != 0) idle_.Wait();
    queue_->Shutdown();
  }

  bool IsIdle() const { return state_.load(std::memory_order_acquire) == 0; }

  grpc::ServerCompletionQueue* queue() const { return queue_.get(); }

 private:
  // As many as a client's concurrent calls; more would only delay the first ones.
  static constexpr int kMaxBatch = 64;

  void DealWith(void* tag, bool ok) {
    static_cast<CompletionTag*>(tag)->OnCompletion(ok);
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == (kClosed | 1)) idle_.Notify();
  }

  bool IsThereMore(void*& tag, bool& ok) {
    return queue_->AsyncNext(&tag, &ok, gpr_time_0(GPR_CLOCK_MONOTONIC)) ==
           grpc::CompletionQueue::GOT_EVENT;
  }

  // The other bits count the operations in progress.
  static constexpr uint64_t kClosed = uint64_t{1} << 63;

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::atomic<uint64_t> state_{0};
  Notification idle_;
};

}  // namespace callslip::tracker::internal
