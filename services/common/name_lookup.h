#pragma once

#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace callslip {

// An address that a socket can connect to.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

// The TCP addresses of a host. UNAVAILABLE if the host is unknown. Blocks as long as the system's
// resolver does: with three silent name servers, 30 s by default (resolv.conf(5)).
absl::StatusOr<std::vector<SocketAddress>> ResolveName(const std::string& host,
                                                       const std::string& port);

// Looks up a host with a timeout. The system's resolver cannot be interrupted, so it runs on its
// own thread, which is abandoned if it takes too long. Callers that arrive while it runs, or soon
// after, share its result. Thread-safe.
class NameLookup {
 public:
  using Resolver = std::function<absl::StatusOr<std::vector<SocketAddress>>(
      const std::string& host, const std::string& port)>;
  // The maximum number of concurrent lookup threads in this process, including abandoned ones.
  static constexpr int kMaxThreads = 64;
  // How long addresses are kept once a caller has received them, and how long if none has: a caller
  // that gave up can retry and find the late answer of a slow name server. Failures are reported
  // once.
  static constexpr absl::Duration kKept = absl::Seconds(3);
  static constexpr absl::Duration kKeptUnread = absl::Minutes(1);

  // `host` is a name or an address, IPv6 without brackets; an address needs no thread.
  NameLookup(std::string host, std::string port, Resolver resolve = &ResolveName,
             absl::Duration kept = kKept);

  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;

  // Returns at least one address. UNAVAILABLE if the host is unknown, there is no result after
  // `within`, Cancel() was called, or kMaxThreads are busy.
  absl::StatusOr<std::vector<SocketAddress>> Wait(absl::Duration within);

  // Ends current and future calls of Wait().
  void Cancel();

 private:
  struct State;

  // Ensures that there is a result or a lookup in progress.
  void Begin();

  const std::string host_;
  const std::string port_;
  const Resolver resolve_;
  const absl::Duration kept_;
  const std::shared_ptr<State> state_;  // Shared with the thread.
};

}  // namespace callslip
