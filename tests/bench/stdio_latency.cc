// The latency that stdio adds to an HTTP call: through the bridge, and through a bare relay, which
// is the floor. argv[1] is callslip-tracker, argv[2] is callslip-gateway, argv[3] is
// callslip-bridge.

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/child_process.h"
#include "bench/die.h"
#include "bench/latencies.h"
#include "bench/table.h"

namespace callslip::bench {
namespace {

// All take turns, so that a noisy moment affects all of them.
constexpr int kRounds = 100;
constexpr int kCallsPerRound = 50;
// The bridge's limit, as a multiple of the latency that the bare relay adds.
constexpr double kAllowed = 1.3;

constexpr char kCall[] =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"observe",)"
    R"("arguments":{"what":"pending_commands"},"_meta":{)"
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}}}})";

void WriteAll(int fd, const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t count = write(fd, bytes.data() + at, bytes.size() - at);
    if (count <= 0) Die("a write failed");
    at += static_cast<size_t>(count);
  }
}

// Reads a descriptor up to a given end.
class Reader {
 public:
  explicit Reader(int fd) : fd_(fd) {}

  // Up to and including `end`; empty at the end of the input.
  std::string Until(const std::string& end) {
    size_t at = 0;
    while ((at = buffer_.find(end)) == std::string::npos) {
      if (!Fill()) return "";
    }
    return Take(at + end.size());
  }
  std::string Exactly(size_t size) {
    while (buffer_.size() < size) {
      if (!Fill()) Die("the answer broke off");
    }
    return Take(size);
  }

 private:
  bool Fill() {
    char bytes[64 * 1024];
    const ssize_t count = read(fd_, bytes, sizeof(bytes));
    if (count > 0) buffer_.append(bytes, static_cast<size_t>(count));
    return count > 0;
  }
  std::string Take(size_t size) {
    std::string taken = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return taken;
  }

  const int fd_;
  std::string buffer_;
};

// One connection that posts calls.
class BareHttp {
 public:
  explicit BareHttp(uint16_t port) : fd_(Connect(port)), reader_(fd_), port_(port) {}

  std::string Post(const std::string& body) {
    WriteAll(fd_, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
                      "\r\nContent-Type: application/json\r\n"
                      "Accept: application/json, text/event-stream\r\n"
                      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                      "Mcp-Name: observe\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n\r\n" + body);
    const std::string head = reader_.Until("\r\n\r\n");
    const size_t length = head.find("Content-Length: ");
    if (head.find(" 200 ") == std::string::npos || length == std::string::npos) {
      Die("the gateway refused a call: " + head);
    }
    return reader_.Exactly(std::stoul(head.substr(length + 16)));
  }

 private:
  static int Connect(uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      Die("cannot connect");
    }
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return fd;
  }

  const int fd_;
  Reader reader_;
  const uint16_t port_;
};

// The bare relay: a line in, a call, a line out.
void Relay(uint16_t port) {
  BareHttp gateway(port);
  Reader lines(STDIN_FILENO);
  for (std::string line; !(line = lines.Until("\n")).empty();) {
    line.pop_back();
    WriteAll(STDOUT_FILENO, gateway.Post(line) + "\n");
  }
}

// A child that reads and writes lines, and ends with its stdin.
class PipeChild {
 public:
  // `run` gets the pipes as stdin and stdout.
  explicit PipeChild(const std::function<void()>& run) {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) Die("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      for (const int fd : {in[0], in[1], out[0], out[1]}) close(fd);
      run();
      _exit(0);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    reader_ = std::make_unique<Reader>(out[0]);
  }
  ~PipeChild() {
    close(in_);
    waitpid(pid_, nullptr, 0);
  }

  std::string Ask(const std::string& line) {
    WriteAll(in_, line + "\n");
    return reader_->Until("\n");
  }

 private:
  pid_t pid_;
  int in_;
  std::unique_ptr<Reader> reader_;
};

struct Way {
  std::string name;
  std::function<std::string(const std::string&)> call;
  Latencies latencies = {};
};

void Main(const std::vector<std::string>& programs) {
  std::signal(SIGPIPE, SIG_IGN);
  const ChildProcess tracker = ChildProcess::Exec(programs[0], {});
  const ChildProcess gateway =
      ChildProcess::Exec(programs[1], {"--tracker", "127.0.0.1:" + std::to_string(tracker.port())});
  const std::string url = "http://127.0.0.1:" + std::to_string(gateway.port());

  PipeChild relay([&] { Relay(gateway.port()); });
  PipeChild bridge([&] {
    execl(programs[2].c_str(), programs[2].c_str(), "--gateway", url.c_str(), "--log-level",
          "error", nullptr);
  });
  BareHttp http(gateway.port());

  Way ways[] = {{"HTTP alone", [&](const std::string& call) { return http.Post(call); }},
                {"bare relay", [&](const std::string& call) { return relay.Ask(call); }},
                {"callslip-bridge", [&](const std::string& call) { return bridge.Ask(call); }}};
  for (int round = 0; round < kRounds; ++round) {
    for (Way& way : ways) {
      for (int i = 0; i < kCallsPerRound; ++i) {
        const auto start = std::chrono::steady_clock::now();
        if (way.call(kCall).find("\"result\"") == std::string::npos) Die("a call failed");
        const auto end = std::chrono::steady_clock::now();
        if (round > 0) way.latencies.Add(end - start);  // The first round warms up.
      }
    }
  }

  std::printf("One call at a time over stdio, %d of each\n\n", (kRounds - 1) * kCallsPerRound);
  Table table({"", "p50 µs", "p90 µs", "p99 µs", "adds µs (p50)", "to bare relay"});
  const double floor = ways[0].latencies.Percentile(50);
  const double least = ways[1].latencies.Percentile(50) - floor;
  for (const Way& way : ways) {
    const double p50 = way.latencies.Percentile(50);
    const bool is_floor = &way == &ways[0];
    table.Add({way.name, Fixed(p50, 0), Fixed(way.latencies.Percentile(90), 0),
               Fixed(way.latencies.Percentile(99), 0), is_floor ? "-" : Fixed(p50 - floor, 0),
               is_floor ? "-" : Ratio(p50 - floor, least)});
  }
  table.Print();
  const double ratio = (ways[2].latencies.Percentile(50) - floor) / least;
  std::printf("  the bridge adds %s %.1f x what the bare relay adds (%.2f x)\n\n",
              ratio <= kAllowed ? "at most" : "MORE THAN", kAllowed, ratio);
}

}  // namespace
}  // namespace callslip::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s CALLSLIP-TRACKER CALLSLIP-GATEWAY CALLSLIP-BRIDGE\n", argv[0]);
    return 2;
  }
  callslip::bench::Main({argv + 1, argv + argc});
}
