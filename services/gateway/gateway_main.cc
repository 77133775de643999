#include "gateway/gateway_main.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "auth/token_command.h"
#include "auth/token_file.h"
#include "auth/token_watch.h"
#include "common/clock.h"
#include "common/config.h"
#include "common/grpc_log.h"
#include "common/log.h"
#include "common/service_notify.h"
#include "common/shutdown_signal.h"
#include "gateway/config.h"
#include "gateway/oauth/document_source.h"
#include "gateway/oauth/https_source.h"
#include "gateway/readiness.h"
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
