#include "gateway/config.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "gateway/http/trusted_proxies.h"
#include "rpc_client/channel.h"
#include "telemetry/otlp_option.h"
#include "tls/server_tls.h"

namespace callslip::gateway {
namespace {

// True for an origin without a path, as browsers send it; not `null`, which any page can send, and
// not a pattern.
bool IsOrigin(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits("://", 1));
  return !parts.first.empty() && !parts.second.empty() && absl::c_all_of(text, [](char c) {
    return absl::ascii_isgraph(c) && !absl::ascii_isupper(c);
  }) && parts.second.find_first_of("/*?#@") == absl::string_view::npos;
}

}  // namespace

void GatewayConfig::AddTo(OptionSet& options) {
  options.Add("listen", &listen,
              "Where to serve HTTP, also several of HOST:PORT and unix:PATH; port 0 picks a free "
              "one");
  options.Add("listen-when-free", &listen_when_free,
              "Serve where that is possible, and on the other addresses of --listen, whose port "
              "another program has, as soon as it is free");
  options.Add("allow-insecure-bind", &allow_insecure_bind,
              "Serve on an address that other machines may reach, although nothing authenticates "
              "them");
  options.Add(
      "token-file", &token_file,
      "File of the callers, one line ROLE NAME TOKEN each; created with random tokens if it does "
      "not exist; changes take effect at once. Without it every user of this machine may call");
  options.Add(
      "tls-cert", &tls.certificate,
      "PEM file with the certificate for HTTPS and those that vouch for it; needs --tls-key; "
      "what changes in the files counts for new connections at once");
  options.Add("tls-key", &tls.key, "PEM file with the key of --tls-cert, without a passphrase");
  options.Add("tls-client-ca", &tls.authorities,
              "PEM file with the authorities of clients, who then have to show a certificate; one "
              "that --token-file has a line `ROLE NAME cert:SAN` for needs no token");
  oauth.AddTo(options);
  options.Add("allowed-hosts", &allowed_hosts,
              "Further values of the Host header to accept, each NAME:PORT");
  options.Add("allowed-origins", &allowed_origins,
              "Values of the Origin header to accept in addition to the gateway's own, such as "
              "chrome-extension://ID");
  options.Add(
      "trusted-proxies", &trusted_proxies,
      "Proxies whose X-Forwarded-For says who asks, for the limits of each address and for "
      "the log: each an address, a network such as 10.0.0.0/8, or unix. Each has to add the "
      "address of who asks it");
  options.Add("tracker", &tracker,
              "Where the tracker serves gRPC; of several that share a --storage all of them");
  options.Add("tls-ca", &tls_ca,
              "PEM file of the authorities that may have signed the tracker's certificate: the "
              "gateway then reaches it by TLS, unless over a unix socket");
  options.Add("drain-delay", &drain_delay, absl::ZeroDuration(), absl::Minutes(5),
              "How long to serve on after SIGTERM while /readyz answers 503, for a balancer before "
              "several gateways to look elsewhere; longer than it takes to notice");
  options.Add("drain-grace", &drain_grace, absl::ZeroDuration(), absl::Minutes(5),
              "How long requests under way may take after SIGTERM");
  options.Add(
      "web-root", &web_root,
      "Folder with the files of the page, as web/build.mjs makes them, in place of those in "
      "this program: for those who write it");
  options.Add("extension-dir", &extension_dir,
              "Folder of the browser extension on this machine, which the page then names");
  options.AddChoice("log-level", &log_level, {"debug", "info", "warning", "error"},
                    "The least severe messages that are logged");
  AddOtlpEndpoint(options, &otlp_endpoint);
  options.AddBytes("memory", &memory, int64_t{64} << 20, int64_t{1} << 40,
                   "Memory limit of the gateway, such as 512MiB; the limit for bodies and answers "
                   "in flight is derived from it");
}

std::optional<TlsFiles> GatewayConfig::TrackerTls() const {
  if (tls_ca.empty()) return std::nullopt;
  return TlsFiles{.authorities = tls_ca};
}

absl::Status GatewayConfig::Validate() const {
  RETURN_IF_ERROR(CheckServerFiles(tls));
  RETURN_IF_ERROR(CheckTrackers(tracker, !tls_ca.empty()));
  RETURN_IF_ERROR(MemoryBudget::Of(memory).status());
  RETURN_IF_ERROR(TrustedProxies::Of(trusted_proxies).status());
  const bool asks_for_tokens = !token_file.empty() || oauth.is_on();
  const bool is_open = !asks_for_tokens && tls.authorities.empty() && !allow_insecure_bind;
  for (const Address& address : listen) {
    if (address.IsLoopback() || !is_open) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "refusing to listen on ", address.ToString(),
        ": other machines could reach it and nothing authenticates them. Set --token-file or "
        "--oauth-issuer, listen on 127.0.0.1, or set --allow-insecure-bind where something else "
        "keeps them out"));
  }
  for (const std::string& origin : allowed_origins) {
    if (!IsOrigin(origin)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", origin,
                       "\" in --allowed-origins is no origin: write SCHEME://HOST or "
                       "SCHEME://HOST:PORT in lower case, as browsers send it"));
    }
  }
  return oauth.Validate();
}

}  // namespace callslip::gateway
