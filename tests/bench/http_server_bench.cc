// Compares HTTP servers for the gateway: a bare Beast echo (the floor), the gateway's HttpServer
// and cpp-httplib. See docs/adr/0001-http-server.md.

#include <sched.h>
#include <sys/resource.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/die.h"
#include "bench/http_servers.h"
#include "bench/load_client.h"
#include "bench/table.h"

namespace callslip::bench {
namespace {

using std::chrono::milliseconds;

// The servers take turns, and the best round of each counts: what else the machine does can only
// take away from it.
constexpr int kRounds = 5;
constexpr milliseconds kRoundTime{450};
constexpr milliseconds kWarmUp{100};
constexpr milliseconds kPatience{5000};
// A held request of somebody who left is worth freeing within this.
constexpr milliseconds kNoticeTime{1000};

// 200 bytes of JSON.
std::string Body() { return R"({"padding":")" + std::string(186, 'x') + R"("})"; }

// Keeps this process, and the children that it forks meanwhile, on one processor.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof(before_), &before_);
    int first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  cpu_set_t before_;
};

struct Echoes {
  LoadResult load;
  std::chrono::nanoseconds cpu{};  // The server's, in all rounds.
  size_t requests = 0;             // In all rounds.

  double PerSecond() const { return load.PerSecond(); }
  double Percentile(double percent) const { return load.latencies.Percentile(percent); }
  double CpuMicros() const {
    return static_cast<double>(cpu.count()) / 1000 / static_cast<double>(requests);
  }
};

std::vector<Echoes> MeasureEchoes(int connections) {
  std::vector<ChildProcess> servers;
  for (const HttpServerKind& kind : HttpServerKinds()) {
    servers.push_back(ChildProcess::Fork(kind.serve));
  }
  std::vector<Echoes> all(servers.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < servers.size(); ++i) {
      LoadClient client(servers[i].port(), connections,
                        PostRequest("/echo", Body(), servers[i].port()));
      client.Run({.duration = kWarmUp});
      const auto cpu_before = servers[i].CpuTime();
      LoadResult load = client.Run({.duration = kRoundTime});
      all[i].cpu += servers[i].CpuTime() - cpu_before;
      all[i].requests += load.latencies.count();
      if (round == 0 || load.PerSecond() > all[i].PerSecond()) all[i].load = std::move(load);
    }
  }
  return all;
}

void PrintEchoes(const std::string& title, const std::vector<Echoes>& all) {
  const Echoes& floor = all.front();
  Table table({title, "req/s", "ratio", "p50 µs", "ratio", "p99 µs", "ratio", "server CPU µs/req",
               "ratio"});
  for (size_t i = 0; i < all.size(); ++i) {
    const Echoes& one = all[i];
    table.Add({HttpServerKinds()[i].name, Fixed(one.PerSecond(), 0),
               Ratio(one.PerSecond(), floor.PerSecond()), Fixed(one.Percentile(50), 1),
               Ratio(one.Percentile(50), floor.Percentile(50)), Fixed(one.Percentile(99), 1),
               Ratio(one.Percentile(99), floor.Percentile(99)), Fixed(one.CpuMicros(), 1),
               Ratio(one.CpuMicros(), floor.CpuMicros())});
  }
  table.Print();
}

HeldRequest Hold(const ChildProcess& server) {
  HeldRequest request(server.port(), PostRequest("/hold", Body(), server.port()));
  if (!server.AwaitEvent(kHeldEvent, kPatience)) Die("a request to hold did not arrive");
  return request;
}

// What one more held request adds to the server's memory. User space only: the kernel's part of a
// socket and of a thread is not in it.
double HeldBytes(const HttpServerKind& kind) {
  const ChildProcess server = ChildProcess::Fork(kind.serve);
  std::vector<HeldRequest> held;
  // What is allocated once only should not count.
  for (int i = 0; i < 20; ++i) held.push_back(Hold(server));
  const int64_t before = server.ResidentBytes();
  for (int i = 0; i < kind.held; ++i) held.push_back(Hold(server));
  return static_cast<double>(server.ResidentBytes() - before) / kind.held;
}

// How long the server needs to see that the peer of a held request has left.
std::optional<double> NoticeMillis(void (*serve)(const ParentLink&)) {
  const ChildProcess server = ChildProcess::Fork(serve);
  std::optional<HeldRequest> held = Hold(server);
  const auto left_at = std::chrono::steady_clock::now();
  held.reset();
  if (!server.AwaitEvent(kPeerLeftEvent, kNoticeTime)) return std::nullopt;
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - left_at)
      .count();
}

std::string NoticeText(const std::optional<double>& millis) {
  return millis.has_value() ? "yes, after " + Fixed(*millis, 2) + " ms" : "no";
}

void Main() {
  // Every held request is a descriptor.
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);

  std::printf("HTTP servers: a JSON echo of %zu bytes; ratios are to the bare Beast echo\n\n",
              Body().size());
  {
    // A single request under way is passed to and fro: with two processors, the figure would be
    // what it takes to wake the other one.
    const OneProcessor pinned;
    PrintEchoes("1 connection, 1 processor", MeasureEchoes(1));
  }
  for (const int connections : {8, 64}) {
    PrintEchoes(std::to_string(connections) + " connections", MeasureEchoes(connections));
  }

  std::printf("A request that is held, as long polls are\n\n");
  Table table({"", "held", "KiB each", "sees its peer leave within 1 s"});
  for (const HttpServerKind& kind : HttpServerKinds()) {
    table.Add({kind.name, std::to_string(kind.held), Fixed(HeldBytes(kind) / 1024, 1),
               NoticeText(NoticeMillis(kind.serve))});
  }
  table.Add(
      {"cpp-httplib, response begun", "1", "-", NoticeText(NoticeMillis(ServeHttplibStream))});
  table.Print();
  std::printf(
      "  cpp-httplib takes a thread for each connection as well. Its handlers are told nothing\n"
      "  of the peer; only a response whose headers are gone can look, by polling its sink.\n\n");
}

}  // namespace
}  // namespace callslip::bench

int main() { callslip::bench::Main(); }
