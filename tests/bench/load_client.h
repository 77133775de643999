#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bench/latencies.h"

namespace callslip::bench {

// A POST of `body` as JSON, with the headers of an agent's client. `more_headers` are whole lines
// with their ends.
std::string PostRequest(const std::string& path, const std::string& body, uint16_t port,
                        const std::string& more_headers = "");
std::string GetRequest(const std::string& path, uint16_t port);

struct LoadLimits {
  std::chrono::nanoseconds duration = std::chrono::seconds(2);
  int64_t requests = std::numeric_limits<int64_t>::max();
};

struct LoadResult {
  Latencies latencies;
  double seconds = 0;

  double PerSecond() const { return static_cast<double>(latencies.count()) / seconds; }
};

// Sends one request repeatedly over kept-alive loopback connections, each of which has one request
// in flight at a time: a closed loop. Raw sockets and one thread, so that it costs far less than
// the measured servers, which are child processes.
//
// An answer other than 200 ends the benchmark.
class LoadClient {
 public:
  // Opens the connections one after the other, each with a first request that is not counted: a
  // server with a short backlog would otherwise leave some waiting for seconds.
  LoadClient(uint16_t port, int connections, std::string request);
  ~LoadClient();
  LoadClient(const LoadClient&) = delete;
  LoadClient& operator=(const LoadClient&) = delete;

  // Until either limit is reached. May be called again, on the same connections.
  LoadResult Run(const LoadLimits& limits);

  // One request on the first connection; returns the body of its answer.
  std::string RunOnce();
  // The same with another request, at once or in two steps.
  std::string RunOnce(const std::string& request);
  void Begin(const std::string& request);
  std::string Await();

 private:
  struct Connection {
    int fd;
    std::string received;
    std::chrono::steady_clock::time_point sent_at;
  };

  static void Send(Connection& connection, const std::string& request);
  // True when an answer is complete.
  bool Receive(Connection& connection);

  const std::string request_;
  std::vector<Connection> connections_;
  int epoll_fd_;
  std::string body_;  // Of the latest answer.
};

// A connection whose request is sent and whose answer is not read yet: one held by a long poll.
class HeldRequest {
 public:
  HeldRequest(uint16_t port, const std::string& request);
  HeldRequest(HeldRequest&& other) noexcept;
  HeldRequest& operator=(HeldRequest&&) = delete;
  // Closes the connection.
  ~HeldRequest();

  // The body of its answer. May be called once.
  std::string Await();

 private:
  int fd_;
};

}  // namespace callslip::bench
