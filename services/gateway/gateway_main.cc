#include "gateway/gateway_main.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "auth/token_command.h"
#include "auth/token_file.h"
#include "auth/token_watch.h"
#include "common/address.h"
#include "common/clock.h"
#include "common/config.h"
#include "common/grpc_log.h"
#include "common/log.h"
#include "common/service_notify.h"
#include "common/shutdown_signal.h"
#include "gateway/config.h"
#include "gateway/oauth/document_source.h"
#include "gateway/oauth/https_source.h"
#include "http_client/http_answer.h"
#include "http_client/http_connection.h"
#include "telemetry/telemetry.h"
#include "tls/client_tls.h"

namespace callslip::gateway {
namespace {

constexpr char kProgram[] = "callslip-gateway";
// Shorter than the interval at which orchestrators repeat their health checks.
constexpr absl::Duration kHealthCheckTimeout = absl::Seconds(2);

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", kProgram, std::string(status.message()).c_str());
  return 1;
}

absl::Status CheckSessionKey(const GatewayConfig& config, const TokenFile& tokens) {
  return tokens.session_key.empty() ? SessionKeyMissing(config.token_file) : absl::OkStatus();
}

void WarnOfPlainText(const GatewayConfig& config) {
  for (const Address& address : config.listen) {
    if (address.IsLoopback() || !config.tls.certificate.empty()) continue;
    Log(LogLevel::kWarning,
        "serves other machines without TLS: tokens and results can be read on the way. Set "
        "--tls-cert and --tls-key, or have a proxy with TLS before it",
        {{"address", address.ToString()}});
  }
}

// The address at which this machine's gateway can be reached.
Address TargetOf(const std::vector<Address>& listen) {
  const auto in_files = absl::c_find_if(listen, [](const Address& each) { return each.is_unix(); });
  if (in_files != listen.end()) return *in_files;
  Address target = listen.front();
  // A gateway that listens on all addresses also listens on this one.
  const bool any = target.host == "0.0.0.0" || target.host == "::";
  if (any || target.host == "localhost") target.host = "127.0.0.1";
  return target;
}

absl::Status Failed(const Address& target, absl::string_view reason) {
  return absl::UnavailableError(
      absl::StrCat("the gateway at ", target.ToString(), " is not ready: ", reason));
}

// The check of `callslip-gateway healthcheck`: OK if the gateway that listens at these addresses of
// this machine responds with 200 to GET /readyz within `timeout`, otherwise UNAVAILABLE. Uses a
// Unix-domain socket if there is one, else the first address, with TLS if `is_tls`.
absl::Status CheckReadiness(const std::vector<Address>& listen, bool is_tls,
                            absl::Duration timeout) {
  const Address target = TargetOf(listen);
  const std::string host = target.is_unix() ? "localhost" : target.ToString();
  const absl::string_view scheme = is_tls ? "https://" : "http://";
  Endpoint endpoint =
      EndpointOf(target.is_unix() ? target.ToString() : absl::StrCat(scheme, target.ToString()));
  // The request only asks whether the gateway is ready, so its identity does not matter: the name
  // in its certificate need not match this address.
  if (endpoint.is_tls) endpoint.tls = ClientTls::Unverified();
  const auto connection = HttpConnection::Connect(endpoint, timeout);
  if (!connection.ok()) return Failed(target, connection.status().message());
  (*connection)->SetSilence(timeout);
  const std::string request =
      absl::StrCat("GET /readyz HTTP/1.1\r\nHost: ", host, "\r\nConnection: close\r\n\r\n");
  ResponseHead answer;
  if ((*connection)->Send(request, "")) {
    // The body only repeats the status for people.
    ReadHttpAnswer(**connection, answer,
                   [](const ResponseHead&, absl::string_view) { return false; });
  }
  if (answer.status == 200) return absl::OkStatus();
  if (answer.status != 0) return Failed(target, absl::StrCat("status ", answer.status));
  return Failed(target, endpoint.is_tls
                            ? "no answer (with --tls-client-ca this check needs an address "
                              "unix:PATH in --listen)"
                            : "no answer");
}

}  // namespace

int GatewayMain(int argc, char** argv, const ExtendCatalog& extend_catalog) {
  // In an Abseil build with assertions, gRPC's mutexes would look for cycles at each lock.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const ShutdownSignal shutdown;
  if (argc > 1 && absl::string_view(argv[1]) == "token") {
    const char* const token_file = std::getenv("CALLSLIP_TOKEN_FILE");
    const absl::StatusOr<std::string> done =
        RunTokenCommand({argv + 2, argv + argc}, token_file == nullptr ? "" : token_file);
    if (!done.ok()) return Fail(done.status());
    std::fputs(done->c_str(), stdout);
    return 0;
  }
  GatewayConfig config;
  OptionSet options(kProgram, "serves agents over MCP and browser extensions over HTTP");
  options.AddCommand("token", "lists, adds or removes tokens: `token` alone says how");
  options.AddCommand("healthcheck", "exits with 0 if the gateway at --listen is ready");
  config.AddTo(options);
  const OptionSet::Parsed parsed = options.ParseOrExit(argc, argv);
  if (parsed.command == "healthcheck") {
    const absl::Status ready =
        CheckReadiness(config.listen, !config.tls.certificate.empty(), kHealthCheckTimeout);
    return ready.ok() ? 0 : Fail(ready);
  }
  if (const absl::Status valid = config.Validate(); !valid.ok()) return Fail(valid);
  if (const std::optional<TlsFiles> tls = config.TrackerTls(); tls.has_value()) {
    // gRPC would treat an invalid file as an unreachable tracker.
    const absl::Status fit = ClientTls::Load(*tls).status();
    if (!fit.ok()) return Fail(fit);
  }
  InitLogging(kProgram, config.log_level);
  LogWhatGrpcSays();

  std::optional<TokenFile> token_file;
  if (!config.token_file.empty()) {
    absl::StatusOr<TokenFile> loaded = LoadOrCreateTokenFile(config.token_file);
    if (!loaded.ok()) return Fail(loaded.status());
    if (const absl::Status fits = CheckSessionKey(config, *loaded); !fits.ok()) return Fail(fits);
    token_file = *std::move(loaded);
    Log(LogLevel::kInfo, "callers need a token", {{"token_file", config.token_file}});
  }
  std::unique_ptr<DocumentSource> issuer_source;
  if (config.oauth.is_on()) {
    absl::StatusOr<std::unique_ptr<DocumentSource>> made = MakeHttpsSource(config.oauth.ca_file);
    if (!made.ok()) return Fail(made.status());
    issuer_source = *std::move(made);
    Log(LogLevel::kInfo, "access tokens are taken",
        {{"issuer", config.oauth.issuer}, {"resource", config.oauth.resource}});
  }
  RealClock clock;
  const auto telemetry = Telemetry::Start(&clock, kProgram, config.otlp_endpoint);
  if (!telemetry.ok()) return Fail(telemetry.status());
  GatewayServer server(config, token_file, std::move(issuer_source), extend_catalog);
  std::optional<TokenWatch> token_watch;
  if (token_file.has_value()) {
    token_watch.emplace(
        config.token_file, server.credentials(),
        [&server](const TokenFile& tokens) { server.Take(tokens); },
        [&config](const TokenFile& tokens) { return CheckSessionKey(config, tokens); });
  }
  const absl::StatusOr<std::vector<Address>> bound = server.Start();
  if (!bound.ok()) return Fail(bound.status());
  for (const Address& address : *bound) {
    std::fprintf(stderr, "listening on %s\n", address.ToString().c_str());
  }
  WarnOfPlainText(config);
  const auto exported =
      (*telemetry)->ExportMetrics([&server](MetricsPage& page) { server.AddMetrics(page); });
  if (!exported.ok()) return Fail(exported.status());
  NotifyServiceManager(kServiceReady);

  shutdown.Wait();
  NotifyServiceManager(kServiceStopping);
  Log(LogLevel::kInfo, "draining");
  server.Leave(config.drain_delay);
  server.Drain(config.drain_grace);
  Log(LogLevel::kInfo, "stopped");
  return 0;
}

}  // namespace callslip::gateway
