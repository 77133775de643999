// The cost of an agent's list of its commands: argv[1] is callslip-tracker, argv[2] is
// callslip-gateway. The floor is a bare Beast server that makes one bare gRPC call for each request
// and answers as many bytes.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/bare_pair.h"
#include "bench/bare_rpc.h"
#include "bench/child_process.h"
#include "bench/die.h"
#include "bench/load_client.h"
#include "bench/table.h"
#include "bench/tool_calls.h"

namespace callslip::bench {
namespace {

using std::chrono::milliseconds;

constexpr int kRounds = 5;
constexpr milliseconds kRoundTime{400};
// The number of commands that a client may have queued for one target.
constexpr int64_t kOfTarget = 100;
constexpr int kConnections[] = {1, 8, 64};
// From 20 on an answer has the same size: that of a page.
constexpr int64_t kCommands[] = {1, 20, 1'000, 99'000};

std::string ListCall(uint16_t port) {
  return ToolCall(port, "observe", {{"what", "pending_commands"}});
}

// A tracker whose commands wait longer than this benchmark takes, and a gateway.
class Services {
 public:
  Services(const std::string& tracker, const std::string& gateway)
      : tracker_(
            ChildProcess::Exec(tracker, {"--durability", "memory", "--schedule-to-start", "24h"})),
        gateway_(ChildProcess::Exec(
            gateway, {"--tracker", "127.0.0.1:" + std::to_string(tracker_.port())})) {}

  uint16_t port() const { return gateway_.port(); }

  // Submits commands of one client until it has `count`.
  void AddUpTo(int64_t count) {
    while (commands_ < count) {
      const int64_t here = std::min(kOfTarget - commands_ % kOfTarget, count - commands_);
      const nlohmann::json arguments = {{"action", "click"},
                                        {"selector", "#submit"},
                                        {"target", std::to_string(commands_ / kOfTarget)}};
      // The first command is submitted as the connection is opened.
      LoadClient agent(port(), 1, ToolCall(port(), "interact", arguments));
      if (here > 1) agent.Run({.duration = std::chrono::minutes(1), .requests = here - 1});
      commands_ += here;
    }
  }

 private:
  const ChildProcess tracker_;
  const ChildProcess gateway_;
  int64_t commands_ = 0;
};

void Main(const std::string& tracker, const std::string& gateway) {
  Services services(tracker, gateway);
  const uint16_t port = services.port();
  const ChildProcess rpc = ChildProcess::Fork(ServeWithQueue);
  Table table({"observe pending_commands", "bytes", "pair req/s", "observe req/s", "ratio",
               "pair p50 µs", "observe p50 µs", "ratio"});
  for (const int64_t commands : kCommands) {
    services.AddUpTo(commands);
    const size_t bytes = LoadClient(port, 1, ListCall(port)).RunOnce().size();
    const ChildProcess pair = ChildProcess::Fork(
        [&](const ParentLink& parent) { ServeBarePair(parent, bytes, rpc.port()); });
    for (const int connections : kConnections) {
      LoadClient pair_client(pair.port(), connections, ListCall(pair.port()));
      LoadClient list_client(port, connections, ListCall(port));
      std::vector<double> floor, lists;
      Latencies floor_latencies, list_latencies;
      for (int round = 0; round < kRounds; ++round) {
        const LoadResult bare = pair_client.Run({.duration = kRoundTime});
        floor.push_back(bare.PerSecond());
        floor_latencies.Add(bare.latencies);
        const LoadResult listed = list_client.Run({.duration = kRoundTime});
        lists.push_back(listed.PerSecond());
        list_latencies.Add(listed.latencies);
      }
      table.Add(
          {std::to_string(commands) + " commands, " + std::to_string(connections) + " connections",
           std::to_string(bytes), Fixed(Median(floor), 0), Fixed(Median(lists), 0),
           Ratio(Median(lists), Median(floor)), Fixed(floor_latencies.Percentile(50), 0),
           Fixed(list_latencies.Percentile(50), 0),
           Ratio(list_latencies.Percentile(50), floor_latencies.Percentile(50))});
    }
  }
  table.Print();
}

}  // namespace
}  // namespace callslip::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s CALLSLIP-TRACKER CALLSLIP-GATEWAY\n", argv[0]);
    return 2;
  }
  callslip::bench::Main(argv[1], argv[2]);
}
