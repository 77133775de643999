#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "bridge/clients/client_table.h"
#include "bridge/clients/fix.h"
#include "bridge/config.h"
#include "bridge/doctor/doctor.h"
#include "bridge/http/gateway_client.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/limits.h"
#include "bridge/relay/parent_watch.h"
#include "bridge/relay/relay.h"
#include "bridge/relay/stdio.h"
#include "bridge/relay/timeout_policy.h"
#include "bridge/service/autostart.h"
#include "bridge/service/limits.h"
#include "bridge/service/supervisor.h"
#include "common/clock.h"
#include "common/config.h"
#include "common/log.h"
#include "common/shutdown_signal.h"
#include "telemetry/telemetry.h"

namespace callslip::bridge {
namespace {

// The same three steps as in `./dev up` and the package's README.Debian.
constexpr char kNextSteps[] =
    "Next:\n"
    "  1. Agent      start it anew: it has the tools of callslip then\n"
    "  2. Browser    load the extension, and pair it with the gateway; then\n"
    "                `callslip-bridge doctor` says whether all is connected\n"
    "  3. Try        ask the agent: what is the title of the page in my browser?\n";

// Every reason to exit (end of stdin, closed stdout, death of the parent) raises the signal that
// main() waits for.
void RequestExit() { kill(getpid(), SIGTERM); }

// Processes the agent's available lines; waits for at least one. False at the end of stdin.
bool ReadLines(LineReader& reader, Relay& relay) {
  do {
    std::string line;
    switch (reader.Next(line)) {
      case LineReader::Event::kLine: relay.HandleLine(std::move(line)); break;
      case LineReader::Event::kTooLong: relay.HandleTooLongLine(line); break;
      case LineReader::Event::kEnd: RequestExit(); return false;
    }
  } while (reader.HasLine());
  return true;
}

// Ends the process in time even if an agent that does not read blocks the last answers.
void ExitInTime(Clock& clock) {
  const absl::Time deadline = clock.Now() + kExitWithin;
  clock.NewSleeper()->SleepUntil(deadline);
  std::_Exit(EXIT_SUCCESS);
}

void StartServices(const AutostartPlan& plan, Clock& clock) {
  const absl::Status status = KeepServicesRunning(plan, clock);
  Log(LogLevel::kError, "autostart failed", {{"error", std::string(status.message())}});
}

int Diagnose(GatewayClient& gateway, bool as_json) {
  const std::vector<Link> links = Examine(gateway);
  std::fputs((as_json ? ReportJson(links) : ReportText(links)).c_str(), stdout);
  return IsHealthy(links) ? 0 : 1;
}

void Tell(absl::string_view text) { std::cout << text << std::flush; }

// Any answer other than yes is a no, including the end of stdin.
bool Ask(absl::string_view question) {
  Tell(question);
  std::string answer;
  std::getline(std::cin, answer);
  Tell("\n");
  return answer == "y" || answer == "Y" || answer == "yes";
}

// Writes this program into the configuration of the agents on this machine.
int Fix(const BridgeOptions& options, Clock& clock) {
  const auto clients = FindClients([](const char* name) { return std::getenv(name); });
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (!clients.ok() || error) {
    std::fprintf(stderr, "callslip-bridge: %s\n",
                 error ? "the path of this program is not to be had"
                       : std::string(clients.status().message()).c_str());
    return 1;
  }
  const Person person = {.tell = Tell, .ask = Ask};
  const Person assenting = {.tell = Tell, .ask = [](absl::string_view) { return true; }};
  const bool is_well =
      FixClients(*clients, StartCommand(program, options), options.yes ? assenting : person, clock);
  if (!options.token.empty() && options.token_file.empty()) {
    Tell(
        "CALLSLIP_TOKEN was not written anywhere: agents need it in their environment, or a\n"
        "--token-file here.\n\n");
  }
  Tell(kNextSteps);
  return is_well ? 0 : 1;
}

// Returns the error of options that exclude each other, or nullptr.
const char* Contradiction(absl::string_view command, const BridgeOptions& options) {
  if (options.fix && command != "doctor") return "--fix is for doctor";
  if (options.fix && options.json) return "--fix asks people, and has no --json";
  if (options.yes && !options.fix) return "--yes is for --fix";
  return nullptr;
}

int Run(int argc, char** argv) {
  ShutdownSignal shutdown;
  ParentWatch parent;
  BridgeOptions options;
  OptionSet option_set("callslip-bridge",
                       "connects an agent's stdin and stdout to the Callslip gateway");
  AddBridgeOptions(option_set, options);
  if (const char* token = std::getenv("CALLSLIP_TOKEN"); token != nullptr) options.token = token;
  option_set.AddCommand("doctor", "shows which link from here to the browser is broken");
  option_set.AddCommand(kSuperviseCommand, "runs tracker and gateway; for --autostart only");
  const OptionSet::Parsed parsed = option_set.ParseOrExit(argc, argv);
  if (parsed.command == kSuperviseCommand) options.autostart = true;
  if (const char* wrong = Contradiction(parsed.command, options); wrong != nullptr) {
    std::fprintf(stderr, "callslip-bridge: %s\n", wrong);
    return 2;
  }
  const absl::StatusOr<BridgeConfig> config = CheckBridgeOptions(options);
  if (!config.ok()) {
    std::fprintf(stderr, "callslip-bridge: %s\n", std::string(config.status().message()).c_str());
    return 2;
  }
  InitLogging("callslip-bridge", options.log_level);

  RealClock clock;
  if (options.fix) return Fix(options, clock);
  if (parsed.command == kSuperviseCommand) return Supervise(*config->autostart, shutdown, clock);
  GatewayClient gateway(config->gateway, config->token_source, &clock, config->tls);
  if (parsed.command == "doctor") return Diagnose(gateway, options.json);
  if (config->autostart) {
    std::thread([&clock, plan = *config->autostart] { StartServices(plan, clock); }).detach();
    std::thread([&] { ReportTakenAddresses(gateway, clock, kStartPatience); }).detach();
  }
  const auto telemetry = Telemetry::Start(&clock, "callslip-bridge", options.otlp_endpoint,
                                          /*grpc=*/nullptr);
  if (!telemetry.ok()) {
    std::fprintf(stderr, "callslip-bridge: %s\n",
                 std::string(telemetry.status().message()).c_str());
    return 2;
  }
  LineWriter writer(STDOUT_FILENO, RequestExit);
  Relay relay(TimeoutPolicy(config->times), &clock, &gateway, &writer);
  Log(LogLevel::kInfo, "started", {{"gateway", gateway.url().ToString()}});
  if (!gateway.IsPrivate()) {
    Log(LogLevel::kWarning,
        "the connection to the gateway is not encrypted: anyone on the network path can read the "
        "token "
        "and all results. Use https://, or a tunnel",
        {{"gateway", gateway.url().ToString()}});
  }
  LineReader reader(STDIN_FILENO, kMaxLineBytes);
  relay.ReadWith(STDIN_FILENO, [&] { return ReadLines(reader, relay); });
  std::thread([&parent] {
    parent.Wait();
    RequestExit();
  }).detach();

  shutdown.Wait();
  std::thread([&clock] { ExitInTime(clock); }).detach();
  relay.Drain(writer.closed() ? absl::ZeroDuration() : kDrainGrace);
  (*telemetry)->Stop(kSpansWithin);
  Log(LogLevel::kInfo, "stopped");
  // It is not worth waiting for threads that are still reading or connecting.
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace
}  // namespace callslip::bridge

int main(int argc, char** argv) { return callslip::bridge::Run(argc, argv); }
