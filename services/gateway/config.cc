#include "gateway/config.h"

#include "absl/strings/str_cat.h"

namespace callslip::gateway {

void GatewayConfig::AddTo(OptionSet& options) {
  options.Add("listen", &listen, "Where to serve HTTP; port 0 picks a free one");
  options.Add("allow-insecure-bind", &allow_insecure_bind,
              "Serve on an address that other machines may reach, although nothing authenticates "
              "them");
  options.Add("allowed-hosts", &allowed_hosts,
              "Further values of the Host header to accept, each NAME:PORT");
  options.Add("tracker", &tracker, "Where the tracker serves gRPC");
  options.Add("drain-grace", &drain_grace, absl::ZeroDuration(), absl::Minutes(5),
              "How long requests under way may take after SIGTERM");
  options.AddChoice("log-level", &log_level, {"debug", "info", "warning", "error"},
                    "The least severe messages that are logged");
}

absl::Status GatewayConfig::Validate() const {
  if (!listen.IsLoopback() && !allow_insecure_bind) {
    return absl::InvalidArgumentError(absl::StrCat(
        "refusing to listen on ", listen.ToString(),
        ": other machines could reach it and nothing authenticates them. Listen on "
        "127.0.0.1, or set --allow-insecure-bind where something else keeps them out"));
  }
  return absl::OkStatus();
}

}  // namespace callslip::gateway
