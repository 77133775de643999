#ifndef CALLSLIP_COMMON_NAME_LOOKUP_H_
#define CALLSLIP_COMMON_NAME_LOOKUP_H_

#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace callslip {

// Where a socket connects to.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

// The addresses of a host for TCP. UNAVAILABLE where it is not known. Blocks for as long as the
// system's resolver likes: with three silent name servers, 30 s by default (resolv.conf(5)).
absl::StatusOr<std::vector<SocketAddress>> ResolveName(const std::string& host,
                                                       const std::string& port);

// Looks a host up, and nobody waits for that longer than they want to: nothing interrupts the
// system's resolver, so that it runs on a thread of its own, which is left behind where it takes
// too long. Those who come while it runs, or soon after, share what it finds. Thread-safe.
class NameLookup {
 public:
  using Resolver = std::function<absl::StatusOr<std::vector<SocketAddress>>(
      const std::string& host, const std::string& port)>;
  // Threads of this process that look up at once, left behind or not.
  static constexpr int kMaxThreads = 64;
  // How long addresses are known that somebody has got, and that nobody has waited for: who has
  // left comes again, and finds what a slow name server has told meanwhile. Failures are told once.
  static constexpr absl::Duration kKept = absl::Seconds(3);
  static constexpr absl::Duration kKeptUnread = absl::Minutes(1);

  // `host` is a name or an address, IPv6 without brackets; an address needs no thread.
  NameLookup(std::string host, std::string port, Resolver resolve = &ResolveName,
             absl::Duration kept = kKept);

  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;

  // At least one address. UNAVAILABLE where the host is not known, nothing is known after `within`,
  // Cancel() was called, or kMaxThreads are busy.
  absl::StatusOr<std::vector<SocketAddress>> Wait(absl::Duration within);

  // Ends Wait(), now and later.
  void Cancel();

 private:
  struct State;

  // Sees to it that something is found, or will be.
  void Begin();

  const std::string host_;
  const std::string port_;
  const Resolver resolve_;
  const absl::Duration kept_;
  const std::shared_ptr<State> state_;  // Of the thread, too.
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_NAME_LOOKUP_H_
