#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "bridge/autostart.h"
#include "bridge/config.h"
#include "bridge/doctor.h"
#include "bridge/gateway_client.h"
#include "bridge/limits.h"
#include "bridge/parent_watch.h"
#include "bridge/relay.h"
#include "bridge/stdio.h"
#include "bridge/supervisor.h"
#include "bridge/timeout_policy.h"
#include "common/clock.h"
#include "common/config.h"
#include "common/log.h"
#include "common/shutdown_signal.h"

namespace callslip::bridge {
namespace {

// Every reason to exit (end of stdin, closed stdout, death of the parent) takes the way of the
// signal that main() waits for.
void RequestExit() { kill(getpid(), SIGTERM); }

// Takes the lines of the agent's that are there; waits for one. False at the end of stdin.
bool ReadLines(LineReader& reader, Relay& relay) {
  do {
    std::string line;
    switch (reader.Next(line)) {
      case LineReader::Event::kLine:
        relay.HandleLine(std::move(line));
        break;
      case LineReader::Event::kTooLong:
        relay.HandleTooLongLine(line);
        break;
      case LineReader::Event::kEnd:
        RequestExit();
        return false;
    }
  } while (reader.HasLine());
  return true;
}

// Ends the process in time even where an agent that does not read blocks the last answers.
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

int Run(int argc, char** argv) {
  ShutdownSignal shutdown;
  ParentWatch parent;
  BridgeOptions options;
  OptionSet option_set("callslip-bridge",
                       "connects an agent's stdin and stdout to the Callslip gateway");
  AddBridgeOptions(option_set, options);
  if (const char* token = std::getenv("CALLSLIP_TOKEN"); token != nullptr) options.token = token;
  option_set.AddCommand("doctor", "tells which link from here to the browser is broken");
  option_set.AddCommand(kSuperviseCommand, "runs tracker and gateway; for --autostart only");
  const OptionSet::Parsed parsed = option_set.ParseOrExit(argc, argv);
  if (parsed.command == kSuperviseCommand) options.autostart = true;
  const absl::StatusOr<BridgeConfig> config = CheckBridgeOptions(options);
  if (!config.ok()) {
    std::fprintf(stderr, "callslip-bridge: %s\n", std::string(config.status().message()).c_str());
    return 2;
  }
  InitLogging("callslip-bridge", options.log_level);

  RealClock clock;
  if (parsed.command == kSuperviseCommand) return Supervise(*config->autostart, shutdown, clock);
  GatewayClient gateway(config->gateway, config->token_source, &clock, config->tls);
  if (parsed.command == "doctor") return Diagnose(gateway, options.json);
  if (config->autostart) {
    std::thread([&clock, plan = *config->autostart] { StartServices(plan, clock); }).detach();
    std::thread([&] { ReportTakenAddresses(gateway, clock, kStartPatience); }).detach();
  }
  LineWriter writer(STDOUT_FILENO, RequestExit);
  Relay relay(TimeoutPolicy(config->times), &clock, &gateway, &writer);
  Log(LogLevel::kInfo, "started", {{"gateway", gateway.url().ToString()}});
  if (!gateway.IsPrivate()) {
    Log(LogLevel::kWarning,
        "the connection to the gateway is not encrypted: whoever is on the way can read the token "
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
  Log(LogLevel::kInfo, "stopped");
  // The threads that still read or connect are not worth waiting for.
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace
}  // namespace callslip::bridge

int main(int argc, char** argv) { return callslip::bridge::Run(argc, argv); }
