#include "gateway/tracker_client/call_queue.h"

#include "grpcpp/grpcpp.h"

namespace callslip::gateway {

CallQueue::CallQueue()
    : queue_(std::make_unique<grpc::CompletionQueue>()), thread_([this] {
        void* tag = nullptr;
        bool ok = false;
        while (queue_->Next(&tag, &ok)) static_cast<ClientTag*>(tag)->OnCompletion(ok);
      }) {}

CallQueue::~CallQueue() { Stop(); }

void CallQueue::Add(grpc::ClientContext* context, bool waits) {
  if (waits && waits_ended_) context->TryCancel();
  contexts_.insert(context);
  if (waits) waits_.insert(context);
}

void CallQueue::Remove(grpc::ClientContext* context) {
  contexts_.erase(context);
  waits_.erase(context);
}

void CallQueue::EndWaits() {
  waits_ended_ = true;
  for (grpc::ClientContext* context : waits_) context->TryCancel();
}

void CallQueue::Stop() {
  if (!thread_.joinable()) return;
  for (grpc::ClientContext* context : contexts_) context->TryCancel();
  queue_->Shutdown();
  thread_.join();
}

}  // namespace callslip::gateway
