#include "tracker/rpc/async_server.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpc/support/time.h"

namespace callslip::tracker {

AsyncServer::~AsyncServer() { Stop(absl::ZeroDuration()); }

absl::StatusOr<Address> AsyncServer::Start(const Address& address, int pollers) {
  int bound_port = 0;
  builder_.AddListeningPort(address.ToString(), grpc::InsecureServerCredentials(), &bound_port);
  // Without this a second tracker would silently share the port with the first.
  builder_.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Above what one command may carry; the domain's own limits then answer with a proper error.
  builder_.SetMaxReceiveMessageSize(16 << 20);
  for (int i = 0; i < pollers; ++i) queues_.push_back(builder_.AddCompletionQueue());
  server_ = builder_.BuildAndStart();
  if (server_ == nullptr || (!address.is_unix() && bound_port == 0)) {
    // Queues that never served must still be shut down before they are destroyed.
    for (const auto& queue : queues_) queue->Shutdown();
    void* tag = nullptr;
    bool ok = false;
    for (const auto& queue : queues_) {
      while (queue->Next(&tag, &ok)) {
      }
    }
    queues_.clear();
    server_ = nullptr;
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address.ToString(), "; is it in use already?"));
  }
  for (const auto& queue : queues_) {
    pollers_.emplace_back([queue = queue.get()] {
      void* tag = nullptr;
      bool ok = false;
      while (queue->Next(&tag, &ok)) static_cast<CompletionTag*>(tag)->OnCompletion(ok);
    });
  }
  Address bound = address;
  if (!address.is_unix()) bound.port = static_cast<uint16_t>(bound_port);
  return bound;
}

void AsyncServer::Stop(absl::Duration grace) {
  if (server_ == nullptr) return;
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
  }
  // A span rather than a point in time, which would have to be read from the wall clock.
  server_->Shutdown(gpr_time_from_millis(absl::ToInt64Milliseconds(grace), GPR_TIMESPAN));
  {
    MutexLock lock(&mutex_);
    while (live_calls_ > 0) call_ended_.Wait(&mutex_);
  }
  for (const auto& queue : queues_) queue->Shutdown();
  for (std::thread& poller : pollers_) poller.join();
  pollers_.clear();
  server_ = nullptr;
}

bool AsyncServer::TryAccept(const std::function<void()>& accept) {
  MutexLock lock(&mutex_);
  if (stopping_) return false;
  accept();
  return true;
}

void AsyncServer::CallBegins() {
  MutexLock lock(&mutex_);
  ++live_calls_;
}

void AsyncServer::CallEnds() {
  MutexLock lock(&mutex_);
  --live_calls_;
  call_ended_.NotifyAll();
}

}  // namespace callslip::tracker
