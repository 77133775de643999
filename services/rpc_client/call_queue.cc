#include "rpc_client/call_queue.h"

#include "boost/asio/post.hpp"
#include "grpcpp/grpcpp.h"

namespace callslip {

CallQueue::CallQueue()
    : queue_(std::make_unique<grpc::CompletionQueue>()), thread_([this] {
        void* tag = nullptr;
        bool ok = false;
        while (queue_->Next(&tag, &ok)) static_cast<ClientTag*>(tag)->OnCompletion(ok);
      }) {}

CallQueue::~CallQueue() { Stop(); }

void CallQueue::SetToken(const std::string& token) {
  authorization_ = token.empty() ? "" : "Bearer " + token;
}

void CallQueue::Add(grpc::ClientContext* context, bool waits) {
  if (!authorization_.empty()) context->AddMetadata("authorization", authorization_);
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

void CallQueue::CompleteLater(const boost::asio::any_io_executor& executor, ClientTag* tag,
                              bool ok) {
  to_complete_.emplace_back(tag, ok);
  boost::asio::post(executor, [this] { CompleteTaken(); });
}

void CallQueue::CompleteTaken() {
  for (const auto& [tag, ok] : std::exchange(to_complete_, {})) tag->OnCompletion(ok);
}

void CallQueue::Stop() {
  if (!thread_.joinable()) return;
  CompleteTaken();
  for (grpc::ClientContext* context : contexts_) context->TryCancel();
  queue_->Shutdown();
  thread_.join();
}

}  // namespace callslip
