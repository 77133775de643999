#include "bridge/config.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "bridge/http/token.h"
#include "common/status_macros.h"
#include "telemetry/otlp_option.h"

namespace callslip::bridge {
namespace {

// An agent does not wait longer than this for the pipe.
constexpr absl::Duration kMaxTimeout = absl::Minutes(10);

void AddTimes(OptionSet& options, const std::string& name, const std::string& calls,
              CallTimes::Class& times) {
  options.Add("timeout-" + name, &times.timeout, absl::Milliseconds(1), kMaxTimeout,
              "After how long " + calls + " are answered with a timeout");
  options.Add("server-wait-" + name, &times.server_wait, absl::ZeroDuration(), kMaxTimeout,
              "The longest wait that the gateway grants such calls; 0s if it does not wait");
}

absl::StatusOr<std::string> TokenOf(const BridgeOptions& options) {
  if (!options.token_file.empty()) return ReadTokenFile(options.token_file);
  if (options.token.empty()) return std::string();
  absl::StatusOr<std::string> token = FindToken(options.token);
  if (token.ok()) return token;
  return absl::InvalidArgumentError("CALLSLIP_TOKEN holds no token");
}

std::string WholePath(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

void AddBridgeOptions(OptionSet& options, BridgeOptions& target) {
  options.Add("gateway", &target.gateway,
              "URL of the gateway, http or https, or unix:PATH; without a path, /mcp is used");
  options.Add("token-file", &target.token_file,
              "File that holds the token for the gateway: nothing else, or the gateway's own token "
              "file, whose first client is taken. CALLSLIP_TOKEN may hold the token itself");
  options.Add(
      "tls-ca", &target.tls.authorities,
      "PEM file with the authorities that may vouch for an https gateway; without it, those "
      "that the system trusts");
  options.Add("tls-cert", &target.tls.certificate,
              "PEM file with the certificate that the bridge shows to a gateway with "
              "--tls-client-ca; needs --tls-key");
  options.Add("tls-key", &target.tls.key, "PEM file with the key of --tls-cert");
  AddTimes(options, "fast", "all calls that the other two do not name", target.times.fast);
  AddTimes(options, "slow", "interact, analyze and calls with a long wait_ms", target.times.slow);
  AddTimes(options, "blocking", "observe command_result calls for a person's annotations",
           target.times.blocking);
  options.Add("autostart", &target.autostart,
              "Start a tracker and a gateway at the address of --gateway, for all bridges that ask "
              "for it together; they end with the last of these bridges");
  options.Add("json", &target.json, "Print the result of doctor as JSON");
  options.Add("fix", &target.fix,
              "With doctor: write this bridge, with the options given here, into the configuration "
              "of the agents that are found; shows each change and asks before");
  options.Add("yes", &target.yes, "With --fix: ask nothing");
  options.AddChoice("log-level", &target.log_level, {"debug", "info", "warning", "error"},
                    "The least severe lines to log on stderr");
  AddOtlpEndpoint(options, &target.otlp_endpoint);
}

absl::StatusOr<BridgeConfig> CheckBridgeOptions(const BridgeOptions& options) {
  ASSIGN_OR_RETURN(GatewayUrl gateway, ParseGatewayUrl(options.gateway));
  RETURN_IF_ERROR(CheckNesting(options.times));
  const absl::Status token = TokenOf(options).status();
  if (!(options.autostart && absl::IsNotFound(token))) RETURN_IF_ERROR(token);
  std::optional<AutostartPlan> autostart;
  if (options.autostart) {
    ASSIGN_OR_RETURN(autostart, PlanAutostart(gateway, options.token_file));
    // Connects to our own gateway, whichever program listens on the port.
    gateway.origin = autostart->gateway_socket_address();
  }
  std::shared_ptr<const ClientTls> tls;
  if (EndpointOf(gateway.origin).is_tls) {
    ASSIGN_OR_RETURN(tls, ClientTls::Load(options.tls));
  }
  return BridgeConfig{.gateway = std::move(gateway),
                      .tls = std::move(tls),
                      .token_source = [options] { return TokenOf(options).value_or(""); },
                      .times = options.times,
                      .autostart = std::move(autostart)};
}

std::vector<std::string> StartCommand(const std::string& program, const BridgeOptions& options) {
  constexpr absl::string_view kUnix = "unix:";
  absl::string_view path = options.gateway;
  std::string gateway = options.gateway;
  if (absl::ConsumePrefix(&path, kUnix)) {
    gateway = absl::StrCat(kUnix, WholePath(std::string(path)));
  }
  std::vector<std::string> command = {program, "--gateway", gateway};
  const std::pair<const char*, const std::string*> files[] = {
      {"--token-file", &options.token_file},
      {"--tls-ca", &options.tls.authorities},
      {"--tls-cert", &options.tls.certificate},
      {"--tls-key", &options.tls.key}};
  for (const auto& [flag, file] : files) {
    if (!file->empty()) command.insert(command.end(), {flag, WholePath(*file)});
  }
  if (!options.otlp_endpoint.empty()) {
    command.insert(command.end(), {"--otlp-endpoint", options.otlp_endpoint});
  }
  if (options.autostart) command.emplace_back("--autostart");
  return command;
}

}  // namespace callslip::bridge
