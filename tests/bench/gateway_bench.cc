// The gateway's cost beside the bytes that it moves: argv[1] is callslip-tracker, argv[2] is
// callslip-gateway. The floor is a bare Beast server that makes one bare gRPC call for each
// request.

#include <sys/resource.h>

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

using nlohmann::json;
using std::chrono::milliseconds;

constexpr int kRounds = 5;
constexpr milliseconds kRoundTime{500};
constexpr int kCyclesPerRound = 400;
// Requests for drawings: below the 100 commands that a client may have queued.
constexpr int kHeldCommands = 80;
constexpr int kHeldWaits = 10'000;
// Held first, so that one-time allocations do not count.
constexpr int kWarmWaits = 200;
constexpr int kFastCalls = 3'000;
// The longest wait, which only drawings allow: a person has ten minutes to finish one.
constexpr int kWaitMillis = 55'000;

struct Load {
  std::vector<double> per_second;
  Latencies latencies;

  void Add(const LoadResult& result) {
    per_second.push_back(result.PerSecond());
    latencies.Add(result.latencies);
  }
};

// Plays the extension.
class Worker {
 public:
  explicit Worker(uint16_t port) : port_(port), client_(port, 1, GetRequest("/healthz", port)) {}

  // Up to five queued commands.
  json Poll() { return json::parse(client_.RunOnce(GetRequest("/pending-queries", port_))); }

  void Complete(const json& query) {
    const json report = {{"id", query["id"]},
                         {"correlation_id", query["correlation_id"]},
                         {"status", "complete"},
                         {"result", {{"success", true}}}};
    client_.RunOnce(PostRequest("/query-result", report.dump(), port_));
  }

  void DrainQueue() {
    for (json queries = Poll(); !queries.empty(); queries = Poll()) {
      for (const json& query : queries) Complete(query);
    }
  }

 private:
  const uint16_t port_;
  LoadClient client_;
};

// A request in which names are replaced by others of the same length: composing it again would cost
// more than some of the measured steps.
class RequestForm {
 public:
  RequestForm(std::string request, const std::vector<std::string>& names)
      : request_(std::move(request)) {
    for (const std::string& name : names) places_.push_back({request_.find(name), name.size()});
  }

  const std::string& With(const std::vector<std::string_view>& names) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].size() != places_[i].size) Die("a name of another length");
      request_.replace(places_[i].at, places_[i].size, names[i]);
    }
    return request_;
  }

 private:
  struct Place {
    size_t at;
    size_t size;
  };

  std::string request_;
  std::vector<Place> places_;
};

// The text value of the first member of that name.
std::string_view Member(std::string_view body, const std::string& name) {
  const std::string label = "\"" + name + "\":\"";
  const size_t at = body.find(label);
  if (at == std::string_view::npos) Die("an answer without " + name);
  const std::string_view text = body.substr(at + label.size());
  return text.substr(0, text.find('"'));
}

// An agent and an extension that pass commands to each other; the poll is held before each.
class Cycle {
 public:
  explicit Cycle(uint16_t port)
      : interact_(InteractCall(port)),
        held_poll_(GetRequest("/pending-queries?wait=5", port)),
        agent_(port, 1, GetRequest("/healthz", port)),
        poller_(port, 1, GetRequest("/healthz", port)),
        worker_(port, 1, GetRequest("/healthz", port)),
        complete_("", {}),
        observe_("", {}) {
    // The first cycle is not counted: it gives the length of the names.
    poller_.Begin(held_poll_);
    agent_.RunOnce(interact_);
    const json query = json::parse(poller_.Await()).at(0);
    const std::string id = query["id"];
    const std::string correlation_id = query["correlation_id"];
    const json report = {{"correlation_id", correlation_id},
                         {"id", id},
                         {"result", {{"success", true}}},
                         {"status", "complete"}};
    complete_ = RequestForm(PostRequest("/query-result", report.dump(), port),
                            {correlation_id, "\"id\":\"" + id});
    observe_ = RequestForm(ObserveCall(port, correlation_id), {correlation_id});
    worker_.RunOnce(complete_.With({}));
  }

  void Run() {
    poller_.Begin(held_poll_);
    const std::string queued = agent_.RunOnce(interact_);
    const std::string queries = poller_.Await();
    const std::string id = "\"id\":\"" + std::string(Member(queries, "id"));
    worker_.RunOnce(complete_.With({Member(queries, "correlation_id"), id}));
    const std::string answer = agent_.RunOnce(observe_.With({Member(queued, "correlation_id")}));
    if (Member(answer, "status") != "complete") Die("a command did not complete");
  }

 private:
  const std::string interact_;
  const std::string held_poll_;
  LoadClient agent_;
  LoadClient poller_;
  LoadClient worker_;
  RequestForm complete_;
  RequestForm observe_;
};

double CyclesPerSecond(uint16_t port) {
  Cycle cycle(port);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCyclesPerRound; ++i) cycle.Run();
  return kCyclesPerRound /
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// In turns with the pair, so that a noisy moment affects both.
void MeasureCycles(const ChildProcess& gateway, const ChildProcess& pair, const std::string& id) {
  LoadClient pair_client(pair.port(), 1, ObserveCall(pair.port(), id));
  std::vector<double> floor;
  std::vector<double> cycles;
  for (int round = 0; round < kRounds; ++round) {
    floor.push_back(pair_client.Run({.duration = kRoundTime}).PerSecond());
    cycles.push_back(CyclesPerSecond(gateway.port()));
  }
  std::printf(
      "  interact, held poll, result, observe: %.0f cycles/s, %.2f x a quarter of the pair's %.0f "
      "req/s on one connection\n\n",
      Median(cycles), Median(cycles) / (Median(floor) / 4), Median(floor));
}

void MeasureCalls(const ChildProcess& gateway, const ChildProcess& pair, const std::string& id) {
  Table table({"observe against the bare pair", "pair req/s", "observe req/s", "ratio",
               "pair p50 µs", "observe p50 µs", "ratio"});
  for (const int connections : {1, 8, 64}) {
    LoadClient pair_client(pair.port(), connections, ObserveCall(pair.port(), id));
    LoadClient observe_client(gateway.port(), connections, ObserveCall(gateway.port(), id));
    Load floor;
    Load observe;
    for (int round = 0; round < kRounds; ++round) {
      floor.Add(pair_client.Run({.duration = kRoundTime}));
      observe.Add(observe_client.Run({.duration = kRoundTime}));
    }
    table.Add({std::to_string(connections) + " connections", Fixed(Median(floor.per_second), 0),
               Fixed(Median(observe.per_second), 0),
               Ratio(Median(observe.per_second), Median(floor.per_second)),
               Fixed(floor.latencies.Percentile(50), 0), Fixed(observe.latencies.Percentile(50), 0),
               Ratio(observe.latencies.Percentile(50), floor.latencies.Percentile(50))});
  }
  table.Print();
}

// A command for a person, which nobody will complete.
std::string AskForDrawing(uint16_t port) {
  return ToolCall(port, "analyze", {{"what", "annotations"}, {"wait", true}});
}

Latencies FastCalls(uint16_t port, const std::string& request) {
  LoadClient client(port, 1, request);
  return client.Run({.requests = kFastCalls}).latencies;
}

void MeasureHeldWaits(const ChildProcess& gateway, const ChildProcess& tracker) {
  const uint16_t port = gateway.port();
  LoadClient agent(port, 1, GetRequest("/healthz", port));
  std::vector<std::string> waits;
  for (int i = 0; i < kHeldCommands; ++i) {
    const std::string id = StructuredContent(agent.RunOnce(AskForDrawing(port)))["correlation_id"];
    waits.push_back(ObserveCall(port, id, kWaitMillis));
  }
  const std::string fast =
      ObserveCall(port, StructuredContent(agent.RunOnce(InteractCall(port)))["correlation_id"]);
  const Latencies observe_alone = FastCalls(port, fast);
  const Latencies health_alone = FastCalls(port, GetRequest("/healthz", port));

  std::vector<HeldRequest> held;
  const auto hold_up_to = [&](size_t count) {
    while (held.size() < count) {
      held.emplace_back(port, waits[held.size() % waits.size()]);
      // An answer to another call: the gateway has received the earlier requests.
      if (held.size() % 100 == 0) agent.RunOnce(fast);
    }
    for (int i = 0; i < 20; ++i) agent.RunOnce(fast);
  };
  hold_up_to(kWarmWaits);
  const int64_t gateway_before = gateway.ResidentBytes();
  const int64_t tracker_before = tracker.ResidentBytes();
  hold_up_to(kWarmWaits + kHeldWaits);
  const double gateway_bytes =
      static_cast<double>(gateway.ResidentBytes() - gateway_before) / kHeldWaits;
  const double tracker_bytes =
      static_cast<double>(tracker.ResidentBytes() - tracker_before) / kHeldWaits;
  const Latencies observe_beside = FastCalls(port, fast);
  const Latencies health_beside = FastCalls(port, GetRequest("/healthz", port));

  std::printf("%d held waits: %.0f bytes each in the gateway, %.0f in the tracker\n\n", kHeldWaits,
              gateway_bytes, tracker_bytes);
  Table table({"beside them", "p50 µs alone", "beside", "p99 µs alone", "beside", "ratio"});
  const auto row = [&](const char* name, const Latencies& alone, const Latencies& beside) {
    table.Add({name, Fixed(alone.Percentile(50), 0), Fixed(beside.Percentile(50), 0),
               Fixed(alone.Percentile(99), 0), Fixed(beside.Percentile(99), 0),
               Ratio(beside.Percentile(99), alone.Percentile(99))});
  };
  row("observe", observe_alone, observe_beside);
  row("/healthz", health_alone, health_beside);
  table.Print();

  const auto start = std::chrono::steady_clock::now();
  size_t pending = 0;
  for (HeldRequest& wait : held) {
    if (StructuredContent(wait.Await())["status"] == "pending") ++pending;
  }
  const std::chrono::duration<double> rest = std::chrono::steady_clock::now() - start;
  std::printf("  %zu of %zu waits of %d s were answered as pending, the last one %.1f s later\n\n",
              pending, held.size(), kWaitMillis / 1000, rest.count());
}

void Main(const std::string& tracker_path, const std::string& gateway_path) {
  // Every held request is a descriptor.
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);

  // durability_bench measures the cost of storing commands.
  const ChildProcess tracker = ChildProcess::Exec(tracker_path, {"--durability", "memory"});
  const ChildProcess gateway = ChildProcess::Exec(
      gateway_path, {"--tracker", "127.0.0.1:" + std::to_string(tracker.port())});

  std::string id;
  size_t answer_bytes = 0;
  {
    LoadClient agent(gateway.port(), 1, GetRequest("/healthz", gateway.port()));
    id = StructuredContent(agent.RunOnce(InteractCall(gateway.port())))["correlation_id"];
    Worker(gateway.port()).DrainQueue();
    answer_bytes = agent.RunOnce(ObserveCall(gateway.port(), id)).size();
  }
  const ChildProcess rpc = ChildProcess::Fork(ServeWithQueue);
  const ChildProcess pair = ChildProcess::Fork(
      [&](const ParentLink& parent) { ServeBarePair(parent, answer_bytes, rpc.port()); });
  MeasureCalls(gateway, pair, id);
  MeasureCycles(gateway, pair, id);
  MeasureHeldWaits(gateway, tracker);
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
