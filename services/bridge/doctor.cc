#include "bridge/doctor.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "bridge/abort_switch.h"
#include "bridge/answers.h"
#include "bridge/gateway_answer.h"
#include "bridge/json_rpc.h"
#include "bridge/json_scan.h"
#include "bridge/json_string.h"
#include "bridge/mcp_headers.h"
#include "common/clock.h"
#include "common/version.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

using State = Link::State;

// A well gateway answers at once; its own look at the tracker takes a second at most.
constexpr absl::Duration kPatience = absl::Seconds(3);

// A worker that was silent for less than this may have been suspended by its browser, and come
// back.
constexpr int64_t kMaxSuspendedMs = 60'000;

constexpr char kMeta[] =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"callslip-doctor","version":"1"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";
constexpr char kCommandHint[] = "Call interact {action: \"get_page\", wait_ms: 5000}.";
constexpr char kExtensionHint[] =
    "Is the browser open, the extension loaded, and the gateway's address (and token) in its "
    "options?";

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
  const JsonScan scan = ScanJson(answer.line, /*into=*/"result");
  const JsonMembers meta = InnerMembers(InnerMembers(scan.members, "result"), "_meta");
  const auto server = FindMember(meta, "io.modelcontextprotocol/serverInfo");
  if (!server) return std::nullopt;
  const auto members = ScanJson(*server).members;
  return absl::StrCat(DecodeJsonString(FindMember(members, "name").value_or("")).value_or("?"), " ",
                      DecodeJsonString(FindMember(members, "version").value_or("")).value_or("?"));
}

// `params` are members of a JSON object, each with a comma behind it.
Message RequestOf(absl::string_view method, absl::string_view params) {
  return ParseMessage(absl::StrCat(R"({"jsonrpc":"2.0","id":"doctor","method":")", method,
                                   R"(","params":{)", params, kMeta, "}}"));
}

Exchange Send(GatewayClient& gateway, const Message& request) {
  RealClock clock;
  AbortSwitch abort(&clock);
  return gateway.Post(request.line, MirroredHeaders(request), kPatience, abort,
                      [](const ResponseHead&, absl::string_view) { return false; });
}

Link Gateway(GatewayClient& gateway) {
  const std::string url = gateway.url().ToString();
  Link link = {.name = "gateway", .state = State::kBroken};
  const Message request = RequestOf("server/discover", "");
  Exchange exchange = Send(gateway, request);
  if (exchange.outcome == Exchange::Outcome::kNotSent) {
    link.detail = absl::StrCat("nobody listens at ", url);
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

using Json = nlohmann::json;

// What observe {what: "workers"} tells of each worker; nullopt where the gateway does not say.
std::optional<std::vector<Json>> Workers(GatewayClient& gateway) {
  const Message request =
      RequestOf("tools/call", R"("name":"observe","arguments":{"what":"workers"},)");
  Exchange exchange = Send(gateway, request);
  const auto found =
      FindAnswer(exchange.head, std::move(exchange.body), request, gateway.url().ToString());
  const auto* answer = std::get_if<Message>(&found);
  if (answer == nullptr) return std::nullopt;
  const Json json = Json::parse(answer->line, nullptr, /*allow_exceptions=*/false);
  const Json::json_pointer path("/result/structuredContent/result/workers");
  if (!json.contains(path) || !json[path].is_array()) return std::nullopt;
  std::vector<Json> workers;
  for (const Json& worker : json[path]) {
    if (worker.is_object()) workers.push_back(worker);
  }
  return workers;
}

std::string TextOf(const Json& json, const char* member) {
  const auto it = json.find(member);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

int64_t NumberOf(const Json& json, const char* member, int64_t fallback) {
  const auto it = json.find(member);
  return it != json.end() && it->is_number_integer() ? it->get<int64_t>() : fallback;
}

bool IsTrue(const Json& json, const char* member) {
  const auto it = json.find(member);
  return it != json.end() && *it == true;
}

// `Work laptop 0.1.0 for target "browser"`.
std::string NameOf(const Json& worker) {
  const std::string name = TextOf(worker, "name");
  return absl::StrCat(name.empty() ? TextOf(worker, "worker") : name, " ",
                      TextOf(worker, "version"), " for target \"", TextOf(worker, "target"), "\"");
}

// `usable` gets those that would take a command now.
Link Extension(const std::vector<Json>& workers, std::vector<Json>& usable) {
  Link link = {.name = "extension", .state = State::kBroken, .hint = kExtensionHint};
  bool paused = false;
  int64_t silent_ms = kMaxSuspendedMs;
  for (const Json& worker : workers) {
    silent_ms = std::min(silent_ms, NumberOf(worker, "last_seen_ms_ago", kMaxSuspendedMs));
    if (!IsTrue(worker, "connected")) continue;
    if (IsTrue(worker, "paused")) {
      paused = true;
    } else {
      absl::StrAppend(&link.detail, link.detail.empty() ? "" : "; ", NameOf(worker));
      usable.push_back(worker);
    }
  }
  if (!usable.empty()) {
    link.state = State::kOk;
    link.hint.clear();
  } else if (paused) {
    link.detail = "is connected, and its user has paused it";
    link.hint = "Ask the user to let it go on.";
  } else if (silent_ms < kMaxSuspendedMs) {
    link.state = State::kUnknown;
    link.detail = absl::StrCat("was last heard of ", silent_ms / 1000, " s ago");
    link.hint = "The browser may have suspended it: it then comes back within a minute.";
  } else {
    link.detail = "no browser extension is connected to the gateway";
  }
  return link;
}

Link Tab(const std::vector<Json>& usable) {
  Link link = {.name = "tab", .detail = "only a command can tell", .hint = kCommandHint};
  int64_t tabs = 0;
  bool told = false;
  std::string active;
  for (const Json& worker : usable) {
    const auto list = worker.find("tabs");
    if (list == worker.end() || !list->is_array()) continue;
    told = true;
    tabs += static_cast<int64_t>(list->size()) + NumberOf(worker, "more_tabs", 0);
    for (const Json& tab : *list) {
      if (tab.is_object() && IsTrue(tab, "active") && active.empty()) active = TextOf(tab, "url");
    }
  }
  if (!told) return link;
  link.state = tabs == 0 ? State::kBroken : State::kOk;
  link.detail = absl::StrCat(tabs, tabs == 1 ? " tab" : " tabs",
                             active.empty() ? "" : absl::StrCat("; in front: ", active));
  link.hint = tabs == 0 ? "Open a page in the browser." : "";
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
  const bool askable = links.back().state == State::kOk;
  const std::optional<std::vector<Json>> workers = askable ? Workers(gateway) : std::nullopt;
  if (!workers.has_value()) {
    const std::string detail =
        askable ? "the gateway does not tell who polls it" : "the gateway could not be asked";
    links.push_back({.name = "extension", .detail = detail, .hint = kExtensionHint});
    links.push_back({.name = "tab", .detail = detail, .hint = kCommandHint});
    return links;
  }
  std::vector<Json> usable;
  links.push_back(Extension(*workers, usable));
  links.push_back(Tab(usable));
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
