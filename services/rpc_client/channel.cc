#include "rpc_client/channel.h"

#include "common/rpc_credentials.h"
#include "grpcpp/grpcpp.h"

namespace callslip {

std::shared_ptr<grpc::Channel> ConnectChannel(const Address& address,
                                              const std::optional<TlsFiles>& tls) {
  grpc::ChannelArguments arguments;
  // Only what is needed here: no retries, compression, limits of messages or idle connections; each
  // takes part in every call. How large a message may be is the tracker's to say.
  arguments.SetInt(GRPC_ARG_MINIMAL_STACK, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_DEADLINE_CHECKS, 1);
  // What waits on one connection does not delay what goes over another.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A tracker that comes back is found within a quarter of a second, and one that stays away is
  // asked once a second.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 250);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // One that is gone without a word is noticed within 40 s, also while nothing but waits is held.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return grpc::CreateCustomChannel(
      address.ToString(), ChannelCredentials(address.is_unix() ? std::nullopt : tls), arguments);
}

}  // namespace callslip
