#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bench/child_process.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"

// The floor for everything that speaks gRPC here: RegisterCommand without a domain behind it, its
// messages as large as the real ones.
namespace callslip::bench {

namespace v1 = callslip::tracker::v1;

// What the gateway sends for an interact call, and what the tracker answers.
v1::RegisterCommandRequest SampleRequest();
v1::RegisterCommandResponse SampleResponse();

// Answers every call with SampleResponse(), in a child process, for ever: with one completion queue
// and one thread.
void ServeWithQueue(const ParentLink& parent);

// One way to make a call from a client.
class RpcClient {
 public:
  virtual ~RpcClient() = default;

  // Calls `done` on a thread of the client's once the answer is there. A call that fails ends the
  // benchmark.
  virtual void Call(std::function<void()> done) = 0;
};

// As many threads as queues, one connection.
std::unique_ptr<RpcClient> QueueClient(uint16_t port, int queues);

}  // namespace callslip::bench
