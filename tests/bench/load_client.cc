#include "bench/load_client.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "bench/die.h"

namespace callslip::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

int ConnectTo(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) Die("socket");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    Die("connect");
  }
  return fd;
}

// Requests are small enough for any socket's buffer.
void SendAll(int fd, const std::string& bytes) {
  if (send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    Die("send");
  }
}

// The value of Content-Length; `headers` starts with the status line.
size_t ContentLength(std::string_view headers) {
  constexpr std::string_view kName = "\r\ncontent-length:";
  for (size_t at = 0; (at = headers.find("\r\n", at)) != std::string_view::npos; at += 2) {
    const std::string_view line = headers.substr(at);
    if (line.size() <= kName.size() || strncasecmp(line.data(), kName.data(), kName.size()) != 0) {
      continue;
    }
    const std::string_view value = line.substr(line.find_first_not_of(' ', kName.size()));
    size_t length = 0;
    std::from_chars(value.data(), value.data() + value.size(), length);
    return length;
  }
  Die("an answer without Content-Length: " + std::string(headers));
}

// Appends received bytes to `received`. True if it is a whole answer, which is then in `body`.
bool ReceiveBody(int fd, std::string& received, std::string& body) {
  std::array<char, 16384> bytes;
  const ssize_t count = recv(fd, bytes.data(), bytes.size(), 0);
  if (count <= 0) Die("a server closed a connection");
  received.append(bytes.data(), static_cast<size_t>(count));
  const size_t end = received.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const size_t body_at = end + 4;
  if (received.size() < body_at + ContentLength(std::string_view(received).substr(0, end))) {
    return false;
  }
  if (received.compare(0, 12, "HTTP/1.1 200") != 0) Die("unexpected answer: " + received);
  body.assign(received, body_at);
  received.clear();
  return true;
}

}  // namespace

std::string PostRequest(const std::string& path, const std::string& body, uint16_t port,
                        const std::string& more_headers) {
  return "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
         "\r\nUser-Agent: callslip-bench\r\nAccept: application/json, text/event-stream\r\n"
         "Content-Type: application/json\r\n" +
         more_headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string GetRequest(const std::string& path, uint16_t port) {
  return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
         "\r\nUser-Agent: callslip-bench\r\n\r\n";
}

LoadClient::LoadClient(uint16_t port, int connections, std::string request)
    : request_(std::move(request)), epoll_fd_(epoll_create1(EPOLL_CLOEXEC)) {
  for (int i = 0; i < connections; ++i) {
    connections_.push_back({.fd = ConnectTo(port)});
    epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<uint32_t>(i)}};
    if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, connections_.back().fd, &event) != 0) Die("epoll_ctl");
    Send(connections_.back(), request_);
    while (!Receive(connections_.back())) {
    }
  }
}

LoadClient::~LoadClient() {
  for (const Connection& connection : connections_) close(connection.fd);
  close(epoll_fd_);
}

LoadResult LoadClient::Run(const LoadLimits& limits) {
  LoadResult result;
  const auto start = SteadyClock::now();
  int64_t sent = 0;
  int under_way = 0;
  for (Connection& connection : connections_) {
    if (sent == limits.requests) break;
    Send(connection, request_);
    ++sent;
    ++under_way;
  }
  std::array<epoll_event, 64> events;
  while (under_way > 0) {
    const int ready = epoll_wait(epoll_fd_, events.data(), events.size(), -1);
    for (int i = 0; i < ready; ++i) {
      Connection& connection = connections_[events[static_cast<size_t>(i)].data.u32];
      if (!Receive(connection)) continue;
      const auto now = SteadyClock::now();
      result.latencies.Add(now - connection.sent_at);
      --under_way;
      if (sent == limits.requests || now - start >= limits.duration) continue;
      Send(connection, request_);
      ++sent;
      ++under_way;
    }
  }
  result.seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
  return result;
}

std::string LoadClient::RunOnce() {
  Run({.requests = 1});
  return body_;
}

std::string LoadClient::RunOnce(const std::string& request) {
  Begin(request);
  return Await();
}

void LoadClient::Begin(const std::string& request) { Send(connections_.front(), request); }

std::string LoadClient::Await() {
  while (!Receive(connections_.front())) {
  }
  return body_;
}

void LoadClient::Send(Connection& connection, const std::string& request) {
  connection.sent_at = SteadyClock::now();
  SendAll(connection.fd, request);
}

bool LoadClient::Receive(Connection& connection) {
  return ReceiveBody(connection.fd, connection.received, body_);
}

HeldRequest::HeldRequest(uint16_t port, const std::string& request) : fd_(ConnectTo(port)) {
  SendAll(fd_, request);
}

HeldRequest::HeldRequest(HeldRequest&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

std::string HeldRequest::Await() {
  std::string received;
  std::string body;
  while (!ReceiveBody(fd_, received, body)) {
  }
  return body;
}

HeldRequest::~HeldRequest() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace callslip::bench
