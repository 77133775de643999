// The gateway's memory for a wait: many WaitForEnd() with the coroutines that await them, with a
// tracker that does not answer. Prints a figure and judges nothing.
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdio>
#include <memory>
#include <string>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::bench {
namespace {

namespace asio = boost::asio;

constexpr int kWaits = 10'000;
constexpr char kId[] = "corr-1-00000000000000000000000000000000";

asio::awaitable<void> Await(gateway::TrackerClient* client) {
  (void)co_await client->WaitForEnd("client", kId, absl::Minutes(10));
}

// The address of a socket that accepts connections and never answers.
Address Silent() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(name);
  bind(fd, reinterpret_cast<sockaddr*>(&name), size);
  listen(fd, 1);
  getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
  return {.host = "127.0.0.1", .port = ntohs(name.sin_port)};
}

void Main() {
  asio::io_context io(1);
  const auto client =
      gateway::ConnectToTracker({Silent()}, std::make_shared<CallQueue>(), io.get_executor());
  const auto begin = [&](int count) {
    for (int i = 0; i < count; ++i) asio::co_spawn(io, Await(client.get()), asio::detached);
    io.poll();
  };
  // The first wait's setup is not counted.
  begin(1);
  const auto before = mallinfo2();
  begin(kWaits);
  const auto after = mallinfo2();
  std::printf("Bytes in the gateway's client for each of %d waits: %zu\n", kWaits,
              (after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / kWaits);
}

}  // namespace
}  // namespace callslip::bench

int main() { callslip::bench::Main(); }
