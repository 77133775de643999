// Compares gRPC's asynchronous APIs, for the gateway's client and for the tracker's server. See
// docs/adr/0002-grpc-completion-queues.md.

#include <atomic>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/bare_rpc.h"
#include "bench/latencies.h"
#include "bench/table.h"

namespace callslip::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kOutstanding = 64;
constexpr std::chrono::milliseconds kWarmUp{300};
constexpr std::chrono::milliseconds kLoadTime{1500};
// Within the tenth of a second that follows an idle one: the callback API's threads then sleep, in
// turns of 1 s of polling and 0.1 s of sleep, and see no event.
constexpr std::chrono::milliseconds kIdle{1050};
constexpr int kIdleRounds = 5;

// Keeps 64 calls outstanding: each one that is answered is followed by another.
class ClosedLoop {
 public:
  explicit ClosedLoop(RpcClient* client) : client_(client) {}

  // Calls in `duration`, by their latencies.
  Latencies Run(std::chrono::nanoseconds duration) {
    end_ = SteadyClock::now() + duration;
    live_ = kOutstanding;
    for (int i = 0; i < kOutstanding; ++i) Next();
    all_ended_->get_future().wait();
    return std::move(latencies_);
  }

 private:
  void Next() {
    const auto start = SteadyClock::now();
    client_->Call([this, start] {
      const auto now = SteadyClock::now();
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        latencies_.Add(now - start);
      }
      if (now < end_) {
        Next();
      } else if (--live_ == 0) {
        // Held here: the waiting thread may be done with this object before the call returns.
        const auto all_ended = all_ended_;
        all_ended->set_value();
      }
    });
  }

  RpcClient* const client_;
  SteadyClock::time_point end_;
  std::atomic<int> live_ = 0;
  const std::shared_ptr<std::promise<void>> all_ended_ = std::make_shared<std::promise<void>>();
  std::mutex mutex_;
  Latencies latencies_;
};

std::chrono::nanoseconds OneCall(RpcClient& client) {
  // Shared, since this may return before set_value() does.
  const auto answered = std::make_shared<std::promise<void>>();
  const auto start = SteadyClock::now();
  client.Call([answered] { answered->set_value(); });
  answered->get_future().wait();
  return SteadyClock::now() - start;
}

void Measure(const std::string& name, RpcClient& client, Table& table) {
  ClosedLoop(&client).Run(kWarmUp);
  const Latencies load = ClosedLoop(&client).Run(kLoadTime);
  Latencies warm;
  for (int i = 0; i < 1000; ++i) warm.Add(OneCall(client));
  Latencies after_idle;
  for (int i = 0; i < kIdleRounds; ++i) {
    std::this_thread::sleep_for(kIdle);
    after_idle.Add(OneCall(client));
  }
  const double seconds = std::chrono::duration<double>(kLoadTime).count();
  table.Add({name, Fixed(static_cast<double>(load.count()) / seconds / 1000, 1),
             Fixed(load.Percentile(99) / 1000, 2), Fixed(warm.Percentile(50) / 1000, 3),
             Fixed(after_idle.Percentile(50) / 1000, 2),
             Fixed(after_idle.Percentile(100) / 1000, 2)});
}

void Main() {
  std::printf("gRPC's asynchronous APIs: a bare unary call, %d outstanding, one connection\n\n",
              kOutstanding);
  const ChildProcess queue_server = ChildProcess::Fork(ServeWithQueue);
  const ChildProcess callback_server = ChildProcess::Fork(ServeWithCallbacks);
  Table table({"client → server", "k calls/s", "p99 ms", "alone ms", "after 1.05 s idle ms",
               "worst of " + std::to_string(kIdleRounds)});
  Measure("queue, 1 poller → queue", *QueueClient(queue_server.port(), 1), table);
  Measure("queue, 2 pollers → queue", *QueueClient(queue_server.port(), 2), table);
  Measure("callbacks → queue", *CallbackClient(queue_server.port()), table);
  Measure("queue, 1 poller → callbacks", *QueueClient(callback_server.port(), 1), table);
  Measure("callbacks → callbacks", *CallbackClient(callback_server.port()), table);
  table.Print();
}

}  // namespace
}  // namespace callslip::bench

int main() { callslip::bench::Main(); }
