// The latency of a tool call at the gateway's socket, one at a time on one connection, against the
// cost of its bytes without us: argv[1] is callslip-tracker, argv[2] is callslip-gateway.
//
// Most of the latency is the time to wake up processors for the alternating threads, which depends
// on the machine's other load. With a single processor (taskset) there are no such wake-ups, only
// work.
//
// No worker answers while interact is measured: the calls don't wait for one. Between the rounds
// this benchmark plays the extension and empties the queue.

#include <sched.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/bare_pair.h"
#include "bench/bare_rpc.h"
#include "bench/child_process.h"
#include "bench/die.h"
#include "bench/load_client.h"
#include "bench/table.h"
#include "bench/tool_calls.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

namespace callslip::bench {
namespace {

using nlohmann::json;

// All take turns, so that a noisy moment affects all of them.
constexpr int kRounds = 40;
// Below the queue's 100.
constexpr int kCallsPerRound = 80;
constexpr int kIdleRounds = 5;
constexpr std::chrono::seconds kIdle{1};
// "gets a correlation id back in under a millisecond"
constexpr double kPromisedMicros = 1000;

std::string DiscoverCall(uint16_t port) {
  return PostRequest("/mcp",
                     R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{)"
                     R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                     R"("io.modelcontextprotocol/clientCapabilities":{}}}})",
                     port, "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n");
}

// The extension, as an HTTP client that is not ours.
class Extension {
 public:
  explicit Extension(uint16_t port) : client_("127.0.0.1", port) {
    client_.set_keep_alive(true);
    client_.set_tcp_nodelay(true);
  }

  // Completes all queued commands; returns their number.
  int DrainQueue() {
    int drained = 0;
    for (;;) {
      const auto polled = client_.Get("/pending-queries");
      if (!polled || polled->status != 200) Die("the poll for queries failed");
      const json queries = json::parse(polled->body);
      if (queries.empty()) return drained;
      for (const json& query : queries) Complete(query);
      drained += static_cast<int>(queries.size());
    }
  }

 private:
  void Complete(const json& query) {
    const json report = {{"id", query["id"]},
                         {"correlation_id", query["correlation_id"]},
                         {"status", "complete"},
                         {"result", {{"success", true}}}};
    const auto answer = client_.Post("/query-result", report.dump(), "application/json");
    if (!answer || answer->status != 200) Die("a result was refused");
  }

  httplib::Client client_;
};

// One kind of call, with the connection that it is made on.
struct Row {
  Row(std::string row_name, uint16_t port, const std::string& request)
      : name(std::move(row_name)), client(port, 1, request) {
    answer_bytes = client.RunOnce().size();
    request_bytes = request.size();
  }

  const std::string name;
  LoadClient client;
  size_t request_bytes;
  size_t answer_bytes;
  Latencies latencies;
  Latencies after_idle;  // Of some rows only: each one costs a second.
};

void Print(const std::vector<std::unique_ptr<Row>>& rows, const Row& beast, const Row& pair) {
  Table table({"bytes in, body bytes out", "p50 µs", "p90 µs", "p99 µs", "p50 to Beast", "to pair",
               "after 1 s idle: p50 µs", "worst of " + std::to_string(kIdleRounds)});
  for (const auto& row : rows) {
    const double p50 = row->latencies.Percentile(50);
    const bool idled = row->after_idle.count() > 0;
    table.Add({row->name + " (" + std::to_string(row->request_bytes) + ", " +
                   std::to_string(row->answer_bytes) + ")",
               Fixed(p50, 0), Fixed(row->latencies.Percentile(90), 0),
               Fixed(row->latencies.Percentile(99), 0), Ratio(p50, beast.latencies.Percentile(50)),
               Ratio(p50, pair.latencies.Percentile(50)),
               idled ? Fixed(row->after_idle.Percentile(50), 0) : "-",
               idled ? Fixed(row->after_idle.Percentile(100), 0) : "-"});
  }
  table.Print();
}

void Main(const std::string& tracker_path, const std::string& gateway_path) {
  const ChildProcess tracker = ChildProcess::Exec(tracker_path, {});
  const ChildProcess gateway = ChildProcess::Exec(
      gateway_path, {"--tracker", "127.0.0.1:" + std::to_string(tracker.port())});

  // The floors move as many bytes as interact does.
  const std::string queued = LoadClient(gateway.port(), 1, DiscoverCall(gateway.port()))
                                 .RunOnce(InteractCall(gateway.port()));
  const std::string id = StructuredContent(queued)["correlation_id"];
  const ChildProcess fixed =
      ChildProcess::Fork([&](const ParentLink& parent) { ServeFixedBody(parent, queued.size()); });
  const ChildProcess rpc = ChildProcess::Fork(ServeWithQueue);
  const ChildProcess pair = ChildProcess::Fork(
      [&](const ParentLink& parent) { ServeBarePair(parent, queued.size(), rpc.port()); });

  Extension extension(gateway.port());
  if (extension.DrainQueue() != 1) Die("the first command is not in the queue");
  std::vector<std::unique_ptr<Row>> rows;
  const auto add = [&](const char* name, uint16_t port, const std::string& request) -> Row& {
    return *rows.emplace_back(std::make_unique<Row>(name, port, request));
  };
  const Row& beast_row = add("bare Beast", fixed.port(), InteractCall(fixed.port()));
  Row& pair_row = add("bare Beast + gRPC pair", pair.port(), InteractCall(pair.port()));
  add("server/discover", gateway.port(), DiscoverCall(gateway.port()));
  add("observe command_result", gateway.port(), ObserveCall(gateway.port(), id));
  Row& interact_row = add("interact", gateway.port(), InteractCall(gateway.port()));
  extension.DrainQueue();

  for (int round = 0; round < kRounds; ++round) {
    for (const auto& row : rows) {
      row->latencies.Add(row->client.Run({.requests = kCallsPerRound}).latencies);
    }
    if (extension.DrainQueue() != kCallsPerRound) Die("a command that was accepted is lost");
  }
  for (int round = 0; round < kIdleRounds; ++round) {
    for (Row* row : {&pair_row, &interact_row}) {
      std::this_thread::sleep_for(kIdle);
      row->after_idle.Add(row->client.Run({.requests = 1}).latencies);
    }
  }

  cpu_set_t processors;
  sched_getaffinity(0, sizeof(processors), &processors);
  std::printf(
      "Tool calls at the gateway's socket, processors: %d; one connection, %d calls each, no "
      "worker\n\n",
      CPU_COUNT(&processors), kRounds * kCallsPerRound);
  Print(rows, beast_row, pair_row);
  const double interact = interact_row.latencies.Percentile(50);
  std::printf("  interact's median is %s 1 ms (%.0f µs)\n\n",
              interact < kPromisedMicros ? "under" : "NOT under", interact);
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
