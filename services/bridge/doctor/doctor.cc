#include "bridge/doctor/doctor.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bridge/doctor/links_beyond_tracker.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/answers.h"
#include "bridge/relay/gateway_answer.h"
#include "common/json_members.h"
#include "common/json_scan.h"
#include "common/json_string.h"
#include "common/version.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

using Json = nlohmann::json;
using State = Link::State;

constexpr char kPlainTextHint[] =
    "The connection is not encrypted: anyone on the network path can read the token and all "
    "results. "
    "Use https://, or a tunnel.";

constexpr char kStartHint[] =
    "Start it with `./dev up` or `callslip-gateway`, name another address with --gateway, or let "
    "the bridge start it with --autostart.";

const char* NameOf(State state) {
  switch (state) {
    case State::kOk: return "ok";
    case State::kBroken: return "broken";
    case State::kUnknown: return "unknown";
    case State::kNone: return "none";
  }
  return "";
}

// "callslip 0.1.0" from an answer to server/discover; nullopt if it does not come from a gateway.
std::optional<std::string> ServerIn(const Message& answer) {
  const JsonScan scan = ScanJson(answer.line, /*into=*/"result");
  const JsonMembers meta = InnerMembers(InnerMembers(scan.members, "result"), "_meta");
  const auto server = FindMember(meta, "io.modelcontextprotocol/serverInfo");
  if (!server) return std::nullopt;
  const auto members = ScanJson(*server).members;
  return absl::StrCat(DecodeJsonString(FindMember(members, "name").value_or("")).value_or("?"), " ",
                      DecodeJsonString(FindMember(members, "version").value_or("")).value_or("?"));
}

Link Gateway(GatewayClient& gateway) {
  const std::string url = gateway.url().ToString();
  Link link = {.name = "gateway", .state = State::kBroken};
  const Message request = RequestOfDoctor("server/discover", "");
  Exchange exchange = SendOfDoctor(gateway, request);
  if (exchange.outcome == Exchange::Outcome::kNotSent) {
    link.detail = absl::StrCat("cannot be reached at ", url, exchange.failure.empty() ? "" : ": ",
                               exchange.failure);
    link.hint = kStartHint;
    return link;
  }
  if (exchange.outcome == Exchange::Outcome::kUnproven) {
    const Failure failure = UnprovenAnswer(url);
    link.detail = failure.message;
    link.hint = failure.hint;
    return link;
  }
  if (exchange.outcome != Exchange::Outcome::kAnswered) {
    link.detail = absl::StrCat(url, " takes the connection and does not answer");
    link.hint = "It is frozen, or no gateway: look at its log, and restart it.";
    return link;
  }
  const auto found = FindAnswer(exchange.head, std::move(exchange.body), request, url);
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
  if (!gateway.IsPrivate()) link.hint = kPlainTextHint;
  return link;
}

// The link from the gateway's port to the clients that use it.
Link Port(const std::vector<std::string>& taken) {
  return {.name = "port",
          .state = State::kBroken,
          .detail = absl::StrCat("another program listens at ", absl::StrJoin(taken, ", "),
                                 " instead of the gateway"),
          .hint = "End it: the browser and other agents cannot reach the gateway before."};
}

Link Tracker(GatewayClient& gateway, bool reachable) {
  Link link = {.name = "tracker"};
  if (!reachable) {
    link.detail = "the gateway could not be asked";
    return link;
  }
  const Exchange exchange = gateway.Ask("GET", "/readyz", {}, 2 * kDoctorPatience);
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

std::optional<std::vector<std::string>> AddressesOfOthers(GatewayClient& gateway) {
  const Exchange exchange = gateway.Ask("GET", "/healthz", {}, kDoctorPatience);
  if (exchange.head.status != 200) return std::nullopt;
  const Json health = Json::parse(exchange.body, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> addresses;
  for (const Json& address : MemberOf(health, "cannot_listen")) {
    if (address.is_string()) addresses.push_back(address.get<std::string>());
  }
  return addresses;
}

std::vector<Link> Examine(GatewayClient& gateway) {
  std::vector<Link> links;
  links.push_back(
      {.name = "bridge", .state = State::kOk, .detail = absl::StrCat("callslip ", kVersion)});
  links.push_back(Gateway(gateway));
  const bool reachable = links.back().state == State::kOk;
  const auto taken = reachable ? AddressesOfOthers(gateway) : std::nullopt;
  if (taken.has_value() && !taken->empty()) links.push_back(Port(*taken));
  links.push_back(Tracker(gateway, reachable));
  const bool askable = links.back().state == State::kOk;
  AddLinksBeyondTracker(gateway, askable, links);
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
