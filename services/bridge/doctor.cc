#include "bridge/doctor.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "bridge/abort_switch.h"
#include "bridge/gateway_answer.h"
#include "bridge/json_rpc.h"
#include "bridge/json_scan.h"
#include "bridge/mcp_headers.h"
#include "common/clock.h"
#include "common/version.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

using State = Link::State;

// A well gateway answers at once; its own look at the tracker takes a second at most.
constexpr absl::Duration kPatience = absl::Seconds(3);

constexpr char kDiscover[] =
    R"({"jsonrpc":"2.0","id":"doctor","method":"server/discover","params":{"_meta":{)"
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"callslip-doctor","version":"1"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{}}}})";

constexpr char kStartHint[] =
    "Start it with `./dev up` or `callslip-gateway`, name another address with --gateway, or let "
    "the bridge start it with --autostart.";

const char* NameOf(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kBroken:
      return "broken";
    case State::kUnknown:
      return "unknown";
  }
  return "";
}

// "callslip 0.1.0" in an answer to server/discover; nullopt where it is no answer of a gateway's.
std::optional<std::string> ServerIn(const Message& answer) {
  const auto result = FindMember(ObjectMembers(answer.line), "result");
  const auto meta = FindMember(ObjectMembers(result.value_or("")), "_meta");
  const auto server =
      FindMember(ObjectMembers(meta.value_or("")), "io.modelcontextprotocol/serverInfo");
  if (!server) return std::nullopt;
  const auto members = ObjectMembers(*server);
  return absl::StrCat(DecodeJsonString(FindMember(members, "name").value_or("")).value_or("?"), " ",
                      DecodeJsonString(FindMember(members, "version").value_or("")).value_or("?"));
}

Link Gateway(GatewayClient& gateway) {
  const std::string url = gateway.url().ToString();
  Link link = {.name = "gateway", .state = State::kBroken};
  RealClock clock;
  AbortSwitch abort(&clock);
  const Message request = ParseMessage(kDiscover);
  Exchange exchange = gateway.Post(request.line, MirroredHeaders(request), kPatience, abort,
                                   [](const ResponseHead&, absl::string_view) { return false; });
  if (exchange.outcome == Exchange::Outcome::kNotSent) {
    link.detail = absl::StrCat("nobody listens at ", url);
    link.hint = kStartHint;
    return link;
  }
  if (exchange.outcome != Exchange::Outcome::kAnswered) {
    link.detail = absl::StrCat(url, " takes the connection and does not answer");
    link.hint = "It is frozen, or no gateway: look at its log, and restart it.";
    return link;
  }
  const auto found = FindAnswer(std::move(exchange), request, url);
  if (const auto* failure = std::get_if<Failure>(&found)) {
    link.detail = failure->message;
    link.hint = failure->hint.empty() ? "Is this the gateway? Name its address with --gateway."
                                      : failure->hint;
    return link;
  }
  const std::optional<std::string> server = ServerIn(std::get<Message>(found));
  if (!server) {
    link.detail = absl::StrCat(url, " does not speak MCP 2026-07-28 as a gateway does");
    link.hint = "Name the address of a Callslip gateway with --gateway.";
    return link;
  }
  link.state = State::kOk;
  link.detail = absl::StrCat(*server, " at ", url);
  return link;
}

Link Tracker(GatewayClient& gateway, bool reachable) {
  Link link = {.name = "tracker"};
  if (!reachable) {
    link.detail = "the gateway could not be asked";
    return link;
  }
  const Exchange exchange = gateway.Ask("GET", "/readyz", {}, 2 * kPatience);
  if (exchange.head.status == 200) {
    link.state = State::kOk;
    link.detail = "answers the gateway";
    return link;
  }
  link.state = State::kBroken;
  link.detail = exchange.head.status == 0
                    ? "the gateway does not say whether it reaches it"
                    : absl::StrCat("the gateway cannot reach it (HTTP ", exchange.head.status, ")");
  link.hint = "Start `callslip-tracker`, or start the gateway with the right --tracker HOST:PORT.";
  return link;
}

}  // namespace

std::vector<Link> Examine(GatewayClient& gateway) {
  std::vector<Link> links;
  links.push_back(
      {.name = "bridge", .state = State::kOk, .detail = absl::StrCat("callslip ", kVersion)});
  links.push_back(Gateway(gateway));
  const bool reachable = links.back().state == State::kOk;
  links.push_back(Tracker(gateway, reachable));
  links.push_back({.name = "extension",
                   .detail = "the gateway does not tell who has polled it",
                   .hint = "If commands end as never_delivered: is the browser open, the extension "
                           "loaded, and the gateway's address (and token) in its options?"});
  links.push_back({.name = "tab",
                   .detail = "only a command can tell",
                   .hint = "Call interact {action: \"get_page\", wait_ms: 5000}."});
  return links;
}

bool IsHealthy(const std::vector<Link>& links) {
  return absl::c_none_of(links, [](const Link& link) { return link.state == State::kBroken; });
}

std::string ReportText(const std::vector<Link>& links) {
  std::string text;
  for (const Link& link : links) {
    absl::StrAppendFormat(&text, "%-8s %-10s %s\n", NameOf(link.state), link.name, link.detail);
    if (!link.hint.empty()) absl::StrAppendFormat(&text, "%20s%s\n", "", link.hint);
  }
  return text;
}

std::string ReportJson(const std::vector<Link>& links) {
  nlohmann::ordered_json report = {{"healthy", IsHealthy(links)}};
  report["links"] = nlohmann::ordered_json::array();
  for (const Link& link : links) {
    nlohmann::ordered_json entry = {
        {"link", link.name}, {"state", NameOf(link.state)}, {"detail", link.detail}};
    if (!link.hint.empty()) entry["hint"] = link.hint;
    report["links"].push_back(std::move(entry));
  }
  return report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace callslip::bridge
