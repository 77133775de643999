#include "rpc_client/channel.h"

#include <arpa/inet.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/rpc_credentials.h"
#include "grpcpp/grpcpp.h"

namespace callslip {

namespace {

// gRPC's syntax for several addresses: `ipv4:` once, followed by the list.
std::string TargetOf(const std::vector<Address>& addresses) {
  if (addresses.size() == 1) return addresses.front().ToString();
  return absl::StrCat("ipv4:",
                      absl::StrJoin(addresses, ",", [](std::string* out, const Address& address) {
                        absl::StrAppend(out, address.ToString());
                      }));
}

bool IsIpv4(const std::string& host) {
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

// A name, except that of this machine.
bool StandsForSeveral(const Address& address) {
  in6_addr ignored;
  return !address.is_unix() && address.host != "localhost" && !IsIpv4(address.host) &&
         inet_pton(AF_INET6, address.host.c_str(), &ignored) != 1;
}

}  // namespace

absl::Status CheckTrackers(const std::vector<Address>& addresses, bool has_tls) {
  if (addresses.size() <= 1) return absl::OkStatus();
  for (const Address& address : addresses) {
    if (IsIpv4(address.host)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("of several trackers each has to be an IPv4 address, and ", address.ToString(),
                     " is not one. One name that resolves to all of them is enough"));
  }
  if (!has_tls) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "with TLS, several trackers need one name that resolves to all of them and is in their "
      "certificates");
}

std::shared_ptr<grpc::Channel> ConnectChannel(const std::vector<Address>& addresses,
                                              const std::optional<TlsFiles>& tls) {
  grpc::ChannelArguments arguments;
  // Only the filters needed here: no retries, compression, message limits or idle timeouts, because
  // each takes part in every call. The tracker limits the size of messages.
  arguments.SetInt(GRPC_ARG_MINIMAL_STACK, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_DEADLINE_CHECKS, 1);
  // Waiting calls on one connection do not delay calls on another.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A silently lost tracker is noticed within 40 s, even while only waits are held; if another one
  // can take over, within two.
  const bool has_others = addresses.size() > 1 || StandsForSeveral(addresses.front());
  // A returning tracker is found within a quarter of a second. An absent one is tried once a
  // second, or as often as at first if another one is about to take over.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 250);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, has_others ? 250 : 1000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, has_others ? 1'000 : 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, has_others ? 1'000 : 10'000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return grpc::CreateCustomChannel(
      TargetOf(addresses), ChannelCredentials(addresses.front().is_unix() ? std::nullopt : tls),
      arguments);
}

}  // namespace callslip
