#include "tracker/rpc/async_server.h"

#include "absl/strings/str_cat.h"
#include "grpc/grpc.h"
#include "grpc/support/time.h"
#include "grpcpp/alarm.h"
#include "tracker/rpc/listener_sockets.h"

namespace callslip::tracker {
namespace {

// What gRPC may take, once the grace is over, to cancel all calls and to close all connections.
constexpr absl::Duration kTimeToClose = absl::Milliseconds(500);

// As a span rather than a point in time, which would have to be read from the wall clock.
gpr_timespec SpanOf(absl::Duration duration) {
  return gpr_time_from_millis(absl::ToInt64Milliseconds(duration), GPR_TIMESPAN);
}

// Keeps gRPC from shutting itself down together with its last user. It would join a thread that
// polls for 10 s once a write had to wait for its peer, and all that is left then is to exit.
void KeepLibrary() {
  static const bool kept = [] {
    grpc_init();
    return true;
  }();
  (void)kept;
}

// Cuts the connections of a listener off if that is not called off in time.
class Cutter final : public internal::CompletionTag {
 public:
  explicit Cutter(const Address& bound) : bound_(bound) {}
  void OnCompletion(bool time_is_over) override {
    if (time_is_over) CutConnections(bound_);
  }

 private:
  const Address& bound_;
};

}  // namespace

AsyncServer::AsyncServer(Clock* clock) : tallies_(clock) { KeepLibrary(); }

AsyncServer::~AsyncServer() { Stop(absl::ZeroDuration()); }

absl::StatusOr<Address> AsyncServer::Start(const Address& address, int pollers,
                                           const Keepalive& keepalive) {
  const absl::Status refused = absl::UnavailableError(
      absl::StrCat("cannot listen on ", address.ToString(), "; is it in use already?"));
  if (address.is_unix() && IsSocketInUse(address.unix_path)) return refused;
  int bound_port = 0;
  builder_.AddListeningPort(address.ToString(), grpc::InsecureServerCredentials(), &bound_port);
  // Without this a second tracker would silently share the port with the first.
  builder_.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Above what one command may carry; the domain's own limits then answer with a proper error.
  builder_.SetMaxReceiveMessageSize(16 << 20);
  const auto set = [this](const char* name, absl::Duration value) {
    builder_.AddChannelArgument(name, static_cast<int>(absl::ToInt64Milliseconds(value)));
  };
  builder_.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive.ping_after);
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive.answer_within);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, keepalive.peers_ping_every);
  for (int i = 0; i < pollers; ++i) {
    queues_.push_back(std::make_shared<internal::OperationQueue>(builder_.AddCompletionQueue()));
  }
  server_ = builder_.BuildAndStart();
  if (server_ == nullptr || (!address.is_unix() && bound_port == 0)) {
    // Queues that never served must still be shut down before they are destroyed.
    for (const auto& queue : queues_) {
      queue->Close();
      queue->Poll();
    }
    queues_.clear();
    server_ = nullptr;
    return refused;
  }
  for (const auto& queue : queues_) {
    pollers_.emplace_back([queue, gate = gate_] { queue->Poll(gate); });
  }
  bound_ = address;
  if (!address.is_unix()) bound_.port = static_cast<uint16_t>(bound_port);
  return bound_;
}

void AsyncServer::Stop(absl::Duration grace) {
  if (server_ == nullptr) return;
  // gRPC closes no connection with a write under way, which is for ever where the peer reads
  // nothing.
  Cutter cutter(bound_);
  grpc::Alarm alarm;
  internal::OperationQueue& queue = *queues_.front();
  if (queue.TryBegin()) {
    alarm.Set(queue.queue(), SpanOf(grace + kTimeToClose), &cutter);
  }
  // Returns when all connections are gone. What was under way on them may not have come out of the
  // queues yet, but comes for certain now.
  server_->Shutdown(SpanOf(grace));
  alarm.Cancel();
  for (const auto& each : queues_) each->Close();
  for (std::thread& poller : pollers_) poller.join();
  pollers_.clear();
  server_ = nullptr;
}

}  // namespace callslip::tracker
