#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bench/child_process.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"

// The floor for every gRPC server here: RegisterCommand without a domain behind it, with messages
// as large as the real ones.
namespace callslip::bench {

namespace v1 = callslip::tracker::v1;

// The gateway's request for an interact call, and the tracker's answer.
v1::RegisterCommandRequest SampleRequest();
v1::RegisterCommandResponse SampleResponse();

// Answers every call with SampleResponse(), in a child process, for ever: with one completion queue
// and one thread.
void ServeWithQueue(const ParentLink& parent);

// One way to make a call from a client.
class RpcClient {
 public:
  virtual ~RpcClient() = default;

  // Calls `done` on a thread of the client after the answer has arrived. A call that fails ends the
  // benchmark.
  virtual void Call(std::function<void()> done) = 0;
};

// As many threads as queues, one connection.
std::unique_ptr<RpcClient> QueueClient(uint16_t port, int queues);

}  // namespace callslip::bench
